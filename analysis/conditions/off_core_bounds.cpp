// Between which two a rank was off its core outside MPI (docs/methods.md, "Off the core").
#include <algorithm>

#include "analysis/conditions/sampler.hpp"

namespace pclscope::conditions {

// Whatever of the three is newer than the others: the bounds are wider then, not wrong, when all are read before the
// scheduler's sums are.
Sampler::Idle Sampler::idle_of(const record::SegmentHeader& header) {
  Idle idle;
  idle.until = header.idle_until.load(std::memory_order_acquire);
  const auto ns = [](const std::atomic<std::uint64_t>& of) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(of.load(std::memory_order_relaxed), INT64_MAX / 4));
  };
  idle.off_inside_ns = ns(header.off_inside_ns);
  idle.off_outside_ns = ns(header.off_outside_ns);
  idle.least_ns = ns(header.idle_least_ns);
  idle.most_ns = ns(header.idle_most_ns);
  idle.all_ns = ns(header.idle_ns);
  return idle;
}

// What the samples tell is an estimate. For certain is, of the time since the rank was first read: off its core outside
// MPI it was for no longer
//   than it was off its core at all, less what it measured of that inside MPI;
//   than it was awake outside MPI;
//   than it did not run outside MPI;
// and for no less
//   than it measured of that;
//   than it did not run outside MPI, less all of its sleep;
//   than it was off its core at all, less what it did not run inside MPI;
//   than it had been when it was read before.
void Sampler::bound_off_computing(Rank& rank, const Reading& reading) const {
  const std::int64_t dt = reading.now_ns - rank.last_ns;
  const std::int64_t ran = reading.times.ran_ns - rank.first.ran_ns;
  const std::int64_t waited = reading.times.waited_ns - rank.first.waited_ns;
  std::int64_t least = static_cast<std::int64_t>(rank.off_least_ns), most = waited;
  if (inside_ && reading.known) {
    const std::int64_t inside_ns =
        inside_(rank.rank, reading.inside ? reading.since : 0, reading.now_ns) - rank.inside_first_ns;
    most = std::min(most, ran + waited - inside_ns);  // events come late: too much, if anything
  }
  if (reading.idle.until != rank.idle.until) rank.since_idle_ns = rank.maybe_outside_ns = rank.off_outside_ns = 0;
  const bool same = reading.since == rank.was_since && reading.inside == rank.was_inside;
  rank.since_idle_ns += dt;
  if (!same || !reading.inside) rank.maybe_outside_ns += dt;
  if (same && !reading.inside && reading.idle.until == rank.idle.until)
    rank.off_outside_ns += std::clamp<std::int64_t>(reading.times.waited_ns - rank.last.waited_ns, 0, dt);
  if (reading.finalizing) rank.maybe_outside_ns = rank.off_outside_ns = 0;
  // What it measures first began before it was first read, perhaps long before.
  if (!rank.based && reading.idle.until != rank.idle.until) {
    rank.based = true;
    rank.idle_base = reading.idle;
    rank.before_base_ns = reading.now_ns - rank.first_ns;
  }
  rank.idle = reading.idle;
  if (rank.based) {
    const Idle &now = reading.idle, &base = rank.idle_base;
    const std::int64_t off_inside = std::max<std::int64_t>(now.off_inside_ns - base.off_inside_ns, 0);
    const std::int64_t off_outside = std::max<std::int64_t>(now.off_outside_ns - base.off_outside_ns, 0);
    // What is stolen from a virtual machine is neither on a run queue nor sleep.
    const std::int64_t stolen = std::max<std::int64_t>(off_inside + off_outside - waited, 0);
    most += stolen;
    const std::int64_t asleep = std::max<std::int64_t>(reading.now_ns - rank.first_ns - ran - waited - stolen, 0);
    const std::int64_t idle_least = now.least_ns - base.least_ns, idle_most = now.most_ns - base.most_ns;
    const std::int64_t inside_most = now.all_ns - base.all_ns - idle_least + rank.before_base_ns + rank.since_idle_ns;
    most = std::min({most, idle_most + rank.before_base_ns + rank.maybe_outside_ns, waited + stolen - off_inside});
    const std::int64_t measured = std::max(idle_least - asleep, off_outside);
    least = std::max({least, waited - inside_most, measured + rank.off_outside_ns});
  }
  rank.off_most_ns = static_cast<double>(std::max<std::int64_t>(most, 0));
  rank.off_least_ns = std::clamp(static_cast<double>(least), 0.0, rank.off_most_ns);
  rank.off_computing_ns = std::clamp(rank.off_computing_ns, rank.off_least_ns, rank.off_most_ns);
}

}  // namespace pclscope::conditions
