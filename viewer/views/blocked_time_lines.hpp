// Time inside MPI and its parts, over the whole job.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope::views {

// Sums over ranks and their threads, seconds. inside = the nine parts and what goes on; point-to-point = in_regions +
// between_regions + elsewhere.
struct InsideMpi {
  double inside_s = 0;
  double whole_s = 0;  // threads x time since second 0
  double late_sender_s = 0, late_receiver_s = 0, transfer_s = 0, collective_wait_s = 0, one_sided_s = 0, file_s = 0,
         other_s = 0, init_s = 0, finalize_s = 0;
  double going_on_s = 0;  // in calls that have not returned, of which it is not known yet what they waited for
  double in_regions_s = 0, between_regions_s = 0, elsewhere_s = 0;
};
InsideMpi inside_mpi(const Snapshot& snapshot);
// Of the call that a rank is inside, as far as it goes on; else 0.
double going_on_s(const RankSummary& rank);

// "43.0 rank-s of 180 (24 %) = late senders 1.2 s + ..."; none: nothing was recorded, or the parts are not known (a
// dump of an older version).
std::vector<std::string> inside_mpi_lines(const Snapshot& snapshot);

}  // namespace pclscope::views
