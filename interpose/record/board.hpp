// The node's notice board of one job: how the started programs, the preloaded library and the tool's own rank tell
// each other where they are *before and after* MPI works. One file in /dev/shm per job and node, mode 0600, created
// by the first process that opens it, removed by the aggregator. All fields are atomics, written as commented.
// A job that was only preloaded (nobody started it with `pclscope run`) has a board too, by which an aggregator finds
// it: made by its processes in MPI_Init, removed by the node's last one in MPI_Finalize.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/record/bell.hpp"

namespace pclscope::record {

inline constexpr char board_magic[8] = {'P', 'C', 'L', 'B', 'R', 'D', '\r', '\n'};
inline constexpr std::uint32_t board_version = 4;
inline constexpr std::uint32_t board_pids = 4096;
inline constexpr std::uint32_t most_parts = 64;

// Of the ranks of a node that one aggregator reads; a node with one aggregator has one part.
struct alignas(64) BoardPart {
  std::atomic<std::uint32_t> started;  // pclscope-rank: application programs of this part
  std::atomic<std::uint32_t> ended;    // aggregator: 1 = its worker closed everything in order, 2 = it died
  alignas(64) Bell bell;               // of the part's rings; the first part has the board's
};

// Estimates of the node's clock against the job's (analysis/collect/clock_news.hpp), from aggregator to aggregator.
struct ClockNews {
  static constexpr std::size_t kept = 16, length = 8;
  std::atomic<std::uint64_t> written;  // so many; number i stands in words[i % kept]
  std::atomic<std::uint64_t> words[kept][length];
};

struct Board {
  // A zeroed file is a valid board: whoever creates it only has to size it (ftruncate).
  std::atomic<std::uint32_t> started;          // pclscope-rank: application programs started on this node
  std::atomic<std::uint32_t> initializing;     // library: processes that entered MPI_Init (futex word)
  std::atomic<std::uint32_t> finalizing;       // library: processes that entered MPI_Finalize
  std::atomic<std::uint32_t> aborting;         // library: processes that called MPI_Abort
  std::atomic<std::uint32_t> refused;          // library: processes that run another MPI than the library's
  std::atomic<std::uint32_t> change;           // futex word: incremented and woken with every change above
  std::atomic<std::uint32_t> aggregator;       // pid of the aggregator worker, 0 before it runs and after it left
  std::atomic<std::uint32_t> aggregator_done;  // 1 = it closed everything in order, 2 = died, 3 = see FORMAT.md
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
      exit_status;                     // library: of a process counted in `leaving`, one that is not 0 if there is any
  std::atomic<std::uint32_t> flushed;  // aggregator: the dump has been flushed, it can be read
  std::atomic<std::uint32_t> creator;  // pid of the first process
  std::atomic<std::uint32_t> process_ids;  // the first process: inode of its PID namespace
  std::atomic<std::uint64_t> free_space;   // KiB + 1 free in /dev/shm before a session (its number << 32; 0: the job)
  alignas(64) Bell bell;                   // of this node's rings; silent where an older library records
  // library: ticks of the node's clock when its first process entered MPI_Init. No call of a rank here began before. 0:
  // none has, or the job was only preloaded.
  alignas(64) std::atomic<std::uint64_t> first_init;

