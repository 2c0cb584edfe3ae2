// N nodes of a simulated program over a link in memory: rings are read in random portions while the program runs on,
// nodes end their epochs when they like, and what the link brings is taken late.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "analysis/match/matcher.hpp"
#include "analysis/nodes/job_ticks.hpp"
#include "analysis/nodes/memory_link.hpp"
#include "analysis/nodes/node.hpp"
#include "analysis/values/site_key.hpp"
#include "tests/analysis/match/mpi_simulator.hpp"

namespace pclscope::test {

struct FleetOutcome {
  std::map<std::uint64_t, std::uint64_t> named;  // receive -> send
  bool twice = false;
  bool crossed = false;  // some message went from one node to another
  MatchCounts counts;    // all nodes together
  MessageTotals totals;  // as the root was told
  std::uint64_t epochs = 0;
  bool over = false;
};

class NodeFleet {
 public:
  NodeFleet(MpiSimulator& mpi, int ranks, int nodes, std::uint64_t seed)
      : mpi_(mpi), ranks_(ranks), random_(seed), links_(nodes), place_(static_cast<std::size_t>(ranks)) {
    for (int& p : place_) p = below(nodes);
    for (int i = 0; i < nodes; ++i) nodes_.push_back(std::make_unique<nodes::Node>(links_.at(i), options(i)));
    epoch_share_ = 0.02 + 0.3 * static_cast<double>(below(100)) / 100;
    late_share_ = 0.05 + 0.6 * static_cast<double>(below(100)) / 100;
    steps_ = 2 + below(12);
  }

  FleetOutcome run() {
    while (!mpi_.done()) turn();
    mpi_.finish();
    ended_ = true;
    for (int i = 0; i < 2'000'000 && !all_over(); ++i) turn();
    out_.over = all_over();
    nodes_[0]->root()->finish();
    out_.totals = nodes_[0]->root()->measured().totals;
    for (const auto& node : nodes_) add(node->measurement().matcher().counts());
    out_.epochs = links_.epochs();
    return out_;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  bool all_over() const {
    return std::all_of(nodes_.begin(), nodes_.end(), [](const auto& n) { return n->over(); });
  }

  nodes::NodeOptions options(int node) {
    nodes::NodeOptions o;
    o.application.ranks = ranks_;
    o.analysis.window_ns = 50 + static_cast<std::int64_t>(below(2000));
    o.analysis.allowance_ns = 20;
    o.analysis.memory_bytes = 0;
    o.analysis.delay_share = 0;
    o.report_every_ns = 100;
    o.sends_of_frame = 1 + static_cast<std::size_t>(below(8));
    o.site_of = [](std::int32_t, std::uint64_t address, std::uint16_t) { return static_cast<std::uint32_t>(address); };
    o.analysis.name_sites = [this, node](std::span<Message> messages) { note(node, messages); };
    return o;
  }
  void note(int node, std::span<Message> messages) {
    for (Message& m : messages) {
      const bool here = place_[static_cast<std::size_t>(m.source)] == node;
      const std::uint64_t send = here ? site_address(m.send_site) : m.send_site & ((1u << nodes::site_bits) - 1);
      out_.crossed |= !here;
      out_.twice |= !out_.named.emplace(site_address(m.recv_site), send).second;
      m.recv_site = site_address(m.recv_site);
      m.send_site = send;
    }
  }

  void turn() {
    const int who = below(static_cast<int>(nodes_.size()));
    nodes::Node& node = *nodes_[static_cast<std::size_t>(who)];
    for (int i = 1 + below(4); i > 0 && chance(late_share_); --i) {
      nodes::LinkEvent event;
      if (!links_.at(who).next(event)) break;
      node.take(std::move(event));
    }
    if (!node.over() && node.epoch_open() && chance(epoch_share_)) return end_epoch(who, node);
    if (mpi_.rings().empty() || node.over()) return;
    Ring& ring = mpi_.rings()[static_cast<std::size_t>(below(static_cast<int>(mpi_.rings().size())))];
    if (place_[static_cast<std::size_t>(ring.rank)] == who) {
      const std::size_t there = ring.events.size() - ring.read;
      read(node, ring, there == 0 ? 0 : static_cast<std::size_t>(below(static_cast<int>(there) + 1)));
    }
    if (chance(0.3)) node.pair();
    go_on();
  }
  void go_on() {
    for (int n = below(steps_); n > 0 && !ended_; --n) mpi_.step();
  }

  // All rings to their heads, then the headers; the program runs on in between.
  void end_epoch(int who, nodes::Node& node) {
    const bool open = !ended_;
    const std::int64_t until = newest_;
    for (Ring& ring : mpi_.rings()) {
      if (place_[static_cast<std::size_t>(ring.rank)] != who) continue;
      read(node, ring, ring.events.size() - ring.read);
      if (chance(0.2)) node.pair();
      go_on();
    }
    for (int rank = 0; rank < ranks_; ++rank)
      if (place_[static_cast<std::size_t>(rank)] == who) read_header(node, rank);
    go_on();
    node.end_epoch(until, open);
  }
  void read_header(nodes::Node& node, int rank) {
    std::uint64_t dropped = 0;
    bool muted = false;
    for (const Ring& ring : mpi_.rings()) {
      if (ring.rank != rank) continue;
      dropped += ring.dropped_total;
      muted = muted || ring.muted;
    }
    node.rank_here(rank, mpi_.several_threads());
    node.measurement().set_dropped(rank, dropped);
    node.measurement().set_muted(rank, muted);
  }
  void read(nodes::Node& node, Ring& ring, std::size_t count) {
    node.rank_here(ring.rank, mpi_.several_threads());
    std::vector<record::Event> events(ring.events.begin() + static_cast<std::ptrdiff_t>(ring.read),
                                      ring.events.begin() + static_cast<std::ptrdiff_t>(ring.read + count));
    ring.read += count;
    for (record::Event& e : events) {
      // Unrecorded messages have counters in place of times.
      if (e.kind == record::EventKind::unrecorded_sends || e.kind == record::EventKind::unrecorded_receives) continue;
      newest_ = std::max(newest_, static_cast<std::int64_t>(e.end));
      e.begin = nodes::job_ticks(static_cast<std::int64_t>(e.begin));
      e.end = nodes::job_ticks(static_cast<std::int64_t>(e.end));
    }
    node.add(ring.rank, static_cast<std::uint32_t>(ring.thread), events, 0);
  }
  void add(const MatchCounts& c) {
    out_.counts.matched += c.matched;
    out_.counts.ambiguous += c.ambiguous;
    out_.counts.half_recorded += c.half_recorded;
    out_.counts.unrecorded += c.unrecorded;
    out_.counts.unmatched_sends += c.unmatched_sends;
    out_.counts.unmatched_receives += c.unmatched_receives;
    out_.counts.foreign += c.foreign;
  }

  MpiSimulator& mpi_;
  int ranks_;
  std::mt19937_64 random_;
  FleetOutcome out_;
  nodes::MemoryLinks links_;
  std::vector<int> place_;
  std::vector<std::unique_ptr<nodes::Node>> nodes_;
  double epoch_share_ = 0, late_share_ = 0;
  int steps_ = 1;
  std::int64_t newest_ = 0;
  bool ended_ = false;
};

}  // namespace pclscope::test
