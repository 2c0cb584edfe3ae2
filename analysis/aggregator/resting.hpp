// What sched_yield(), which Open MPI calls whenever it has looked in vain, does in an anchor. It would take turns with
// the application's ranks for nothing, and some kernels (Linux 6.18) starve a whole machine under it: several that
// yield and some that sleep, and nobody else runs for up to a minute. So it yields only in the few ms of a burst of
// pings, whose answer may come from a process on the same core (clock_sync.hpp). For one thread; scopes may lie in each
// other.
#pragma once

namespace pclscope::aggregator {

enum class InVain { yield, sleep, go_on };

class WaysOfWaiting {
 public:
  explicit WaysOfWaiting(InVain way);
  ~WaysOfWaiting();
  WaysOfWaiting(const WaysOfWaiting&) = delete;
  WaysOfWaiting& operator=(const WaysOfWaiting&) = delete;

 private:
  InVain before_;
};

// Inside calls that block, such as MPI_Init: it sleeps 50 us.
struct Resting : WaysOfWaiting {
  Resting() : WaysOfWaiting(InVain::sleep) {}
};

// In loops that look and then rest by themselves: nothing, but for a burst of pings.
struct Polling : WaysOfWaiting {
  explicit Polling(bool burst) : WaysOfWaiting(burst ? InVain::yield : InVain::go_on) {}
};

}  // namespace pclscope::aggregator
