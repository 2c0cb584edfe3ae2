// The plain values that the analysis produces: what is published, stored, watched and inspected.
// Owner of a value is whoever holds it; nothing here refers into the pipeline. Units are in the names or comments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pclscope {

struct Application {
  std::string command;               // as given to `pclscope run`
  std::string mpi;                   // e.g. "Open MPI v4.1.4"
  std::int32_t ranks = 0;            // of the application
  std::int32_t aggregators = 0;
  std::vector<std::string> nodes;    // host names
  std::vector<std::int32_t> node_of_rank;  // index into nodes, -1 when the rank has not shown up
  bool operator==(const Application&) const = default;
};

// Live, the unmatched counts are messages and receives in flight; in a finished run they never found a partner.
struct MessageTotals {
  std::uint64_t matched = 0;
  std::uint64_t unmatched_sends = 0;
  std::uint64_t unmatched_receives = 0;
  std::uint64_t ambiguous = 0;        // completed, but the pairing is not certain (after a drop, a race)
  std::uint64_t dropped_events = 0;   // lost at the rings, all ranks
  std::uint64_t bytes = 0;            // of matched messages
  std::uint64_t delayed = 0;          // matched with ratio > 1
  std::uint64_t clock_violations = 0; // received before sent
  std::uint64_t foreign = 0;          // sends to and receives from ranks outside the job's world
  std::uint64_t events = 0;           // events analysed
  std::uint64_t half_recorded = 0;    // one side recorded, the other dropped or switched off: counted, no times
  bool operator==(const MessageTotals&) const = default;
};

struct LatencySummary {
  double mean_ratio = 0;  // mean of time / criterion over matched messages; 0 without messages
  double median_s = 0;
  double p99_s = 0;
  bool operator==(const LatencySummary&) const = default;
};

struct Region {
  std::int32_t id = 0;               // kept over time
  std::vector<std::int32_t> ranks;   // ascending world ranks
  // Messages inside the region (source and destination in it), since the job began.
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t delayed = 0;
  double mean_latency_ratio = 0;
  double delayed_share = 0;          // delayed / messages, 0 without messages
  // Sums in seconds over those messages.
  double late_sender_s = 0;
  double late_receiver_s = 0;
  double transfer_s = 0;
  // The newest windows, oldest first: mean ratio (0 where the window had no message) and message counts.
  std::vector<float> history_ratio;
  std::vector<std::uint32_t> history_messages;
  bool operator==(const Region&) const = default;
};

struct WorstMessage {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  std::int32_t tag = 0;
  std::uint64_t comm = 0;
  std::uint64_t bytes = 0;
  double start_s = 0;      // send began, seconds since the time origin
  double time_s = 0;
  double ratio = 0;
  double late_sender_s = 0;
  double late_receiver_s = 0;
  double transfer_s = 0;
  bool operator==(const WorstMessage&) const = default;
};

struct RankSummary {
  std::int32_t rank = 0;
  std::int32_t node = -1;
  std::uint64_t sends = 0;            // matched messages sent
  std::uint64_t receives = 0;         // matched messages received
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t collectives = 0;
  std::uint64_t dropped_events = 0;
  double mean_ratio = 0;              // of messages received
  double mpi_s = 0;                   // seconds inside recorded MPI calls
  double late_sender_s = 0;           // of messages received
  double late_receiver_s = 0;
  // Live only (in a dump: at its end): what the rank is inside now.
  std::uint16_t call_function = 0;    // 0 = outside MPI
  std::int32_t call_peer = 0;
  double call_for_s = 0;
  std::uint32_t call_site = 0;        // id in Snapshot::sites, 0 unknown
  std::uint64_t call_comm = 0;
  std::int32_t call_tag = -1;
  std::vector<std::int32_t> waits_for;  // ranks that could release it, ascending; empty when unknown
  bool waits_for_any = false;           // one of them suffices (ANY_SOURCE, Waitany); else all are needed
  bool finished = false;
  bool operator==(const RankSummary&) const = default;
};

// One latency criterion: the median time of a class of messages (reference §1).
struct Criterion {
  bool inter_node = false;
  std::uint64_t bytes_low = 0;        // the bin is [low, high)
  std::uint64_t bytes_high = 0;
  std::uint64_t count = 0;
  double median_s = 0;
  bool operator==(const Criterion&) const = default;
};

