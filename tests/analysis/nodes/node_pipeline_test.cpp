// The same events through one pipeline and through several nodes: the same numbers. And what is left when nodes die.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <tuple>

#include "analysis/nodes/job_ticks.hpp"
#include "analysis/nodes/memory_link.hpp"
#include "analysis/nodes/node.hpp"
#include "benchmarks/replay/patterns.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using benchmark::Trace;

namespace {

constexpr std::int64_t window_ns = 1'000'000;

struct Numbers {
  std::vector<Message> messages;
  std::vector<MpiCall> calls;
  Evaluation::CallsLeftOut calls_left_out;
  std::map<std::int64_t, std::uint64_t> windows;  // messages by begin, ns
  Snapshot snapshot;
};

void note(Numbers& result, PipelineOptions& options) {
  options.window_ns = window_ns;
  options.allowance_ns = 200'000;
  options.delay_share = 0;
  options.clustering_share = 1e-9;  // at first and at the end, whatever the machine does meanwhile
  options.on_messages = [&](std::span<const Message> m) {
    result.messages.insert(result.messages.end(), m.begin(), m.end());
  };
  options.on_mpi_calls = [&](std::span<const MpiCall> c) {
    result.calls.insert(result.calls.end(), c.begin(), c.end());
  };
  options.on_window = [&](const Window& w) {
    if (w.all.messages > 0) result.windows[std::llround(w.begin_s * 1e9)] += w.all.messages;
  };
}

Application job(int ranks) {
  Application application;
  application.ranks = ranks;
  return application;
}

void to_job(Trace& trace) {
  for (auto& events : trace.events)
    for (record::Event& e : events) {
      e.begin = nodes::job_ticks(static_cast<std::int64_t>(e.begin));
      e.end = nodes::job_ticks(static_cast<std::int64_t>(e.end));
    }
}

void by_time(std::vector<Message>& messages) {
  for (Message& m : messages) m.send_site = m.recv_site = 0;
  std::sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
    return std::tie(a.send_begin, a.source, a.destination, a.recv_end, a.tag) <
           std::tie(b.send_begin, b.source, b.destination, b.recv_end, b.tag);
  });
}

void by_time(std::vector<MpiCall>& calls) {
  for (MpiCall& c : calls) c.site = 0;
  std::sort(calls.begin(), calls.end(), [](const MpiCall& a, const MpiCall& b) {
    return std::tie(a.rank, a.thread, a.begin, a.end, a.function) <
           std::tie(b.rank, b.thread, b.begin, b.end, b.function);
  });
}

Numbers one_pipeline(Trace trace, int repeats, const std::vector<int>& place, const std::vector<Criterion>& baseline) {
  Numbers result;
  PipelineOptions options;
  note(result, options);
  options.baseline = baseline;
  const int ranks = static_cast<int>(trace.events.size());
  Pipeline pipeline(job(ranks), options);
  pipeline.set_tick_scale(nodes::job_scale());
  for (int rank = 0; rank < ranks; ++rank)
    pipeline.set_node(rank, std::to_string(place[static_cast<std::size_t>(rank)]));
  to_job(trace);
  for (int i = 1; i <= repeats; ++i) {
    for (int rank = 0; rank < ranks; ++rank) pipeline.add(rank, 0, trace.events[static_cast<std::size_t>(rank)]);
    pipeline.end_round(static_cast<std::int64_t>(trace.ticks) * i);
    trace.advance();
  }
  pipeline.finish();
  result.snapshot = pipeline.snapshot();
  by_time(result.calls);
  by_time(result.messages);
  return result;
}

