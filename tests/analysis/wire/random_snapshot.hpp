// Snapshots with every field set to something, reproducible from a seed.
#pragma once

#include <cmath>
#include <random>
#include <string>

#include "analysis/values/snapshot.hpp"

namespace pclscope::testing {

class RandomSnapshot {
 public:
  explicit RandomSnapshot(std::uint64_t seed, std::uint64_t most_ranks = 300)
      : random_(seed), most_ranks_(most_ranks) {}

  Snapshot make() {
    Snapshot s;
    s.job = text(20);
    const int ranks = static_cast<int>(below(most_ranks_));
    const int nodes = 1 + static_cast<int>(below(9));
    s.application = {text(200), text(30), ranks, 1, {}, {}};
    for (int n = 0; n < nodes; n++) s.application.nodes.push_back(text(40));
    for (int r = 0; r < ranks; r++) s.application.node_of_rank.push_back(node(nodes));
    s.time_origin_realtime_ns = static_cast<std::int64_t>(random_() >> 1);
    s.duration_s = real();
    s.finished = below(2);
    s.ended = below(2);
    s.finalized_ranks = static_cast<std::uint32_t>(random_());
    s.messages = {count(), count(), count(), count(), count(), count(),
                  count(), count(), count(), count(), count(), count()};
    s.latency = {real(), real(), real()};
    for (std::uint64_t i = below(3 + most_ranks_ / 15); i > 0; i--) s.regions.push_back(region());
    for (std::uint64_t i = below(4); i > 0; i--) s.ended_regions.push_back(region());
    s.pattern = {real(), static_cast<std::uint32_t>(random_()), real(), real(), count(), count(), count()};
    for (std::uint64_t i = below(20); i > 0; i--) s.worst.push_back(worst());
    for (int r = 0; r < ranks; r++) s.ranks.push_back(rank(r, nodes));
    for (std::uint64_t i = below(50); i > 0; i--)
      s.criteria.push_back({below(2) == 1, count(), count(), count(), real(), real()});
    for (std::uint64_t i = below(12); i > 0; i--) s.functions.push_back(function());
    for (std::uint64_t i = below(3); i > 0; i--) s.deadlocks.push_back(deadlock());
    for (std::uint64_t i = below(30); i > 0; i--) s.sites.push_back(site());
    for (std::uint64_t i = below(50); i > 0; i--)
      s.site_activity.push_back({id(), count(), count(), count(), count(), real(), real(), real(), real()});
    for (std::uint64_t i = below(20); i > 0; i--) s.links.push_back(link());
    s.collectives = {count(), count(), real()};
    s.ideal = {count(), count()};
    s.delay_totals = {count(), real(), real(), real(), real(), count()};
    for (std::uint64_t i = below(20); i > 0; i--) s.delays.push_back(delay());
    s.retention = {static_cast<Keep>(below(3)),
                   count(),
                   count(),
                   count(),
                   count(),
                   count(),
                   count(),
                   real(),
                   count(),
                   real(),
                   real(),
                   real()};
    s.live = {real(), static_cast<std::int64_t>(random_()), count()};
    s.network.traffic_bytes = count(), s.network.messages_left_out = count(), s.network.collectives_left_out = count();
    for (std::uint64_t i = below(3); i > 0; i--) s.network.dead_nodes.push_back(existing(nodes));
    for (std::uint64_t i = below(4); i > 0; i--)
      s.network.clocks.push_back({existing(nodes), real(), real(), real(), real()});
    for (std::uint64_t i = below(6); i > 0; i--)
      s.network.links.push_back({existing(nodes), existing(nodes), count(), count(), count(), real(), real(), real(),
                                 real(), real(), real(), count(), real(), real(), real()});
    s.attribution = attribution(nodes);
    for (std::uint64_t i = below(6); i > 0; i--) s.conditions.push_back(condition(nodes));
    s.found = found(nodes, s.application.ranks);
    for (std::uint64_t i = below(6); i > 0; i--) s.markers.push_back(marker());
    for (std::uint64_t i = below(300); i > 0; i--) s.call_density.push_back(static_cast<std::uint8_t>(random_()));
    return s;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::uint64_t count() { return random_() >> below(64); }
  std::int32_t number() { return static_cast<std::int32_t>(random_()); }
  double real() { return std::ldexp(static_cast<double>(random_()), static_cast<int>(below(80)) - 90); }
  std::int32_t node(int nodes) { return static_cast<std::int32_t>(below(static_cast<std::uint64_t>(nodes) + 1)) - 1; }

  std::int32_t existing(int nodes) { return static_cast<std::int32_t>(below(static_cast<std::uint64_t>(nodes))); }

  std::string text(std::uint64_t longest) {
    std::string s;
    for (std::uint64_t i = below(longest + 1); i > 0; i--) s += static_cast<char>('!' + below(90));
    return s;
  }

  Region region() {
    Region r;
    r.id = number(), r.parent = number();
    r.from_s = real(), r.until_s = real();
    std::int32_t next = 0;
    for (std::uint64_t i = below(100); i > 0; i--)
      r.ranks.push_back(next += 1 + static_cast<int>(below(3) / 2 * below(9)));
    r.messages = count(), r.bytes = count(), r.delayed = count();
    r.mean_latency_ratio = real(), r.delayed_share = real();
    r.late_sender_s = real(), r.late_receiver_s = real(), r.transfer_s = real();
    for (std::uint64_t i = below(60); i > 0; i--) {
      r.history_ratio.push_back(static_cast<float>(below(1000)) / 7);
      r.history_messages.push_back(static_cast<std::uint32_t>(random_()));
    }
    r.mean_transfer_ratio = real(), r.collective_wait_s = real();
    for (std::uint64_t i = below(33); i > 0; i--) r.periods.push_back(period());
    return r;
  }

  Attribution attribution(int nodes) {
    Attribution a;
    for (std::uint64_t i = below(5); i > 0; i--) {
      Finding f;
      f.cause = static_cast<Cause>(below(8));
      f.region = static_cast<std::int32_t>(below(9)) - 1;
      f.ranks = ranks(64);
      f.site = id();
      for (std::uint64_t pairs = below(3); pairs > 0; pairs--)
        f.nodes.insert(f.nodes.end(), {existing(nodes), existing(nodes)});
      for (std::uint64_t periods = below(3); periods > 0; periods--) f.periods.push_back({real(), real(), real()});
      f.begin_s = real(), f.end_s = real(), f.open = below(2) == 1, f.score = real();
      f.confidence = static_cast<double>(below(1001)) / 1000, f.lost_s = real();
      f.detail = text(20), f.advice = text(80);
      for (std::uint64_t sentences = below(5); sentences > 0; sentences--) f.evidence.push_back(text(100).append("."));
      a.findings.push_back(f);
    }
    for (std::uint64_t i = below(1 + most_ranks_ / 4); i > 0; i--)
      a.slices.push_back({real(), real(), count(), count(), real(), real(), real(), real(), real(), real()});
    for (std::uint64_t i = below(5); i > 0; i--) {
      TransferLine line{count(), count(), count(), below(2) == 1, {}};
      for (std::size_t slice = 0; slice < a.slices.size(); slice++)
        line.normalised.push_back(static_cast<float>(below(1000)) / 8);
      a.transfer_lines.push_back(line);
    }
    return a;
  }

  Period period() {
    return {static_cast<PeriodKind>(below(3)),
            below(2) == 1,
            real(),
            real(),
            id(),
            count(),
            count(),
            count(),
            real(),
            real(),
            real(),
            real(),
            real(),
            real(),
            real()};
  }

  RegionLink link() { return {number(), number(), count(), count(), count(), real(), real(), real(), real(), real()}; }

  DelayOrigin delay() {
    DelayOrigin d{number(), id(), id(), count(), real(), real(), real(), real(), real(), real(), {}, {}, real()};
    for (std::uint64_t i = below(9); i > 0; i--) {
      d.victims.push_back(number());
      d.victim_s.push_back(real());
    }
    return d;
  }

  WorstMessage worst() {
    return {number(), number(), number(), count(), count(), real(), real(), real(), real(), real(), real()};
  }

  std::uint32_t id() { return static_cast<std::uint32_t>(random_()); }
  std::vector<std::int32_t> ranks(std::uint64_t most) {
    std::vector<std::int32_t> list;
    std::int32_t next = 0;
    for (std::uint64_t i = below(most); i > 0; i--)
      list.push_back(next += 1 + static_cast<int>(below(3) / 2 * below(9)));
    return list;
  }

  FunctionActivity function() {
    FunctionActivity f{static_cast<std::uint16_t>(random_()), count(), real(), id(), {}};
    for (std::uint64_t i = below(60); i > 0; i--) f.history_share.push_back(static_cast<float>(below(1000)) / 999);
    return f;
  }

  Deadlock deadlock() {
    Deadlock d{real(), real(), below(2) == 1, {}};
    for (std::uint64_t i = below(9); i > 0; i--)
      d.members.push_back(
          {number(), static_cast<std::uint16_t>(random_()), id(), count(), number(), ranks(5), below(2) == 1, real()});
    return d;
  }

  CallSite site() {
    CallSite made = {id(),     text(90), count(), text(40), text(80), id(), static_cast<std::uint16_t>(random_()),
                     text(40), 0};
    if (made.id > 0) made.caller = id() % made.id;
    return made;
  }

  RankSummary rank(int r, int nodes) {
    return {r,
            node(nodes),
            count(),
            count(),
            count(),
            count(),
            count(),
            count(),
            count(),
            real(),
            real(),
            id(),
            real(),
            real(),
            real(),
            real(),
            real(),
            real(),
            real(),
            real(),
            real(),
            real(),
            real(),
            static_cast<std::uint16_t>(random_()),
            number(),
            real(),
            id(),
            count(),
            number(),
            ranks(9),
            below(2) == 1,
            below(2) == 1,
            below(2) == 1,
            real(),
            real(),
            real(),
            real(),
            real(),
            real(),
            real(),
            real(),
            real(),
            real()};
  }

  FoundMachines found(int nodes, std::int32_t ranks) {
    FoundMachines made;
    for (std::uint64_t i = below(3); i > 0; i--)
      for (std::uint64_t t = 1 + below(5), at = made.machines.size(); t > 0; t--) {
        made.machines.resize(at + 1);
        const auto number = [&] { return static_cast<std::int32_t>(below(9)) - 1; };
        made.machines[at].threads.push_back(
            {static_cast<std::int32_t>(below(65'536)), number(), number(), number(), number(), number()});
      }
    for (int n = 0; n < nodes && !made.machines.empty(); n++)
      made.of_node.push_back(static_cast<std::int32_t>(below(made.machines.size() + 1)) - 1);
    for (std::int32_t rank = 0; rank < ranks; rank++) {
      if (below(2) == 0) continue;
      RankBinding& binding = made.bindings.emplace_back();
      binding.rank = rank;
      binding.changes = static_cast<std::uint32_t>(below(5));
      for (std::int32_t from = 0; below(3) != 0; from += 9) binding.ranges.push_back({from, from + 4});
    }
    return made;
  }
  Condition condition(int nodes) {
    const auto hit = ranks(64);
    return {static_cast<ConditionKind>(below(4)),
            node(nodes),
            id(),
            hit,
            number(),
            id(),
            real(),
            real(),
            below(2) == 1,
            real(),
            real(),
            real(),
            real(),
            real(),
            real(),
            real(),
            id(),
            text(60)};
  }

  Marker marker() {
    return {text(60), id(),     number(), number(), id(),   real(), real(), count(),  count(),
            number(), number(), count(),  real(),   real(), real(), real(), number(), below(2) == 1};
  }

  std::mt19937_64 random_;
  std::uint64_t most_ranks_;
};

}  // namespace pclscope::testing
