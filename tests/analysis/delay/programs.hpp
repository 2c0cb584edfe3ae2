// Programs with compute noise and, if wished, one planted delay. Everything random comes from the seed: with and
// without the delay the noise is the same.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/analysis/delay/spmd_simulator.hpp"

namespace pclscope::test {

// Call sites of the programs.
namespace site {
inline constexpr std::uint32_t irecv = 1, isend = 2, recv = 3, send = 4, allreduce = 5, task_send = 6, result_recv = 7,
                               ssend = 8, bcast = 9;
}

struct Plant {
  std::int32_t rank = -1;  // -1: none
  int step = 0;
  std::int64_t ns = 0;
};

struct Setting {
  int steps = 40;
  std::int64_t compute_ns = 1'000'000;
  double noise = 0;  // standard deviation, as a share of compute_ns
  std::uint32_t seed = 1;
  Plant plant;
};

class Compute {
 public:
  explicit Compute(const Setting& s) : s_(s), random_(s.seed) {}
  std::int64_t next(std::int32_t rank, int step) {
    const double noise = s_.noise > 0 ? s_.noise * normal_(random_) : 0;
    const auto ns = static_cast<std::int64_t>(static_cast<double>(s_.compute_ns) * std::max(0.05, 1 + noise));
    return ns + (rank == s_.plant.rank && step == s_.plant.step ? s_.plant.ns : 0);
  }

 private:
  const Setting& s_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

using K = Operation::Kind;

// Periodic halo on extents of any dimension: compute, Irecv and Isend both ways in each dimension, Waitall.
inline Program halo(const std::vector<int>& extents, const Setting& s, int reduce_every = 0) {
  int ranks = 1;
  for (const int e : extents) ranks *= e;
  Program p(ranks);
  Compute compute(s);
  const auto moved = [&](int rank, std::size_t dimension, int by) {
    int stride = 1;
    for (std::size_t d = extents.size(); d-- > dimension + 1;) stride *= extents[d];
    const int at = rank / stride % extents[dimension];
    return rank + ((at + by + extents[dimension]) % extents[dimension] - at) * stride;
  };
  for (int step = 0; step < s.steps; ++step)
    for (int r = 0; r < ranks; ++r) {
      p.compute(r, compute.next(r, step));
      for (const bool sending : {false, true})
        for (std::size_t d = 0; d < extents.size(); ++d)
          for (const int by : {-1, 1}) {
            const int tag = static_cast<int>(2 * d) + (by > 0);
            p.call(r, sending ? K::isend : K::irecv, sending ? site::isend : site::irecv,
                   moved(r, d, sending ? by : -by), tag);
          }
      p.call(r, K::waitall, site::irecv);
      if (reduce_every > 0 && step % reduce_every == reduce_every - 1) p.call(r, K::allreduce, site::allreduce);
    }
  return p;
}

// A token goes round, each rank works on it.
inline Program ring(int ranks, const Setting& s) {
  Program p(ranks);
  Compute compute(s);
  for (int step = 0; step < s.steps; ++step)
    for (int r = 0; r < ranks; ++r) {
      if (r > 0) p.call(r, K::recv, site::recv, r - 1);
      p.compute(r, compute.next(r, step));
      p.call(r, K::send, site::send, (r + 1) % ranks);
      if (r == 0) p.call(r, K::recv, site::recv, ranks - 1);
    }
  return p;
}

inline Program allreduce_steps(int ranks, const Setting& s) {
  Program p(ranks);
  Compute compute(s);
  for (int step = 0; step < s.steps; ++step)
    for (int r = 0; r < ranks; ++r) {
      p.compute(r, compute.next(r, step));
      p.call(r, K::allreduce, site::allreduce);
    }
  return p;
}

// Every rank receives from the one before, works, and sends to the next one: a stream of items.
inline Program pipeline(int ranks, const Setting& s, bool synchronous = false) {
  Program p(ranks);
  Compute compute(s);
  for (int step = 0; step < s.steps; ++step)
    for (int r = 0; r < ranks; ++r) {
      if (r > 0) p.call(r, K::recv, site::recv, r - 1);
      p.compute(r, compute.next(r, step));
      if (r + 1 < ranks) p.call(r, synchronous ? K::ssend : K::send, synchronous ? site::ssend : site::send, r + 1);
    }
  return p;
}

// Rank 0 gives one task to each, then takes all results, in the order of ranks; a step is a round.
inline Program master_worker(int ranks, const Setting& s) {
  Program p(ranks);
  Compute compute(s);
  for (int step = 0; step < s.steps; ++step) {
    p.compute(0, compute.next(0, step) / 10 + (s.plant.rank == 0 && s.plant.step == step ? s.plant.ns * 9 / 10 : 0));
    for (int r = 1; r < ranks; ++r) p.call(0, K::send, site::task_send, r);
    for (int r = 1; r < ranks; ++r) {
      p.call(r, K::recv, site::recv, 0);
      p.compute(r, compute.next(r, step));
      p.call(r, K::send, site::send, 0, 1);
    }
    for (int r = 1; r < ranks; ++r) p.call(0, K::recv, site::result_recv, r, 1);
  }
  return p;
}

}  // namespace pclscope::test
