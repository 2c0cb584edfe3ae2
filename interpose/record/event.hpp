// The event: what one MPI call, or one completed request, leaves behind. 64 bytes, one cache line.
// Shared contract of the preloaded library (writer) and the analysis (reader): constants and layouts only.
// The format and the meaning of every field per kind are specified in FORMAT.md beside this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pclscope::record {

// Never renumber; append only.
enum class EventKind : std::uint16_t {
  none = 0,
  call = 1,                 // an MPI call without a payload of its own (Wait, Probe, Comm_split ...)
  send = 2,                 // a send was started
  recv_post = 3,            // a receive was posted and is not complete yet, or a matched probe took its message
  recv_done = 4,            // a receive completed
  recv_cancelled = 5,       // a posted receive was cancelled: it took no message
  recv_freed = 6,           // a posted receive was freed: it completes unseen
  send_cancel_request = 7,  // MPI_Cancel was called on a send, outcome unknown
  send_cancelled = 8,       // that send never became a message
  send_not_cancelled = 9,   // that send became a message after all
  collective = 10,          // a collective completed on this rank
  comm_created = 11,
  comm_freed = 12,
  init = 13,                 // MPI_Init or MPI_Init_thread
  finalize = 14,             // MPI_Finalize was entered
  lost = 15,                 // events were dropped here; without flag::summarised nobody knows which
  rma = 16,                  // one-sided: put, get, accumulate ...
  rma_sync = 17,             // one-sided: fence, lock, flush, post, start, complete, wait ...
  file = 18,                 // an MPI-IO call
  control = 19,              // MPI_Pcontrol
  unrecorded_sends = 20,     // sends of one channel that left no event of their own
  unrecorded_receives = 21,  // receives of one channel, posted and completed without events of their own
  lost_number = 22,          // numbers (ordinals) that were given out but whose events were dropped
  send_done = 23,            // a long call completed a posted send of some size
  neighbour = 24,            // a rank that neighbourhood collectives of this communicator wait for
  awaited = 25,              // in no ring; from one node's analysis to the root's: a call waited for another rank
  call_path = 26,            // up to three frames of a call path, before the first event whose site it is
  marker = 27,               // the program says where a part of it begins or ends: pclscope.h
};

// Bits of Event::flags.
namespace flag {
inline constexpr std::uint32_t nonblocking = 1u << 0;     // I-form: the call returned before completion
inline constexpr std::uint32_t persistent = 1u << 1;      // started by Start / Startall
inline constexpr std::uint32_t posted = 1u << 2;          // recv_done: a recv_post with the same ordinal precedes it
inline constexpr std::uint32_t synchronous = 1u << 3;     // Ssend family
inline constexpr std::uint32_t buffered = 1u << 4;        // Bsend family
inline constexpr std::uint32_t ready = 1u << 5;           // Rsend family
inline constexpr std::uint32_t intercomm = 1u << 6;       // the communicator is an intercommunicator
inline constexpr std::uint32_t failed = 1u << 7;          // MPI returned an error
inline constexpr std::uint32_t foreign = 1u << 8;         // the peer is outside this job's world (spawn, connect)
inline constexpr std::uint32_t unordered = 1u << 9;       // order on the channel unknown (concurrent threads)
inline constexpr std::uint32_t truncated = 1u << 10;      // reserved: message longer than the buffer
inline constexpr std::uint32_t matched_probe = 1u << 11;  // recv_post by Mprobe / Improbe: source and tag are resolved
inline constexpr std::uint32_t entered = 1u << 12;        // recv_post written at entry of a call that has not returned
inline constexpr std::uint32_t unrecorded = 1u << 13;     // it happened while nothing was recorded: no times
inline constexpr std::uint32_t out_of_order = 1u << 14;   // recv_post: its place among earlier receives is not known
inline constexpr std::uint32_t partitioned = 1u << 15;    // MPI_Psend_init / MPI_Precv_init
inline constexpr std::uint32_t summarised = 1u << 16;     // lost: all that matching must know follows in events
inline constexpr std::uint32_t of_receives = 1u << 17;    // lost_number: of receives, else of sends
inline constexpr std::uint32_t first_come = 1u << 18;     // recv_done of a blocking receive, a probe: MPI_ANY_SOURCE
}  // namespace flag

