// What the aggregators of a job's nodes tell each other. Plain values; packing.hpp makes bytes of them.
//
//   - sends, from a node to the receiver's: what its ranks send there (and what became of it), to be matched there;
//   - reports, from a node to its parent in the tree and on to the root: sums, merged on the way;
//   - raw, from a node to the root: matched messages and collectives' events, as far as the traffic budget goes;
//   - newest calls, from a node to the root, while somebody asks for them and as far as the traffic budget goes;
//   - orders, from the root to its children and on: where ranks are, criteria, regions, budgets.
//
// Times are on the job's axis (ns since the time origin of the root). Sites are ids of the node that saw them, made
// unique by site_of_node(); the root turns them into ids of the job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/values/buffer_use.hpp"
#include "analysis/values/call_density.hpp"
#include "analysis/values/latency_sums.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/mpi_call.hpp"
#include "analysis/values/rank_wait.hpp"
#include "analysis/values/sender_state.hpp"
#include "analysis/values/snapshot.hpp"
#include "interpose/record/event.hpp"

namespace pclscope::nodes {

// 12 bits of node, 20 of its own id (SiteTable::most_sites); 0, unknown, beyond.
inline constexpr unsigned site_bits = 20;
constexpr std::uint32_t site_of_node(int node, std::uint64_t site) {
  return site == 0 || site >> site_bits != 0 || node < 0 || node >= 1 << (32 - site_bits)
             ? 0
             : static_cast<std::uint32_t>(node) << site_bits | static_cast<std::uint32_t>(site);
}

// --- sends ---

// Event::site is an id (site_of_node), begin and end are ticks of the job's axis.
struct RankEvent {
  std::int32_t rank = 0;
  std::uint8_t thread = 0;
  record::Event event;
};
struct SendRecords {
  std::uint32_t clock_error_ns = 0;  // bounds the error of the sending node's times
  // Of each rank in its order: send, send_cancel_request, send_cancelled, send_not_cancelled, unrecorded_sends.
  std::vector<RankEvent> events;
  std::vector<SenderState> senders;  // as of after the sends, at the epoch's end; only what changed
};

// --- reports ---

using pclscope::RegionSums;
// Of one closed window, of a node or of a subtree.
struct WindowPart {
  std::int64_t begin_ns = 0;
  LatencySums all;
  std::vector<RegionSums> regions;      // messages inside regions, ascending id
  std::uint64_t messages_left_out = 0;  // not sent raw
};
struct PairSums {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  LatencySums sums;  // without ratios: they follow from PairTimes
};
// Of one class and size bin (size_bins.hpp) of a pair's messages: those with a latency.
struct PairTimes {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  bool inter_node = false;
  std::uint32_t bin = 0;
  std::uint64_t timed = 0;
  std::int64_t time_ns = 0, transfer_ns = 0;
  std::int64_t log = 0;  // PairTable::TimeSums
};
// `count` messages of a class and size bin (size_bins.hpp) whose time, or transfer, lies in a bucket of LogHistogram.
struct TimeCount {
  bool inter_node = false;
  bool transfer = false;
  std::uint32_t bin = 0;
  std::uint32_t bucket = 0;
  std::uint64_t count = 0;
};
struct SitePairSums {
  std::uint32_t send_site = 0;
  std::uint32_t recv_site = 0;
  std::uint64_t messages = 0, bytes = 0, delayed = 0;
  std::int64_t late_sender_ns = 0, late_receiver_ns = 0, transfer_ns = 0;
};
struct RatedMessage {
  double ratio = 0;
  Message message;
};
// A rank that has shown up.
struct RankPlace {
  std::int32_t rank = 0;
  std::int32_t node = 0;  // aggregator
};
struct NodeName {
  std::int32_t node = 0;
  std::string name;
  std::string mpi;
};
// What a rank did so far, and is inside now; the newest stands.
struct RankStatus {
  std::int32_t rank = 0;
  std::uint64_t collectives = 0;
  std::uint64_t dropped_events = 0;
  BufferUse buffer;
  std::int64_t mpi_ns = 0;   // sums over threads: inside MPI, and of that in one-sided synchronisation and MPI-IO
  std::int64_t init_ns = 0;  // in MPI_Init; not in mpi_ns, no more than MPI_Finalize
  std::int64_t before_init_ns = -1;  // its process was at work when it called MPI_Init (own_time.hpp); -1 not known
  std::int64_t one_sided_ns = 0;
  std::int64_t file_ns = 0;
  std::uint32_t threads = 0;  // that left events
  bool finalized = false;
  std::int64_t begin_ns = -1;  // job's axis, as RankSummary::begin_s and end_s; -1: not known
  std::int64_t end_ns = -1;
  std::uint16_t function = 0;  // as RankSummary::call_*
  std::int32_t peer = 0;
  std::int32_t tag = -1;
  std::uint64_t comm = 0;
  std::uint32_t site = 0;
  std::int64_t inside_ns = 0;
  std::vector<std::int32_t> waits_for;
  bool waits_for_any = false;
  CoreTimes cores;
  std::int64_t cores_until_ns = 0;  // `cores` are as of then; 0: nothing is known of them
  std::int64_t read_until_ns = 0;  // before it nothing is missing, of its record and of its node's part in the results;
                                   // INT64_MAX: nothing ever
  RankWait wait;
};
// The calls from one site of one node; the newest of each stands.
struct SiteStatus {
  std::uint32_t site = 0;  // site_of_node
  std::uint64_t calls = 0;
  double inside_s = 0;
  bool operator==(const SiteStatus&) const = default;
};
// One MPI function on one node or a subtree; the newest of each node stands.
struct FunctionStatus {
  std::int32_t node = 0;
  std::uint16_t function = 0;
  std::uint64_t calls = 0;
  double inside_s = 0;
  std::uint32_t ranks_inside = 0;
  std::vector<float> history_share;  // of all the job's ranks, newest windows, the last one being `last_window`
  std::int64_t last_window = 0;
};
struct NodeSite {
  std::uint32_t id = 0;  // site_of_node
  CallSite site;         // its id is not used
};
struct NodeDeadlock {
  std::int32_t node = 0;
  std::vector<Deadlock> standing;  // all of that node now
};
struct NodeConditions {
  std::int32_t node = 0;
  std::vector<Condition> list;  // all of that node so far
};
// What the aggregator's machine is inside. Told once.
struct NodeMachine {
  std::int32_t node = 0;  // aggregator
  Machine machine;
};
struct NodeMarkers {
  std::int32_t node = 0;
  std::vector<Marker> list;  // all of that node so far
};
// A node's clock, for the store.
struct NodeClock {
  std::int32_t node = 0;
  std::int64_t at_ns = 0;  // job's axis
  double offset_ns = 0;    // local axis + offset = job's axis
  double drift = 0;
  double error_ns = 0;
};

// What a node's clock, re-estimated when all was over, adds to the times that were handed out for it.
struct NodeCorrection {
  std::int32_t node = 0;
  std::int64_t at_ns = 0;  // job's axis, as handed out
  double correction_ns = 0;
  double error_ns = 0;
};

// Sums since the last report, so that merging is adding; statuses replace older ones.
struct Report {
  // All windows that begin before it are in this report or an earlier one. INT64_MIN: this is no report of a subtree,
  // but names, places and sites on their way straight to the root.
  std::int64_t closed_through_ns = 0;
  std::vector<WindowPart> windows;  // ascending begin_ns
  MessageTotals totals;
  std::uint64_t collectives_left_out = 0;  // events that are not sent raw
  std::uint64_t traffic_bytes = 0;         // sent to other nodes by the aggregators
  std::vector<PairSums> pairs;
  std::vector<PairTimes> pair_times;
  std::vector<TimeCount> times;
  std::vector<SitePairSums> sites;
  CallDensity density;
  std::vector<RatedMessage> worst;  // at most 20, worst first
  std::int64_t newest_ns = 0;       // newest event (the largest stands)
  std::vector<RankPlace> places;
  std::vector<NodeName> names;
  std::vector<RankStatus> ranks;
  std::vector<FunctionStatus> functions;
  std::vector<SiteStatus> site_times;
  std::vector<NodeSite> new_sites;
  std::vector<NodeDeadlock> deadlocks;
  std::vector<NodeConditions> conditions;
  std::vector<NodeMachine> machines;
  std::vector<RankBinding> bindings;  // that are new or have changed; the newest of each rank stands
  std::vector<NodeMarkers> markers;
  std::vector<NodeClock> clocks;
  std::vector<NodeCorrection> corrections;
  std::vector<std::int32_t> dead_nodes;
};

// Adds `more` (another subtree's, or a later one of the same) to `report`. closed_through_ns is left alone.
void merge(Report& report, Report&& more);

// --- raw messages ---

struct RawMessages {
  std::int32_t node = 0;
  std::int64_t window_ns = 0;          // messages: begin of their window
  std::vector<Message> messages;       // in the order in which they were matched
  std::vector<RankEvent> collectives;  // collective, comm_created, comm_freed events of the node's ranks, in ring order
  std::vector<MpiCall> calls;          // of the node's ranks, by rank, thread, begin; sites as site_of_node()
  std::uint64_t calls_left_out = 0;    // with `calls` only: so far, for lack of traffic budget, room or time
  std::uint64_t calls_shed = 0;        // of those: for lack of time
};

// --- orders ---

struct Orders {
  std::uint64_t version = 0;                 // of these orders: older ones are not to be applied after newer ones
  std::vector<std::int32_t> node_of_rank;    // empty: no news; -1: a rank that has not shown up
  std::vector<std::int32_t> region_of_rank;  // empty: no news; ids, -1: in no region
  std::vector<Criterion> criteria;           // empty: no news
  std::uint64_t raw_bytes_per_s = 0;         // for each node
  bool calls = false;                        // somebody asks for the newest single calls
};

// --- the newest single calls ---

// Those that returned since the node's last frame; without any it tells its counts.
struct NewestOfNode {
  std::int32_t node = 0;
  std::int64_t whole_from_ns =
      INT64_MAX;               // those that returned from then on are all told, or left out; INT64_MAX: not known yet
  std::uint64_t left_out = 0;  // since the node keeps calls
  std::vector<MpiCall> calls;  // sites: site_of_node
};

}  // namespace pclscope::nodes
