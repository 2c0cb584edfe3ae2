// The shared-memory segment of one MPI thread: a header, then a ring of events, then room for larger ones.
// One file in /dev/shm per segment, mode 0600, named as told at the end. The recording process creates it; the
// aggregator maps it read-write (it writes `tail`, `heartbeat` and `consumer`), and unlinks it once mapped.
// Who writes what: fields marked P by the recording process, C by the consuming aggregator. Layout: FORMAT.md.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "interpose/record/event.hpp"

namespace pclscope::record {

inline constexpr char segment_magic[8] = {'P', 'C', 'L', 'S', 'E', 'G', '\r', '\n'};
inline constexpr std::uint32_t segment_version = 5;

enum class ClockSource : std::uint32_t { tsc = 1, monotonic = 2 };  // ticks of rdtsc, or ns of CLOCK_MONOTONIC

enum class ProcessState : std::uint32_t {
  starting = 0,  // header not valid yet
  running = 1,
  finalizing = 2,  // MPI_Finalize entered; this thread writes no more events
  left = 3,        // no more events either: exited without MPI_Finalize, or left the session
};

enum class Consumer : std::uint32_t {
  expected = 0,  // not there yet: record, the ring buffers
  attached = 1,
  gone = 2,  // left or died: the recorder goes quiet
};

// Whether a thread that is blocked in MPI means that no other thread of its process can be in MPI.
enum class Threads : std::uint32_t {
  unknown = 0,
  one_at_a_time = 1,  // MPI_THREAD_SINGLE, FUNNELED, SERIALIZED
  many = 2,           // MPI_THREAD_MULTIPLE
};

struct SegmentHeader {
  // --- constant after creation (P) ---
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;  // offset of the ring
  std::uint64_t capacity;      // events in the first ring, a power of two
  std::int32_t world_rank;     // in the application's world
  std::int32_t world_size;
  std::uint32_t pid;
  std::uint32_t thread;  // 0 = the thread that called MPI_Init
  ClockSource clock;
  Threads threads;
  char node[64];  // host name, zero-terminated
  char mpi[64];   // first words of MPI_Get_library_version
  char executable[256];
  std::uint32_t tasks;    // thread 0, MPI_THREAD_MULTIPLE: threads of the process after MPI_Init; 0 not known
  std::uint32_t session;  // of a job that was only preloaded: Board::session for which it was made; else 0

  // --- producer's line (P) ---
  alignas(64) std::atomic<std::uint64_t> head;  // events ever written
  std::atomic<std::uint64_t> dropped;           // events ever lost because the ring stayed full
  std::atomic<std::uint64_t> held_up_ns;        // how long the thread waited for room in its full ring

  // --- state (P), rarely written ---
  alignas(64) std::atomic<ProcessState> state;
  std::atomic<std::uint32_t> thread_count;  // thread 0 only: segments of this process
  std::atomic<std::uint32_t> muted;         // 1: the thread's calls leave no events, their summary is not written yet
  std::atomic<std::uint64_t> paths_until;  // no call_path event has a number so high (events ever written); 0: none yet

  // --- current call (P): what the thread is inside now. function 0 = outside MPI ---
  alignas(64) std::atomic<std::uint64_t> call_since;  // ticks at entry
  std::atomic<std::uint64_t> call_site;
  std::atomic<std::uint64_t> call_comm;
  std::atomic<std::int32_t> call_peer;
  std::atomic<std::int32_t> call_tag;
  std::atomic<std::uint32_t> call_function;
  std::atomic<std::uint32_t> call_awaited;  // requests that a Wait* call waits for; the first of them in `awaited`

  // --- consumer's line (C) ---
  alignas(64) std::atomic<std::uint64_t> tail;  // events ever consumed
  alignas(64) std::atomic<Consumer> consumer;
  std::atomic<std::uint32_t> consumer_pid;

  // --- current call (P), continued: what a Wait* call waits for, the first awaited_limit of call_awaited requests:
  // the number of the send (awaited_send set) or receive; 0 in all bits: not known. A Sendrecv
  // has one: awaited_sendrecv(), or 0 when its send goes to nobody in this world ---
  alignas(64) std::atomic<std::uint64_t> awaited[64];

  // --- constant (P): of a file without a name, to which a symbolic link leads; else -1 ---
  std::int32_t descriptor;  // of the recording process
  std::uint64_t inode;
  std::uint32_t rings_bell;  // 1: the thread rings the board's bell when much of the ring is unread (RingWriter::look)
  std::uint32_t growths;     // constant (P): the file has room for so many rings after the first

