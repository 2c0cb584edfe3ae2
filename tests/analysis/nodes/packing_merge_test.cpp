// merge() against maps, and against itself in other orders.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "analysis/nodes/merge.hpp"
#include "tests/analysis/nodes/packing_values.hpp"
#include "tests/patience.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::nodes;
using namespace pclscope::nodes::test;

namespace {

// Doubles are whole numbers here, so that sums do not round and order cannot show.
LatencySums whole_sums(Random& random) {
  LatencySums s;
  s.messages = random() % 100, s.timed = random() % 100, s.bytes = random() % 1000, s.delayed = random() % 10;
  s.ratio = static_cast<double>(random() % 1000), s.transfer_ratio = static_cast<double>(random() % 1000);
  s.blocked.late_sender = static_cast<std::int64_t>(random() % 1000);
  s.blocked.late_receiver = static_cast<std::int64_t>(random() % 1000);
  s.blocked.transfer_receiver = static_cast<std::int64_t>(random() % 1000);
  s.blocked.transfer_sender = static_cast<std::int64_t>(random() % 1000);
  s.transfer_time_ns = static_cast<std::int64_t>(random() % 1000) - 500;
  return s;
}

// Few different keys, in no order and also twice in one list.
Report small_report(Random& random) {
  Report r = any_report(random, 3);
  const auto id = [&] { return static_cast<std::int32_t>(random() % 12); };
  fill_list(random, r.windows, 6, [&] {
    WindowPart w{id(), whole_sums(random), {}, random() % 5};
    fill_list(random, w.regions, 4, [&] { return RegionSums{id(), whole_sums(random)}; });
    return w;
  });
  fill_list(random, r.pairs, 20, [&] { return PairSums{id(), id(), whole_sums(random)}; });
  fill_list(random, r.times, 20, [&] {
    return TimeCount{random() % 2 != 0, random() % 2 != 0, static_cast<std::uint32_t>(id()),
                     static_cast<std::uint32_t>(id()), random() % 9};
  });
  fill_list(random, r.sites, 20, [&] {
    return SitePairSums{static_cast<std::uint32_t>(id()),
                        static_cast<std::uint32_t>(id()),
                        random() % 9,
                        random() % 9,
                        random() % 9,
                        5,
                        -7,
                        static_cast<std::int64_t>(random() % 100)};
  });
  r.worst.clear();
  for (Message m : any_messages(random, 30)) r.worst.push_back({static_cast<double>(random() % 10), m});
  fill_list(random, r.dead_nodes, 3, id);
  for (auto& s : r.ranks) s.rank = id();
  for (auto& s : r.functions) s.node = id() % 2, s.function = static_cast<std::uint16_t>(random() % 2);
  for (auto& s : r.deadlocks) s.node = id() % 3;
  for (auto& s : r.clocks) s.node = id() % 3;
  for (auto& s : r.conditions) s.node = id() % 3;
  for (auto& s : r.markers) s.node = id() % 3;
  for (auto& s : r.machines) s.node = id() % 3;
  for (auto& s : r.bindings) s.rank = id();
  return r;
}

// The sums of reports, one by one.
struct Reference {
  std::map<std::int64_t, std::tuple<LatencySums, std::uint64_t, std::map<std::int32_t, LatencySums>>> windows;
  std::map<std::pair<std::int32_t, std::int32_t>, LatencySums> pairs;
  std::map<std::tuple<bool, bool, std::uint32_t, std::uint32_t>, std::uint64_t> times;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> sites;
  std::map<std::int32_t, RankStatus> ranks;
  std::map<std::pair<std::int32_t, std::uint16_t>, FunctionStatus> functions;
  std::map<std::int32_t, NodeDeadlock> deadlocks;
  std::map<std::int32_t, NodeClock> clocks;
  std::map<std::int32_t, NodeConditions> conditions;
  std::map<std::int32_t, NodeMarkers> markers;
  std::map<std::int32_t, NodeMachine> machines;
  std::map<std::int32_t, RankBinding> bindings;
  std::set<std::int32_t> dead;
  std::multiset<double, std::greater<>> ratios;
  std::size_t places = 0, names = 0, sites_new = 0;
  std::uint64_t matched = 0, half_recorded = 0, left_out = 0, traffic = 0;
  std::int64_t newest = 0;

