// How long an anchor waits for its worker while the application waits in MPI_Finalize: as long as steps end (epochs),
// and on a busy machine, where one takes long, for some time while the worker gets a core at all. A value; one thread.
#pragma once

#include <chrono>
#include <cstdint>

namespace pclscope::aggregator {

class EndPatience {
 public:
  using Clock = std::chrono::steady_clock;

  // For one step; and while the worker does not run: it hangs, or was stopped.
  EndPatience(std::chrono::milliseconds for_a_step, std::chrono::milliseconds asleep)
      : for_a_step_(for_a_step), asleep_(asleep) {}

  // `steps`: that have ended; `ran_ns`: the worker's processor time, negative: not known. False: no longer.
  bool go_on(Clock::time_point now, std::uint64_t steps, std::int64_t ran_ns) {
    if (step_ == Clock::time_point{} || steps != steps_) {
      step_ = ran_ = now;
      steps_ = steps;
    }
    if (ran_ns >= ran_ns_ + runs_ns) {
      ran_ = now;
      ran_ns_ = ran_ns;
    }
    return now - step_ <= for_a_step_ && now - ran_ <= asleep_;
  }

 private:
  static constexpr std::int64_t runs_ns = 1'000'000;
  std::chrono::milliseconds for_a_step_, asleep_;
  Clock::time_point step_{}, ran_{};
  std::uint64_t steps_ = 0;
  std::int64_t ran_ns_ = 0;
};

}  // namespace pclscope::aggregator