  // --- current call (P), continued: where `awaited` is a collective (awaited_collective), its communicator ---
  alignas(64) std::atomic<std::uint64_t> awaited_comm[64];
  // --- nonblocking collectives (P), which leave no event before they complete: how many collectives this process had
  // posted on a communicator after the thread's newest nonblocking one there. Its place is posted_place(comm), where
  // another communicator may stand; comm 0: none yet, or being changed ---
  struct Posted {
    std::atomic<std::uint64_t> comm;
    std::atomic<std::uint64_t> count;
  };
  alignas(64) Posted posted[32];
  // --- rings after the first (P), each twice as large as the one before it: number of the first event that lies there.
  // 0: not in use yet. Written before any event in there is published; the rings before it get no more events ---
  std::atomic<std::uint64_t> begins[16];
  // --- the processor's time (P), since the thread's first measurement until `idle_until` (ticks; 0: not measured yet,
  // and all are 0). It did not run (it slept, or had no core) for idle_ns; outside MPI for at least and at most so
  // long; and of what it was without a core for certain, for it did not go to sleep meanwhile, at least so long inside
  // and outside. Stored before idle_until, none is ever less than before ---
  alignas(64) std::atomic<std::uint64_t> idle_ns;
  std::atomic<std::uint64_t> idle_least_ns, idle_most_ns;
  std::atomic<std::uint64_t> off_inside_ns, off_outside_ns;
  std::atomic<std::uint64_t> idle_until;
};
inline constexpr std::uint32_t growths_limit = 16;
constexpr std::size_t posted_place(std::uint64_t comm) { return (comm * 0x9E3779B97F4A7C15u) >> 59; }
inline constexpr std::uint32_t awaited_limit = 64;
inline constexpr std::uint64_t awaited_send = std::uint64_t{1} << 62;     // ORed to the number
inline constexpr std::uint64_t awaited_receive = std::uint64_t{1} << 63;  // ORed to the number
// A nonblocking collective of awaited_comm: its number there, and in bits 40-60 the function that made it.
inline constexpr std::uint64_t awaited_collective = std::uint64_t{1} << 61;
constexpr std::uint64_t awaited_collective_of(std::uint64_t number, std::uint16_t function) {
  return awaited_collective | std::uint64_t{function} << number_bits | (number & number_mask);
}
// Of MPI_Win_start: a member of its group, of MPI_Win_lock: whether it is exclusive.
inline constexpr std::uint64_t awaited_member = std::uint64_t{1} << 60;
// The send of a Sendrecv, not numbered yet: bits 31-61 the destination, 0-30 the tag.
constexpr std::uint64_t awaited_sendrecv(std::int32_t peer, std::int32_t tag) {
  return peer < 0 || tag < 0 ? 0
                             : awaited_send | static_cast<std::uint64_t>(peer) << 31 | static_cast<std::uint64_t>(tag);
}
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr std::uint32_t segment_header_bytes = 4096;
static_assert(sizeof(SegmentHeader) <= segment_header_bytes);

// Of ring number `ring`, the first one being 0 and of `capacity` events. Behind the last one the file ends.
inline std::uint64_t ring_offset(std::uint64_t capacity, std::uint32_t ring) {
  return segment_header_bytes + ((std::uint64_t{1} << ring) - 1) * capacity * sizeof(Event);
}
inline std::uint64_t segment_bytes(std::uint64_t capacity, std::uint32_t growths = 0) {
  return ring_offset(capacity, growths + 1);
}
inline Event* segment_ring(SegmentHeader* header, std::uint64_t capacity, std::uint32_t ring) {
  return reinterpret_cast<Event*>(reinterpret_cast<char*>(header) + ring_offset(capacity, ring));
}

// Names in /dev/shm, TOKEN being the job's secret, 32 hex digits (PCLSCOPE_JOB), NODE the node_key() in 8 hex digits
// ("%08x"): hosts that are namespaces of one machine share /dev/shm.
//   pclscope-TOKEN-NODE-board         the node's board (board.hpp)
//   pclscope-TOKEN-NODE-RANK-THREAD   a segment; of a job that was only preloaded: ...-RANK-THREAD-SESSION.
//                                     Or a symbolic link to /proc/PID/fd/N, a descriptor of the recording process
//   pclscope-TOKEN-NODE-nodes         of a job that was only preloaded, on the node of its rank 0: its nodes' names
inline constexpr char shm_prefix[] = "pclscope-";
inline constexpr char job_variable[] = "PCLSCOPE_JOB";
inline constexpr char aggregators_variable[] = "PCLSCOPE_AGGREGATORS";  // of each node; not set: 1
inline constexpr char part_variable[] = "PCLSCOPE_PART";                // of a rank: which of them reads it

// FNV-1a (32 bit) of a host name.
inline std::uint32_t node_key(const char* hostname) {
  std::uint32_t key = 0x811C9DC5u;
  for (; *hostname != 0; ++hostname) key = (key ^ static_cast<unsigned char>(*hostname)) * 0x01000193u;
  return key;
}
inline std::uint32_t this_node_key() {
  char name[65] = "";
  ::gethostname(name, sizeof name - 1);
  return node_key(name);
}
// The same as it stands in names. `out` has room for 9 characters.
inline void write_node_key(std::uint32_t key, char* out) {
  for (int i = 0; i < 8; ++i) out[i] = "0123456789abcdef"[key >> (28 - 4 * i) & 15u];
  out[8] = 0;
}

}  // namespace pclscope::record
