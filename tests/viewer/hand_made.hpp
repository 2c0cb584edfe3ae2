// A snapshot whose every number is known, for tests of what is shown.
#pragma once

#include "analysis/snapshot.hpp"

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
  s.messages.foreign = 5;
  s.messages.half_recorded = 6;
  s.messages.events = 300000;
  s.latency = {1.5, 3.25e-6, 41.5e-6};
  Region quiet;
  quiet.id = 1;
  quiet.ranks = {0, 1, 2};
  quiet.messages = 100000;
  quiet.bytes = 1 << 20;
  quiet.delayed = 1000;
  quiet.mean_latency_ratio = 1.25;
  quiet.delayed_share = 0.01;
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

}  // namespace pclscope::test
