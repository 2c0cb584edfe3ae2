// Made-up runs of any size, for tests and benchmarks of what draws them: plausible numbers, the same for the same
// seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "analysis/values/dag.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::test {

struct FakeRun {
  std::int32_t ranks = 16;
  std::int32_t regions = 4;    // of equal size; region `slow` is late from half of the time on
  std::int32_t slow = 2;       // -1: none
  std::int32_t windows = 200;  // of 100 ms in each region's history
  std::int32_t ranks_per_node = 8;
  std::uint64_t seed = 1;
};

namespace fake {

inline constexpr double window_s = 0.1;

inline float ratio_at(const FakeRun& run, std::int32_t region, std::int32_t window, std::mt19937_64& random) {
  std::normal_distribution<float> noise(1.f, 0.05f);
  const float level = region == run.slow && window >= run.windows / 2 ? 4.f : 1.f;
  return std::max(0.1f, level * noise(random));
}

inline Region region(const FakeRun& run, std::int32_t id, std::mt19937_64& random) {
  Region made;
  made.id = id;
  const std::int32_t each = std::max(1, run.ranks / std::max(1, run.regions));
  const std::int32_t last = id + 1 == run.regions ? run.ranks : (id + 1) * each;
  for (std::int32_t rank = id * each; rank < std::min(last, run.ranks); ++rank) made.ranks.push_back(rank);
  double sum = 0;
  for (std::int32_t w = 0; w < run.windows; ++w) {
    made.history_ratio.push_back(ratio_at(run, id, w, random));
    made.history_messages.push_back(static_cast<std::uint32_t>(made.ranks.size() * (20 + random() % 5)));
    sum += made.history_ratio.back();
    made.messages += made.history_messages.back();
  }
  made.bytes = made.messages * 1024;
  made.mean_latency_ratio = run.windows > 0 ? sum / run.windows : 0;
  made.mean_transfer_ratio = 1;
  made.delayed = made.messages / (id == run.slow ? 2 : 20);
  made.delayed_share = made.messages > 0 ? static_cast<double>(made.delayed) / static_cast<double>(made.messages) : 0;
  made.late_sender_s = id == run.slow ? 2 : 0.05;
  made.transfer_s = 0.2;
  const double half = run.windows / 2 * window_s, end = run.windows * window_s;
  Period before{PeriodKind::other,
                false,
                0,
                half,
                static_cast<std::uint32_t>(run.windows / 2),
                made.messages / 2,
                made.bytes / 2,
                made.delayed / 10,
                1,
                1,
                1,
                1,
                0,
                0,
                0.1};
  Period after = before;
  after.begin_s = half;
  after.end_s = end;
  if (id == run.slow && run.windows > 40) {
    before.end_s = half - 2 * window_s;
    Period growth = before;
    growth.kind = PeriodKind::growth;
    growth.begin_s = before.end_s;
    growth.end_s = half;
    growth.windows = 2;
    growth.begin_ratio = 1;
    growth.middle_ratio = 2.5;
    growth.end_ratio = growth.mean_ratio = 4;
    after.kind = PeriodKind::steady;
    after.mean_ratio = after.begin_ratio = after.middle_ratio = after.end_ratio = 4;
    after.delayed = made.delayed * 9 / 10;
    after.open = true;
    made.periods = {before, growth, after};
  } else {
    before.end_s = end;
    made.periods = {before};
  }
  return made;
}

inline Attribution attribution(const FakeRun& run) {
  Attribution made;
  for (int i = 0; i < 60; ++i) {
    AttributionSlice slice;
    slice.begin_s = i * run.windows * window_s / 60;
    slice.length_s = run.windows * window_s / 60;
    slice.intra_messages = static_cast<std::uint64_t>(run.ranks) * 30;
    slice.inter_messages = static_cast<std::uint64_t>(run.ranks) * (i < 30 ? 10 : 25);
    slice.load_balance = i < 30 ? 0.05 : 0.4;
    slice.wait_s = i < 30 ? 0.01 : 0.3;
    slice.transfer_s = 0.1;
    made.slices.push_back(slice);
  }
  for (std::uint64_t bytes : {64ull, 1024ull, 8192ull, 65536ull}) {
    TransferLine line{bytes, bytes * 2, 1000, bytes != 8192, {}};
    for (int i = 0; i < 60; ++i)
      line.normalised.push_back(line.calm || i < 30 ? 1.f + 0.02f * static_cast<float>(i % 3)
                                                    : 3.f + 0.5f * static_cast<float>(i % 4));
    made.transfer_lines.push_back(line);
  }
  if (run.slow < 0) return made;
  Finding late;
  late.cause = Cause::late_sender;
  late.region = run.slow;
  late.ranks = {run.slow * std::max(1, run.ranks / std::max(1, run.regions)) + 1};
  late.site = 1;
  late.begin_s = run.windows / 2 * window_s;
  late.end_s = run.windows * window_s;
  late.open = true;
  late.score = 0.31;
  late.confidence = 0.9;
  late.lost_s = 12.5;
  late.detail = "computation";
  late.evidence = {"rank computed 3.1 s longer between its calls than its neighbours",
                   "93 % of the waits go back to it"};
  late.advice = "look at what this rank computes before the call; without it the period would be 2.4 s shorter";
  Finding mapping;
  mapping.cause = Cause::mapping;
  mapping.region = -1;
  mapping.begin_s = 0;
  mapping.end_s = late.end_s;
  mapping.score = 0.1;
  mapping.confidence = 0.6;
  mapping.lost_s = 3;
  mapping.evidence = {"messages between nodes 45,000, with the better placement 15,000"};
  mapping.advice = "run again with the placement of `pclscope map`";
  made.findings = {late, mapping};
  return made;
}

}  // namespace fake

