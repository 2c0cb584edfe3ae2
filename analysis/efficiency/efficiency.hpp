// Efficiencies from ranks' times. Pure functions; n log n in what they are given.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/efficiency.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::efficiency {

struct RankTime {  // seconds since the time origin
  std::int32_t rank = 0;
  double begin_s = 0, end_s = 0;
  double useful_s = 0;
  double off_core_s = 0;                         // that is not in it
  double ideal_saved_s = 0;                      // an ideal network would have brought it to end_s so much earlier
  double useful_least_s = 0, useful_most_s = 0;  // between which useful_s is for certain
  double outside_s() const { return useful_s + off_core_s; }
};

// Of these ranks; those that are in `only` (ascending), when it is not empty. When only a share of the messages was
// `replayed` what they saved is put up to all; below 5 % the ideal network's part is not known.
Efficiency efficiency_of(std::span<const RankTime> times, double replayed, std::span<const std::int32_t> only = {});

// --- the whole of a run so far, from its summary ---
// Ranks of which begin and end are known.
std::vector<RankTime> rank_times(const Snapshot& snapshot);
double replayed(const Snapshot& snapshot);
inline Efficiency efficiency_of(const Snapshot& snapshot, std::span<const std::int32_t> only = {}) {
  return efficiency_of(rank_times(snapshot), replayed(snapshot), only);
}

// --- a part of the program that it named itself, whenever ranks were in it ---
// Its run time is that of the rank that was in it longest; what an ideal network would save there is not known, nor is
// anything where several threads of a rank were in it. Of the time outside MPI as large a part was off the core there
// as in all of the run.
Efficiency efficiency_of(const Marker& marker, std::span<const RankTime> run);

// --- a period, from all its messages and calls ---
struct Records {
  std::span<const Message> messages;
  std::span<const CollectiveCall> calls;
};
// Of [from_ns, to_ns), as far as each rank was in the run. Time inside MPI is that of calls that left a message or a
// collective's part. Of the time outside it as large a part was off the core as in all of the run. Fails with
// bad_argument where calls of a rank overlap (threads): one line.
Result<std::vector<RankTime>> rank_times(const Snapshot& snapshot, const Records& records, std::int64_t from_ns,
                                         std::int64_t to_ns);

}  // namespace pclscope::efficiency
