// The node's notice board of one job: how the started programs, the preloaded library and the tool's own rank tell
// each other where they are *before and after* MPI works. One file in /dev/shm per job and node, mode 0600, created
// by the first process that opens it, removed by the aggregator. All fields are atomics, written as commented.
// A job that was only preloaded (nobody started it with `pclscope run`) has a board too, by which an aggregator finds
// it: made by its processes in MPI_Init, removed by the node's last one in MPI_Finalize.
#pragma once

#include <atomic>
#include <cstdint>

namespace pclscope::record {

inline constexpr char board_magic[8] = {'P', 'C', 'L', 'B', 'R', 'D', '\r', '\n'};
inline constexpr std::uint32_t board_version = 2;
inline constexpr std::uint32_t board_pids = 4096;

struct Board {
  // A zeroed file is a valid board: whoever creates it only has to size it (ftruncate).
  std::atomic<std::uint32_t> started;          // pclscope-rank: application programs started on this node
  std::atomic<std::uint32_t> initializing;     // library: processes that entered MPI_Init (futex word)
  std::atomic<std::uint32_t> finalizing;       // library: processes that entered MPI_Finalize
  std::atomic<std::uint32_t> aborting;         // library: processes that called MPI_Abort
  std::atomic<std::uint32_t> refused;          // library: processes that run another MPI than the library's
  std::atomic<std::uint32_t> change;           // futex word: incremented and woken with every change above
  std::atomic<std::uint32_t> aggregator;       // pid of the aggregator worker, 0 before it runs and after it left
  std::atomic<std::uint32_t> aggregator_done;  // 1 = it closed everything in order, 2 = it died
  std::atomic<std::uint32_t> pid[board_pids];  // pclscope-rank: pid of the i-th program started
  std::atomic<std::uint32_t> said;             // library: bits of what some process of this node already said on stderr
  std::atomic<std::uint32_t> leaving;          // library: processes that exit after MPI_Init without MPI_Finalize
  std::atomic<std::uint32_t> parted;  // aggregator: 1 = all processes finalize or leave, and the tool's rank has left

  // --- a job that was only preloaded; zero in any other. Constant once `described` is 2 (library) ---
  std::atomic<std::uint32_t> described;  // 1: one process is writing the rest of this part; 2: it is valid
  std::uint32_t version;                 // board_version
  std::int32_t ranks;                    // of the job
  std::int32_t node_ranks;               // of this node
  std::int32_t nodes;                    // of the job
  std::int32_t clock;                    // ClockSource of this node
  std::int64_t started_ns;               // when rank 0 was in MPI_Init, CLOCK_REALTIME
  char job[96];                          // public name: executable's base name, "-", pid of rank 0
  char executable[256];                  // of the process that wrote this
  char mpi[64];                          // as in segment headers
  char node[64];                         // host name of rank 0's node, where the file `nodes` lies

  // What the processes watch: even: dormant; odd: an aggregator wants events. It only grows.
  alignas(64) std::atomic<std::uint32_t> session;    // aggregator
  alignas(64) std::atomic<std::uint32_t> recording;  // library: processes of this node that record now

  // --- of any job ---
  std::atomic<std::uint32_t>
      exit_status;  // library: of a process counted in `leaving`, one that is not 0 if there is any
};

// Bits of Board::said.
inline constexpr std::uint32_t said_no_room = 1u << 0;      // /dev/shm too small
inline constexpr std::uint32_t said_wrong_world = 1u << 1;  // MPI_COMM_WORLD is not of the expected size
inline constexpr std::uint32_t said_other_tool = 1u << 2;   // one that intercepts MPI lies behind the library

}  // namespace pclscope::record