  void add(const Report& r) {
    for (const WindowPart& w : r.windows) {
      auto& [all, left, regions] = windows[w.begin_ns];
      all += w.all;
      left += w.messages_left_out;
      for (const RegionSums& s : w.regions) regions[s.region] += s.sums;
    }
    for (const PairSums& p : r.pairs) pairs[{p.source, p.destination}] += p.sums;
    for (const TimeCount& t : r.times) times[{t.inter_node, t.transfer, t.bin, t.bucket}] += t.count;
    for (const SitePairSums& s : r.sites) {
      auto& sums = sites[{s.send_site, s.recv_site}];
      sums.resize(6);
      const double more[] = {double(s.messages),         double(s.bytes),
                             double(s.delayed),          double(s.late_sender_ns),
                             double(s.late_receiver_ns), double(s.transfer_ns)};
      for (std::size_t i = 0; i < 6; ++i) sums[i] += more[i];
    }
    for (const RankStatus& s : r.ranks) ranks[s.rank] = s;
    for (const FunctionStatus& s : r.functions) functions[{s.node, s.function}] = s;
    for (const NodeDeadlock& s : r.deadlocks) deadlocks[s.node] = s;
    for (const NodeClock& s : r.clocks) clocks[s.node] = s;
    for (const NodeConditions& s : r.conditions) conditions[s.node] = s;
    for (const NodeMarkers& s : r.markers) markers[s.node] = s;
    for (const NodeMachine& s : r.machines) machines[s.node] = s;
    for (const RankBinding& s : r.bindings) bindings[s.rank] = s;
    dead.insert(r.dead_nodes.begin(), r.dead_nodes.end());
    for (const RatedMessage& m : r.worst) ratios.insert(m.ratio);
    places += r.places.size(), names += r.names.size(), sites_new += r.new_sites.size();
    matched += r.totals.matched, half_recorded += r.totals.half_recorded;
    left_out += r.collectives_left_out, traffic += r.traffic_bytes;
    newest = std::max(newest, r.newest_ns);
  }

  void check_sums(const Report& r) const {
    REQUIRE(r.windows.size() == windows.size());
    std::size_t i = 0;
    for (const auto& [begin, sums] : windows) {
      const WindowPart& w = r.windows[i++];
      const auto& [all, left, regions] = sums;
      REQUIRE((w.begin_ns == begin && same(w.all, all) && w.messages_left_out == left));
      REQUIRE(w.regions.size() == regions.size());
      std::size_t k = 0;
      for (const auto& [id, s] : regions) REQUIRE(same(w.regions[k++], RegionSums{id, s}));
    }
    REQUIRE(r.pairs.size() == pairs.size());
    i = 0;
    for (const auto& [key, s] : pairs) REQUIRE(same(r.pairs[i++], PairSums{key.first, key.second, s}));
    REQUIRE(r.times.size() == times.size());
    for (const TimeCount& t : r.times) REQUIRE(times.at({t.inter_node, t.transfer, t.bin, t.bucket}) == t.count);
    REQUIRE(r.sites.size() == sites.size());
    for (const SitePairSums& s : r.sites) {
      REQUIRE(sites.at({s.send_site, s.recv_site}) ==
              std::vector<double>{double(s.messages), double(s.bytes), double(s.delayed), double(s.late_sender_ns),
                                  double(s.late_receiver_ns), double(s.transfer_ns)});
    }
    REQUIRE(r.worst.size() == std::min<std::size_t>(20, ratios.size()));
    auto ratio = ratios.begin();
    for (const RatedMessage& m : r.worst) REQUIRE(m.ratio == *ratio++);
    REQUIRE(r.dead_nodes == std::vector<std::int32_t>(dead.begin(), dead.end()));
    REQUIRE((r.totals.matched == matched && r.totals.half_recorded == half_recorded));
    REQUIRE((r.collectives_left_out == left_out && r.traffic_bytes == traffic && r.newest_ns == newest));
    REQUIRE((r.places.size() == places && r.names.size() == names && r.new_sites.size() == sites_new));
  }

