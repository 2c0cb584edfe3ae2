// What one thread of the random program works with, and the calls whose large-count forms only MPI 4 has.
#pragma once

#include <atomic>
#include <map>
#include <memory>

#include "random_comms.hpp"
#include "random_operations.hpp"

#if MPI_VERSION < 4
#define MPI_Send_c MPI_Send
#define MPI_Ssend_c MPI_Ssend
#define MPI_Isend_c MPI_Isend
#define MPI_Issend_c MPI_Issend
#define MPI_Recv_c MPI_Recv
#define MPI_Irecv_c MPI_Irecv
#define MPI_Mrecv_c MPI_Mrecv
#define MPI_Imrecv_c MPI_Imrecv
#define MPI_Recv_init_c MPI_Recv_init
#define MPI_Sendrecv_c MPI_Sendrecv
#endif

namespace chaos {

struct Context {
  const Options& options;
  const Plan& plan;
  const Communicators& comms;
  std::atomic<long>& buffer_room;  // messages that MPI's buffer still has room for
  int rank, size, thread;
  MPI_Comm sync;  // of the threads with this number
  Ledger ledger;
  Random random;  // differs from rank to rank and from thread to thread
  Operations operations;

  const Recipe& recipe(int slot) const { return plan.live()[static_cast<std::size_t>(slot)]; }
  const View& view(int slot) const { return comms.of(recipe(slot)); }
  int below(std::size_t limit) { return random.below(limit); }
  bool large() { return random.below(4) == 0; }  // use the large-count form
  bool matched_probes() const {
#ifdef MPICH_VERSION
    return options.threads == 1;  // MPICH 4.0.2 over UCX crashes in Mrecv when several threads probe
#else
    return true;
#endif
  }
  Payload::Form form() { return static_cast<Payload::Form>(random.once_in(4) ? random.below(4) : 0); }
};

}  // namespace chaos