  // --- of a node with several aggregators ---
  std::atomic<std::uint32_t> leaving_tools;  // aggregators: tool's ranks that leave without MPI_Finalize
  std::atomic<std::uint32_t> gone_workers;   // aggregators: workers that ended, in order or not
  std::atomic<std::uint32_t> clock_shared;   // 2: the next lines are valid; written by the first worker
  std::uint32_t clock_source;                // ClockSource
  std::uint64_t clock_origin_ticks;          // the time axis of all workers here: ns since this moment
  std::int64_t clock_origin_realtime_ns;     // CLOCK_REALTIME then
  double clock_ns_per_tick;
  ClockNews clock_news;
  std::atomic<std::uint32_t> found;  // workers: ranks' processes whose rings were found
  std::atomic<std::uint32_t> found_pid[board_pids];
  BoardPart parts[most_parts];
};

inline Bell& bell_of(Board& board, std::uint32_t part) {
  return part == 0 || part >= most_parts ? board.bell : board.parts[part].bell;
}

// Bits of Board::said.
inline constexpr std::uint32_t said_no_room = 1u << 0;      // /dev/shm too small
inline constexpr std::uint32_t said_wrong_world = 1u << 1;  // MPI_COMM_WORLD is not of the expected size
inline constexpr std::uint32_t said_other_tool = 1u << 2;   // one that intercepts MPI lies behind the library

// Whether a file may have so many bytes: to try would cost the process its life (SIGXFSZ).
inline bool may_have_bytes(std::uint64_t bytes) {
  rlimit limit = {};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes;
}

// Opens the file, making it if there is none. Its mode is 0600 whatever the umask is: the first process gives it that a
// moment after making it, and the others wait for it. -1 and errno; EFBIG: this process may not make such files.
inline int open_board_file(const char* path) {
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  const bool may_make = may_have_bytes(sizeof(Board));
  for (int patience = 1000;; --patience) {
    const int made = may_make ? open(path, flags | O_CREAT | O_EXCL, 0600) : -1;
    if (made >= 0) {
      fchmod(made, 0600);
      return made;
    }
    if (may_make && errno != EEXIST) return -1;
    const int found = open(path, flags);
    if (found < 0 && errno == ENOENT && !may_make) errno = EFBIG;
    const bool later = found < 0 && (errno == EACCES || errno == ENOENT);
    if (!later || patience == 0) return found;
    usleep(1000);
  }
}

// Opens the board, making it if there is none, and takes its pages now: a full /dev/shm must not become a signal later.
// Null and errno; EPERM: it is somebody else's, which tells us nothing; EFBIG: this process may not make such files.
inline Board* map_board(const char* path) {
  const int file = open_board_file(path);
  if (file < 0) return nullptr;
  struct stat found = {};
  int failed = fstat(file, &found) == 0 ? 0 : errno;
  if (failed == 0 && found.st_uid != geteuid()) failed = EPERM;
  const bool grows = found.st_size < static_cast<off_t>(sizeof(Board));
  if (failed == 0 && grows && !may_have_bytes(sizeof(Board))) failed = EFBIG;
  if (failed == 0) failed = posix_fallocate(file, 0, sizeof(Board));
  void* memory = MAP_FAILED;
  if (failed == 0) {
    memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    failed = errno;
  }
  close(file);
  if (memory != MAP_FAILED) return static_cast<Board*>(memory);
  errno = failed;
  return nullptr;
}

// Bytes free in /dev/shm now; 0 when the system does not tell.
inline std::uint64_t free_now() {
  struct statvfs found = {};
  return statvfs("/dev/shm", &found) == 0 ? std::uint64_t{found.f_bavail} * found.f_frsize : 0;
}

// The same before the job began, or before the session: as the first process that asked found it.
inline std::uint64_t free_at_start(Board& board, std::uint32_t session) {
  std::uint64_t seen = board.free_space.load();
  while (seen == 0 || seen >> 32 != session) {
    const std::uint64_t kib = free_now() >> 10;
    const std::uint64_t most = 0xFFFFFFFEu;
    const std::uint64_t mine = std::uint64_t{session} << 32 | ((kib < most ? kib : most) + 1);
    if (board.free_space.compare_exchange_strong(seen, mine)) seen = mine;
  }
  return ((seen & 0xFFFFFFFFu) - 1) << 10;
}

inline std::uint32_t own_process_ids() {
  struct stat found = {};
  return stat("/proc/self/ns/pid", &found) == 0 ? static_cast<std::uint32_t>(found.st_ino) : 0;
}
// Whether the processes of this node see each other by the same numbers (containers may not).
inline bool same_process_ids(const Board& board) {
  const std::uint32_t own = own_process_ids();
  return own != 0 && own == board.process_ids.load();
}

// By each process that opens the board, before it calls MPI: the first one's word counts.
inline void note_surroundings(Board& board) {
  std::uint32_t nobody = 0;
  board.creator.compare_exchange_strong(nobody, static_cast<std::uint32_t>(getpid()));
  nobody = 0;
  board.process_ids.compare_exchange_strong(nobody, own_process_ids());
  if (board.free_space.load() == 0) free_at_start(board, 0);
}

}  // namespace pclscope::record
