// Included by the compiler before all else in the sources that are explored: the preloaded library's and the reader's,
// as they stand. It makes every access to an atomic, every lock and every wait a step at which another fiber may go on,
// and puts the explorer's world in place of memory, time and processes. See README.md.
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/explore/standard_headers.hpp"

extern "C" {
// The calling fiber is about to read or write what lies there: another one may go on before.
void explore_before(const volatile void* address, int writes);
void explore_saw(unsigned long value);  // what it read there: it decides what the fiber does next
void explore_changed();                 // others may find now what they wait for
// It cannot go on before another fiber has changed something. `timed`: or when nobody else can go on.
void explore_blocked(int timed);
int explore_kill(int pid, int signal);
int explore_gettime(timespec* time);
unsigned long long explore_ticks();  // no step depends on how long it really took
void* explore_allocate(unsigned long bytes);
void* explore_map(void* address, unsigned long bytes, int protection, int flags, int file, long offset);
int explore_unmap(void* address, unsigned long bytes);
}

#include "tests/explore/hooked_atomic.hpp"

inline int explore_lock(pthread_mutex_t* mutex) {
  explore_before(mutex, 1);
  while (pthread_mutex_trylock(mutex) != 0) explore_blocked(0);
  return 0;
}
inline int explore_unlock(pthread_mutex_t* mutex) {
  const int result = pthread_mutex_unlock(mutex);
  explore_changed();
  return result;
}
inline int explore_sleep(const timespec*) {
  explore_blocked(1);
  return 0;
}
// Threads are fibers: nobody is told of their end, and no process forks.
inline int explore_no_key(pthread_key_t*, void (*)(void*)) { return 0; }
inline int explore_no_value(pthread_key_t, const void*) { return 0; }
inline int explore_no_forks(void (*)(), void (*)(), void (*)()) { return 0; }
inline void* explore_zeroed(unsigned long count, unsigned long bytes) {
  void* memory = explore_allocate(count * bytes);
  return memory != nullptr ? memset(memory, 0, count * bytes) : nullptr;
}

#define __builtin_ia32_pause() explore_blocked(0)
#define __builtin_ia32_rdtsc() explore_ticks()
#define pthread_mutex_lock(mutex) explore_lock(mutex)
#define pthread_mutex_unlock(mutex) explore_unlock(mutex)
#define nanosleep(time, rest) explore_sleep(time)
#define clock_gettime(clock, time) explore_gettime(time)
#define kill(pid, signal) explore_kill(pid, signal)
#define mmap(address, bytes, protection, flags, file, offset) \
  explore_map(address, bytes, protection, flags, file, offset)
#define munmap(address, bytes) explore_unmap(address, bytes)

#ifdef PCLSCOPE_EXPLORED_RANK  // the library: its memory begins anew with every schedule
#define malloc(bytes) explore_allocate(bytes)
#define calloc(count, bytes) explore_zeroed(count, bytes)
#define aligned_alloc(alignment, bytes) explore_allocate(bytes)
#define free(memory) static_cast<void>(memory)
#define pthread_key_create(key, end) explore_no_key(key, end)
#define pthread_setspecific(key, value) explore_no_value(key, value)
#define pthread_atfork(prepare, parent, child) explore_no_forks(prepare, parent, child)
#endif
