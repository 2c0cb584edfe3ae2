// How long a thread did not run, outside MPI and inside: it slept, or another had its core. From outside, the
// scheduler's sums can be read a hundred times a second only, while a rank enters and leaves MPI a thousand times. The
// thread itself asks for its processor time (0.5 to 1 us) where a stretch ends that was long, outside MPI or inside:
// who loses a core does so for longer. Between two measurements it is known how long it did not run, and how long it
// was inside MPI: so of what it did not run between `least_ns` and `most_ns` was outside.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pclscope {

struct ProcessorUse {
  std::uint64_t ticks = 0;    // when
  std::uint64_t wall_ns = 0;  // of a clock
  std::uint64_t ran_ns = 0;   // the thread's processor time
  std::uint64_t sleeps = 0;   // how often it went to sleep; not: lost its core, or gave it away while it could run
};

struct Processor {
  static constexpr std::uint64_t long_stretch = 1u << 19;  // ticks: 140 to 520 us

  std::uint64_t left_at = 0;  // ticks: the last call returned
  std::uint64_t inside = 0;   // ticks inside calls since the last measurement
  bool measured = false;      // `last` is one
  ProcessorUse last;
  // Sums over all times between two measurements.
  std::uint64_t idle_ns = 0;                            // did not run
  std::uint64_t least_ns = 0, most_ns = 0;              // of that outside MPI
  std::uint64_t off_inside_ns = 0, off_outside_ns = 0;  // for certain without a core, at least

  // No call is under way.
  void add(const ProcessorUse& now) {
    if (measured && now.ticks > last.ticks && now.wall_ns > last.wall_ns) {
      const std::uint64_t length = now.wall_ns - last.wall_ns, ran = std::min(now.ran_ns - last.ran_ns, length);
      const double share = std::min(1.0, static_cast<double>(inside) / static_cast<double>(now.ticks - last.ticks));
      const std::uint64_t within = std::min(length, static_cast<std::uint64_t>(share * static_cast<double>(length)));
      const std::uint64_t idle = length - ran, most = std::min(idle, length - within);
      const std::uint64_t least = idle - std::min(idle, within);
      idle_ns += idle;
      least_ns += least;
      most_ns += most;
      if (now.sleeps == last.sleeps) {
        off_inside_ns += idle - most;
        off_outside_ns += least;
      }
    }
    measured = true;
    last = now;
    inside = 0;
  }
};

}  // namespace pclscope