// A call at least so long (ticks: 20 to 70 us) tells the sends that it completed, if they have so many bytes: smaller
// ones do not wait for their receiver. Open MPI copies larger ones, too, but completes them only when their receiver is
// in MPI.
inline constexpr std::uint64_t long_call_ticks = 1u << 16;
inline constexpr std::uint64_t long_call_bytes = 257;
// Event::tag of a nonblocking collective: how long the call took that completed it, in units of so many ticks.
inline constexpr unsigned completion_shift = 10;
constexpr std::int32_t completion_length(std::uint64_t ticks) {
  const std::uint64_t units = (ticks + (1u << completion_shift) - 1) >> completion_shift;
  return units < 0x7fffffffu ? static_cast<std::int32_t>(units) : 0x7fffffff;
}

// Special values of Event::peer and Event::tag, the same for every MPI implementation.
inline constexpr std::int32_t any_source = -1;
inline constexpr std::int32_t proc_null = -2;
inline constexpr std::int32_t unknown_rank = -3;
inline constexpr std::int32_t root_self = -4;  // MPI_ROOT in an intercommunicator's collective
inline constexpr std::int32_t any_tag = -1;

// Event::ordinal of sends and receives: the number, and how many further sends (receives) other threads of this
// process began between the numbering of this one and the return of its call, saturating. FORMAT.md, "Threads".
inline constexpr unsigned number_bits = 40;
inline constexpr std::uint64_t number_mask = (std::uint64_t{1} << number_bits) - 1;
inline constexpr std::uint64_t concurrent_limit = (std::uint64_t{1} << (64 - number_bits)) - 1;
constexpr std::uint64_t number_of(std::uint64_t ordinal) { return ordinal & number_mask; }
constexpr std::uint64_t concurrent_of(std::uint64_t ordinal) { return ordinal >> number_bits; }
constexpr std::uint64_t make_ordinal(std::uint64_t number, std::uint64_t concurrent) {
  return number | (concurrent < concurrent_limit ? concurrent : concurrent_limit) << number_bits;
}

// Event::site of a call whose callers are known: user addresses of x86-64 have 47 bits, this is the one above.
inline constexpr std::uint64_t path_bit = std::uint64_t{1} << 47;
inline constexpr unsigned most_frames = 16;
inline constexpr unsigned path_part = 3;  // frames per call_path event
constexpr std::uint64_t path_key(std::uint64_t hash) { return path_bit | hash >> 17; }
constexpr bool is_path(std::uint64_t site) { return (site & path_bit) != 0; }

// Event::tag of a marker. Its name stands in `comm` and `bytes`, before it in markers of the kind `name_part`, in their
// `ordinal` as well. pclscope.h has the same numbers.
enum class MarkerKind : std::int32_t { name_part = 0, begin = 1, end = 2, iteration = 3 };
inline constexpr std::size_t marker_name_part = 24;  // bytes
inline constexpr std::size_t marker_name_last = 16;  // at most, in the marker itself
inline constexpr std::size_t most_marker_name = 64;  // longer names are cut

struct alignas(64) Event {
  std::uint64_t begin;    // clock ticks at entry of the MPI call that made this event
  std::uint64_t end;      // clock ticks at its return
  std::uint64_t site;     // return address in the application, or the key of a call path; 0 when unknown
  std::uint64_t comm;     // communicator id, equal on all its members; 0 = none
  std::uint64_t bytes;    // payload bytes; see FORMAT.md per kind
  std::uint64_t ordinal;  // see FORMAT.md per kind
  std::int32_t peer;      // rank in the application's world, or a special value above
  std::int32_t tag;
  EventKind kind;
  std::uint16_t function;  // number in functions.def
  std::uint32_t flags;
};
static_assert(sizeof(Event) == 64 && alignof(Event) == 64);
static_assert(std::is_trivially_copyable_v<Event>);

// Communicator id of the application's MPI_COMM_WORLD. Others are hashes (never 0 or 1, nor 2).
inline constexpr std::uint64_t world_comm_id = 1;
inline constexpr std::uint64_t self_comm_id = 2;  // MPI_COMM_SELF of any rank: channels are rank to itself

}  // namespace pclscope::record
