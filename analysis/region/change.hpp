// Has the communication graph changed since the regions were made? Decided from message counts per pair of ranks, O(1)
// per pair and window, without looking at the graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pclscope {

// Regions are made of all counts since the job began. With r_i the counts of pair i they were made of, t_i those of
// now, R and T the sums, the graphs differ by the squared Hellinger distance of the proportions,
//   H = 1 - sum_i sqrt(t_i r_i) / sqrt(T R).
// Where the traffic goes on as before, with N = T - R new messages as if drawn at random, the mean of H is
// about noise = N / (T R) * sum_i c(t_i); c = 1/8 for large counts, more for few (1/2 for up to 4).
// Changed, when H > noise * (1 + 6 sqrt(2 / pairs)) + effect. effect = 0.01 is 2 % of all traffic on new pairs, or
// a change of all proportions by 28 % (quadratic mean). What alternates in phases counts less the longer the job runs,
// as it matters less for the regions.
//
// Also changed: as long as no regions were made of any message, and after `require()`. Memory: 16 bytes per pair.
class GraphChange {
 public:
  static constexpr double effect = 0.01;

  // Messages of a pair (any numbering 0.., PairTable's is meant) in the window just closed. Not for messages of a rank
  // to itself. Both directions may be one pair or two.
  void add(std::size_t pair, std::uint64_t messages);
  // A rank without a region exchanged a message with another one: regions must be made, whatever the proportions.
  void require() { required_ = true; }
  bool changed() const;
  // Regions have been made of everything added so far. O(pairs).
  void clustered();

  double distance() const;  // H
  double noise() const;     // what H may be without a change

 private:
  struct Pair {
    double reference = 0;  // r_i
    double now = 0;        // t_i
  };
  std::vector<Pair> pairs_;
  double reference_ = 0, now_ = 0;  // R, T
  double both_ = 0;                 // sum sqrt(t_i r_i)
  double spread_ = 0;               // sum c(t_i)
  std::size_t used_ = 0;            // pairs with messages
  bool required_ = false;
};

}  // namespace pclscope