  void check_statuses(const Report& r) const {
    REQUIRE((r.ranks.size() == ranks.size() && r.functions.size() == functions.size()));
    REQUIRE((r.deadlocks.size() == deadlocks.size() && r.clocks.size() == clocks.size()));
    REQUIRE(r.markers.size() == markers.size());
    for (const NodeMarkers& s : r.markers) REQUIRE(same(s, markers.at(s.node)));
    REQUIRE((r.machines.size() == machines.size() && r.bindings.size() == bindings.size()));
    for (const NodeMachine& s : r.machines) REQUIRE(same(s, machines.at(s.node)));
    for (const RankBinding& s : r.bindings) REQUIRE(s == bindings.at(s.rank));
    REQUIRE(r.conditions.size() == conditions.size());
    for (const NodeConditions& s : r.conditions) REQUIRE(same(s, conditions.at(s.node)));
    for (const RankStatus& s : r.ranks) REQUIRE(same(s, ranks.at(s.rank)));
    for (const FunctionStatus& s : r.functions) REQUIRE(same(s, functions.at({s.node, s.function})));
    for (const NodeDeadlock& s : r.deadlocks) REQUIRE(same(s, deadlocks.at(s.node)));
    for (const NodeClock& s : r.clocks) REQUIRE(same(s, clocks.at(s.node)));
  }
};

}  // namespace

TEST_CASE("merging is adding, and the newest status stands") {
  const auto seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 100; ++round) {
    std::vector<Report> reports;
    Reference reference;
    for (std::uint64_t n = 1 + random() % 9; n > 0; --n) reference.add(reports.emplace_back(small_report(random)));
    Report one_by_one;
    one_by_one.closed_through_ns = 77;
    for (const Report& r : reports) merge(one_by_one, Report(r));
    reference.check_sums(one_by_one);
    reference.check_statuses(one_by_one);
    REQUIRE(one_by_one.closed_through_ns == 77);

    Report together;
    std::vector<Report> list = reports;
    merge(together, list);
    together.closed_through_ns = 77;
    REQUIRE(list.empty());
    REQUIRE(same(together, one_by_one));
  }
}

TEST_CASE("sums and the worst messages do not depend on the order of reports") {
  const auto seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 100; ++round) {
    std::vector<Report> reports;
    Reference reference;
    for (std::uint64_t n = 1 + random() % 6; n > 0; --n) reference.add(reports.emplace_back(small_report(random)));
    Report forward, backward;
    for (const Report& r : reports) merge(forward, Report(r));
    for (std::size_t i = reports.size(); i-- > 0;) merge(backward, Report(reports[i]));
    reference.check_sums(backward);
    REQUIRE(same(forward.pairs, backward.pairs));
    REQUIRE(same(forward.windows, backward.windows));
    REQUIRE(same(forward.times, backward.times));
    REQUIRE(same(forward.worst, backward.worst));
  }
}

TEST_CASE("many large reports merge in near-linear time") {
  Random random(5);
  std::vector<Report> reports(64);
  for (Report& r : reports) {
    for (int i = 0; i < 4000; ++i) {
      r.pairs.push_back({static_cast<std::int32_t>(random() % 4096), static_cast<std::int32_t>(random() % 4096), {}});
      r.pairs.back().sums.messages = 1;
    }
  }
  const double before_s = pclscope::test::core_seconds();
  Report sum;
  merge(sum, reports);
  const double seconds = pclscope::test::core_seconds() - before_s;
  WARN("256,000 pairs of 64 reports merged in " << seconds * 1e3 << " ms");
  std::uint64_t messages = 0;
  for (const PairSums& p : sum.pairs) messages += p.sums.messages;
  CHECK(messages == 64 * 4000);
  CHECK(seconds < 120);  // quadratic would be many minutes
}
