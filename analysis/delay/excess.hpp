// Why a rank came late: what it did since it was last in step with the rank that waits for it, compared with what that
// one did (docs/methods.md, "Delays"). Böhme, Geimer, Wolf, Arnold: Identifying the root causes of wait states in
// large-scale parallel applications, ICPP 2010; here with the times of both ranks on one axis.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/delay/calls_of_ranks.hpp"

namespace pclscope {

// A moment of each rank. What the late rank did since its moment explains its lateness: late_ns <= waiting_ns, but for
// a tolerance.
struct InStep {
  std::int64_t late_ns = 0;
  std::int64_t waiting_ns = 0;
  bool found = false;  // false: the two were never seen in step
};

// The late rank began the awaited call at `late_ns`, the other waited for it from `waiting_ns` on (before late_ns).
struct Lateness {
  std::int32_t late = 0;
  std::int32_t waiting = 0;
  std::int64_t late_ns = 0;
  std::int64_t waiting_ns = 0;
  std::size_t look_back = 256;  // calls of each rank
  std::int64_t wait() const { return late_ns - waiting_ns; }
};

InStep last_in_step(const CallsOfRanks& calls, const Lateness& lateness);

// The comparison. An object is reused, so that its buffers stay.
class Excess {
 public:
  struct Phase {  // computation between two calls, all visits in the interval
    std::uint32_t site = 0, after_site = 0;
    std::uint8_t kinds = 0;
    std::int64_t late_ns = 0;  // what the late rank spent in it
    std::int64_t waiting_ns = 0;
    std::int64_t longest_ns = 0;  // its longest visit by the late rank
    std::int64_t visit_ns = 0;    // and when that began
    std::int64_t cut_ns = 0;      // of its excess: the waiting rank's surplus before the same call, after other ones
    std::int64_t excess() const { return late_ns > waiting_ns + cut_ns ? late_ns - waiting_ns - cut_ns : 0; }
  };
  struct Waited {
    std::size_t call = 0;  // index into the rank's calls, or into its history's stretches
    std::int64_t ns = 0;   // in the interval
    bool of_history = false;
  };

  void compare(const CallsOfRanks& calls, const Lateness& lateness, const InStep& since);

  const std::vector<Phase>& phases() const { return phases_; }
  const std::vector<Waited>& waits_of_late() const { return late_waits_; }
  const std::vector<Waited>& waits_of_waiting() const { return waiting_waits_; }
  std::int64_t wait_excess() const { return late_waited_ > waiting_waited_ ? late_waited_ - waiting_waited_ : 0; }
  std::int64_t inside_excess() const { return late_inside_ > waiting_inside_ ? late_inside_ - waiting_inside_ : 0; }

 private:
  static constexpr std::size_t most_phases = 64;
  template <class Visitor>
  static void walk(const CallsOfRanks::Rank& rank, std::int64_t from, std::int64_t to, Visitor& visitor);
  struct OfLate;
  struct OfWaiting;
  void add_waiting(std::uint32_t site, std::uint32_t after_site, std::uint8_t kinds, std::int64_t ns);
  void cut_surplus();
  Phase* phase(std::uint32_t site, std::uint32_t after_site, std::uint8_t kinds, bool make);

  std::vector<Phase> phases_;
  std::vector<std::pair<std::uint32_t, std::int64_t>>
      surplus_;  // by site: of the waiting rank, in no phase of the late
  std::vector<Waited> late_waits_, waiting_waits_;
  std::int64_t late_waited_ = 0, waiting_waited_ = 0, late_inside_ = 0, waiting_inside_ = 0;
  std::int64_t negligible_ = 0;  // shorter phases are not compared
};

}  // namespace pclscope
