// The single values of a snapshot: what is no row of a table.
#pragma once

#include <string>

#include "analysis/values/snapshot.hpp"

namespace pclscope {

struct ValueInfo {
  const char* group;   // of the JSON object that has it; empty: none
  const char* prefix;  // of its name in dumps and on the wire, where all stand side by side
  const char* name;
  const char* unit;
  const char* meaning;
  std::string full_name() const { return std::string(prefix) + name; }
};

// Calls value(info, member) for each; `snapshot` is const when writing.
template <class Value, class AnySnapshot>
void describe_values(Value&& value, AnySnapshot& snapshot) {
  const auto in = [&value](const char* group, const char* prefix = "") {
    return [&value, group, prefix](const char* name, const char* unit, auto& member, const char* meaning) {
      value(ValueInfo{group, prefix, name, unit, meaning}, member);
    };
  };
  const auto application = in("application");
  application("ranks", "1", snapshot.application.ranks, "ranks of the application, without the tool's");
  application("aggregators", "1", snapshot.application.aggregators, "ranks of the tool");
  const auto time = in("time");
  time("time_origin_realtime_ns", "ns", snapshot.time_origin_realtime_ns,
       "CLOCK_REALTIME at second 0: the first rank enters MPI_Init, or a session begins");
  time("duration_s", "s", snapshot.duration_s, "from second 0 to the newest event");
  time("finished", "0 or 1", snapshot.finished, "the job ended in order and this is its last state");
  time("ended", "0 or 1", snapshot.ended, "this is its last state, however the job ended (0 in dumps before 2.6)");
  time("finalized_ranks", "1", snapshot.finalized_ranks, "ranks in MPI_Finalize");
  const auto messages = in("messages");
  auto& m = snapshot.messages;
  messages("matched", "1", m.matched, "sends paired with the receives that took them");
  messages("unmatched_sends", "1", m.unmatched_sends, "live: under way; finished: never found a partner");
  messages("unmatched_receives", "1", m.unmatched_receives, "live: under way; finished: never found a partner");
  messages("ambiguous", "1", m.ambiguous, "completed, but the pairing is not certain (after a loss, or a race)");
  messages("dropped_events", "1", m.dropped_events, "lost because a rank's buffer was full, all ranks");
  messages("bytes", "bytes", m.bytes, "payload of the matched messages");
  messages("delayed", "1", m.delayed, "matched messages with a ratio above 1, by the criteria of now");
  messages("clock_violations", "1", m.clock_violations, "received before sent, by more than the clocks' error");
  messages("clock_unclear", "1", m.clock_unclear,
           "received before sent, by no more than the error of their nodes' clocks: no latency");
  messages("foreign", "1", m.foreign, "sends to and receives from ranks outside the job's world (spawned, connected)");
  messages("half_recorded", "1", m.half_recorded,
           "only one side was recorded, the other dropped or switched off: no times");
  messages("events", "1", m.events, "events analysed");
  const auto latency = in("latency");
  latency("mean_ratio", "1", snapshot.latency.mean_ratio, "mean over matched messages; 0 without messages");
  latency("typical_ratio", "1", snapshot.latency.typical_ratio, "geometric mean over the same; 0 without messages");
  latency("median_s", "s", snapshot.latency.median_s, "of the times from start of send to completion of receive");
  latency("p99_s", "s", snapshot.latency.p99_s, "of the same times");
  const auto live = in("live");
  live("window_s", "s", snapshot.live.window_s, "length of a window");
  live("window_end_realtime_ns", "ns", snapshot.live.window_end_realtime_ns,
       "CLOCK_REALTIME until which everything is included");
  live("sequence", "1", snapshot.live.sequence, "number of the snapshot");
  const auto collectives = in("collectives", "collective_");
  collectives("operations", "1", snapshot.collectives.operations, "collective operations completed by all members");
  collectives("calls", "1", snapshot.collectives.calls, "calls of all ranks in those");
  collectives("wait_s", "s", snapshot.collectives.wait_s, "of ranks for those that came later");
  const auto delays = in("delay_totals", "delay_");
  auto& d = snapshot.delay_totals;
  delays("waits", "1", d.waits, "wait states that were followed to where they began");
  delays("waited_s", "s", d.waited_s, "in those, over all ranks");
  delays("attributed_s", "s", d.attributed_s, "of that, goes back to computation");
  delays("inside_mpi_s", "s", d.inside_mpi_s, "goes back to time inside MPI calls that was no wait: transfers");
  delays("unknown_s", "s", d.unknown_s, "out of sight: beyond the look-back, small waits");
  delays("messages_left_out", "1", d.messages_left_out, "not followed: no time for them (live)");
  const auto ideal = in("ideal", "ideal_");
  ideal("messages", "1", snapshot.ideal.messages, "replayed on a network on which nothing takes time");
  ideal("messages_left_out", "1", snapshot.ideal.messages_left_out,
        "not replayed: no time for them (live), or their ranks' calls overlap (threads)");
  in("dendrogram")("modularity", "1", snapshot.dendrogram.modularity, "of the regions");
  const auto pattern = in("pattern", "pattern_");
  auto& p = snapshot.pattern;
  pattern("from_s", "s", p.from_s, "begin of the window in which the pattern of the present regions began");
  pattern("changes", "1", p.changes, "how often the pattern of communication changed");
  pattern("modularity", "1", p.modularity, "of the present regions, on the graph of now");
  pattern("chance_modularity", "1", p.chance_modularity,
          "what random graphs with the same degrees and weights have on average; 0 not known");
  pattern("dropped_regions", "1", p.dropped_regions, "ended regions and links that are not kept: too many");
  pattern("dropped_messages", "1", p.dropped_messages, "in those");
  pattern("dropped_bytes", "bytes", p.dropped_bytes, "in those");
  const auto retention = in("retention");
  auto& r = snapshot.retention;
  retention("keep", "id", r.keep, "which messages the dump keeps: 0 summaries, 1 interesting, 2 all");
  retention("budget_bytes", "bytes", r.budget_bytes, "limit of the dump; 0: no dump");
  retention("file_bytes", "bytes", r.file_bytes, "its size now");
  retention("memory_budget_bytes", "bytes", r.memory_budget_bytes, "limit of the memory for live questions");
  retention("memory_bytes", "bytes", r.memory_bytes, "its use");
  retention("messages_stored", "1", r.messages_stored, "messages in the dump");
  retention("messages_left_out", "1", r.messages_left_out, "counted and analysed, but not in the dump");
  retention("bites_since_s", "s", r.bites_since_s, "since when the budget leaves messages out; -1: it does not");
  retention("messages_shed", "1", r.messages_shed, "of those left out: for lack of time");
  retention("shed_from_s", "s", r.shed_from_s, "begin of the first window with such messages; -1: there is none");
  retention("shed_to_s", "s", r.shed_to_s, "end of the last one; -1: there is none");
  retention("memory_from_s", "s", r.memory_from_s, "live questions reach back to here");
  const auto network = in("network", "network_");
  network("traffic_bytes", "bytes", snapshot.network.traffic_bytes, "sent between the tool's nodes so far");
  network("messages_left_out", "1", snapshot.network.messages_left_out,
          "counted and measured on their nodes, but not sent to the root (traffic budget)");
  network("collectives_left_out", "1", snapshot.network.collectives_left_out, "the same, of calls");
}

}  // namespace pclscope
