// How long an anchor waits for its worker in the last epochs, while the application waits in MPI_Finalize: as long as
// epochs end, and on a busy machine, where one takes long, for some time while the worker gets a core at all. A value;
// one thread.
#pragma once

#include <chrono>
#include <cstdint>

namespace pclscope::aggregator {

class EndPatience {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::milliseconds for_an_epoch{30'000};
  static constexpr std::chrono::milliseconds asleep{10'000};  // a worker that hangs, or was stopped

  // `epochs`: that have ended; `ran_ns`: the worker's processor time, negative: not known. False: no longer.
  bool go_on(Clock::time_point now, std::uint64_t epochs, std::int64_t ran_ns) {
    if (epoch_ == Clock::time_point{} || epochs != epochs_) {
      epoch_ = ran_ = now;
      epochs_ = epochs;
    }
    if (ran_ns >= ran_ns_ + runs_ns) {
      ran_ = now;
      ran_ns_ = ran_ns;
    }
    return now - epoch_ <= for_an_epoch && now - ran_ <= asleep;
  }

 private:
  static constexpr std::int64_t runs_ns = 1'000'000;
  Clock::time_point epoch_{}, ran_{};
  std::uint64_t epochs_ = 0;
  std::int64_t ran_ns_ = 0;
};

}  // namespace pclscope::aggregator
