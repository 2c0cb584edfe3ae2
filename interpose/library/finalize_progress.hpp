// MPICH over UCX, between nodes: in MPI_Finalize most ranks sit in a blocking read of the process manager's answer to
// a barrier and drive no communication, while others still wait for theirs to be driven; then all wait for ever
// (measured: docs/running.md, "Many nodes"). So, while this process is in MPI_Finalize, its read of the process
// manager's descriptor goes on driving the UCX workers until the answer is there. No other descriptor, no other time.
// PCLSCOPE_FINALIZE_PROGRESS=off switches it off.
#pragma once

#include <mpi.h>

namespace pclscope {

// Between these, by the thread that finalizes MPI. Nothing happens with another MPI, without UCX or a process manager.
#ifdef OPEN_MPI
inline void begin_finalize_progress() {}
inline void end_finalize_progress() {}
#else
void begin_finalize_progress();
void end_finalize_progress();
#endif

class FinalizeProgress {
 public:
  FinalizeProgress() { begin_finalize_progress(); }
  ~FinalizeProgress() { end_finalize_progress(); }
  FinalizeProgress(const FinalizeProgress&) = delete;
  FinalizeProgress& operator=(const FinalizeProgress&) = delete;
};

}  // namespace pclscope
