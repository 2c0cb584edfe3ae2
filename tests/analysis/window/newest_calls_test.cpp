// The newest calls in memory, against a list of all of them.
#include "analysis/window/newest_calls.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <tuple>

#include "tests/seed.hpp"

using namespace pclscope;
using record::Event;
using record::EventKind;

namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr double no_limit = 1;

auto order(const MpiCall& c) {
  return std::tuple(c.rank, c.thread, c.begin, c.end, c.function, c.peer, c.bytes, c.site, c.comm, c.outside);
}
std::vector<MpiCall> sorted(std::vector<MpiCall> calls) {
  std::sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return order(a) < order(b); });
  return calls;
}

// Ranks that send one message after the other, as they would record it.
class Job {
 public:
  Job(std::mt19937_64& random, std::int32_t ranks) : random_(random), now_(static_cast<std::size_t>(ranks), ms) {}

  // Until then, on the ticks' axis of one nanosecond.
  void run(std::int64_t until, NewestCalls& to) {
    for (std::size_t rank = 0; rank < now_.size(); ++rank) {
      std::vector<Event> events;
      std::int64_t& now = now_[rank];
      while (now < until) {
        const std::int64_t before = now;
        now += 1 + static_cast<std::int64_t>(random_() % (2 * ms));
        Event e{};
        e.kind = EventKind::send;
        e.function = static_cast<std::uint16_t>(1 + random_() % 30);
        e.peer = static_cast<std::int32_t>(random_() % now_.size());
        e.bytes = random_() % 100'000;
        e.site = 0x400000 + random_() % 64;
        e.comm = 1 + random_() % 3;
        e.begin = static_cast<std::uint64_t>(now);
        now += 1 + static_cast<std::int64_t>(random_() % (3 * ms));
        e.end = static_cast<std::uint64_t>(now);
        events.push_back(e);
        MpiCall& call = all.emplace_back();
        call.comm = e.comm;
        call.rank = static_cast<std::int32_t>(rank);
        call.function = e.function;
        call.peer = e.peer;
        call.begin = static_cast<std::int64_t>(e.begin);
        call.end = static_cast<std::int64_t>(e.end);
        call.outside = before == ms ? -1 : call.begin - before;
        call.bytes = e.bytes;
        call.site = e.site;
      }
      to.add(static_cast<std::int32_t>(rank), 0, events);
    }
  }
  void settle(std::int64_t read_until, NewestCalls& to) const {
    to.settle(read_until, [&](std::span<MpiCall> calls) { to.keep(calls); });
    if (to.whole_from_ns() == INT64_MAX) return;
    to.incomplete_before(to.whole_from_ns());
    to.complete_until(to.settled_until_ns());
  }
  std::vector<MpiCall> returned_in(std::int64_t from, std::int64_t until,
                                   const std::vector<std::int32_t>& ranks) const {
    std::vector<MpiCall> calls;
    for (const MpiCall& call : all)
      if (call.end >= from && call.end < until &&
          (ranks.empty() || std::find(ranks.begin(), ranks.end(), call.rank) != ranks.end()))
        calls.push_back(call);
    return sorted(std::move(calls));
  }

  std::vector<MpiCall> all;

 private:
  std::mt19937_64& random_;
  std::vector<std::int64_t> now_;
};

}  // namespace

TEST_CASE("newest calls: an answer is exactly what returned in its period, whatever has been forgotten") {
  const auto seed = test::random_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  int cut = 0, forgotten = 0;
  for (int round = 0; round < 40; ++round) {
    const std::int32_t ranks = 1 + static_cast<std::int32_t>(random() % 12);
    NewestCalls newest(ranks, no_limit, round % 2 ? NewestCalls::most_bytes : 3 * NewestCalls::block_bytes);
    Job job(random, ranks);
    std::int64_t now = 0;
    for (int step = 0; step < 60; ++step) {
      now += static_cast<std::int64_t>(random() % (600 * ms));
      job.run(now, newest);
      job.settle(now, newest);
      if (random() % 4) continue;
      CallsQuestion question;
      question.from_ns = random() % 3 ? static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(now + 1)) : 0;
      question.most = random() % 3 ? 1'000'000 : static_cast<std::uint32_t>(random() % 400);
      for (std::int32_t rank = 0; rank < ranks; ++rank)
        if (random() % 4 == 0) question.ranks.push_back(rank);
      const CallsPart part = newest.part(question, {}, now);
      REQUIRE(part.from_ns <= part.until_ns);
      REQUIRE(part.until_ns <= part.now_ns);
      REQUIRE(part.left_out == 0);
      REQUIRE(part.calls.size() <= question.most);
      REQUIRE(sorted(part.calls) == job.returned_in(part.from_ns, part.until_ns, question.ranks));
      // Not fewer than it may: a call more that returned together with the last one left out would be too many.
      const bool later = part.from_ns > std::max(question.from_ns, newest.whole_from_ns());
      if (later && part.from_ns < part.until_ns && round % 2) {
        ++cut;
        REQUIRE(job.returned_in(part.from_ns - 1, part.until_ns, question.ranks).size() > question.most);
      }
      forgotten += later && round % 2 == 0;
    }
    CHECK(newest.bytes() <= NewestCalls::most_bytes);
    if (round % 2 == 0) CHECK(newest.bytes() <= 3 * NewestCalls::block_bytes);
  }
  CHECK(cut > 20);
  CHECK(forgotten > 20);
}

