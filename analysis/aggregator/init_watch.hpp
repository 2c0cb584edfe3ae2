// How the anchor goes when the application ends while it waits in MPI_Init.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "analysis/collect/board_file.hpp"

namespace pclscope::aggregator {

// MPI_Init of the application may fail in all its ranks, kill them, or be that of ranks that know nothing of each other
// (each a world of its own): then nobody will ever meet the anchor in there, and the launcher waits for the anchor. A
// thread of its own looks whether any of the node's programs is left. It makes no call of MPI.
class InitWatch {
 public:
  // `leave` is called in the watch's thread, once, after the last program has been gone for a while; it does not
  // return.
  InitWatch(collect::BoardFile& board, std::function<void()> leave);
  // MPI_Init is over. Does not return when `leave` was called.
  ~InitWatch();
  InitWatch(const InitWatch&) = delete;
  InitWatch& operator=(const InitWatch&) = delete;

 private:
  void watch();

  collect::BoardFile& board_;
  std::function<void()> leave_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

// MPICH's launcher takes a process that is gone without a word for a failure, ends the job and gives it a status of its
// own. MPI itself cannot say that word while another thread is in MPI_Init, and that thread must not hear the answer: a
// child says it when this process is gone.
[[noreturn]] void exit_from_mpi_init(int status);

}  // namespace pclscope::aggregator
