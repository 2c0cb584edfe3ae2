#include "analysis/aggregator/resting.hpp"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace pclscope::aggregator {
namespace {

std::atomic<InVain> in_vain{InVain::sleep};

}  // namespace

WaysOfWaiting::WaysOfWaiting(InVain way) : before_(in_vain.exchange(way)) {}
WaysOfWaiting::~WaysOfWaiting() { in_vain = before_; }

}  // namespace pclscope::aggregator

// Instead of the C library's: the program exports it (aggregator.cmake).
extern "C" int sched_yield() {
  using pclscope::aggregator::InVain;
  const InVain way = pclscope::aggregator::in_vain.load(std::memory_order_relaxed);
  if (way == InVain::go_on) return 0;
  if (way == InVain::yield) return static_cast<int>(::syscall(SYS_sched_yield));
  const int before = errno;
  const timespec pause{0, 50'000};
  ::nanosleep(&pause, nullptr);
  errno = before;
  return 0;
}
