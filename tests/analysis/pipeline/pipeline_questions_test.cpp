// What a running job can be asked: graphs and clocks of the messages in memory, and stages that have a share of time.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "analysis/order/clocks.hpp"
#include "analysis/order/dag_builder.hpp"
#include "analysis/pipeline/pipeline.hpp"
#include "analysis/values/time_share.hpp"
#include "tests/analysis/match/streams.hpp"

using namespace pclscope;
using test::Stream;

namespace {

constexpr std::int64_t ms = 1'000'000;

// Two rings of four ranks; in each a token goes round once per millisecond. With `joined`, both rings are one of eight
// from half of the time on.
struct Rings {
  explicit Rings(PipelineOptions options = {}) : pipeline(application(), collect(std::move(options))) {
    for (int rank = 0; rank < 8; ++rank) pipeline.set_node(rank, rank < 4 ? "a" : "b");
  }
  static Application application() {
    Application a;
    a.ranks = 8;
    return a;
  }
  PipelineOptions collect(PipelineOptions options) {
    options.on_messages = [this](std::span<const Message> m) { stored.insert(stored.end(), m.begin(), m.end()); };
    return options;
  }
  void hop(int from, int to, std::int64_t at) {
    streams[from].now = static_cast<std::uint64_t>(at);
    streams[from].send(to, 0);
    streams[to].now = static_cast<std::uint64_t>(at + 2000);
    streams[to].receive(from, 0);
  }
  void run(std::int64_t begin, std::int64_t end, bool joined) {
    for (std::int64_t t = begin; t < end; t += ms) {
      for (int k = 0; k < 8; ++k) {
        const int a = joined ? k : k % 4 + k / 4 * 4, b = joined ? (k + 1) % 8 : (k + 1) % 4 + k / 4 * 4;
        hop(a, b, t + (joined ? k : k % 4) * 10'000);
      }
      for (std::size_t rank = 0; rank < 8; ++rank) {
        pipeline.add(static_cast<std::int32_t>(rank), 0, streams[rank].events);
        streams[rank].events.clear();
      }
      pipeline.end_round(t + ms);
    }
    pipeline.end_round(end + 200 * ms);
  }

  std::vector<Message> stored;
  std::vector<Stream> streams = std::vector<Stream>(8);
  Pipeline pipeline;
};

}  // namespace

TEST_CASE("a graph asked of a running job is that of its messages") {
  Rings rings;
  rings.run(0, 2000 * ms, false);
  const Snapshot s = rings.pipeline.snapshot();
  REQUIRE(s.regions.size() == 2);
  DagQuestion question;
  question.region = s.regions[1].id;
  question.from_ns = 500 * ms;
  question.to_ns = 700 * ms;
  const auto live = rings.pipeline.evaluation().dag(question);
  REQUIRE(live);
  CHECK(live->messages == 4 * 200);
  CHECK_FALSE(live->partial);
  question.ranks = s.regions[1].ranks;
  DagSource source;
  source.messages = rings.stored;
  source.node_of_rank = s.application.node_of_rank;
  const Dag expected = build_dag(question, source);
  REQUIRE(live->nodes.size() == expected.nodes.size());
  for (std::size_t i = 0; i < expected.nodes.size(); ++i) {
    CHECK(live->nodes[i].rank == expected.nodes[i].rank);
    CHECK(live->nodes[i].layer == expected.nodes[i].layer);
    for (const DagMessage& m : live->nodes[i].received) REQUIRE(m.ratio == Approx(1).epsilon(0.02));
  }
  question.region = 77;
  const auto nobody = rings.pipeline.evaluation().dag(question);
  REQUIRE_FALSE(nobody);
  CHECK(nobody.error().code == ErrorCode::not_found);
  DagQuestion all;
  all.from_ns = 500 * ms;
  all.to_ns = 700 * ms;
  CHECK(rings.pipeline.evaluation().dag(all)->messages == 8 * 200);
}

TEST_CASE("a graph beyond the memory says so") {
  PipelineOptions options;
  options.memory_bytes = 1'250'000;
  Rings rings(options);
  rings.run(0, 6000 * ms, false);
  const Snapshot s = rings.pipeline.snapshot();
  CHECK(s.retention.memory_bytes <= 1'250'000);
  CHECK(s.retention.memory_from_s > 1);
  const auto old = rings.pipeline.evaluation().dag({});
  REQUIRE(old);
  CHECK(old->partial);
  CHECK_FALSE(old->why_partial.empty());
  CHECK(old->messages < 8 * 6000);
  DagQuestion recent;
  recent.from_ns = static_cast<std::int64_t>(s.retention.memory_from_s * 1e9) + 1;
  CHECK_FALSE(rings.pipeline.evaluation().dag(recent)->partial);
}

TEST_CASE("clocks of a region order its messages, also after the regions have changed") {
  Rings rings;
  rings.run(0, 1000 * ms, false);
  const auto check_ring = [&](std::int64_t from, int ranks) {
    const Snapshot s = rings.pipeline.snapshot();
    const auto clocks = rings.pipeline.evaluation().clocks(s.regions[0].id);
    REQUIRE(clocks != nullptr);
    REQUIRE(clocks->ranks().size() == static_cast<std::size_t>(ranks));
    // The token's hops of one round follow each other.
    std::vector<Message> hops;
    for (const Message& m : rings.stored)
      if (m.send_begin >= from && m.send_begin < from + ms && m.source < ranks && m.destination < ranks)
        hops.push_back(m);
    std::sort(hops.begin(), hops.end(), [](const Message& a, const Message& b) { return a.send_begin < b.send_begin; });
    REQUIRE(hops.size() == static_cast<std::size_t>(ranks));
    for (std::size_t i = 0; i + 1 < hops.size(); ++i) {
      const auto received = clocks->event(hops[i], Side::receive), sent = clocks->event(hops[i + 1], Side::send);
      REQUIRE(received);
      REQUIRE(sent);
      CHECK(clocks->happened_before(*received, *sent));
      CHECK_FALSE(clocks->happened_before(*sent, *received));
    }
  };
  check_ring(400 * ms, 4);
  // Made of what is in memory, and that is all: each hop of the other ring is left out.
  const auto all = rings.pipeline.evaluation().clocks(rings.pipeline.snapshot().regions[0].id);
  CHECK(all->retained_from_ns() == INT64_MIN);
  CHECK(all->messages() == 4 * 1000);
  rings.run(2000 * ms, 9000 * ms, true);
  if (rings.pipeline.snapshot().regions.size() == 1) check_ring(8000 * ms, 8);
  CHECK(rings.pipeline.evaluation().clocks(4711) == nullptr);
}

TEST_CASE("clocks of a region reach back as far as the memory") {
  PipelineOptions options;
  options.memory_bytes = 1'250'000;
  Rings rings(options);
  rings.run(0, 6000 * ms, false);
  const Snapshot s = rings.pipeline.snapshot();
  const auto clocks = rings.pipeline.evaluation().clocks(s.regions[0].id);
  REQUIRE(clocks != nullptr);
  CHECK(static_cast<double>(clocks->retained_from_ns()) * 1e-9 >= s.retention.memory_from_s);
  CHECK(clocks->bytes() < options.memory_bytes);
  std::size_t before = 0, known = 0, unknown = 0;
  for (const Message& m : rings.stored) {
    if (m.source >= 4 && s.regions[0].ranks[0] < 4) continue;
    if (m.source < 4 && s.regions[0].ranks[0] >= 4) continue;
    const bool found = clocks->event(m, Side::receive).has_value();
    if (m.recv_end < clocks->retained_from_ns()) before += found;
    else ++(found ? known : unknown);
  }
  CHECK(before == 0);
  CHECK(known > 1000);
  CHECK(unknown == 0);
  PipelineOptions none;
  none.memory_bytes = 0;
  Rings forgetful(none);
  forgetful.run(0, 500 * ms, false);
  CHECK(forgetful.pipeline.evaluation().clocks(forgetful.pipeline.snapshot().regions[0].id) == nullptr);
}

TEST_CASE("stages that may take no time are left out and counted") {
  PipelineOptions options;
  options.delay_share = 1e-12;
  Rings rings(options);
  rings.run(0, 1000 * ms, false);
  rings.pipeline.finish();
  const Snapshot s = rings.pipeline.snapshot();
  CHECK(s.messages.matched == 8000);
  CHECK(s.delay_totals.messages_left_out > 7000);
  PipelineOptions never;
  never.delay_share = 0;
  Rings quiet(never);
  quiet.run(0, 500 * ms, false);
  quiet.pipeline.finish();
  CHECK(quiet.pipeline.snapshot().delay_totals.messages_left_out == 0);
  CHECK(quiet.pipeline.snapshot().delays.empty());
}

TEST_CASE("what an analysis leaves out that is behind is counted, and nothing else changes") {
  const auto run = [](Keep keep, Load load) {
    PipelineOptions options;
    options.keep = keep;
    auto rings = std::make_unique<Rings>(options);
    rings->run(0, 1000 * ms, false);
    rings->pipeline.evaluation().set_load(load);
    rings->run(1000 * ms, 2000 * ms, false);
    rings->pipeline.evaluation().set_load(Load::ordinary);
    rings->run(2000 * ms, 3000 * ms, false);
    rings->pipeline.finish();
    return rings;
  };
  const auto all = run(Keep::interesting, Load::ordinary), high = run(Keep::interesting, Load::high),
             shed = run(Keep::interesting, Load::too_high), everything = run(Keep::all, Load::too_high);
  const Snapshot expected = all->pipeline.snapshot();
  CHECK(expected.retention.messages_shed == 0);
  CHECK(expected.retention.shed_from_s == -1);
  CHECK(expected.delay_totals.messages_left_out == 0);
  for (const auto* rings : {&high, &shed, &everything}) {
    const Snapshot s = (*rings)->pipeline.snapshot();
    CHECK(s.messages == expected.messages);
    CHECK(s.latency == expected.latency);
    CHECK(s.ranks == expected.ranks);
    CHECK(s.delay_totals.messages_left_out >= 7'000);
    CHECK(s.delay_totals.messages_left_out <= 11'000);  // windows of the period, and those open when it began
    if (rings != &shed) CHECK(s.retention.messages_shed == 0);
    if (rings != &shed) CHECK((*rings)->stored.size() == s.messages.matched);
  }
  const Retention r = shed->pipeline.snapshot().retention;
  CHECK(r.messages_shed >= 7'000);
  CHECK(r.messages_shed <= 11'000);
  CHECK(r.messages_left_out == r.messages_shed);
  CHECK(shed->stored.size() + r.messages_shed == expected.messages.matched);
  CHECK(r.shed_from_s >= 0.7);
  CHECK(r.shed_to_s <= 2.3);
  CHECK(r.bites_since_s == -1);
  const bool inside = std::none_of(shed->stored.begin(), shed->stored.end(), [&](const Message& m) {
    return static_cast<double>(m.recv_end) * 1e-9 >= r.shed_from_s &&
           static_cast<double>(m.recv_end) * 1e-9 < r.shed_to_s;
  });
  CHECK(inside);
  // Questions about that period are not answered by halves.
  CHECK(shed->pipeline.snapshot().retention.memory_from_s >= r.shed_to_s);
}

TEST_CASE("a share of time is kept in the long run, and saved up to a limit") {
  using Clock = TimeShare::Clock;
  using std::chrono::milliseconds;
  TimeShare share(0.25, 0.5);
  Clock::time_point now{std::chrono::seconds(100)};
  milliseconds used{0};
  for (int i = 0; i < 10'000; ++i, now += milliseconds(10))
    if (share.allows(now)) {
      share.used(milliseconds(30));
      used += milliseconds(30);
    }
  CHECK(used.count() == Approx(25'000).margin(600));
  now += std::chrono::hours(1);
  int runs = 0;
  for (; share.allows(now) && runs < 1000; ++runs) share.used(milliseconds(30));
  CHECK(runs <= 500 / 30 + 1);
  TimeShare all(1);
  for (int i = 0; i < 100; ++i) {
    REQUIRE(all.allows(now));
    all.used(std::chrono::hours(1));
  }
}