class Fleet {
 public:
  Fleet(Trace trace, std::vector<int> place, int count, const std::vector<Criterion>& baseline, bool everything,
        int per_host = 1, bool time_for_calls = true)
      : trace_(std::move(trace)), place_(std::move(place)), links_(count, per_host) {
    to_job(trace_);
    for (int i = 0; i < count; ++i) {
      nodes::NodeOptions options;
      note(result, options.analysis);
      options.application = job(static_cast<int>(place_.size()));
      options.analysis.baseline = baseline;
      options.everything = everything;
      if (!time_for_calls) {
        options.analysis.keep = Keep::interesting;
        options.analysis.calls_share = 0;
      }
      if (!everything) options.root.raw_bytes_per_s = 1;
      options.report_every_ns = window_ns;
      nodes.push_back(std::make_unique<nodes::Node>(links_.at(i), std::move(options)));
    }
  }
  void repeat(std::uint32_t clock_error_ns = 0) {
    for (std::size_t rank = 0; rank < place_.size(); ++rank) {
      nodes::Node& node = *nodes[static_cast<std::size_t>(place_[rank])];
      if (!links_.alive(place_[rank])) continue;
      node.rank_here(static_cast<std::int32_t>(rank), false);
      node.add(static_cast<std::int32_t>(rank), 0, trace_.events[rank], clock_error_ns);
    }
    now_ += static_cast<std::int64_t>(trace_.ticks);
    trace_.advance();
    epoch(true);
  }
  void epoch(bool open) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!links_.alive(static_cast<int>(i)) || nodes[i]->over() || !nodes[i]->epoch_open()) continue;
      nodes[i]->end_epoch(now_, open);
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes::LinkEvent event;
      while (links_.alive(static_cast<int>(i)) && links_.at(static_cast<int>(i)).next(event))
        nodes[i]->take(std::move(event));
    }
  }
  void kill(int node) { links_.kill(node); }
  bool finish() {
    for (int i = 0; i < 40; ++i) epoch(false);
    nodes[0]->root()->finish();
    result.snapshot = nodes[0]->root()->evaluation().snapshot();
    nodes[0]->root()->fill(result.snapshot);
    by_time(result.messages);
    by_time(result.calls);
    result.calls_left_out = nodes[0]->root()->evaluation().calls_left_out();
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (links_.alive(static_cast<int>(i)) && !nodes[i]->over()) return false;
    return true;
  }
  Numbers result;
  std::vector<std::unique_ptr<nodes::Node>> nodes;

 private:
  Trace trace_;
  std::vector<int> place_;
  nodes::MemoryLinks links_;
  std::int64_t now_ = 0;
};

std::vector<int> random_places(std::size_t ranks, int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int> place(ranks);
  for (int& p : place) p = static_cast<int>(random() % static_cast<std::uint64_t>(count));
  return place;
}

std::set<std::vector<std::int32_t>> partition(const Snapshot& s) {
  std::set<std::vector<std::int32_t>> regions;
  for (const Region& region : s.regions) regions.insert(region.ranks);
  return regions;
}

// Exact also where one pipeline counts a message in the window after (it closes its windows by the clock alone).
std::map<std::int64_t, std::uint64_t> by_completion(const std::vector<Message>& messages) {
  std::map<std::int64_t, std::uint64_t> windows;
  for (const Message& m : messages) ++windows[m.recv_end / window_ns * window_ns];
  return windows;
}

void same_numbers(const Numbers& one, const Numbers& many, std::size_t ranks) {
  const MessageTotals &a = one.snapshot.messages, &b = many.snapshot.messages;
  CHECK(a.matched == b.matched);
  CHECK(a.bytes == b.bytes);
  CHECK(a.delayed == b.delayed);
  CHECK(a.events == b.events);
  CHECK(a.unmatched_sends == b.unmatched_sends);
  CHECK(a.ambiguous == b.ambiguous);
  CHECK(one.messages.size() == a.matched);
  CHECK((one.messages == many.messages));  // too many to print
  CHECK(one.calls.size() > one.messages.size());
  CHECK((one.calls == many.calls));
  CHECK(many.calls_left_out.all == 0);
  CHECK((many.windows == by_completion(one.messages)));
  // A ring's regions may be turned: its partitions of equal quality.
  if (many.snapshot.regions.size() == 2 && ranks == 8)
    CHECK(one.snapshot.regions[0].ranks.size() == many.snapshot.regions[0].ranks.size());
  else CHECK(partition(one.snapshot) == partition(many.snapshot));
  CHECK(one.snapshot.latency.median_s == many.snapshot.latency.median_s);
  CHECK(one.snapshot.latency.mean_ratio == Approx(many.snapshot.latency.mean_ratio));
  CHECK(one.snapshot.collectives.calls == many.snapshot.collectives.calls);
  CHECK(one.snapshot.collectives.wait_s == Approx(many.snapshot.collectives.wait_s));
  CHECK(one.snapshot.criteria == many.snapshot.criteria);
  CHECK(many.snapshot.network.messages_left_out == 0);
  const bool in_time = one.windows == by_completion(one.messages);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const RankSummary &x = one.snapshot.ranks[rank], &y = many.snapshot.ranks[rank];
    REQUIRE(x.sends == y.sends);
    REQUIRE(x.receives == y.receives);
    REQUIRE(x.bytes_sent == y.bytes_sent);
    // What was matched too late for its window counts as other time.
    REQUIRE(x.late_sender_s <= y.late_sender_s * (1 + 1e-9) + 1e-9);
    if (in_time) {
      REQUIRE(x.late_sender_s == Approx(y.late_sender_s));
      REQUIRE(x.late_receiver_s == Approx(y.late_receiver_s));
      REQUIRE(x.transfer_s == Approx(y.transfer_s));
    }
    REQUIRE(x.mean_latency_ratio == Approx(y.mean_latency_ratio));
  }
}

}  // namespace

