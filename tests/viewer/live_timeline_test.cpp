// The newest calls of a running job, put together from answers: against all calls that there were.
#include "viewer/session/live_timeline.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <tuple>

#include "tests/seed.hpp"

using namespace pclscope;
using session::LiveTimeline;

namespace {

constexpr std::int64_t ms = 1'000'000;

bool earlier(const MpiCall& a, const MpiCall& b) {
  return std::tuple(a.end, a.rank, a.begin) < std::tuple(b.end, b.rank, b.begin);
}

// A job whose ranks are in one call after the other; a part of the newest comes late.
struct AskedRun {
  explicit AskedRun(std::mt19937_64& from) : random(from) {}
  std::mt19937_64& random;
  std::vector<MpiCall> all;
  std::vector<std::int64_t> now = std::vector<std::int64_t>(6, 0);
  std::int64_t time = 0, kept_from = 0;
  std::uint64_t left_out = 0;
  std::size_t most = 1'000'000;

  void go_on(std::int64_t ns) {
    time += ns;
    for (std::size_t rank = 0; rank < now.size(); ++rank)
      while (now[rank] < time) {
        MpiCall& call = all.emplace_back();
        call.rank = static_cast<std::int32_t>(rank);
        call.function = static_cast<std::uint16_t>(1 + random() % 20);
        call.begin = now[rank] + static_cast<std::int64_t>(random() % (5 * ms));
        call.end = call.begin + static_cast<std::int64_t>(random() % (40 * ms));
        now[rank] = call.end + 1;
      }
  }
  Result<CallsPart> answer(const CallsQuestion& question) {
    CallsPart part;
    part.until_ns = std::max<std::int64_t>(time - 70 * ms, 0) / (50 * ms) * (50 * ms);
    if (part.until_ns < kept_from) part.until_ns = 0;  // nothing yet
    part.now_ns = std::max(time, part.until_ns);
    part.from_ns = std::min(std::max(question.from_ns, kept_from), part.until_ns);
    part.calls = returned_in(part.from_ns, part.until_ns);
    if (part.calls.size() > most) {
      part.from_ns = part.calls[part.calls.size() - most - 1].end + 1;
      part.calls = returned_in(part.from_ns, part.until_ns);
    }
    part.left_out = left_out;
    std::shuffle(part.calls.begin(), part.calls.end(), random);
    return part;
  }
  std::vector<MpiCall> returned_in(std::int64_t from, std::int64_t until) const {
    std::vector<MpiCall> calls;
    std::copy_if(all.begin(), all.end(), std::back_inserter(calls),
                 [&](const MpiCall& call) { return call.end >= from && call.end < until; });
    std::sort(calls.begin(), calls.end(), earlier);
    return calls;
  }
};

std::vector<MpiCall> sorted(std::vector<MpiCall> calls) {
  std::sort(calls.begin(), calls.end(), earlier);
  return calls;
}

}  // namespace

TEST_CASE("live timeline: the calls of the newest ten seconds, each once, however answers overlap") {
  const auto seed = test::random_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  AskedRun run(random);
  run.kept_from = 3'000 * ms;
  LiveTimeline live;
  for (int i = 0; i < 60; ++i) {
    run.go_on(static_cast<std::int64_t>(random() % (1'500 * ms)));
    REQUIRE(live.refresh([&](const CallsQuestion& question) { return run.answer(question); }));
    if (live.empty()) continue;
    REQUIRE(live.from_ns() == std::max(run.kept_from, run.time - LiveTimeline::shown_ns));
    REQUIRE(sorted(live.calls()) == run.returned_in(live.from_ns(), live.until_ns()));
    REQUIRE_FALSE(live.too_many());
    const auto timeline = live.run(6);
    REQUIRE(timeline->live);
    REQUIRE(timeline->calls.size() == live.calls().size());
    REQUIRE(timeline->begin_ns == live.from_ns());
    REQUIRE(timeline->end_ns == run.time);
  }
  CHECK(live.words().find("calls of the newest 10.0 s") == 0);
  CHECK(live.left_out() == 0);
}

TEST_CASE("live timeline: moments of which there were too many calls are told as such until they are out of sight") {
  std::mt19937_64 random(6);
  AskedRun run(random);
  LiveTimeline live;
  const auto refresh = [&] {
    return live.refresh([&](const CallsQuestion& question) { return run.answer(question); });
  };
  run.go_on(1'000 * ms);
  REQUIRE(refresh());
  run.go_on(4'000 * ms);
  run.most = 100;
  run.left_out = 17;
  REQUIRE(refresh());
  CHECK(live.too_many());
  CHECK(live.left_out() == 17);
  CHECK(live.words().find("17 are left out") != std::string::npos);
  CHECK(live.words().find("of some moments none") != std::string::npos);
  run.most = 1'000'000;
  for (int i = 0; i < 16; ++i) {
    run.go_on(1'000 * ms);
    REQUIRE(refresh());
  }
  CHECK_FALSE(live.too_many());
  CHECK(live.left_out() == 0);
  CHECK(sorted(live.calls()) == run.returned_in(live.from_ns(), live.until_ns()));
}

TEST_CASE("live timeline: memory is bounded, and what goes on reaches the right edge") {
  LiveTimeline live;
  CallsPart part;
  for (int i = 0; i < 8; ++i) {
    part.from_ns = part.until_ns;
    part.until_ns += 100 * ms;
    part.now_ns = part.until_ns + 60 * ms;
    part.calls.assign(100'000, {});
    for (std::size_t c = 0; c < part.calls.size(); ++c) {
      part.calls[c].rank = 1;
      part.calls[c].begin = part.calls[c].end = part.from_ns + static_cast<std::int64_t>(c) * 1000;
    }
    live.put(part);
  }
  CHECK(live.calls().size() == LiveTimeline::most_calls);
  CHECK(live.from_ns() > 300 * ms);
  MpiCall hangs;
  hangs.rank = 0;
  hangs.begin = 5 * ms;
  hangs.end = part.now_ns;
  part.calls.clear();
  part.from_ns = part.until_ns;
  part.running = {hangs};
  live.put(part);
  const auto run = live.run(2);
  REQUIRE(run->of(0).size() == 1);
  const session::TimelineCall& call = run->calls[run->of(0)[0].first];
  CHECK(call.running);
  CHECK(call.begin == 5 * ms);
  CHECK(call.end == run->end_ns);
  CHECK(run->end_ns == part.now_ns);
}
