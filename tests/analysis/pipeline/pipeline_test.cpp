// Events in, snapshots out: small jobs whose figures are worked out on paper.
#include "analysis/pipeline/pipeline.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "tests/analysis/match/streams.hpp"

using namespace pclscope;
using test::Stream;

namespace {

constexpr std::int64_t ms = 1'000'000;

Application job(int ranks) {
  Application application;
  application.command = "app";
  application.ranks = ranks;
  return application;
}

// One message at `begin` ns from `from` to `to` that takes `time` ns.
void exchange(std::vector<Stream>& streams, int from, int to, std::int64_t begin, std::int64_t time,
              std::uint64_t bytes = 8) {
  streams[from].now = static_cast<std::uint64_t>(begin);
  streams[from].send(to, 0, 0, bytes);
  streams[to].now = static_cast<std::uint64_t>(begin + time - 5);
  streams[to].receive(from, 0);
  streams[to].events.back().bytes = bytes;
}

void feed(Pipeline& pipeline, std::vector<Stream>& streams) {
  for (std::size_t rank = 0; rank < streams.size(); ++rank) {
    pipeline.add(static_cast<std::int32_t>(rank), 0, streams[rank].events);
    streams[rank].events.clear();
  }
}

// Two groups of four that exchange all to all, every 1 ms; rank 3 -> 2 is slow in the last third.
Snapshot two_groups(Pipeline& pipeline, std::int64_t length_ns) {
  std::vector<Stream> streams(9);
  for (std::int64_t t = 0; t < length_ns; t += ms) {
    for (int group = 0; group < 2; ++group)
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b)
          if (a != b) {
            const bool slow = group == 0 && a == 3 && b == 2 && t >= length_ns * 2 / 3;
            exchange(streams, group * 4 + a, group * 4 + b, t + (a * 4 + b) * 10'000, slow ? 6000 : 2000);
          }
    if (t % (10 * ms) == 0) exchange(streams, 0, 4, t + 900'000, 2000);
    feed(pipeline, streams);
    pipeline.end_round(t + ms);
  }
  pipeline.end_round(length_ns);
  return pipeline.snapshot();
}

}  // namespace

TEST_CASE("two groups of ranks become two regions, and the late one is seen") {
  std::vector<Message> stored;
  std::vector<Window> windows;
  PipelineOptions options;
  options.on_messages = [&](std::span<const Message> m) { stored.insert(stored.end(), m.begin(), m.end()); };
  options.on_window = [&](const Window& w) { windows.push_back(w); };
  Pipeline pipeline(job(9), options);
  const Snapshot live = two_groups(pipeline, 3000 * ms);
  CHECK(live.regions.size() == 2);
  CHECK_FALSE(live.finished);
  pipeline.finish();
  const Snapshot s = pipeline.snapshot();
  const std::uint64_t inside = 12 * 3000, slow = 1000, across = 300;
  CHECK(s.finished);
  CHECK(s.messages.matched == 2 * inside + across);
  CHECK(s.messages.unmatched_sends == 0);
  CHECK(s.messages.unmatched_receives == 0);
  CHECK(s.messages.ambiguous == 0);
  CHECK(s.messages.bytes == 8 * (2 * inside + across));
  CHECK(s.messages.events == 2 * (2 * inside + across));
  CHECK(stored.size() == s.messages.matched);
  REQUIRE(s.regions.size() == 2);
  CHECK(s.regions[0].ranks == std::vector<std::int32_t>{0, 1, 2, 3});
  CHECK(s.regions[1].ranks == std::vector<std::int32_t>{4, 5, 6, 7});  // rank 8 is silent
  CHECK(s.regions[0].messages == inside);
  CHECK(s.regions[1].messages == inside);
  CHECK(s.regions[0].bytes == 8 * inside);
  // Criterion 2000 ns (within 0.8 %); 1000 messages take three times as long.
  CHECK(s.regions[0].mean_latency_ratio == Approx((12.0 * 3000 - 1000 + 3 * 1000) / (12 * 3000)).epsilon(0.01));
  CHECK(s.regions[1].mean_latency_ratio == Approx(1).epsilon(0.01));
  CHECK(s.regions[0].delayed >= slow);
  CHECK(s.latency.median_s == Approx(2e-6).epsilon(0.01));
  CHECK(s.latency.p99_s == Approx(6e-6).epsilon(0.01));
  REQUIRE(s.worst.size() == 20);
  for (const WorstMessage& w : s.worst) {
    CHECK(w.source == 3);
    CHECK(w.destination == 2);
    CHECK(w.ratio == Approx(3).epsilon(0.01));
    CHECK(w.time_s == Approx(6e-6));
  }
  REQUIRE(s.criteria.size() == 1);
  CHECK(s.criteria[0].count == s.messages.matched);
  CHECK(s.criteria[0].bytes_low == 0);
  CHECK(s.criteria[0].bytes_high == 50);
  CHECK(s.ranks[3].sends == 9000);
  CHECK(s.ranks[2].receives == 9000);
  CHECK(s.ranks[0].sends == 9300);
  CHECK(s.ranks[2].bytes_received == 72000);
  CHECK(s.ranks[2].mean_latency_ratio == Approx((9000.0 - 1000 + 3000) / 9000).epsilon(0.01));
  CHECK(s.ranks[2].mpi_s == Approx(18000 * 5e-9));
  // 30 windows of 100 ms; their sums are the totals.
  CHECK(windows.size() == 30);
  std::uint64_t messages = 0, of_regions = 0;
  for (const Window& w : windows) {
    messages += w.all.messages;
    for (const RegionWindow& r : w.regions) of_regions += r.messages;
  }
  CHECK(messages == s.messages.matched);
  CHECK(of_regions == 2 * inside);
  CHECK(s.regions[0].history_ratio.size() == 30);
  CHECK(s.regions[0].history_ratio[5] == Approx(1).epsilon(0.01));
  CHECK(s.regions[0].history_ratio[28] ==
        Approx(std::pow(3, 1 / 12.0)).epsilon(0.01));  // one of 12 takes three times as long
  CHECK(s.duration_s == Approx(3).epsilon(0.01));
}

TEST_CASE("a window is published with its region soon after its end") {
  Pipeline pipeline(job(2), {});
  std::vector<Stream> streams(2);
  exchange(streams, 0, 1, 99 * ms, 2000);
  feed(pipeline, streams);
  pipeline.end_round(100 * ms);
  pipeline.end_round(101 * ms);
  CHECK(pipeline.measured().totals.matched == 1);
  CHECK(pipeline.snapshot().regions.empty());
  pipeline.end_round(120 * ms);
  REQUIRE(pipeline.snapshot().regions.size() == 1);
  CHECK(pipeline.snapshot().regions[0].history_messages.back() == 1);
}

TEST_CASE("negative times are counted and shown, and do not reach the criteria") {
  std::vector<Message> stored;
  PipelineOptions options;
  options.on_messages = [&](std::span<const Message> m) { stored.insert(stored.end(), m.begin(), m.end()); };
  Pipeline pipeline(job(2), options);
  std::vector<Stream> streams(2);
  for (int i = 0; i < 20; ++i) exchange(streams, 0, 1, i * 10'000, i % 2 ? 2000 : -3000);
  feed(pipeline, streams);
  pipeline.finish();
  const Snapshot s = pipeline.snapshot();
  CHECK(s.messages.matched == 20);
  CHECK(s.messages.clock_violations == 10);
  CHECK(s.messages.delayed <= 5);  // equal times share a bucket of the histogram with their median
  CHECK(s.criteria.at(0).count == 10);
  CHECK(s.latency.mean_ratio == Approx(1).epsilon(0.01));
  CHECK(s.regions.at(0).messages == 20);
  CHECK(std::count_if(stored.begin(), stored.end(),
                      [](const Message& m) { return m.flags & message_flag::clock_violation; }) == 10);
}

TEST_CASE("ranks on different nodes have criteria of their own") {
  Pipeline pipeline(job(3), {});
  pipeline.set_node(0, "a");
  pipeline.set_node(1, "a");
  pipeline.set_node(2, "b");
  std::vector<Stream> streams(3);
  for (int i = 0; i < 50; ++i) {
    exchange(streams, 0, 1, i * 100'000, 1000);
    exchange(streams, 0, 2, i * 100'000 + 50'000, 20'000);
  }
  feed(pipeline, streams);
  pipeline.finish();
  const Snapshot s = pipeline.snapshot();
  REQUIRE(s.criteria.size() == 2);
  CHECK_FALSE(s.criteria[0].inter_node);
  CHECK(s.criteria[0].median_s == Approx(1e-6).epsilon(0.01));
  CHECK(s.criteria[1].inter_node);
  CHECK(s.criteria[1].median_s == Approx(2e-5).epsilon(0.01));
  CHECK(s.latency.mean_ratio == Approx(1).epsilon(0.01));
  CHECK(s.application.nodes == std::vector<std::string>{"a", "b"});
  CHECK(s.ranks[2].node == 1);
}

TEST_CASE("stored messages replay into the same regions, windows and figures") {
  std::vector<Message> stored;
  std::vector<Window> windows, replayed;
  PipelineOptions options;
  options.on_messages = [&](std::span<const Message> m) { stored.insert(stored.end(), m.begin(), m.end()); };
  options.on_window = [&](const Window& w) { windows.push_back(w); };
  Pipeline live(job(9), options);
  two_groups(live, 1000 * ms);
  live.finish();
  PipelineOptions again;
  again.on_window = [&](const Window& w) { replayed.push_back(w); };
  Pipeline replay(job(9), again);
  for (std::size_t i = 0; i < stored.size(); i += 777)
    replay.add_messages(std::span(stored).subspan(i, std::min<std::size_t>(777, stored.size() - i)));
  replay.finish();
  const Snapshot a = live.snapshot(), b = replay.snapshot();
  CHECK(b.messages.matched == a.messages.matched);
  CHECK(b.messages.delayed == a.messages.delayed);
  CHECK(b.messages.bytes == a.messages.bytes);
  REQUIRE(b.regions.size() == a.regions.size());
  for (std::size_t r = 0; r < a.regions.size(); ++r) {
    CHECK(b.regions[r].ranks == a.regions[r].ranks);
    CHECK(b.regions[r].messages == a.regions[r].messages);
    CHECK(b.regions[r].delayed == a.regions[r].delayed);
    CHECK(b.regions[r].mean_latency_ratio == Approx(a.regions[r].mean_latency_ratio).epsilon(0.01));
  }
  REQUIRE(replayed.size() == windows.size());
  for (std::size_t w = 0; w < windows.size(); ++w) CHECK(replayed[w].all.messages == windows[w].all.messages);
}

TEST_CASE("region totals are those of the present regions since the job began") {
  Pipeline pipeline(job(6), {});
  std::vector<Stream> streams(6);
  std::map<std::pair<int, int>, std::uint64_t> sent;
  std::mt19937_64 random(5);
  std::int64_t t = 0;
  // First 0-1-2 and 3-4-5, then much more of 0-3, 1-4, 2-5: the regions change on the way.
  for (int step = 0; step < 3000; ++step, t += 200'000) {
    const int a = static_cast<int>(random() % 3);
    const int from = step < 500 ? a : a, to = step < 500 ? (a + 1) % 3 : a + 3;
    exchange(streams, from, to, t, 2000);
    ++sent[{from, to}];
    if (step < 500) exchange(streams, from + 3, to + 3, t + 50'000, 2000), ++sent[{from + 3, to + 3}];
    feed(pipeline, streams);
    pipeline.end_round(t);
  }
  pipeline.finish();
  const Snapshot s = pipeline.snapshot();
  CHECK(s.regions.size() == 3);
  for (const Region& r : s.regions) {
    std::uint64_t truth = 0;
    for (const auto& [pair, n] : sent)
      if (std::count(r.ranks.begin(), r.ranks.end(), pair.first) &&
          std::count(r.ranks.begin(), r.ranks.end(), pair.second))
        truth += n;
    CHECK(r.messages == truth);
    CHECK(r.history_messages.size() <= 600);
  }
}

TEST_CASE("drops are counted per rank; unless they are summarised, what follows is ambiguous") {
  Pipeline pipeline(job(2), {});
  std::vector<Stream> streams(2);
  exchange(streams, 0, 1, 1000, 500);
  feed(pipeline, streams);
  pipeline.measurement().set_dropped(1, 0);
  pipeline.end_round(2000);
  pipeline.end_round(2500);
  pipeline.measurement().set_dropped(1, 7);
  pipeline.measurement().set_dropped(1, 7);
  pipeline.measurement().set_buffer(1, {1'500'000'000, 128});
  record::Event lost{};
  lost.kind = record::EventKind::lost;  // without flag::summarised
  lost.begin = lost.end = 2600;
  lost.ordinal = 7;
  streams[1].events.push_back(lost);
  exchange(streams, 0, 1, 3000, 500);
  feed(pipeline, streams);
  pipeline.finish();
  const Snapshot s = pipeline.snapshot();
  CHECK(s.messages.dropped_events == 7);
  CHECK(s.ranks[1].dropped_events == 7);
  CHECK(s.ranks[0].dropped_events == 0);
  CHECK(s.ranks[1].held_up_s == Approx(1.5));
  CHECK(s.ranks[1].buffer_events == 128);
  CHECK(s.ranks[0].held_up_s == 0);
  CHECK(s.messages.matched == 1);
  CHECK(s.messages.ambiguous == 1);
}

TEST_CASE("a pipeline without events, ranks or sense finishes quietly") {
  for (const int ranks : {0, 1, 5}) {
    Pipeline pipeline(job(ranks), {});
    pipeline.end_round(0);
    pipeline.end_round(1'000'000'000);
    pipeline.set_node(77, "nowhere");
    pipeline.measurement().set_dropped(-3, 5);
    pipeline.measurement().set_buffer(-3, {5, 5});
    const record::Event nonsense{};
    pipeline.add(99, 0, {&nonsense, 1});
    const Message stray{};
    pipeline.add_messages({&stray, 1});
    pipeline.finish();
    pipeline.finish();
    const Snapshot s = pipeline.snapshot();
    CHECK(s.ranks.size() == static_cast<std::size_t>(ranks));
    CHECK(s.regions.empty());
    CHECK(s.messages.matched == (ranks > 0 ? 1u : 0u));
  }
}