TEST_CASE("the numbers of several nodes are those of one") {
  const int times = test::thinned(40, 5);
  for (const Trace& trace : {benchmark::halo(50), benchmark::cg(30), benchmark::master_worker(100)})
    for (const int count : {1, 3, 6}) {
      const std::size_t ranks = trace.events.size();
      const std::vector<int> place = random_places(ranks, count, static_cast<std::uint64_t>(count) * 17);
      INFO(trace.name << " on " << count << " nodes, seed " << count * 17);
      const std::vector<Criterion> baseline = one_pipeline(trace, 5, place, {}).snapshot.criteria;
      const Numbers one = one_pipeline(trace, times, place, baseline);
      Fleet fleet(trace, place, count, baseline, true);
      for (int i = 0; i < times; ++i) fleet.repeat();
      REQUIRE(fleet.finish());
      same_numbers(one, fleet.result, ranks);
    }
}

TEST_CASE("several aggregators on a machine say of it what one does") {
  for (const Trace& trace : {benchmark::halo(50), benchmark::cg(30), benchmark::master_worker(100)}) {
    const auto [count, per_host] = std::pair(6, 3);
    const std::size_t ranks = trace.events.size();
    const std::vector<int> place = random_places(ranks, count, 29);
    std::vector<int> host = place;
    for (int& h : host) h /= per_host;
    const std::vector<Criterion> baseline = one_pipeline(trace, 5, host, {}).snapshot.criteria;
    const Numbers one = one_pipeline(trace, 10, host, baseline);
    Fleet fleet(trace, place, count, baseline, true, per_host);
    for (int i = 0; i < 10; ++i) fleet.repeat(7);
    REQUIRE(fleet.finish());
    const Snapshot& s = fleet.result.snapshot;
    CHECK(s.application.nodes.size() == 2);
    CHECK(s.application.aggregators == count);
    CHECK(s.application.node_of_rank == std::vector<std::int32_t>(host.begin(), host.end()));
    bool clocks_right = true;  // two clocks between machines, one within
    for (Message& m : fleet.result.messages) {
      const bool between = host[static_cast<std::size_t>(m.source)] != host[static_cast<std::size_t>(m.destination)];
      clocks_right = clocks_right && m.clock_error_ns == (between ? 14u : 0u) &&
                     ((m.flags & message_flag::inter_node) != 0) == between;
      m.clock_error_ns = 0;  // one pipeline has one clock
    }
    CHECK(clocks_right);
    same_numbers(one, fleet.result, ranks);
  }
}

TEST_CASE("an aggregator of several of a machine dies: the machine is told of, once") {
  const Trace trace = benchmark::halo(50);
  Fleet fleet(trace, {0, 0, 1, 1, 2, 2, 3, 3}, 4, {}, true, 2);
  for (int i = 0; i < 4; ++i) fleet.repeat();
  fleet.kill(2);
  for (int i = 0; i < 4; ++i) fleet.repeat();
  fleet.kill(3);
  for (int i = 0; i < 4; ++i) fleet.repeat();
  REQUIRE(fleet.finish());
  CHECK(fleet.result.snapshot.network.dead_nodes == std::vector<std::int32_t>{1});
}

TEST_CASE("with next to no budget for messages the sums stay exact, and what is left out is counted") {
  const Trace trace = benchmark::halo(50);
  const std::vector<int> place = random_places(8, 4, 3);
  const Numbers one = one_pipeline(trace, 40, place, {});
  Fleet fleet(trace, place, 4, {}, false);
  for (int i = 0; i < 40; ++i) fleet.repeat();
  REQUIRE(fleet.finish());
  const Snapshot& s = fleet.result.snapshot;
  CHECK(s.messages.matched == one.snapshot.messages.matched);
  CHECK(s.messages.bytes == one.snapshot.messages.bytes);
  CHECK(s.network.messages_left_out > 0);
  CHECK(fleet.result.messages.size() + s.network.messages_left_out == s.messages.matched);
  CHECK(fleet.result.calls_left_out.all > 0);
  CHECK(fleet.result.calls_left_out.shed == 0);
  CHECK(fleet.result.calls.size() + fleet.result.calls_left_out.all == one.calls.size());
  CHECK(s.latency.median_s == one.snapshot.latency.median_s);
  CHECK(s.latency.mean_ratio == Approx(one.snapshot.latency.mean_ratio).epsilon(1e-9));
}

