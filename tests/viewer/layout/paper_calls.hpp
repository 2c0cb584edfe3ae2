// Snapshots with the calls of the paper's situations (Muelder et al., sections 3 and 4), made by a generator.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "analysis/density/packing.hpp"
#include "analysis/density/pyramid.hpp"
#include "analysis/values/mpi_call.hpp"
#include "analysis/values/snapshot.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope::test {

inline constexpr int rounds = 20;
inline constexpr int lu_phases = 12;
inline constexpr double lu_phase_s = 0.1;
inline constexpr double inversion_part_s = 0.5;
inline constexpr int most_ranks_kept = 1024;  // single calls of more ranks are not

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
    if (ranks_ <= most_ranks_kept) {
      MpiCall& call = kept_.emplace_back();
      call.rank = rank;
      call.function = number;
      call.begin = begin;
      call.end = end;
    }
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
  const std::vector<MpiCall>& kept() const { return kept_; }  // rank by rank within a situation

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
  std::vector<MpiCall> kept_;
};

// Of one situation alone.
inline Snapshot only(int ranks, void (*situation)(PaperCalls&)) {
  PaperCalls p(ranks);
  situation(p);
  return p.snapshot();
}

// Staggered short calls in layers: sends, receives, reduces, some receives far longer; an allreduce at the end.
inline void matrix_multiplication(PaperCalls& p) {
  using enum record::Function;
  for (int round = 0; round < rounds; ++round) {
    for (int rank = 0; rank < p.ranks(); ++rank) {
      p.compute(rank, 4e-3);
      p.call(rank, Send, 3e-6);
      p.call(rank, Recv, p.uniform() < 0.2 ? 4e-3 : 3e-5);
      p.call(rank, Reduce, 3e-4);
    }
  }
  const double end = p.latest() + 1e-3;
  for (int rank = 0; rank < p.ranks(); ++rank) p.call_from(rank, Allreduce, p.now(rank), end);
}
inline Snapshot matrix_multiplication(int ranks) { return only(ranks, matrix_multiplication); }

// Phases in which all receive shortly and often, and phases in which they wait for one long receive.
inline void lu_decomposition(PaperCalls& p) {
  using enum record::Function;
  const double begin = p.latest();
  for (int phase = 0; phase < lu_phases; ++phase) {
    const double until = begin + (phase + 1) * lu_phase_s;
    for (int rank = 0; rank < p.ranks(); ++rank) {
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
}
inline Snapshot lu_decomposition(int ranks) { return only(ranks, lu_decomposition); }

// Two parts, each of which begins with a reduce that all enter at once and leave along a logarithm (a tree on another
// network); then short broadcasts in the first part, short receives in the second.
inline void inversion(PaperCalls& p) {
  using enum record::Function;
  const double begin = p.latest();
  for (int part = 0; part < 2; ++part) {
    const double from = begin + part * inversion_part_s + 0.02, until = begin + (part + 1) * inversion_part_s;
    for (int rank = 0; rank < p.ranks(); ++rank) {
      const double depth = std::log2(1.0 + rank) / std::log2(1.0 + p.ranks());
      p.call_from(rank, Reduce, from, from + 0.002 + 0.3 * depth);
      while (p.now(rank) < until - 0.02) {
        p.compute(rank, 5e-3);
        p.call(rank, part == 0 ? Bcast : Recv, 4e-5);
      }
    }
  }
}
inline Snapshot inversion(int ranks) { return only(ranks, inversion); }

}  // namespace pclscope::test
