// By which a recording thread wakes the reader of its ring before it is full. The reader rests by the rates that it has
// seen; a rank that has been quiet for long can fill a ring in two milliseconds. On the board, one for all rings.
#pragma once

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace pclscope::record {

struct Bell {
  std::atomic<std::uint32_t> resting;  // reader: 1 while it sleeps
  std::atomic<std::uint32_t> rung;     // futex word: incremented and woken by who finds it sleeping
};

// Any thread, whatever it has just published. No system call unless the reader sleeps.
inline void ring_bell(Bell& bell) {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // either it sees what was published, or we that it rests
  if (bell.resting.load(std::memory_order_relaxed) == 0 || bell.resting.exchange(0) == 0) return;
  bell.rung.fetch_add(1);
  const int saved = errno;
  syscall(SYS_futex, &bell.rung, FUTEX_WAKE, 0x7fffffff, nullptr, nullptr, 0);
  errno = saved;
}

}  // namespace pclscope::record
