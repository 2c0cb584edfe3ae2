// What the wildcard storm sends: communicators with names, and per round a list of messages that every rank computes
// alike from the seed, so that each knows how many messages will come from whom.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "answer.h"

namespace storm {

inline constexpr int tags = 4;
inline constexpr int slots = 6;
inline constexpr int messages_per_rank = 64;  // sent by each rank in a round
inline constexpr int max_bytes = 16384;

// One communicator as this rank sees it. Ranks in it are of the *remote* group for an intercommunicator.
struct Channelled {
  MPI_Comm comm = MPI_COMM_NULL;
  std::string label;           // names the communicator, the same on all its members, never used twice
  std::vector<int> members;    // world ranks of everybody in it
  std::vector<int> peers;      // world rank of each rank that this one can send to and receive from
};

// slots: 0 world, 1 duplicate of it (made anew now and then), 2 even and odd ranks apart, in reversed order,
// 3 lower and upper half, 4 duplicate of 2, 5 intercommunicator between the even and the odd ranks.
struct Communicators {
  std::array<Channelled, slots> slot;

  void open(int rank, int size);
  void renew_duplicate(int generation);
  void close();
};

struct Planned {
  int source;       // world ranks
  int destination;
  int slot;
  int tag;
  int bytes;
};

// The peers that `rank` has on a slot, as world ranks.
std::vector<int> peers_of(int slot, int rank, int size);
// All messages of a round, in sending order per source.
std::vector<Planned> plan_round(std::uint64_t seed, int round, int size);

}  // namespace storm