inline Snapshot fake_snapshot(const FakeRun& run = {}) {
  std::mt19937_64 random(run.seed);
  Snapshot s;
  s.job = "fake-1";
  s.application.command = "./fake in.dat";
  s.application.mpi = "Open MPI v4.1.4";
  s.application.ranks = run.ranks;
  s.application.aggregators = 1;
  for (std::int32_t node = 0; node * run.ranks_per_node < run.ranks; ++node)
    s.application.nodes.push_back(std::string("n").append(std::to_string(node)));
  for (std::int32_t rank = 0; rank < run.ranks; ++rank) s.application.node_of_rank.push_back(rank / run.ranks_per_node);
  s.time_origin_realtime_ns = 1'714'566'896'789'000'000;
  s.duration_s = run.windows * fake::window_s;
  s.live.window_s = fake::window_s;
  s.live.sequence = static_cast<std::uint64_t>(run.windows);
  s.live.window_end_realtime_ns = s.time_origin_realtime_ns + static_cast<std::int64_t>(s.duration_s * 1e9);
  for (std::int32_t id = 0; id < run.regions; ++id) s.regions.push_back(fake::region(run, id, random));
  for (const Region& region : s.regions) {
    s.messages.matched += region.messages;
    s.messages.delayed += region.delayed;
    s.messages.bytes += region.bytes;
  }
  for (std::int32_t a = 0; a < run.regions && s.links.size() < 200; ++a) {
    for (const std::int32_t b : {a + 1, a + 7}) {
      if (b >= run.regions) continue;
      RegionLink link{a, b, 1000 + random() % 1000, 1 << 20, 100, 1.1, 1, 0.1, 0, 0.1};
      if (b == run.slow || a == run.slow) link.mean_latency_ratio = 2.5;
      s.links.push_back(link);
    }
  }
  for (std::int32_t rank = 0; rank < run.ranks; ++rank) {
    RankSummary summary;
    summary.rank = rank;
    summary.node = rank / run.ranks_per_node;
    summary.sends = summary.receives = 4000 + random() % 200;
    summary.mean_latency_ratio = 1 + 0.2 * static_cast<double>(random() % 5);
    s.ranks.push_back(summary);
  }
  if (run.slow >= 0 && run.slow < run.regions) {
    for (const std::int32_t rank : s.regions[static_cast<std::size_t>(run.slow)].ranks) {
      RankSummary& summary = s.ranks[static_cast<std::size_t>(rank)];
      summary.mean_latency_ratio = 4;
      summary.call_function = 12;
      summary.call_for_s = 0.8;
      summary.waits_for = {s.regions[static_cast<std::size_t>(run.slow)].ranks[0]};
    }
  }
  s.sites = {{1, "/home/u/fake", 0x1234, "exchange_halo", "solver.f90", 812, 12, ""}};
  s.attribution = fake::attribution(run);
  s.functions = {{12, 100000, 12.5, static_cast<std::uint32_t>(run.ranks / 4), std::vector<float>(20, 0.3f)}};
  return s;
}

// Rounds of random messages among `ranks`, as Algorithm 2 would give them: one node per rank and round.
inline Dag fake_dag(std::int32_t ranks, std::int32_t rounds, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Dag dag;
  dag.region = 0;
  dag.to_s = rounds * 0.01;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    dag.ranks.push_back({rank, rank / 8, static_cast<std::uint64_t>(2 * rounds),
                         static_cast<double>(random() % 200) / 100, 1 + static_cast<double>(random() % 300) / 100});
  }
  for (std::int32_t round = 0; round < rounds; ++round) {
    for (std::int32_t rank = 0; rank < ranks; ++rank)
      dag.nodes.push_back({rank, round, round * 0.01, round * 0.01 + 0.005, {}, {}});
  }
  for (std::int32_t round = 0; round + 1 < rounds; ++round) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const auto to = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(std::max(1, ranks)));
      const std::int32_t from_node = round * ranks + rank, to_node = (round + 1) * ranks + to;
      const double ratio = 0.5 + static_cast<double>(random() % 60) / 10, begin = round * 0.01 + 0.004;
      const std::uint64_t bytes = 64u << (random() % 10);
      dag.nodes[static_cast<std::size_t>(from_node)].sent.push_back(
          {to_node, to, 1, bytes, begin, 1e-5 * ratio, ratio});
      dag.nodes[static_cast<std::size_t>(to_node)].received.push_back(
          {from_node, rank, 1, bytes, begin, 1e-5 * ratio, ratio});
      dag.edges.push_back({from_node, to_node, 1, bytes, ratio});
      ++dag.messages;
    }
  }
  return dag;
}

}  // namespace pclscope::test
