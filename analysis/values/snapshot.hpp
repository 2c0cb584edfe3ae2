// The plain values that the analysis produces: what is published, stored, watched and inspected.
// Owner of a value is whoever holds it; nothing here refers into the pipeline. Units are in the names or comments.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/values/attribution.hpp"
#include "analysis/values/conditions.hpp"
#include "analysis/values/machine.hpp"
#include "analysis/values/marker.hpp"
#include "analysis/values/network.hpp"
#include "analysis/values/wait_state_sum.hpp"

namespace pclscope {

struct Application {
  std::string command;     // as given to `pclscope run`
  std::string mpi;         // e.g. "Open MPI v4.1.4"
  std::int32_t ranks = 0;  // of the application
  std::int32_t aggregators = 0;
  std::vector<std::string> nodes;          // host names
  std::vector<std::int32_t> node_of_rank;  // index into nodes, -1 when the rank has not shown up
  bool operator==(const Application&) const = default;
};

// Live, the unmatched counts are messages and receives in flight; in a finished run they never found a partner.
struct MessageTotals {
  std::uint64_t matched = 0;
  std::uint64_t unmatched_sends = 0;
  std::uint64_t unmatched_receives = 0;
  std::uint64_t ambiguous = 0;         // completed, but the pairing is not certain (after a drop, a race)
  std::uint64_t dropped_events = 0;    // lost at the rings, all ranks
  std::uint64_t bytes = 0;             // of matched messages
  std::uint64_t delayed = 0;           // matched with ratio > 1, by the criteria of now
  std::uint64_t clock_violations = 0;  // received before sent
  std::uint64_t foreign = 0;           // sends to and receives from ranks outside the job's world
  std::uint64_t events = 0;            // events analysed
  std::uint64_t clock_unclear = 0;  // received before sent, by less than the error of their nodes' clocks: no latency
  std::uint64_t half_recorded = 0;  // one side recorded, the other dropped or switched off: counted, no times
  bool operator==(const MessageTotals&) const = default;
  MessageTotals& operator+=(const MessageTotals& more) {
    for (const auto field : fields) this->*field += more.*field;
    return *this;
  }
  // What was added since `before`, an earlier state of the same totals.
  MessageTotals since(const MessageTotals& before) const {
    MessageTotals difference = *this;
    for (const auto field : fields) difference.*field -= before.*field;
    return difference;
  }
  static const std::array<std::uint64_t MessageTotals::*, 12> fields;
};

inline constexpr std::array<std::uint64_t MessageTotals::*, 12> MessageTotals::fields{
    &MessageTotals::matched,   &MessageTotals::unmatched_sends,  &MessageTotals::unmatched_receives,
    &MessageTotals::ambiguous, &MessageTotals::dropped_events,   &MessageTotals::bytes,
    &MessageTotals::delayed,   &MessageTotals::clock_violations, &MessageTotals::foreign,
    &MessageTotals::events,    &MessageTotals::clock_unclear,    &MessageTotals::half_recorded};
static_assert(sizeof(MessageTotals) == sizeof(std::uint64_t) * MessageTotals::fields.size(),
              "a field is not in the list");

struct LatencySummary {
  double mean_ratio = 0;  // mean of time / criterion over matched messages; 0 without messages
  double median_s = 0;
  double p99_s = 0;
  double typical_ratio = 0;  // geometric mean of the ratios
  bool operator==(const LatencySummary&) const = default;
};

// A part of a region's evolution (analysis/window/evolution.hpp has the definitions and their parameters).
enum class PeriodKind : std::uint8_t {
  other = 0,
  growth = 1,  // the typical ratio rises, and goes on rising
  steady = 2,  // it stays above the region's average, with little variation
};
struct Period {
  PeriodKind kind = PeriodKind::other;
  bool open = false;          // it may still go on
  double begin_s = 0;         // seconds since the time origin: begin of its first window
  double end_s = 0;           // end of its last window
  std::uint32_t windows = 0;  // with messages
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t delayed = 0;
  double mean_ratio = 0;   // over its messages
  double begin_ratio = 0;  // typical ratio of its first, middle and last window with messages
  double middle_ratio = 0;
  double end_ratio = 0;
  double late_sender_s = 0;  // blocked time (analysis/values/blocked_time.hpp), rank-seconds
  double late_receiver_s = 0;
  double transfer_s = 0;     // exposed
  double typical_ratio = 0;  // geometric mean over its messages; 0 not known (older dumps)
  double level() const { return typical_ratio > 0 ? typical_ratio : mean_ratio; }
  bool operator==(const Period&) const = default;
};

// Ranks that talked to each other more than to others, during an interval. A number never changes its ranks; of one
// rank the intervals of its regions do not overlap. All sums are of the interval.
struct Region {
  std::int32_t id = 0;              // never used for other ranks
  std::vector<std::int32_t> ranks;  // ascending world ranks
  double from_s = 0;                // begin of the window in which its pattern began, since the time origin
  double until_s = -1;              // begin of the window in which another pattern began; -1: it goes on
  std::int32_t parent = -1;         // the ended region it has most ranks of; -1 none
  // Messages inside the region (source and destination in it).
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t delayed = 0;
  double mean_latency_ratio = 0;
  double mean_transfer_ratio = 0;  // of the transfer alone, to the criterion of transfers
  double delayed_share = 0;        // delayed / messages, 0 without messages
  // Blocked time (analysis/values/blocked_time.hpp) because of those messages, rank-seconds.
  double late_sender_s = 0;
  double late_receiver_s = 0;
  double transfer_s = 0;  // exposed
  // The newest windows, oldest first: typical ratio (0 where the window had no message) and message counts.
  std::vector<float> history_ratio;
  std::vector<std::uint32_t> history_messages;
  double collective_wait_s = 0;  // of its ranks in collectives
  double typical_ratio = 0;      // geometric mean of the messages' latency ratios
  std::vector<Period> periods;   // oldest first; live the newest 32
  double level() const { return typical_ratio > 0 ? typical_ratio : mean_latency_ratio; }
  bool operator==(const Region&) const = default;
};

// Messages between two regions, both directions, while both existed. `b` -1: ranks without a region (none now).
struct RegionLink {
  std::int32_t a = 0;  // ids, a < b
  std::int32_t b = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t delayed = 0;
  double mean_latency_ratio = 0;
  double mean_transfer_ratio = 0;
  double late_sender_s = 0;  // blocked time (analysis/values/blocked_time.hpp), rank-seconds
  double late_receiver_s = 0;
  double transfer_s = 0;     // exposed
  double typical_ratio = 0;  // geometric mean of the messages' latency ratios
  double level() const { return typical_ratio > 0 ? typical_ratio : mean_latency_ratio; }
  bool operator==(const RegionLink&) const = default;
};

// The pattern of communication that the present regions are made of (analysis/region/pattern_watch.hpp).
struct Pattern {
  double from_s = 0;          // begin of the window in which it began, since the time origin
  std::uint32_t changes = 0;  // of the pattern, so far
  double modularity = 0;      // of the present regions, on the graph of now
  double chance_modularity =
      0;  // what random graphs with the same degrees have on average (analysis/region/chance.hpp)
  // Ended regions and links between them beyond those that are kept, and what was inside them.
  std::uint64_t dropped_regions = 0;
  std::uint64_t dropped_messages = 0;
  std::uint64_t dropped_bytes = 0;
  bool operator==(const Pattern&) const = default;
};

// How the regions were found, so that another cut can be made. A forest: one tree per connected component.
struct DendrogramMerge {
  std::int32_t left = 0;  // leaves are 0..leaves-1, merge k makes cluster leaves + k
  std::int32_t right = 0;
  double height = 0;  // distance (method correlation: the negative correlation)
  bool operator==(const DendrogramMerge&) const = default;
};
struct Dendrogram {
  std::string method;                      // "free-energy", "paper", "correlation"; empty: none
  std::vector<std::int32_t> leaf_of_rank;  // -1: in no region
  std::vector<DendrogramMerge> merges;     // ascending height
  double modularity = 0;                   // of the regions
  bool operator==(const Dendrogram&) const = default;
};

struct WorstMessage {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  std::int32_t tag = 0;
  std::uint64_t comm = 0;
  std::uint64_t bytes = 0;
  double start_s = 0;  // send began, seconds since the time origin
  double time_s = 0;
  double ratio = 0;
  double late_sender_s = 0;  // BlockedSpan
  double late_receiver_s = 0;
  double transfer_s = 0;
  double overlapped_s = 0;
  bool operator==(const WorstMessage&) const = default;
};

struct RankSummary {
  std::int32_t rank = 0;
  std::int32_t node = -1;
  std::uint64_t sends = 0;     // matched messages sent
  std::uint64_t receives = 0;  // matched messages received
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t collectives = 0;
  std::uint64_t dropped_events = 0;
  std::uint64_t buffer_events = 0;  // that its largest buffer holds now
  double held_up_s = 0;             // by the tool: its threads waited for room in full buffers
  double mean_latency_ratio = 0;    // of messages received
  // That left events, those that call MPI in turn as one: the sums below are sums over them.
  std::uint32_t threads = 0;
  // Inside recorded MPI calls. The nine below are its parts: each second of a thread in one of them.
  double mpi_s = 0;
  double init_s = 0;             // in MPI_Init
  double finalize_s = 0;         // in MPI_Finalize, until the last rank has entered it (before that: so far)
  double late_sender_s = 0;      // blocked: the send that it waited for had not begun
  double late_receiver_s = 0;    // blocked in sends: the receive was not posted
  double transfer_s = 0;         // blocked afterwards: transfers that nothing hid
  double collective_wait_s = 0;  // in collectives, for those that came later
  double one_sided_s = 0;        // in synchronisation of windows
  double file_s = 0;             // in MPI-IO
  double other_s = 0;            // the rest: MPI's own work, and waits that are not told apart
  double delay_caused_s = 0;     // that computation here cost all other ranks (DelayOrigin)
  // Live only (in a dump: at its end): what the rank is inside now.
  std::uint16_t call_function = 0;  // 0 = outside MPI
  std::int32_t call_peer = 0;
  double call_for_s = 0;
  std::uint32_t call_site = 0;  // id in Snapshot::sites, 0 unknown
  std::uint64_t call_comm = 0;
  std::int32_t call_tag = -1;
  std::vector<std::int32_t> waits_for;  // ranks that could release it, ascending; empty when unknown
  bool waits_for_any = false;           // one of them suffices (ANY_SOURCE, Waitany); else all are needed
  bool finished = false;
  bool missing = false;       // not all of its record was read (in a dump, and in a job's last snapshot)
  double missing_from_s = 0;  // then: from here on, seconds since the time origin; 0: from the beginning
  double typical_ratio = 0;   // geometric mean of the latency ratios of messages received
  // Of its main thread, of the time that was observed (CoreTimes); all 0: not known.
  double running_s = 0;
  double off_core_s = 0;            // runnable, but not running
  double off_core_computing_s = 0;  // of that, outside MPI, and between which two it is known to be
  double off_core_computing_least_s = 0, off_core_computing_most_s = 0;  // (older dumps: 0, not known)
  double asleep_s = 0;
  double other_load = 0;  // share of the time of the cores that it may use, used by others than the job
  // For efficiencies (analysis/efficiency/). Seconds since the time origin; -1: not known (not there yet, older dumps).
  double begin_s = -1;       // MPI_Init had returned; attached later: its first recorded call began
  double end_s = -1;         // MPI_Finalize began; before that: its newest recorded call returned
  double ideal_saved_s = 0;  // a network on which nothing takes time would have brought it there so much earlier
  double level() const { return typical_ratio > 0 ? typical_ratio : mean_latency_ratio; }
  bool operator==(const RankSummary&) const = default;
  void set_cores(const CoreTimes& cores) {
    running_s = static_cast<double>(cores.running_ns) * 1e-9;
    off_core_s = static_cast<double>(cores.off_core_ns) * 1e-9;
    off_core_computing_s = static_cast<double>(cores.off_computing_ns) * 1e-9;
    off_core_computing_least_s = static_cast<double>(cores.off_computing_least_ns) * 1e-9;
    off_core_computing_most_s = static_cast<double>(cores.off_computing_most_ns) * 1e-9;
    asleep_s = static_cast<double>(cores.asleep_ns()) * 1e-9;
    other_load = cores.other_load;
  }
  // Of mpi_s: between MPI_Init and MPI_Finalize, in which a rank works and waits more than once.
  double mpi_between_s() const { return mpi_s - init_s - finalize_s; }
  // mpi_s was that between MPI_Init and MPI_Finalize. The parts are sums of times rounded to ns: it may be a little
  // less than they are together.
  void set_other() {
    const double known = late_sender_s + late_receiver_s + transfer_s + collective_wait_s + one_sided_s + file_s;
    const double between = mpi_s > known ? mpi_s : known;
    other_s = between - known;
    mpi_s = between + init_s + finalize_s;
  }
  // Nothing is missing before `until_ns`; INT64_MAX: nothing at all.
  void mark_missing(std::int64_t until_ns) {
    missing = until_ns != INT64_MAX;
    missing_from_s = missing && until_ns > 0 ? static_cast<double>(until_ns) * 1e-9 : 0;
  }
};

// One latency criterion: the median time of a class of messages (reference §1).
struct Criterion {
  bool inter_node = false;
  std::uint64_t bytes_low = 0;  // the bin is [low, high)
  std::uint64_t bytes_high = 0;
  std::uint64_t count = 0;
  double median_s = 0;
  double transfer_median_s = 0;  // of the transfer part alone; 0: not known (older dumps)
  double criterion_s = 0;  // what times are compared with: the median, or a neighbour's, or a baseline's; 0: not known
  double transfer_criterion_s = 0;
  bool operator==(const Criterion&) const = default;
};

// One closed window.
struct RegionWindow {
  std::int32_t region = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t delayed = 0;
  double mean_ratio = 0;
  double late_sender_s = 0;  // blocked time (analysis/values/blocked_time.hpp), rank-seconds
  double late_receiver_s = 0;
  double transfer_s = 0;  // exposed
  double mean_transfer_ratio = 0;
  double typical_ratio = 0;  // geometric mean; 0 without messages, or not known (older dumps)
  // What evolutions go by.
  double level() const { return typical_ratio > 0 ? typical_ratio : mean_ratio; }
  bool operator==(const RegionWindow&) const = default;
};
struct Window {
  double begin_s = 0;  // seconds since the time origin
  double length_s = 0;
  std::vector<RegionWindow> regions;  // regions with messages in this window
  RegionWindow all;                   // every message, region = -1
  std::uint64_t shed = 0;             // of them: for lack of time neither stored nor kept for questions
  bool operator==(const Window&) const = default;
};

// One MPI function over all ranks.
struct FunctionActivity {
  std::uint16_t function = 0;        // number in functions.def
  std::uint64_t calls = 0;           // that returned
  double inside_s = 0;               // spent inside, summed over ranks (threads of a rank: every thread)
  std::uint32_t ranks_inside = 0;    // now (in a dump: at its end)
  std::vector<float> history_share;  // share of all ranks' time spent inside it, per window, oldest first; the last
                                     // windows are the same for all functions of a snapshot
  bool operator==(const FunctionActivity&) const = default;
};

// Ranks that wait for each other and for nobody else.
struct DeadlockMember {
  std::int32_t rank = 0;
  std::uint16_t function = 0;
  std::uint32_t site = 0;  // id in Snapshot::sites
  std::uint64_t comm = 0;
  std::int32_t tag = -1;
  std::vector<std::int32_t> waits_for;
  bool waits_for_any = false;
  double since_s = 0;        // seconds since the time origin
  std::uint16_t called = 0;  // the collective that it called where other members of the communicator called another
                             // one, which cannot match; it may be through with it. 0: it is not that
  bool operator==(const DeadlockMember&) const = default;
};
struct Deadlock {
  double since_s = 0;  // when its last member entered its call
  double found_s = 0;
  bool on_finished = false;             // no cycle: somebody waits for a rank that has left MPI
  std::vector<DeadlockMember> members;  // in the order of the cycle, from the lowest rank
  bool operator==(const Deadlock&) const = default;
};

// A place in the application from which MPI was called, or a function that did so, on one call path: sites with the
// same callers are one. Callers stand in the list, too, with lower ids.
struct CallSite {
  std::uint32_t id = 0;            // from 1, for this run
  std::string module;              // path of the executable or shared library
  std::uint64_t offset = 0;        // of the return address in the module's file view (its link-time address)
  std::string function;            // demangled, empty when unknown
  std::string file;                // as in the debug information, empty without
  std::uint32_t line = 0;          // 0 without debug information
  std::uint16_t mpi_function = 0;  // called from here (functions.def), 0 unknown; in a dump only
  std::string build_id;            // of the module, hexadecimal, empty when it has none; in a dump only
  std::uint32_t caller = 0;        // from where the function that contains this one was called, id; 0 not known
  bool operator==(const CallSite&) const = default;
};

// The calls of MPI from one call site that returned, sums over ranks and threads.
struct SiteTime {
  std::uint32_t site = 0;  // id in Snapshot::sites
  std::uint64_t calls = 0;
  double inside_s = 0;
  bool operator==(const SiteTime&) const = default;
};

// What messages cost at one call site, and all time inside MPI there (SiteTime). A message is counted at its send's and
// at its receive's site. Blocked time is lost at one: late_sender_s, late_receiver_s and transfer_s of all sites are
// the job's.
struct SiteActivity {
  std::uint32_t site = 0;      // id in Snapshot::sites
  std::uint64_t sends = 0;     // matched messages sent from here
  std::uint64_t receives = 0;  // matched messages received (posted) here
  std::uint64_t bytes = 0;
  std::uint64_t delayed = 0;   // of both
  double late_sender_s = 0;    // receivers were blocked because sends here began late
  double waited_s = 0;         // of all sites' late_sender_s: receives here were blocked
  double late_receiver_s = 0;  // senders were blocked because receives here were posted late
  double transfer_s = 0;       // exposed transfers to receives here
  std::uint64_t calls = 0;     // of MPI, of any kind, that returned
  double inside_s = 0;         // rank-seconds in them
  bool operator==(const SiteActivity&) const = default;
};

// Where delays began (analysis/delay/): a place between two MPI calls of one rank where it was later than its partners,
// and what that cost all others, directly and through those who waited and then were late themselves.
struct DelayOrigin {
  std::int32_t rank = 0;
  std::uint32_t site = 0;        // of the call that came late, id in Snapshot::sites; 0 unknown
  std::uint32_t after_site = 0;  // of the call before the computation
  std::uint64_t waits = 0;       // wait states that go back to it
  double cost_s = 0;             // time that other ranks waited because of it
  double direct_s = 0;           // of that, those who waited for this rank itself
  double collective_s = 0;       // of cost_s, in collectives
  double worst_s = 0;            // the largest cost in one of its visits
  double first_s = 0;            // begin of the first and end of the last wait, since the time origin
  double last_s = 0;
  std::vector<std::int32_t> victims;  // who lost most, most first, at most 8
  std::vector<double> victim_s;       // what each of them lost
  double off_core_s = 0;              // of cost_s, because the rank was runnable but off its core (an estimate)
  bool operator==(const DelayOrigin&) const = default;
};

// Where the time went that ranks waited; attributed + inside_mpi + unknown = waited. Seconds, over all ranks.
struct DelayTotals {
  std::uint64_t waits = 0;              // followed
  double waited_s = 0;                  // in those
  double attributed_s = 0;              // goes back to computation (of others, and little of the rank itself)
  double inside_mpi_s = 0;              // goes back to time inside MPI calls that was no wait: transfers
  double unknown_s = 0;                 // out of sight: beyond the look-back, small waits
  std::uint64_t messages_left_out = 0;  // the analysis had no time for them (live): their waits are not in here
  bool operator==(const DelayTotals&) const = default;
};

// What the replay on an ideal network is made of (RankSummary::ideal_saved_s).
struct IdealReplay {
  std::uint64_t messages = 0;           // replayed
  std::uint64_t messages_left_out = 0;  // no time for them (live), or threads: what they would have saved is not in it
  bool operator==(const IdealReplay&) const = default;
};

struct CollectiveTotals {
  std::uint64_t operations = 0;  // completed by all members
  std::uint64_t calls = 0;       // of all ranks, in those
  double wait_s = 0;             // of ranks for those that came later, in those
  bool operator==(const CollectiveTotals&) const = default;
};

// What the store and the aggregator's memory keep (docs/methods.md, "Retention").
enum class Keep : std::uint8_t { summaries = 0, interesting = 1, all = 2 };
struct Retention {
  Keep keep = Keep::all;
  std::uint64_t budget_bytes = 0;  // of the file; 0: no dump
  std::uint64_t file_bytes = 0;
  std::uint64_t memory_budget_bytes = 0;  // of messages kept for live questions
  std::uint64_t memory_bytes = 0;
  std::uint64_t messages_stored = 0;
  std::uint64_t messages_left_out = 0;  // counted and analysed, but not in the file
  double bites_since_s = -1;            // since when the budget leaves something out; -1: it does not
  std::uint64_t messages_shed = 0;      // of those left out: for lack of time
  double shed_from_s = -1;              // begin of the first window with such, and end of the last; -1: there is none
  double shed_to_s = -1;
  double memory_from_s = 0;  // live questions reach back to here
  bool operator==(const Retention&) const = default;
};

struct Live {
  double window_s = 0;                      // configured window length
  std::int64_t window_end_realtime_ns = 0;  // CLOCK_REALTIME until which everything is included
  std::uint64_t sequence = 0;               // of snapshots
  bool operator==(const Live&) const = default;
};

struct Snapshot {
  std::string job;  // public name of the job, never the secret token
  Application application;
  std::int64_t time_origin_realtime_ns = 0;  // CLOCK_REALTIME at second 0
  double duration_s = 0;                     // from second 0 to the newest event
  bool finished = false;                     // the job ended in order; this is the last snapshot
  bool ended = false;                        // the last snapshot, however the job ended
  std::uint32_t finalized_ranks = 0;
  MessageTotals messages;
  LatencySummary latency;
  std::vector<Region> regions;          // of now
  std::vector<Region> ended_regions;    // newest first, without history; live 64, in a dump 1,024
  std::vector<RegionLink> links;        // between regions of now, most messages first; live the first 200
  std::vector<RegionLink> ended_links;  // with an ended region, most messages first; in a dump only
  Pattern pattern;
  Dendrogram dendrogram;  // in a dump only
  CollectiveTotals collectives;
  std::vector<DelayOrigin> delays;  // most cost first; live the first 20, in a dump 1,000
  DelayTotals delay_totals;
  IdealReplay ideal;
  Retention retention;
  std::vector<WorstMessage> worst;  // of the newest windows, worst ratio first
  std::vector<RankSummary> ranks;
  std::vector<Criterion> criteria;
  std::vector<FunctionActivity> functions;  // most time first
  std::vector<std::uint8_t> call_density;   // packed (density/packing.hpp); live a coarse one
  std::vector<Deadlock> deadlocks;          // standing now (in a dump: at its end)
  std::vector<CallSite> sites;              // those that the rest refers to (in a dump: all), by id
  std::vector<SiteActivity> site_activity;  // most time lost first; live: the first 50
  Network network;                          // of a job on several nodes
  std::vector<Condition> conditions;        // most cost first
  FoundMachines found;                      // what nodes are inside, and where ranks are bound
  std::vector<Marker> markers;              // by begin; at most 64
  Attribution attribution;
  std::vector<WaitStateSum> wait_states;  // most time first; at most 256
  std::vector<PairTraffic> traffic;       // by source, then destination; in a dump only (live: a question)
  Live live;
  bool operator==(const Snapshot&) const = default;
};

// Until when a live snapshot includes everything, in seconds since the time origin (to a microsecond; a damaged one may
// name any two moments).
inline double live_until_s(const Snapshot& s) {
  return (static_cast<double>(s.live.window_end_realtime_ns) - static_cast<double>(s.time_origin_realtime_ns)) * 1e-9;
}

}  // namespace pclscope
