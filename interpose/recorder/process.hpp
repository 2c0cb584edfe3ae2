// State of this process, shared by all its threads. Set up in MPI_Init before any other thread may call MPI.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/library/handles.hpp"
#include "interpose/process/guard.hpp"

namespace pclscope {

// MPI_Init called by the library for a program that began with a session; `taken` when the program calls it too.
enum class WorldOfSessions : std::uint8_t { none, ours, taken };

struct Process {
  // World hiding. Both are the real world until MPI_Init found out that there are tool ranks to hide.
  MPI_Comm real_world;
  MPI_Comm app_world;

  bool known;                   // this process is a rank of a job we record: communicators are registered
  std::atomic<bool> recording;  // threads may make recorders; false before Init, after Finalize, in forked children
  std::atomic<bool> off;        // MPI_Pcontrol(0): threads account for their calls but write no events
  bool world_attributes;        // the application put attributes of its own on its world
  bool multiple;                // MPI_THREAD_MULTIPLE was provided: shared state below needs locks and atomics
  std::atomic<std::int32_t> sessions;  // MPI 4: begun and not finalized
  WorldOfSessions session_world;       // see wrap_session.hpp
  bool attachable;                     // only preloaded: dormant, and recording in sessions (sessions.hpp)
  bool checked;                        // `multiple` or `attachable`: no call may take the fast way
  bool lone;  // attachable, without MPI_THREAD_MULTIPLE, and only one thread has called MPI so far
  const std::atomic<std::uint32_t>* session;  // attachable: the word that says whether an aggregator wants events
  std::atomic<std::uint32_t> open_session;    // the session that this process has entered, 0: none
  std::uint64_t first_send, first_receive;    // numbers below these are of earlier sessions
  std::int32_t rank;                          // in the application's world
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
  if (process.multiple) [[unlikely]]
    return counter.fetch_add(amount, std::memory_order_relaxed);
  const Integer before = counter.load(std::memory_order_relaxed);
  counter.store(before + amount, std::memory_order_relaxed);
  return before;
}

inline std::uint64_t next_send() { return add_to<std::uint64_t>(process.sends, 1); }
inline std::uint64_t next_receive() { return add_to<std::uint64_t>(process.receives, 1); }

// A lock that exists only under MPI_THREAD_MULTIPLE.
class Guard : public SpinGuard {
 public:
  explicit Guard(std::atomic<bool>& lock) : SpinGuard(lock, process.multiple) {}
};

}  // namespace pclscope
