// One thread of the random program.
#pragma once

#include "random_receiver.hpp"

namespace chaos {

class Worker {
 public:
  Worker(const Options& options, const Plan& plan, const Communicators& comms, std::atomic<long>& room, int rank,
         int size, int thread, MPI_Comm sync);
  void rounds(int first, int end);
  const Ledger& ledger() const { return context_.ledger; }
  void close() { MPI_Comm_free(&context_.sync); }

 private:
  void round(int number);
  void collective(int slot, int operation);
  void post_collective(int operation, MPI_Comm comm);
  void noise();
  void to_nobody(MPI_Comm comm);
  void switch_recording();

  Context context_;
  Sender sender_;
  Receiver receiver_;
  std::list<std::vector<long>> values_;  // of nonblocking collectives, until the round ends
};

}  // namespace chaos
