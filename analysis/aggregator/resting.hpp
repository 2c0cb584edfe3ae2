// How the anchor waits where it cannot help waiting: inside MPI_Init and MPI_Finalize. With more ranks than cores Open
// MPI calls sched_yield() there again and again, and would take turns with the application's ranks for nothing; some
// kernels (Linux 6.18) starve a whole machine under that. For one thread.
#pragma once

namespace pclscope::aggregator {

// While it lives, sched_yield() in this process sleeps 50 us; else it yields: clocks are measured worse by who keeps
// the core from the one that is to answer.
class Resting {
 public:
  Resting();
  ~Resting();
  Resting(const Resting&) = delete;
  Resting& operator=(const Resting&) = delete;
};

}  // namespace pclscope::aggregator
