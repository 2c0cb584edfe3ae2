#include "random_worker.hpp"

namespace chaos {

Worker::Worker(const Options& options, const Plan& plan, const Communicators& comms, std::atomic<long>& room, int rank,
               int size, int thread, MPI_Comm sync)
    : context_{options,
               plan,
               comms,
               room,
               rank,
               size,
               thread,
               sync,
               Ledger(options, rank, thread),
               Random(options.seed ^ static_cast<std::uint64_t>(rank * 64 + thread + 1) << 32),
               {}},
      sender_(context_),
      receiver_(context_, sender_) {}

void Worker::rounds(int first, int end) {
  for (int i = first; i < end; ++i) round(i);
}

void Worker::round(int number) {
  const Round round = context_.plan.round(context_.thread, number);
  for (const auto& [slot, operation] : round.collectives) collective(slot, operation);
  sender_.begin();
  receiver_.begin(round);
  MPI_Barrier(context_.sync);  // from here on every rank has posted, and received all of the round before
  for (const Planned& message : round.messages) {
    if (message.source != context_.rank) continue;
    if (message.slot == round.prepared) sender_.send_prepared(message);
    else sender_.send_free(message);
    receiver_.while_sending();
    if (context_.below(16) == 0) noise();
  }
  sender_.flush();
  receiver_.finish();
  for (const Exchange& exchange : round.exchanges) receiver_.exchange(exchange);
  values_.clear();
}

void Worker::collective(int slot, int operation) {
  const Recipe& recipe = context_.recipe(slot);
  if (!recipe.has(context_.rank)) return;
  MPI_Comm comm = context_.view(slot).comm;
  const std::vector<int> peers = recipe.peers(context_.rank);
  std::vector<long> in(1, context_.rank + 1), out(peers.size() + 1);
  long sum = 0;
  for (const int peer : peers) sum += peer + 1;
  if (recipe.inter) operation %= 2;  // the others mean something else there
  switch (operation) {
    case 0: MPI_Barrier(comm); break;
    case 1:
      MPI_Allreduce(in.data(), out.data(), 1, MPI_LONG, MPI_SUM, comm);
      REQUIRE(out[0] == sum);
      break;
    case 2: MPI_Bcast(in.data(), 1, MPI_LONG, 0, comm); break;
    case 3: MPI_Allgather(in.data(), 1, MPI_LONG, out.data(), 1, MPI_LONG, comm); break;
    case 4: MPI_Scan(in.data(), out.data(), 1, MPI_LONG, MPI_SUM, comm); break;
    default: post_collective(operation, comm);
  }
}

// Completed at the end of the round, with the sends.
void Worker::post_collective(int operation, MPI_Comm comm) {
  Operation o{.kind = Operation::Kind::collective};
  std::vector<long>& values = values_.emplace_back(2, context_.rank);
  switch (operation) {
    case 5: MPI_Ibarrier(comm, &o.request); break;
    case 6: MPI_Ibcast(values.data(), 1, MPI_LONG, 0, comm, &o.request); break;
    default: MPI_Iallreduce(&values[0], &values[1], 1, MPI_LONG, MPI_SUM, comm, &o.request);
  }
  context_.operations.add(std::move(o));
}

// Calls that nobody else notices.
void Worker::noise() {
  const auto slot = static_cast<int>(context_.below(context_.plan.live().size()));
  const Recipe& recipe = context_.recipe(slot);
  const bool usable = (recipe.owner < 0 || recipe.owner == context_.thread) && recipe.has(context_.rank);
  MPI_Comm comm = usable ? context_.view(slot).comm : context_.sync;
  MPI_Request request;
  MPI_Status status;
  char byte = 0;
  int flag = 0;
  switch (context_.below(5)) {
    case 0: to_nobody(comm); break;
    case 1:  // a receive that nothing can match
      MPI_Irecv(&byte, 1, MPI_BYTE, MPI_ANY_SOURCE, never_sent, comm, &request);
      MPI_Cancel(&request);
      MPI_Wait(&request, &status);
      MPI_Test_cancelled(&status, &flag);
      REQUIRE(flag);
      break;
    case 2: MPI_Iprobe(MPI_ANY_SOURCE, never_sent, comm, &flag, MPI_STATUS_IGNORE); break;
    case 3:
      for (const Operation& o : context_.operations.all()) {
        MPI_Request_get_status(o.request, &flag, MPI_STATUS_IGNORE);
        break;
      }
      break;
    default: break;
  }
  if (context_.options.pcontrol && context_.thread == 0) switch_recording();
}

void Worker::to_nobody(MPI_Comm comm) {
  char byte = 0;
  MPI_Request requests[2];
  switch (context_.below(5)) {
    case 0: MPI_Send(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 1, comm); break;
    case 1: MPI_Ssend(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 1, comm); break;
    case 2: MPI_Recv(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 1, comm, MPI_STATUS_IGNORE); break;
    case 3:
      MPI_Sendrecv_replace(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 1, MPI_PROC_NULL, 2, comm, MPI_STATUS_IGNORE);
      break;
    default:
      MPI_Isend(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 1, comm, &requests[0]);
      MPI_Irecv(&byte, 1, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, comm, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

void Worker::switch_recording() {
  const int on = interval.load() % 2;  // what it is to become
  MPI_Pcontrol(on);
  interval.fetch_add(1);
}

}  // namespace chaos
