// How the anchor goes when a signal told the job to.
#pragma once

#include <signal.h>

#include <atomic>
#include <thread>

#include "analysis/collect/board_file.hpp"

namespace pclscope::aggregator {

// TERM, INT and HUP are for the application, which may save its state and go on, or end. When they came, the anchor
// must not outlive it, wherever it is: in MPI_Init or MPI_Finalize it would wait for the dead, and the launcher for it.
// A thread of its own waits for them; they are blocked in all others from here on.
class Departure {
 public:
  explicit Departure(collect::BoardFile& board);
  ~Departure();
  Departure(const Departure&) = delete;
  Departure& operator=(const Departure&) = delete;
  // MPI is over: nobody waits for us but for the worker's last words.
  void call_off() { off_ = true; }

 private:
  void watch();

  collect::BoardFile& board_;
  sigset_t signals_;
  std::atomic<bool> off_{false};
  std::thread watcher_;
};

}  // namespace pclscope::aggregator
