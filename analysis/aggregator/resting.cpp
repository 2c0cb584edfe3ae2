#include "analysis/aggregator/resting.hpp"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace pclscope::aggregator {
namespace {

std::atomic<bool> resting{false};

}  // namespace

Resting::Resting() { resting = true; }
Resting::~Resting() { resting = false; }

}  // namespace pclscope::aggregator

// Instead of the C library's: the program exports it (aggregator.cmake).
extern "C" int sched_yield() {
  if (!pclscope::aggregator::resting.load(std::memory_order_relaxed))
    return static_cast<int>(::syscall(SYS_sched_yield));
  const int before = errno;
  const timespec pause{0, 50'000};
  ::nanosleep(&pause, nullptr);
  errno = before;
  return 0;
}