TEST_CASE("newest calls: what is asked for bit by bit is the whole") {
  const auto seed = test::random_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  NewestCalls newest(5, no_limit);
  Job job(random, 5);
  std::vector<MpiCall> got;
  std::int64_t from = 0, first = -1;
  for (std::int64_t now = 100 * ms; now < 20'000 * ms; now += 70 * ms) {
    job.run(now, newest);
    job.settle(now, newest);
    CallsQuestion question;
    question.from_ns = from;
    const CallsPart part = newest.part(question, {}, now);
    if (part.until_ns == 0) continue;
    if (first < 0) first = part.from_ns;
    else REQUIRE(part.from_ns == from);
    got.insert(got.end(), part.calls.begin(), part.calls.end());
    from = part.until_ns;
  }
  CHECK(from > 19'000 * ms);
  CHECK(first < 300 * ms);
  CHECK(sorted(got) == job.returned_in(first, from, {}));
}

TEST_CASE("newest calls: a call that goes on is told until it has returned, at one time once") {
  NewestCalls newest(2, no_limit);
  std::mt19937_64 random(1);
  Job job(random, 2);
  job.run(500 * ms, newest);
  job.settle(100 * ms, newest);
  job.settle(500 * ms, newest);
  MpiCall hangs;
  hangs.rank = 1;
  hangs.function = 7;
  hangs.begin = 600 * ms;
  MpiCall returned = hangs;
  returned.rank = 0;
  returned.begin = job.all.front().begin;  // of rank 0: it has returned meanwhile
  const CallsPart part = newest.part({}, {hangs, returned}, 40'000 * ms);
  REQUIRE(part.running.size() == 1);
  CHECK(part.running[0].rank == 1);
  CHECK(part.running[0].begin == 600 * ms);
  CHECK(part.running[0].end == 40'000 * ms);
  CHECK(part.now_ns == 40'000 * ms);
  CallsQuestion of_others;
  of_others.ranks = {0};
  CHECK(newest.part(of_others, {hangs}, 40'000 * ms).running.empty());
}

TEST_CASE("newest calls: memory is bounded, however many calls come and whether they are settled or not") {
  std::mt19937_64 random(2);
  NewestCalls newest(4, no_limit);
  std::uint64_t made = 0;
  std::vector<Event> events(100'000);
  for (int round = 0; round < 60; ++round) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      Event& e = events[i];
      e = {};
      e.kind = EventKind::call;
      e.function = 3;
      e.peer = -1;
      e.begin = 10 * ++made;
      e.end = e.begin + 1 + random() % 8;
      e.site = random();  // does not pack well
    }
    newest.add(static_cast<std::int32_t>(random() % 4), 0, events);
    CHECK(newest.bytes() <= NewestCalls::most_bytes);
  }
  CHECK(newest.left_out() >= made - NewestCalls::most_waiting - 4);
  const auto read_until = static_cast<std::int64_t>(20 * made) + NewestCalls::step_ns + NewestCalls::allowance_ns;
  newest.settle(read_until, [&](std::span<MpiCall> calls) { newest.keep(calls); });
  CHECK(newest.bytes() <= NewestCalls::most_bytes);
  CHECK(newest.bytes() > NewestCalls::most_bytes / 4);
}

TEST_CASE("newest calls: without time calls are left out and counted, never told by half") {
  NewestCalls newest(1, 0.0);  // no time at all
  std::mt19937_64 random(3);
  Job job(random, 1);
  for (std::int64_t now = 100 * ms; now <= 2'000 * ms; now += 100 * ms) {
    job.run(now, newest);
    job.settle(now, newest);
  }
  const CallsPart part = newest.part({}, {}, 2'000 * ms);
  CHECK(part.left_out > 0);
  CHECK(part.calls.size() + part.left_out >= job.returned_in(part.from_ns, part.until_ns, {}).size());
  CHECK(part.calls.size() + part.left_out <= job.all.size());
}

TEST_CASE("packed calls from anywhere: whole, or refused") {
  const auto seed = test::random_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto any = [&](auto& number) {
    number = static_cast<std::remove_reference_t<decltype(number)>>(random() >> random() % 64);
  };
  int accepted = 0, refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    PackedCalls packed;
    std::vector<MpiCall> calls(random() % 6);
    for (MpiCall& c : calls) {
      any(c.rank), any(c.thread), any(c.function), any(c.peer), any(c.begin), any(c.end), any(c.outside);
      any(c.comm), any(c.bytes), any(c.site);
      c.ending = random() % 2 ? CallEnding::unseen : CallEnding::returned;
    }
    packed.append(calls);
    std::vector<std::uint8_t> bytes(packed.packed().begin(), packed.packed().end());
    const auto whole = PackedCalls::unpack(bytes, calls.size());
    REQUIRE(whole);
    REQUIRE(*whole == calls);
    REQUIRE_FALSE(PackedCalls::unpack(bytes, calls.size() + 1));
    if (!calls.empty()) REQUIRE_FALSE(PackedCalls::unpack(bytes, calls.size() - 1));
    std::size_t count = calls.size();
    for (std::uint64_t n = 1 + random() % 3; n > 0 && !bytes.empty(); --n) {
      const std::size_t at = random() % bytes.size();
      if (random() % 3 == 0) bytes.resize(at);
      else if (random() % 5 == 0) count = random();
      else bytes[at] = static_cast<std::uint8_t>(random());
    }
    // Exactly as long as the bytes, so that a sanitizer sees each that is read beyond.
    const std::vector<std::uint8_t> damaged(bytes);
    const auto read = PackedCalls::unpack(damaged, count);
    read ? ++accepted : ++refused;
    if (read) REQUIRE(read->size() == count);
  }
  CHECK(accepted > 1'000);
  CHECK(refused > 1'000);
}
