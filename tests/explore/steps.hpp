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

// Every header of the standard library that these sources use, as long as `atomic` is still `atomic`.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

extern "C" {
// The calling fiber is about to read or write what lies there: another one may go on before.
void explore_before(const volatile void* address, int writes);
void explore_saw(unsigned long value);  // what it read there: it decides what the fiber does next
void explore_changed();                 // others may find now what they wait for
// It cannot go on before another fiber has changed something. `timed`: or when nobody else can go on.
void explore_blocked(int timed);
int explore_kill(int pid, int signal);
int explore_gettime(timespec* time);
void* explore_allocate(unsigned long bytes);
void* explore_map(void* address, unsigned long bytes, int protection, int flags, int file, long offset);
int explore_unmap(void* address, unsigned long bytes);
}

namespace std {

template <class T>
struct explored_atomic : atomic<T> {
  using Order = memory_order;
  constexpr explored_atomic() noexcept = default;
  constexpr explored_atomic(T value) noexcept : atomic<T>(value) {}
  explored_atomic(const explored_atomic&) = delete;

  T load(Order order = memory_order_seq_cst) const {
    explore_before(this, 0);
    return seen(atomic<T>::load(order));
  }
  operator T() const { return load(); }
  void store(T value, Order order = memory_order_seq_cst) {
    explore_before(this, 1);
    atomic<T>::store(value, order);
  }
  T operator=(T value) {
    store(value);
    return value;
  }
  T exchange(T value, Order order = memory_order_seq_cst) {
    explore_before(this, 1);
    return seen(atomic<T>::exchange(value, order));
  }
  T fetch_add(T value, Order order = memory_order_seq_cst) {
    explore_before(this, 1);
    return seen(atomic<T>::fetch_add(value, order));
  }
  T fetch_sub(T value, Order order = memory_order_seq_cst) {
    explore_before(this, 1);
    return seen(atomic<T>::fetch_sub(value, order));
  }
  T fetch_or(T value, Order order = memory_order_seq_cst) {
    explore_before(this, 1);
    return seen(atomic<T>::fetch_or(value, order));
  }
  bool compare_exchange_strong(T& expected, T value, Order order = memory_order_seq_cst) {
    explore_before(this, 1);
    const bool done = atomic<T>::compare_exchange_strong(expected, value, order);
    seen(expected);
    return done;
  }
  bool compare_exchange_weak(T& expected, T value, Order order = memory_order_seq_cst) {
    return compare_exchange_strong(expected, value, order);
  }

 private:
  static T seen(T value) {
    if constexpr (is_pointer_v<T>) {
      explore_saw(value != nullptr);
    } else {
      explore_saw(static_cast<unsigned long>(value));
    }
    return value;
  }
};

}  // namespace std

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

#define atomic explored_atomic
#define __builtin_ia32_pause() explore_blocked(0)
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
