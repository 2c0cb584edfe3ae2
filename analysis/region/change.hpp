// The graph of the present pattern of communication, and whether it has changed since the regions were made of it.
// Decided from message counts per pair of ranks, O(1) per pair and window, without looking at the graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pclscope {

// Regions are made of the counts since the pattern began, of which older ones count less (forget()). With r_i the
// counts of pair i they were made of, t_i those of now, R and T the sums, the graphs differ by the squared Hellinger
// distance of the proportions,
//   H = 1 - sum_i sqrt(t_i r_i) / sqrt(T R).
// Where the traffic goes on as before, with N new messages as if drawn at random, the mean of H is about
// noise = N (R + N) / (T^2 R) * sum_i c(t_i); c = 1/8 for large counts, more for few (1/2 for up to 4). When nothing is
// forgotten, T = R + N.
// Changed, when H > noise * (1 + 6 sqrt(2 / pairs)) + effect. effect = 0.01 is 2 % of all traffic on new pairs, or
// a change of all proportions by 28 % (quadratic mean). What alternates in phases counts less the longer the job runs,
// as it matters less for the regions.
//
// Also changed: when there are four times as many new messages, and the reference had so few that its noise alone hides
// the effect; as long as no regions were made of any message, and after `require()`. Memory: 16 bytes per pair.
class GraphChange {
 public:
  static constexpr double effect = 0.01;
  static constexpr double least_weight = 1e-3;  // of a pair with messages, however long ago: its ranks stay connected

  // Messages of a pair (any numbering 0.., PairTable's is meant) in the window just closed. Not for messages of a rank
  // to itself. Both directions may be one pair or two.
  void add(std::size_t pair, std::uint64_t messages);
  // A rank without a region exchanged a message with another one: regions must be made, whatever the proportions.
  void require() { required_ = true; }
  bool changed() const;
  // What was added so far counts `factor` of what it did, 0 < factor < 1. O(pairs).
  void forget(double factor);
  // Another pattern: these counts, by pair, instead of what was added so far. No regions were made of it yet.
  void restart(std::span<const float> counts);
  double weight(std::size_t pair) const { return pair < pairs_.size() ? pairs_[pair].now : 0; }  // t_i
  // Regions have been made of everything added so far. O(pairs).
  void clustered();

  double distance() const;  // H
  double noise() const;     // what H may be without a change

 private:
  struct Pair {
    double reference = 0;  // r_i
    double now = 0;        // t_i
  };
  void sum_up();
  double mean_noise() const;
  static constexpr double more_evidence = 4;
  std::vector<Pair> pairs_;
  double reference_ = 0, now_ = 0;  // R, T
  double new_ = 0;                  // N
  double both_ = 0;                 // sum sqrt(t_i r_i)
  double spread_ = 0;               // sum c(t_i)
  std::size_t used_ = 0;            // pairs with messages
  bool required_ = false;
};

}  // namespace pclscope
