// Ways from a placement to a better one. All are deterministic for the same random state, and none breaks a capacity.
#pragma once

#include "analysis/mapping/instance.hpp"
#include "analysis/values/splitmix.hpp"

namespace pclscope::mapping {

inline constexpr double least_gain = 1e-12;  // of a rank's mean weight: below it is rounding

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return splitmix(state_ += splitmix_step); }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>((next() >> 32) * n >> 32); }

 private:
  std::uint64_t state_;
};

// Simulated annealing (Kirkpatrick, Gelatt, Vecchi, Science 1983): one rank moves, or two change places, near where
// they or their partners are. Temperatures are relative to a rank's mean weight times one hop, falling geometrically.
struct Cooling {
  double from = 0.1, to = 0.003;
  std::uint64_t moves = 0;
};
void anneal(const Instance& instance, Placement& placement, const Cooling& cooling, Random& random);

// To where no single move or exchange with a near place (all places, of small problems) is better, or until about so
// many partners of ranks have been looked at.
void descend(const Instance& instance, Placement& placement, double looks);

// Boxes of a grid are mirrored, turned, transposed, or change places with others, as long as that is better. Finds what
// single exchanges cannot: parts that lie well in themselves, but the wrong way round. Does nothing where there is no
// grid; there whole sites of equal capacity change places.
void move_boxes(const Instance& instance, Placement& placement, std::uint64_t tries, Random& random);

}  // namespace pclscope::mapping
