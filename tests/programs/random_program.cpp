// The oracle of matching: a random MPI program, another one for every seed. Ranks send each other messages in a random
// but planned way, with every kind of send, and receive them with every kind of receive, on communicators of every make
// that come and go. Every payload says who sent it and which send of that process it is; every receiver writes down
// what it really got and when. tests/system/oracle.py compares that with what is stored.
//
// Options: --messages N (10000, at least), --seed S (1), --directory D for the oracle (none), --threads T (1, of
// MPI_THREAD_MULTIPLE: each with communicators of its own and, on the world, tags of its own), --race (one more
// communicator, on which all threads use the same tags), --pcontrol (ranks switch recording off and on), --burst (many
// messages between synchronisations), --monotonic (the oracle's clock is CLOCK_MONOTONIC instead of the TSC).
//
// A round of a thread: collectives; receives of the "prepared" communicator are posted; a barrier of the threads of
// this number; sends, receives between them that do not block; the remaining receives; exchanges.
//
// Free of deadlock:
// 1. A send waits for nobody, or (blocking and ready sends) has its receive posted: on the prepared communicator all
//    receives of the round were posted before the barrier, and each message fits as many of them as there are messages
//    that fit the same. So every rank gets through its sends.
// 2. Until all messages of the round on the other communicators are here, a thread waits only for receives of these
//    ("free" ones): a receive is posted only if some channel that it fits has at least as many messages to come as
//    there are waiting receives that could take one from it (Receiver::possible), and all of them are sent, by 1.
// 3. On the raced communicator every message fits as many receives as there are messages that fit the same, per rank
// over
//    all its threads, for each sending thread number and round: what a thread further on takes it leaves its own for.
// 4. Only then a thread waits for its sends and the prepared receives: all others get through 2 without it.
// 5. Collectives and exchanges come in one order on all ranks. The barrier keeps messages of a round from the wildcards
//    of the one before.
//
// On paper: rank 0 prints how many messages there were, and a checksum over (source, destination, tag, bytes) of each
// message as received. Both follow from the options.
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "random_worker.hpp"

namespace chaos {
namespace {

constexpr long buffered_messages = 4000;

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
    const auto value = [&] {
      REQUIRE(i + 1 < argc);
      return argv[++i];
    };
    if (is("--messages")) o.messages = std::atol(value());
    else if (is("--seed")) o.seed = static_cast<std::uint64_t>(std::atoll(value()));
    else if (is("--threads")) o.threads = std::atoi(value());
    else if (is("--directory")) o.directory = value();
    else if (is("--race")) o.race = true;
    else if (is("--pcontrol")) o.pcontrol = true;
    else if (is("--burst")) o.burst = true;
    else if (is("--monotonic")) o.tsc = false;
    else REQUIRE(!"a known option");
  }
  return o;
}

class Program {
 public:
  Program(const Options& options, int rank, int size)
      : options_(options), plan_(options, size), comms_(rank, size), mine_(options, rank, 255) {
    meet_myself();  // first of all: whatever is dropped later, these are stored
    buffer_.resize(static_cast<std::size_t>(buffered_messages) * (replace_bytes + 2 * MPI_BSEND_OVERHEAD));
    for (int t = 0; t < options.threads; ++t) {
      MPI_Comm sync;
      MPI_Comm_dup(MPI_COMM_WORLD, &sync);
      workers_.push_back(std::make_unique<Worker>(options_, plan_, comms_, room_, rank, size, t, sync));
    }
  }

  void run() {
    for (int first = 0; first < plan_.rounds(); first += rounds_per_block) {
      MPI_Barrier(
          MPI_COMM_WORLD);  // MPI_Intercomm_create may send with the program's tag: not to wildcards of the last round
      comms_.change(plan_.next_block(), plan_.live());
      meet_myself();
      MPI_Buffer_attach(buffer_.data(), static_cast<int>(buffer_.size()));
      room_ = buffered_messages;
      const int end = std::min(first + rounds_per_block, plan_.rounds());
      std::vector<std::thread> threads;
      for (std::size_t t = 1; t < workers_.size(); ++t)
        threads.emplace_back([&, t] { workers_[t]->rounds(first, end); });
      workers_[0]->rounds(first, end);
      for (std::thread& thread : threads) thread.join();
      void* old = nullptr;
      int bytes = 0;
      MPI_Buffer_detach(&old, &bytes);
    }
    meet_myself();
  }

  void report(int rank, int size) const {
    std::uint64_t received = mine_.count(), checksum = mine_.checksum();
    std::vector<const Ledger*> ledgers{&mine_};
    for (const auto& worker : workers_) {
      ledgers.push_back(&worker->ledger());
      received += worker->ledger().count();
      checksum += worker->ledger().checksum();
    }
    if (options_.directory != "-") write_oracle(options_.directory, rank, ledgers, comms_.lines());
    received = sum_over_ranks(received);
    checksum = sum_over_ranks(checksum);
    if (rank == 0)
      std::printf("random_program: ranks %d messages %llu checksum %016llx\n", size,
                  static_cast<unsigned long long>(received), static_cast<unsigned long long>(checksum));
  }

  void close() {
    for (auto& worker : workers_) worker->close();
    comms_.close();
  }

 private:
  // Messages whose rows are known by their tag: they show how the tool's time is related to the oracle's.
  void meet_myself() {
    constexpr int label = 0;  // of the world
    for (int i = 0; i < 4; ++i) {
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      const Header out = mine_.sent({rank, rank, 0, to_myself, header_bytes}, label, 50);
      const std::size_t first = mine_.sends() - 1, index = mine_.posting(label, 50);
      Header in;
      const std::int64_t before = mine_.now();
      MPI_Sendrecv(&out, header_bytes, MPI_BYTE, rank, to_myself, &in, header_bytes, MPI_BYTE, rank, to_myself,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      mine_.sent_between(first, before);
      mine_.posted_between(index, before);
      mine_.got(index, in, mine_.completed(before));
    }
  }

  Options options_;
  Plan plan_;
  Communicators comms_;
  std::atomic<long> room_{0};
  std::vector<char> buffer_;
  Ledger mine_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace
}  // namespace chaos

int main(int argc, char** argv) {
  const chaos::Options options = chaos::parse(argc, argv);
  int provided = MPI_THREAD_SINGLE, rank = 0, size = 0;
  if (options.threads > 1) MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else MPI_Init(&argc, &argv);
  REQUIRE(options.threads == 1 || provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  {
    chaos::Program program(options, rank, size);
    program.run();
    program.report(rank, size);
    program.close();
  }
  MPI_Finalize();
}
