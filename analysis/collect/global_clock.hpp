// From one node's local axis to the job's (the root's), as it is applied while the job runs: piecewise linear,
// continuous, strictly increasing. What was handed out stays true: a new estimate is slewed in from `now` on.
// One thread. Bounded: a few thousand segments and records, whatever the run's length.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "analysis/collect/clock_chain.hpp"

namespace pclscope::collect {

// An estimate, and what was applied at its moment: kept for the re-estimation at the run's end (clock_refit.hpp).
struct ClockRecord {
  nodes::ClockUpdate update;
  double applied_ns = 0;  // job's axis - local axis, as applied at update.at_ns
};

class GlobalClock {
 public:
  enum class Role { root, other };
  explicit GlobalClock(Role role, ClockLimits limits = {}) : role_(role), limits_(limits) {}

  // False on another node than the root before the first estimate: times are the local ones then, of unknown error.
  bool known() const { return role_ == Role::root || !knots_.empty(); }

  // `now_ns` (local axis) is not before any time converted so far. The first estimate holds for all times, also earlier
  // ones; the later ones are slewed in from now_ns within 0.2 s (longer if the clock would change its rate by a
  // quarter). False: not believable, or not newer than the last; then nothing changes. Always false on the root.
  bool apply(const nodes::ClockUpdate& update, std::int64_t now_ns);

  // Whole ns: times at least 2 ns apart stay apart. Times beyond 95 years are cut off.
  std::int64_t to_global(std::int64_t local_ns) const {
    if (knots_.empty()) return local_ns;
    const std::int64_t local = std::clamp(local_ns, -farthest_ns, farthest_ns);
    return on(knot_before(local), local);
  }
  // The inverse, to 2 ns.
  std::int64_t to_local(std::int64_t global_ns) const;
  // Of to_global(local_ns): the estimates' own error bar, what it grew until then, and what slewing is off. 0 on the
  // root, 1e18 ns while nothing is known.
  double error_ns(std::int64_t local_ns) const;

  // Ascending, at most max_records: the newest all, of older ones ever fewer, the oldest always.
  const std::vector<ClockRecord>& records() const { return records_; }
  std::size_t segments() const { return knots_.size(); }
  // Where to_global() changes its slope: local times, ascending.
  std::vector<std::int64_t> bends() const;

  static constexpr std::size_t max_records = 4096, max_knots = 4096;

 private:
  struct Knot {
    std::int64_t local_ns, global_ns;
    double drift;  // from here to the next knot: d global / d local - 1
  };
  static constexpr std::int64_t farthest_ns = 3'000'000'000'000'000'000;

  static std::int64_t on(const Knot& knot, std::int64_t local) {
    const std::int64_t passed = local - knot.local_ns;
    return knot.global_ns + passed +
           static_cast<std::int64_t>(std::floor(knot.drift * static_cast<double>(passed) + 0.5));
  }
  const Knot& knot_before(std::int64_t local) const {
    const Knot& last = knots_.back();
    return local >= last.local_ns ? last : search(local);
  }
  const Knot& search(std::int64_t local) const;
  void slew_to(const nodes::ClockUpdate& update, std::int64_t now_ns);
  void remember(const nodes::ClockUpdate& update);
  double error_by(const nodes::ClockUpdate& update, std::int64_t local, double applied_ns) const;

  Role role_;
  ClockLimits limits_;
  std::vector<Knot> knots_;
  std::vector<ClockRecord> records_;
  mutable std::size_t recent_ = 0;  // knot of the last search
};

}  // namespace pclscope::collect
