// Snapshots with the calls of the paper's situations (Muelder et al., sections 3 and 4), made by a generator.
#pragma once

#include <cmath>
#include <random>

#include "analysis/density/packing.hpp"
#include "analysis/density/pyramid.hpp"
#include "analysis/values/snapshot.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope::test {

inline constexpr int rounds = 20;
inline constexpr int lu_phases = 12;
inline constexpr double lu_phase_s = 0.1;

class PaperCalls {
 public:
  explicit PaperCalls(int ranks) : ranks_(ranks), random_(17), now_(static_cast<std::size_t>(ranks), 0) {}

  // Calls the function for about `typical_s`, then computes.
  void call(int rank, record::Function function, double typical_s, double spread = 0.15) {
    double& now = now_[static_cast<std::size_t>(rank)];
    now = call_from(rank, function, now, now + typical_s * std::exp(normal(spread)));
  }
  double call_from(int rank, record::Function function, double begin_s, double end_s) {
    const auto number = static_cast<std::uint16_t>(function);
    const auto begin = static_cast<std::int64_t>(begin_s * 1e9), end = static_cast<std::int64_t>(end_s * 1e9);
    pyramid_.call_inside(pyramid_.place(number), rank, begin, end);
    ++calls_;
    return now_[static_cast<std::size_t>(rank)] = end_s;
  }
  void compute(int rank, double typical_s) {
    now_[static_cast<std::size_t>(rank)] += typical_s * std::exp(normal(0.2));
  }
  double normal(double deviation) { return std::normal_distribution<>(0, deviation)(random_); }
  double uniform() { return std::uniform_real_distribution<>()(random_); }
  double latest() const {
    double last = 0;
    for (const double t : now_) last = std::max(last, t);
    return last;
  }
  double now(int rank) const { return now_[static_cast<std::size_t>(rank)]; }
  int ranks() const { return ranks_; }

  Snapshot snapshot() const {
    Snapshot s;
    s.application.ranks = ranks_;
    s.application.node_of_rank.assign(static_cast<std::size_t>(ranks_), -1);
    s.application.command = "generated";
    s.duration_s = latest();
    s.finished = true;
    const CallDensity density = pyramid_.value();
    s.call_density = density::pack(density);
    s.functions = {{static_cast<std::uint16_t>(record::Function::Recv), calls_, 0, 0, {}}};
    return s;
  }

 private:
  int ranks_;
  std::mt19937_64 random_;
  std::vector<double> now_;  // s, by rank
  density::Pyramid pyramid_;
  std::uint64_t calls_ = 0;
};

// Staggered short calls in layers: sends, receives, reduces, some receives far longer; an allreduce at the end.
inline Snapshot matrix_multiplication(int ranks) {
  using enum record::Function;
  PaperCalls p(ranks);
  for (int round = 0; round < rounds; ++round) {
    for (int rank = 0; rank < ranks; ++rank) {
      p.compute(rank, 4e-3);
      p.call(rank, Send, 3e-6);
      p.call(rank, Recv, p.uniform() < 0.2 ? 4e-3 : 3e-5);
      p.call(rank, Reduce, 3e-4);
    }
  }
  const double end = p.latest() + 1e-3;
  for (int rank = 0; rank < ranks; ++rank) p.call_from(rank, Allreduce, p.now(rank), end);
  return p.snapshot();
}

// Phases in which all receive shortly and often, and phases in which they wait for one long receive.
inline Snapshot lu_decomposition(int ranks) {
  using enum record::Function;
  PaperCalls p(ranks);
  for (int phase = 0; phase < lu_phases; ++phase) {
    const double until = (phase + 1) * lu_phase_s;
    for (int rank = 0; rank < ranks; ++rank) {
      if (phase % 2 == 1) {
        p.compute(rank, 1e-3);
        while (p.now(rank) < until - 0.035) p.call(rank, Recv, 0.02, 0.05);
      } else {
        while (p.now(rank) < until - 4e-3) {
          p.call(rank, Recv, 5e-5);
          p.call(rank, Send, 3e-6);
          p.compute(rank, 2e-3);
        }
      }
      p.compute(rank, 1e-4);
      p.call_from(rank, Bcast, p.now(rank), std::max(until, p.now(rank) + 1e-6));
    }
  }
  return p.snapshot();
}

// Reduces that begin together and end along a logarithm (a tree on another network), short broadcasts and receives.
inline Snapshot inversion(int ranks) {
  using enum record::Function;
  PaperCalls p(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const double depth = std::log2(1.0 + rank) / std::log2(1.0 + ranks);
    p.call_from(rank, Reduce, 0.01, 0.01 + 0.002 + 0.4 * depth);
    while (p.now(rank) < 0.5) {
      p.compute(rank, 5e-3);
      p.call(rank, p.uniform() < 0.5 ? Bcast : Recv, 4e-5);
    }
  }
  return p.snapshot();
}

}  // namespace pclscope::test
