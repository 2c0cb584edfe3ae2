// A snapshot whose every number is known, for tests of what is shown.
#pragma once

#include "analysis/values/snapshot.hpp"

namespace pclscope::test {

inline Snapshot hand_made_snapshot() {
  Snapshot s;
  s.job = "heat-4711";
  s.application.command = "./heat input.txt";
  s.application.mpi = "Open MPI v4.1.4";
  s.application.ranks = 6;
  s.application.aggregators = 1;
  s.application.nodes = {"n1", "n2"};
  s.application.node_of_rank = {0, 0, 0, 1, 1, 1};
  s.time_origin_realtime_ns = 1'714'566'896'789'000'000;  // 2024-05-01T12:34:56.789Z
  s.duration_s = 12.5;
  s.messages.matched = 123456;
  s.messages.unmatched_sends = 3;
  s.messages.unmatched_receives = 1;
  s.messages.ambiguous = 2;
  s.messages.dropped_events = 7;
  s.messages.bytes = 8u << 20;
  s.messages.delayed = 30864;
  s.messages.clock_violations = 4;
  s.messages.clock_unclear = 8;
  s.messages.foreign = 5;
  s.messages.half_recorded = 6;
  s.messages.events = 300000;
  s.latency = {1.5, 3.25e-6, 41.5e-6, 1.25};
  Region quiet;
  quiet.id = 1;
  quiet.ranks = {0, 1, 2};
  quiet.messages = 100000;
  quiet.bytes = 1 << 20;
  quiet.delayed = 1000;
  quiet.mean_latency_ratio = 1.25;
  quiet.delayed_share = 0.01;
  quiet.typical_ratio = 1.125;
  quiet.late_sender_s = 1;
  quiet.late_receiver_s = 1;
  quiet.transfer_s = 2;
  quiet.history_ratio = {1, 1, 2, 0};
  quiet.history_messages = {10, 10, 10, 0};
  Region late = quiet;
  late.id = 7;
  late.ranks = {3, 4, 5};
  late.mean_latency_ratio = 9.75;
  late.delayed_share = 0.5;
  late.typical_ratio = 8.5;
  late.history_ratio = {1, 8, 10, 12};
  late.history_messages = {10, 10, 10, 10};
  s.regions = {quiet, late};
  WorstMessage worst;
  worst.source = 4;
  worst.destination = 5;
  worst.tag = 17;
  worst.bytes = 8192;
  worst.start_s = 12.25;
  worst.time_s = 1.5e-3;
  worst.ratio = 41;
  worst.transfer_s = 1.5e-3;
  s.worst = {worst};
  for (int rank = 0; rank < 6; ++rank) {
    RankSummary r;
    r.rank = rank;
    r.node = rank / 3;
    r.sends = 10;
    r.call_function = rank < 3 ? 0 : 305;
    s.ranks.push_back(r);
  }
  s.criteria = {{false, 0, 50, 1000, 2e-6}, {false, 50, 100, 10, 4e-6}, {true, 0, 50, 5, 1e-4}};
  s.live.window_s = 0.1;
  s.live.window_end_realtime_ns = s.time_origin_realtime_ns + 12'500'000'000;
  s.live.sequence = 42;
  return s;
}

// The same with everything that happens over time: region 7 grows, its link to region 1 is worse than both, rank 5 came
// late, and the budget bites.
inline Snapshot eventful_snapshot() {
  Snapshot s = hand_made_snapshot();
  Region& late = s.regions[1];
  late.mean_transfer_ratio = 2.5;
  late.collective_wait_s = 0.75;
  late.periods = {{PeriodKind::steady, false, 0.1, 2.5, 24, 5000, 4096, 2500, 4, 4.1, 3.9, 4.2, 0.5, 0.25, 0.25, 3.75},
                  {PeriodKind::growth, true, 12.25, 12.5, 3, 900, 2048, 800, 10, 8, 10, 12, 0.25, 0.25, 0.5}};
  s.regions[0].periods = {{PeriodKind::other, true, 0, 12.5, 120, 100000, 1 << 20, 1000, 1.25, 1, 1, 2, 1, 1, 2}};
  s.links = {{1, 7, 600, 6000, 300, 11.5, 10.5, 0.5, 0.25, 1.5}, {1, 8, 500, 5000, 0, 0.5, 0.5, 0, 0, 0.125}};
  s.collectives = {1000, 6000, 3.5};
  s.delays = {{5, 1, 3, 40, 3.25, 1.25, 0.5, 0.125, 1.5, 12.25, {4, 3}, {2.0, 1.25}},
              {0, 0, 0, 2, 0.5, 0.5, 0, 0.25, 2.5, 3.5, {}, {}}};
  s.retention = {Keep::interesting, 2'000'000, 1'900'000, 64'000'000, 1'000'000, 100, 23456, 3.5, 0, -1, -1, 2.25};
  s.network = {4096, 9, 1, {1}, {{1, 12, -2.5, 3.25e-6, 2.1e-6}}, {}, {}};
  s.ranks[5].delay_caused_s = 3.25;
  s.ranks[4].collective_wait_s = 0.5;
  s.criteria[0].transfer_median_s = 1e-6;
  if (s.sites.empty()) {
    s.sites = {{1, "/opt/app", 0x1000, "exchange", "/src/halo.cpp", 42, 328, ""},
               {3, "/opt/app", 0x1002, "solve", "/src/halo.cpp", 37, 328, ""}};
  }
  return s;
}

}  // namespace pclscope::test
