// A sender that is in its call still (a Sendrecv, a core that was lost) tells it long after its message was received.
// The window of the message waits for it, and what the receiver waited for goes to the right rank.
#include <catch2/catch.hpp>

#include "analysis/pipeline/pipeline.hpp"
#include "tests/analysis/match/streams.hpp"

using namespace pclscope;
using test::Stream;

namespace {

constexpr std::int64_t ms = 1'000'000;

// Ranks 1 and 2 send to rank 0, which waits for both in one call from 10 to 60 ms. Rank 1 sent at 5 ms; rank 2 came
// late, at 60 ms, and what it wrote of that is read at `told_ns`.
struct Job {
  explicit Job(PipelineOptions options = {}) : pipeline(application(), with_window(std::move(options), windows)) {}
  static Application application() {
    Application application;
    application.ranks = 3;
    return application;
  }
  static PipelineOptions with_window(PipelineOptions options, std::vector<Window>& into) {
    options.on_window = [&into](const Window& w) { into.push_back(w); };
    return options;
  }
  std::size_t messages() const {
    std::size_t sum = 0;
    for (const Window& w : windows) sum += w.all.messages;
    return sum;
  }
  void feed(int rank, Stream& stream) {
    pipeline.add(rank, 0, stream.events);
    stream.events.clear();
  }
  void run(std::int64_t told_ns) {
    Stream waiting, early, late;
    waiting.now = 1 * ms;
    const std::uint64_t first = waiting.post(1, 0).last, second = waiting.post(2, 0).last;
    waiting.done(first, 1, 0).done(second, 2, 0);
    for (std::size_t i = 2; i < 4; ++i) {
      waiting.events[i].begin = 10 * ms;
      waiting.events[i].end = 60 * ms + 1000;
    }
    early.now = 5 * ms;
    early.send(0, 0);
    late.now = 60 * ms;
    late.send(0, 0);
    late.events.back().end = static_cast<std::uint64_t>(told_ns);
    feed(0, waiting);
    feed(1, early);
    for (std::int64_t now = 61 * ms; now < told_ns; now += 2 * ms) pipeline.end_round(now);
    at_told = messages();
    feed(2, late);
    pipeline.end_round(told_ns + ms);
    pipeline.end_round(told_ns + 150 * ms);
    after = messages();
    pipeline.finish();
  }

  std::vector<Window> windows;
  Pipeline pipeline;
  std::size_t at_told = 0, after = 0;
};

}  // namespace

TEST_CASE("A window waits for a message whose receive is over and whose send is not told yet") {
  Job job;
  job.run(400 * ms);
  CHECK(job.at_told == 0);
  CHECK(job.after == 2);
  const Snapshot s = job.pipeline.snapshot();
  CHECK(s.ranks[0].late_sender_s == Approx(0.050).epsilon(0.001));
  CHECK(s.ranks[0].transfer_s < 1e-5);
  REQUIRE(s.delays.size() == 1);
  CHECK(s.delays[0].rank == 2);
  CHECK(s.delays[0].cost_s == Approx(0.050).epsilon(0.01));
}

TEST_CASE("It waits for ten seconds at most, and windows behind do not wait for what is older") {
  Job job;
  job.run(12'000 * ms);
  CHECK(job.at_told == 1);
  CHECK(job.after == 2);
  CHECK(job.pipeline.snapshot().messages.matched == 2);
}

TEST_CASE("Without patience a window closes in time") {
  PipelineOptions options;
  options.hold_ns = 0;
  Job job(options);
  job.run(400 * ms);
  CHECK(job.at_told == 1);
  CHECK(job.after == 2);
}
