#include "storm_plan.hpp"

#include <algorithm>

namespace storm {
namespace {

bool in_lower_half(int rank, int size) { return rank < (size + 1) / 2; }

// World ranks for which `belongs` holds, ascending or descending.
template <class Predicate>
std::vector<int> ranks_where(int size, bool descending, Predicate belongs) {
  std::vector<int> ranks;
  for (int r = 0; r < size; ++r)
    if (belongs(r)) ranks.push_back(r);
  if (descending) std::reverse(ranks.begin(), ranks.end());
  return ranks;
}

std::string label_of(int slot, int rank, int size) {
  switch (slot) {
    case 0: return "world";
    case 2: return rank % 2 ? "odd" : "even";
    case 3: return in_lower_half(rank, size) ? "lower" : "upper";
    case 4: return rank % 2 ? "odd-dup" : "even-dup";
    default: return "across";
  }
}

}  // namespace

std::vector<int> peers_of(int slot, int rank, int size) {
  switch (slot) {
    case 2:
    case 4: return ranks_where(size, true, [&](int r) { return r % 2 == rank % 2; });
    case 3: return ranks_where(size, false, [&](int r) { return in_lower_half(r, size) == in_lower_half(rank, size); });
    case 5: return ranks_where(size, true, [&](int r) { return r % 2 != rank % 2; });
    default: return ranks_where(size, false, [](int) { return true; });
  }
}

void Communicators::open(int rank, int size) {
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &slot[2].comm);
  MPI_Comm_split(MPI_COMM_WORLD, in_lower_half(rank, size), rank, &slot[3].comm);
  MPI_Comm_dup(slot[2].comm, &slot[4].comm);
  // Leaders are ranks 0 of the reversed halves: the highest world rank of each parity.
  const int last_even = (size - 1) / 2 * 2, last_odd = (size - 2) / 2 * 2 + 1;
  MPI_Intercomm_create(slot[2].comm, 0, MPI_COMM_WORLD, rank % 2 ? last_even : last_odd, 99, &slot[5].comm);
  slot[0].comm = MPI_COMM_WORLD;
  for (int s = 0; s < slots; ++s) {
    slot[s].label = label_of(s, rank, size);
    slot[s].peers = peers_of(s, rank, size);
    slot[s].members = s == 5 ? peers_of(0, rank, size) : slot[s].peers;
  }
  renew_duplicate(0);
}

void Communicators::renew_duplicate(int generation) {
  if (slot[1].comm != MPI_COMM_NULL) MPI_Comm_free(&slot[1].comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &slot[1].comm);
  slot[1].label = "dup-" + std::to_string(generation);
}

void Communicators::close() {
  for (int s = slots - 1; s > 0; --s) MPI_Comm_free(&slot[s].comm);
}

std::vector<Planned> plan_round(std::uint64_t seed, int round, int size) {
  std::uint64_t state = mix(seed * 1000003u + static_cast<std::uint64_t>(round));
  auto below = [&](std::size_t limit) { return static_cast<int>((state = mix(state)) % limit); };
  std::vector<Planned> plan;
  plan.reserve(static_cast<std::size_t>(size) * messages_per_rank);
  for (int source = 0; source < size; ++source) {
    std::array<std::vector<int>, slots> peers;
    for (int s = 0; s < slots; ++s) peers[s] = peers_of(s, source, size);
    for (int i = 0; i < messages_per_rank; ++i) {
      const int slot = below(slots);
      const int destination = peers[slot][below(peers[slot].size())];
      // Mostly short; one in 32 is longer than any eager limit of a shared-memory transport.
      const int bytes = below(32) == 0 ? 5000 + below(max_bytes - 5000) : 40 + below(200);
      plan.push_back({source, destination, slot, below(tags), bytes});
    }
  }
  return plan;
}

}  // namespace storm
