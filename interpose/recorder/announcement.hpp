// A dormant job tells the user's other nodes where it is: rank 0 leaves a file in the directory that they share, from
// which `pclscope list` and `attach` know which node to ask. A file in a home may take any time, so a thread writes it:
// one that begins in MPI_Init, waits, writes once, and ends. Shorter jobs write nothing.
#pragma once

#include "interpose/recorder/agreement.hpp"

namespace pclscope {

inline constexpr int announced_after_ms = 2000;

// In MPI_Init, by rank 0. Says nothing where it cannot be done: on the job's own node it is found without.
void announce_elsewhere(const Agreement& agreed, int size);
// In MPI_Finalize. Waits 20 ms at most for the home; what stays is removed by whoever asks the node and hears of no
// job.
void withdraw_elsewhere();

}  // namespace pclscope