// One closed window.
struct RegionWindow {
  std::int32_t region = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t delayed = 0;
  double mean_ratio = 0;
  double late_sender_s = 0;
  double late_receiver_s = 0;
  double transfer_s = 0;
  bool operator==(const RegionWindow&) const = default;
};
struct Window {
  double begin_s = 0;   // seconds since the time origin
  double length_s = 0;
  std::vector<RegionWindow> regions;  // regions with messages in this window
  RegionWindow all;                   // every message, region = -1
  bool operator==(const Window&) const = default;
};

// One MPI function over all ranks.
struct FunctionActivity {
  std::uint16_t function = 0;         // number in functions.def
  std::uint64_t calls = 0;            // that returned
  double inside_s = 0;                // spent inside, summed over ranks (threads of a rank: every thread)
  std::uint32_t ranks_inside = 0;     // now (in a dump: at its end)
  std::vector<float> history_share;   // share of all ranks' time spent inside it, per window, oldest first; the last
                                      // windows are the same for all functions of a snapshot
  bool operator==(const FunctionActivity&) const = default;
};

// Ranks that wait for each other and for nobody else.
struct DeadlockMember {
  std::int32_t rank = 0;
  std::uint16_t function = 0;
  std::uint32_t site = 0;             // id in Snapshot::sites
  std::uint64_t comm = 0;
  std::int32_t tag = -1;
  std::vector<std::int32_t> waits_for;
  bool waits_for_any = false;
  double since_s = 0;                 // seconds since the time origin
  bool operator==(const DeadlockMember&) const = default;
};
struct Deadlock {
  double since_s = 0;                 // when its last member entered its call
  double found_s = 0;
  bool on_finished = false;           // no cycle: somebody waits for a rank that has left MPI
  std::vector<DeadlockMember> members;  // in the order of the cycle, from the lowest rank
  bool operator==(const Deadlock&) const = default;
};

// A place in the application from which MPI was called.
struct CallSite {
  std::uint32_t id = 0;               // from 1, for this run
  std::string module;                 // path of the executable or shared library
  std::uint64_t offset = 0;           // of the return address in the module's file view (its link-time address)
  std::string function;               // demangled, empty when unknown
  std::string file;                   // as in the debug information, empty without
  std::uint32_t line = 0;             // 0 without debug information
  std::uint16_t mpi_function = 0;     // called from here (functions.def), 0 unknown; in a dump only
  std::string build_id;               // of the module, hexadecimal, empty when it has none; in a dump only
  bool operator==(const CallSite&) const = default;
};

// What messages cost at one call site. A message is counted at its send's and at its receive's site.
struct SiteActivity {
  std::uint32_t site = 0;             // id in Snapshot::sites
  std::uint64_t sends = 0;            // matched messages sent from here
  std::uint64_t receives = 0;         // matched messages received (posted) here
  std::uint64_t bytes = 0;
  std::uint64_t delayed = 0;          // of both
  double late_sender_s = 0;           // receivers elsewhere waited because sends here began late
  double waited_s = 0;                // receives here waited for late senders
  double late_receiver_s = 0;         // messages waited because receives here were posted late
  double excess_s = 0;                // of messages sent or received here: sum of max(0, time - criterion)
  bool operator==(const SiteActivity&) const = default;
};

struct Live {
  double window_s = 0;                       // configured window length
  std::int64_t window_end_realtime_ns = 0;   // CLOCK_REALTIME until which everything is included
  std::uint64_t sequence = 0;                // of snapshots
  bool operator==(const Live&) const = default;
};

struct Snapshot {
  std::string job;                           // public name of the job, never the secret token
  Application application;
  std::int64_t time_origin_realtime_ns = 0;  // CLOCK_REALTIME at second 0
  double duration_s = 0;                     // from second 0 to the newest event
  bool finished = false;                     // the job ended in order; this is the last snapshot
  std::uint32_t finalized_ranks = 0;
  MessageTotals messages;
  LatencySummary latency;
  std::vector<Region> regions;
  std::vector<WorstMessage> worst;           // of the newest windows, worst ratio first
  std::vector<RankSummary> ranks;
  std::vector<Criterion> criteria;
  std::vector<FunctionActivity> functions;   // most time first
  std::vector<Deadlock> deadlocks;           // standing now (in a dump: at its end)
  std::vector<CallSite> sites;               // those that the rest refers to (in a dump: all), by id
  std::vector<SiteActivity> site_activity;   // most time lost first; live: the first 50
  Live live;
  bool operator==(const Snapshot&) const = default;
};

}  // namespace pclscope
