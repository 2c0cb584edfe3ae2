// State of this process, shared by all its threads. Set up in MPI_Init before any other thread may call MPI.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/handles.hpp"

namespace pclscope {

struct Process {
  // World hiding. Both are the real world until MPI_Init found out that there are tool ranks to hide.
  MPI_Comm real_world;
  MPI_Comm app_world;

  bool known;                   // this process is a rank of a job we record: communicators are registered
  std::atomic<bool> recording;  // threads may make recorders; false before Init, after Finalize, in forked children
  bool world_attributes;        // the application put attributes of its own on its world
  bool multiple;                // MPI_THREAD_MULTIPLE was provided: shared state below needs locks and atomics
  std::int32_t rank;            // in the application's world
  std::int32_t size;
  // Counts freed types and communicators: caches keyed by handle are stale when it moves, as handles are reused.
  std::atomic<std::uint32_t> handles_epoch;
  // Dense, process-wide, from 0: the next send, the next posted receive.
  std::atomic<std::uint64_t> sends;
  std::atomic<std::uint64_t> receives;
};
extern Process process;

// What the application calls MPI_COMM_WORLD is its own world; any other handle stays.
inline MPI_Comm app_comm(MPI_Comm comm) { return comm == process.real_world ? process.app_world : comm; }

// Adds to a counter that several threads share only under MPI_THREAD_MULTIPLE (a locked add costs 5 ns).
template <class Integer>
inline Integer add_to(std::atomic<Integer>& counter, Integer amount) {
  if (process.multiple) [[unlikely]] return counter.fetch_add(amount, std::memory_order_relaxed);
  const Integer before = counter.load(std::memory_order_relaxed);
  counter.store(before + amount, std::memory_order_relaxed);
  return before;
}

inline std::uint64_t next_send() { return add_to<std::uint64_t>(process.sends, 1); }
inline std::uint64_t next_receive() { return add_to<std::uint64_t>(process.receives, 1); }

// A lock that exists only under MPI_THREAD_MULTIPLE. Held for some tens of instructions, never across an MPI call.
class Guard {
 public:
  explicit Guard(std::atomic<bool>& lock) : lock_(process.multiple ? &lock : nullptr) {
    if (lock_ == nullptr) [[likely]] return;
    while (lock_->exchange(true, std::memory_order_acquire)) {
      while (lock_->load(std::memory_order_relaxed)) __builtin_ia32_pause();
    }
  }
  ~Guard() {
    if (lock_ != nullptr) [[unlikely]] lock_->store(false, std::memory_order_release);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  std::atomic<bool>* lock_;
};

}  // namespace pclscope
