// The larger situations of the paper (Muelder et al.): the program of several matrix operations (its Figures 1 and 6),
// and one matrix multiplication on more and more ranks (its Figures 7 and 8). Made by a generator.
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/viewer/layout/paper_calls.hpp"

namespace pclscope::test {

// Ranks compute, receive and reduce together, round by round. One broadcast is the exception: rank after rank enters
// it, and nobody leaves it before the last has come and the root has sent, in the middle of what follows.
inline void eigenproblem(PaperCalls& p) {
  using enum record::Function;
  constexpr int lone_rounds = 60, locked_rounds = 75, last_round = 90;
  constexpr double round_s = 0.03;
  const double begin = p.latest();
  const double released = begin + locked_rounds * round_s;
  for (int rank = 0; rank < p.ranks(); ++rank) {
    const int enters = 4 + (lone_rounds - 4) * rank / p.ranks();
    for (int round = 0; round < last_round; ++round) {
      const double from = begin + round * round_s;
      if (round == enters) p.call_from(rank, Bcast, p.now(rank), released);
      if (p.now(rank) > from + round_s / 2) continue;  // it is inside the broadcast
      p.compute(rank, 0.8 * (from + round_s - p.now(rank)));
      p.call(rank, Recv, 4e-4);
      p.call(rank, Reduce, 9e-4);
      if (round > locked_rounds && p.now(rank) < from + round_s)
        p.call_from(rank, Allreduce, p.now(rank), from + round_s);
    }
  }
}

// Three short multiplications with a pause after each; before the end of the last one sends and receives that take
// long and do not end together.
inline void orthogonalization(PaperCalls& p) {
  using enum record::Function;
  for (int operation = 0; operation < 3; ++operation) {
    for (int rank = 0; rank < p.ranks(); ++rank) {
      for (int round = 0; round < rounds; ++round) {
        p.compute(rank, 4e-3);
        p.call(rank, Send, 3e-6);
        p.call(rank, Recv, 3e-5);
        p.call(rank, Reduce, 3e-4);
        if (operation == 2 && round == rounds - 4) p.call(rank, rank % 2 == 0 ? Send : Recv, 0.02, 0.6);
      }
    }
    const double end = p.latest() + 1e-3;
    for (int rank = 0; rank < p.ranks(); ++rank) {
      p.call_from(rank, Allreduce, p.now(rank), end);
      p.compute(rank, 0.05);
    }
  }
}

// The whole program.
inline void matrix_operations(PaperCalls& p) {
  for (const auto operation :
       {+[](PaperCalls& q) { matrix_multiplication(q); }, +[](PaperCalls& q) { lu_decomposition(q); },
        +[](PaperCalls& q) { inversion(q); }, &eigenproblem, &orthogonalization})
    operation(p);
}

inline double initialization_s(int ranks) { return 0.00375 * std::sqrt(ranks); }
inline constexpr double multiplication_s = 0.2;

// The more ranks, the longer it takes to make communicators and to distribute data, the more of a round is waiting, and
// the less do rounds of different ranks begin together. From 4,096 ranks on some communicators are not made when the
// multiplication begins: its first receives, and the reduces behind them, wait for those who make them.
inline void growing_multiplication(PaperCalls& p) {
  using enum record::Function;
  constexpr double round_s = multiplication_s / rounds;
  const double size = std::clamp(std::log2(p.ranks() / 64.0) / 8, 0.0, 1.0);  // 64 ranks: 0; 16,384: 1
  const double ready = initialization_s(p.ranks());
  const bool late = p.ranks() >= 4096;
  for (int rank = 0; rank < p.ranks(); ++rank) {
    p.call_from(rank, Bcast, ready * (0.05 + 0.4 * p.uniform()), ready * (0.5 + 0.1 * p.uniform()));
    p.call_from(rank, Comm_create, p.now(rank),
                late && rank % 16 == 0 ? ready + 0.06 * p.uniform() : ready * (1 + 0.005 * p.uniform()));
    const double offset = round_s * size * p.uniform();
    const double computing = round_s * (0.75 - 0.65 * size);
    for (int round = 0; round < rounds; ++round) {
      const double until = ready + offset + (round + 1) * round_s;
      if (p.now(rank) > until) continue;
      if (late && until < ready + 0.05 && p.uniform() < 0.8) {
        const double came = ready + 0.03 + 0.03 * p.uniform();
        if (p.now(rank) < came) p.call_from(rank, Recv, p.now(rank), came);
        p.call(rank, Reduce, 3e-3, 0.3);
        continue;
      }
      for (int step = 0; step < 4; ++step) {
        p.compute(rank, computing / 4);
        p.call(rank, Send, 3e-6);
        p.call(rank, Recv, 3e-5);
        p.call(rank, Reduce, 2e-4 * (1 + size));
      }
      const double came = until - 0.3 * round_s * size * p.uniform();
      if (p.now(rank) < came) p.call_from(rank, Recv, p.now(rank), came);
    }
  }
  const double end = p.latest() + 1e-3;
  for (int rank = 0; rank < p.ranks(); ++rank) p.call_from(rank, Allreduce, p.now(rank), end);
}

}  // namespace pclscope::test
