// What a period would have taken with one thing changed, as replayed from its calls (analysis/whatif/).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace pclscope {

// Times are seconds; those of the parts of the period that were replayed, `covered` of it. The period ends with its
// last rank: groups of ranks that do not depend on each other in it may gain what its end does not show.
struct WhatIf {
  double begin_s = 0;  // the period, since the time origin
  double end_s = 0;
  double covered = 0;             // share of it that was replayed, 0 to 1
  double measured_s = 0;          // how long that was
  double replayed_s = 0;          // how long the replay takes with nothing changed
  double predicted_s = 0;         // with the change
  double ahead_s = 0;             // by which a rank comes earlier to the end of the period, the one that gains most
  std::uint64_t ahead_ranks = 0;  // that come earlier by at least half of that
  // The critical path of what is predicted, by what passes on it: computation of the ranks in question and of others,
  // inside MPI (transfers, its own work), and in calls of which it is not known for whom they wait.
  double named_s = 0, others_s = 0, inside_s = 0, untold_s = 0;
  std::int32_t other = -1;       // the one of the others whose computation is longest on it, -1: none
  std::uint32_t other_site = 0;  // of the call before which it computes most of that
  double other_s = 0;
  std::uint64_t calls = 0;
  std::uint64_t messages = 0;     // that held a call of them
  std::uint64_t collectives = 0;  // calls
  std::uint64_t changed = 0;      // pieces of computation or transfers that take another time
  std::uint64_t left_out = 0;     // dependences that contradict each other
  std::uint64_t untold = 0;       // messages that another placement would change, which stay as measured
  double collective_s = 0;        // rank-seconds in collectives after all had come: they stay as measured
  std::string as;                 // how the changed ones are now: "as its peers do there"

  double length_s() const { return end_s - begin_s; }
  // Of the whole period. Calls at its ends are replayed whole: no more than there is of it. < 0: a loss.
  double gain_s() const { return covered > 0 ? std::min((replayed_s - predicted_s) / covered, length_s()) : 0; }
  double gain() const { return length_s() > 0 ? gain_s() / length_s() : 0; }  // share of the period
  double fit_error() const { return measured_s > 0 ? replayed_s / measured_s - 1 : 0; }
  bool operator==(const WhatIf&) const = default;
};

}  // namespace pclscope
