// Findings and what they rest on, as plain values; part of a Snapshot (snapshot.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pclscope {

// Why messages are late (analysis/attribute/, docs/attribution.md).
enum class Cause : std::uint8_t {
  none = 0,             // nothing worth naming
  unknown = 1,          // time is lost, but the evidence is thin
  mapping = 2,          // A1: ranks that talk much sit on different nodes, and a better placement exists
  pattern = 3,          // A2: messages or work unequally shared, many to one, a chain
  background = 4,       // A3: transfers between nodes take longer than the same sizes usually do
  late_sender = 5,      // computation of some ranks makes others wait
  late_receiver = 6,    // senders wait for receives to be posted
  collective_wait = 7,  // ranks wait in collectives for the last to come
  load_imbalance = 8,   // what ranks compute differs over all of them: no one of them is the cause
  outage = 9,           // for a time no message came between nodes that usually talk
  one_sided_wait = 10,  // ranks wait in one-sided synchronisation for another one
  file = 11,            // time goes into reading and writing files by MPI
  startup = 12,         // ranks wait in MPI_Init for the last to come
  blocked = 13,  // ranks are inside calls that have not returned for long: a deadlock, or for a rank that does not come
};
inline constexpr Cause last_cause = Cause::blocked;
struct FindingPeriod {
  double begin_s = 0;  // seconds since the time origin
  double end_s = 0;
  double lost_s = 0;  // rank-seconds
  bool operator==(const FindingPeriod&) const = default;
};

struct Finding {
  Cause cause = Cause::none;
  std::int32_t region = -1;         // where it is felt; -1: all over the job
  std::vector<std::int32_t> ranks;  // where it begins, worst first; of mapping: those to be moved; at most 64
  std::uint32_t site = 0;           // of the code to look at, id in Snapshot::sites; 0 unknown
  std::vector<std::int32_t> nodes;  // background: pairs (from, to) of nodes whose links are slow
  double begin_s = 0;               // period in which it acted, seconds since the time origin
  double end_s = 0;
  std::vector<FindingPeriod> periods;  // when these are several, in order; begin_s and end_s are around them all
  bool open = false;                   // it still acts
  double score = 0;                    // lost_s per rank's time in its periods: 0.2 = a fifth of the time of all ranks
  double confidence = 0;               // 0 .. 1
  double lost_s = 0;                   // rank-seconds
  double gain_s = -1;                  // by which the period would be shorter without it, replayed; -1: not known
  std::string detail;                  // kind of it: "many to one", "imbalance", "chain", "link", ...; may be empty
  std::vector<std::string> evidence;   // sentences with figures
  std::string advice;                  // what to do, and what it would change
  bool operator==(const Finding&) const = default;
};

// The paper's measures over time (reference §5): what findings rest on. A slice is an interval; older ones are
// longer.
struct AttributionSlice {
  double begin_s = 0;
  double length_s = 0;
  std::uint64_t intra_messages = 0;  // between ranks of one node
  std::uint64_t inter_messages = 0;  // between nodes
  double load_balance = 0;           // AD / mc_avg: mean deviation of ranks' message counts from their mean, 0 = equal
  double wait_s = 0;                 // late senders, of all ranks
  double blocked_s = 0;              // senders that waited for receives
  double collective_s = 0;
  double transfer_s = 0;         // between nodes
  double excess_transfer_s = 0;  // of that, beyond the usual
  bool operator==(const AttributionSlice&) const = default;
};
struct TransferLine {           // messages between nodes of one size
  std::uint64_t bytes_low = 0;  // [low, high)
  std::uint64_t bytes_high = 0;
  std::uint64_t messages = 0;
  bool calm = false;              // hardly varies: drawn grey
  std::vector<float> normalised;  // mean transfer time per slice over the line's usual; 0: no message
  bool operator==(const TransferLine&) const = default;
};
struct Attribution {
  std::vector<Finding> findings;             // the first is the answer; those above 0.5 first, by lost_s x confidence
  std::vector<AttributionSlice> slices;      // oldest first, at most 256
  std::vector<TransferLine> transfer_lines;  // at most 16, most messages first
  bool operator==(const Attribution&) const = default;
};

// Messages of one pair of ranks since the job began.
struct PairTraffic {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t timed = 0;  // of the messages, those with a latency
  double time_s = 0;        // their times together
  double transfer_s = 0;    // of that, transfers
  bool operator==(const PairTraffic&) const = default;
};

}  // namespace pclscope
