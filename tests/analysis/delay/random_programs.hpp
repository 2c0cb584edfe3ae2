// Random programs for the simulator: collectives, shifts, chains and pairs, in phases that all ranks go through.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "tests/analysis/delay/programs.hpp"

namespace pclscope::test {

struct RandomPrograms {
  int most_ranks = 8;
  int phases = 60;
  bool broadcasts = false;
};

// The same operations for the same seed; what ranks compute is times `factor(rank, number of the computation)`. No two
// ranks compute for the same nanoseconds: who came first into a broadcast that nobody waited in was its root, and among
// several at the same moment the record does not tell which.
template <class Factor>
Program random_program(std::uint32_t seed, RandomPrograms of, Factor factor) {
  std::mt19937 random(seed);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const int ranks = draw(2, of.most_ranks);
  Program p(ranks);
  std::vector<int> number(static_cast<std::size_t>(ranks));
  const auto compute = [&](int r) {
    const std::int64_t ns = std::int64_t{1000} * draw(50, 3000) + r;
    p.compute(r, static_cast<std::int64_t>(static_cast<double>(ns) * factor(r, number[static_cast<std::size_t>(r)]++)));
  };
  for (int r = 0; r < ranks; ++r) p.call(r, K::allreduce, site::allreduce);
  for (int phase = 0; phase < of.phases; ++phase) {
    const int kind = draw(0, of.broadcasts ? 5 : 4), root = draw(0, ranks - 1), by = draw(1, ranks - 1);
    for (int r = 0; r < ranks; ++r) {
      if (draw(0, 3) > 0) compute(r);
      else p.compute(r, 1 + r);
      const int to = (r + by) % ranks, from = (r + ranks - by) % ranks;
      if (kind == 0) {
        p.call(r, K::allreduce, site::allreduce);
      } else if (kind == 1) {  // shift, the receive posted early
        p.call(r, K::irecv, site::irecv, from, phase);
        compute(r);
        p.call(r, K::isend, site::isend, to, phase);
        p.call(r, K::waitall, site::irecv);
      } else if (kind == 2) {
        p.call(r, K::send, site::send, to, phase);
        p.call(r, K::recv, site::recv, from, phase);
      } else if (kind == 3) {  // a chain
        if (r > 0) p.call(r, K::recv, site::recv, r - 1, phase);
        compute(r);
        if (r + 1 < ranks) p.call(r, K::send, site::send, r + 1, phase);
      } else if (kind == 4) {  // pairs, synchronous
        if (r % 2 == 0 && r + 1 < ranks) p.call(r, K::ssend, site::ssend, r + 1, phase);
        if (r % 2 == 1) p.call(r, K::recv, site::recv, r - 1, phase);
      } else {
        p.call(r, K::bcast, site::bcast, root);
      }
    }
  }
  for (int r = 0; r < ranks; ++r) p.call(r, K::allreduce, site::allreduce);
  return p;
}

inline Program random_program(std::uint32_t seed, RandomPrograms of = {}) {
  return random_program(seed, of, [](int, int) { return 1.0; });
}

}  // namespace pclscope::test
