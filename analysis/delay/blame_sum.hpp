// The parts of one wait: how much of it goes back to which visit of which phase of computation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/delay/origins.hpp"

namespace pclscope {

class BlameSum {
 public:
  struct Part {
    Blame blame;  // its share is filled in by shave()
    double ns = 0;
  };
  // Two parts have no origin: time inside MPI that was no wait, and what is out of sight.
  static constexpr std::uint32_t inside_mpi = UINT32_MAX, unknown = UINT32_MAX - 1;
  static constexpr std::size_t most_parts = 48;  // most waits have one or two; beyond: with another visit, or unknown

  void clear();
  void add(const Blame& blame, double ns) {
    if (!(ns > 0)) return;
    for (Part& p : parts_)
      if (p.blame.visit_ns == blame.visit_ns && p.blame.origin == blame.origin) {
        p.ns += ns;
        return;
      }
    add_new(blame, ns);
  }
  // Takes away from the part of that visit, or from those of any visit of its origin; what is more is dropped.
  void subtract(const Blame& blame, double ns, bool any_visit);
  template <class Condition>
  void drop_if(Condition condition) {
    std::erase_if(parts_, [&](const Part& p) { return !is_special(p) && condition(p.blame); });
  }
  // Scales all parts down so that their sum is at most `ns`.
  void limit(double ns);
  // When the sum exceeds the wait, every part gives away the same amount, or all that it has: small ones, noise, go
  // first. What is missing is unknown. Then the parts are sorted, largest first, and have their shares.
  void shave(double wait_ns);

  const std::vector<Part>& parts() const { return parts_; }
  static bool is_special(const Part& p) { return p.blame.origin >= unknown; }

 private:
  void add_new(const Blame& blame, double ns);
  double sum() const;
  std::vector<Part> parts_;
};

}  // namespace pclscope
