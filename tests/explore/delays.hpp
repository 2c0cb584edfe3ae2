// Included by the compiler before all else with PCLSCOPE_DELAYS: real jobs in which the library and the aggregator rest
// now and then at an access to an atomic, up to two milliseconds, as when the system takes their core away. See
// README.md. Not in interpose/libc/, which declares functions anew that standard headers declare.
#pragma once
#ifndef PCLSCOPE_NO_DELAYS

#include <errno.h>
#include <time.h>

#include "tests/explore/standard_headers.hpp"

// Once in some two thousand accesses: a call in MPI makes about ten.
inline void explore_before(const volatile void* address, int) {
  static __thread unsigned long state = 0;
  if (state == 0) state = __builtin_ia32_rdtsc() ^ reinterpret_cast<unsigned long>(address);
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  if (state % 2048 != 0) return;
  const int saved = errno;
  const timespec rest = {0, static_cast<long>((state >> 11) % 2'000'000)};
  nanosleep(&rest, nullptr);
  errno = saved;
}
inline void explore_saw(unsigned long) {}

#include "tests/explore/hooked_atomic.hpp"
#endif