TEST_CASE("nodes without time for single calls count those that they do not send, and measure all else") {
  const Trace trace = benchmark::halo(50);
  const std::vector<int> place = random_places(8, 4, 3);
  const Numbers one = one_pipeline(trace, 40, place, {});
  Fleet fleet(trace, place, 4, {}, true, 1, false);
  for (int i = 0; i < 40; ++i) fleet.repeat();
  REQUIRE(fleet.finish());
  const Numbers& many = fleet.result;
  CHECK(many.snapshot.messages.matched == one.snapshot.messages.matched);
  CHECK(many.snapshot.latency.median_s == one.snapshot.latency.median_s);
  CHECK(many.calls.size() + many.calls_left_out.all == one.calls.size());
  // But for what was read before a node looked at its time.
  CHECK(many.calls_left_out.shed >= one.calls.size() / 40 * 38);
}

TEST_CASE("an inner node of the tree dies: its children are adopted, messages among the others stay exact") {
  const Trace trace = benchmark::cg(30);
  std::vector<int> place;
  for (int rank = 0; rank < 16; ++rank) place.push_back(rank % 12);  // 12 nodes: 9, 10 and 11 are below node 1
  Fleet fleet(trace, place, 12, {}, true);
  for (int i = 0; i < 10; ++i) fleet.repeat();
  fleet.kill(1);
  for (int i = 0; i < 20; ++i) fleet.repeat();
  REQUIRE(fleet.finish());
  const Snapshot& s = fleet.result.snapshot;
  CHECK(s.network.dead_nodes == std::vector<std::int32_t>{1});
  const std::uint64_t all = trace.messages * 30;
  const auto dead = [&](std::int32_t rank) { return place[static_cast<std::size_t>(rank)] == 1; };
  const Numbers one = one_pipeline(trace, 30, place, {});
  std::uint64_t alive = 0, found = 0;
  for (const Message& m : one.messages) alive += !dead(m.source) && !dead(m.destination);
  for (const auto& node : fleet.nodes)
    found += node.get() == fleet.nodes[1].get() ? 0 : node->measured().totals.matched;
  CHECK(found >= alive);
  CHECK(s.messages.half_recorded > 0);
  CHECK(s.messages.matched + s.messages.half_recorded + s.messages.ambiguous <= all);
}

TEST_CASE("received before sent between nodes: unclear within both clocks' errors, else a violation") {
  Trace trace("two", 2);
  for (int i = 0; i < 2; ++i) {
    record::Event e{};
    e.comm = 1;
    e.bytes = 8;
    e.kind = record::EventKind::send;
    e.ordinal = static_cast<std::uint64_t>(i);
    e.begin = 10'000;
    e.end = 10'010;
    e.peer = 1;
    trace.events[0].push_back(e);
    e.kind = record::EventKind::recv_done;
    e.begin = 9'000;
    e.end = i == 0 ? 9'960u : 9'930u;  // 40 and 70 ns too early
    e.peer = 0;
    trace.events[1].push_back(e);
  }
  trace.ticks = 1'000'000;
  for (const std::uint32_t error : {0u, 25u, 50u}) {
    Fleet fleet(trace, {0, 1}, 2, {}, true);
    fleet.repeat(error);
    REQUIRE(fleet.finish());
    const MessageTotals& totals = fleet.result.snapshot.messages;
    CHECK(totals.matched == 2);
    CHECK(totals.clock_unclear == error / 25);
    CHECK(totals.clock_violations == 2 - error / 25);
    for (const Message& m : fleet.result.messages) CHECK(m.clock_error_ns == 2 * error);
  }
}

TEST_CASE("the root's death ends everything quietly") {
  const Trace trace = benchmark::halo(20);
  Fleet fleet(trace, random_places(8, 5, 9), 5, {}, true);
  for (int i = 0; i < 5; ++i) fleet.repeat();
  fleet.kill(0);
  for (int i = 0; i < 3; ++i) fleet.repeat();
  for (std::size_t i = 1; i < fleet.nodes.size(); ++i) {
    CHECK(fleet.nodes[i]->over());
    CHECK(fleet.nodes[i]->root_died());
  }
}
