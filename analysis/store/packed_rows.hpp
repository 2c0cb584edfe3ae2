// Messages, collective calls and MPI calls as the file has them: times as differences, so that what is left of them is
// small and mostly of one sign. Exact for any values: differences wrap around. Private to analysis/store.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/mpi_call.hpp"
#include "analysis/values/zigzag.hpp"

namespace pclscope::store {

struct PackedMessage {
  std::uint64_t comm = 0;
  std::int32_t source = 0;
  std::int32_t destination = 0;
  std::int32_t tag = 0;
  std::uint32_t flags = 0;
  std::uint64_t bytes = 0;
  std::uint64_t recv_end_step =
      0;                          // zigzag: recv_end minus that of the row before; in the first row of a chunk minus 0
  std::int64_t send_to_end = 0;   // recv_end - send_begin: the message's time
  std::uint64_t sent_to_end = 0;  // zigzag: recv_end - send_end
  std::int64_t wait_to_end = 0;   // recv_end - recv_wait
  std::int64_t post_to_wait = 0;  // recv_wait - recv_post
  std::uint64_t send_site = 0;
  std::uint64_t recv_site = 0;
};

struct PackedCollective {
  std::uint64_t comm = 0;
  std::uint64_t ordinal = 0;
  std::int32_t rank = 0;
  std::int32_t awaited = -1;
  std::uint16_t function = 0;
  CollectiveShape shape = CollectiveShape::unknown;
  bool nonblocking = false;
  std::uint64_t bytes = 0;
  std::uint64_t end_step = 0;          // zigzag: as recv_end_step
  std::int64_t begin_to_end = 0;       // end - begin
  std::uint64_t begin_to_awaited = 0;  // zigzag: awaited_begin - begin
  std::uint64_t site = 0;
  std::int64_t completing = 0;
};

struct PackedCall {
  std::uint64_t comm = 0;
  std::int32_t rank = 0;
  std::uint16_t thread = 0;
  std::uint16_t function = 0;
  CallEnding ending = CallEnding::returned;
  std::int32_t peer = MpiCall::nobody;
  std::uint64_t begin_step = 0;  // zigzag: begin minus that of the row before; in the first row of a chunk minus 0
  std::int64_t duration = 0;
  std::uint64_t outside_step = 0;  // zigzag: outside minus (begin minus end of the row before, of the first row 0)
  std::uint64_t bytes = 0;
  std::uint64_t site = 0;
};

// Rows [first, chunk.size()) of what is, or will be, one chunk; appended.
void pack(std::span<const Message> chunk, std::size_t first, std::vector<PackedMessage>& to);
void pack(std::span<const CollectiveCall> chunk, std::size_t first, std::vector<PackedCollective>& to);
// One chunk, or its first rows; appended.
void unpack(std::span<const PackedMessage> chunk, std::vector<Message>& to);
void unpack(std::span<const PackedCollective> chunk, std::vector<CollectiveCall>& to);
void pack(std::span<const MpiCall> chunk, std::size_t first, std::vector<PackedCall>& to);
void unpack(std::span<const PackedCall> chunk, std::vector<MpiCall>& to);

// First and last moment of a row; a broken clock may turn them round.
inline std::pair<std::int64_t, std::int64_t> times_of(const Message& m) {
  return std::minmax({m.send_begin, m.recv_end});
}
inline std::pair<std::int64_t, std::int64_t> times_of(const CollectiveCall& c) { return std::minmax({c.begin, c.end}); }
inline std::pair<std::int64_t, std::int64_t> times_of(const MpiCall& c) { return std::minmax({c.begin, c.end}); }

template <class Row>
struct Packed;
template <>
struct Packed<Message> {
  using Type = PackedMessage;
};
template <>
struct Packed<CollectiveCall> {
  using Type = PackedCollective;
};

template <>
struct Packed<MpiCall> {
  using Type = PackedCall;
};

template <class Column>
void describe(Column&& column, const PackedCall*) {
  column("comm", "id", &PackedCall::comm, "communicator; 0 none");
  column("rank", "rank", &PackedCall::rank, "in the application's world");
  column("thread", "1", &PackedCall::thread, "of the rank, from 0");
  column("function", "id", &PackedCall::function, "MPI function");
  column("ending", "id", &PackedCall::ending,
         "0 returned, 1 it left no time of its return (MPI_Finalize; what posts nonblocking collectives)");
  column("peer", "rank", &PackedCall::peer, "partner, root or target; -1 none or not known, -2 several");
  column("begin_step", "ns, zigzag", &PackedCall::begin_step,
         "begin minus that of the row before; in the first row of a chunk minus 0");
  column("duration", "ns", &PackedCall::duration, "end - begin");
  column("outside_step", "ns, zigzag", &PackedCall::outside_step,
         "time since the thread's last call returned (-1: not known), minus (begin minus end of the row before; in the "
         "first row of a chunk minus 0)");
  column("bytes", "bytes", &PackedCall::bytes,
         "of its messages, received ones included; of a collective: this rank's contribution");
  column("site", "id of a row of sites", &PackedCall::site, "call site; 0 not known");
}

template <class Column>
void describe(Column&& column, const PackedMessage*) {
  column("comm", "id", &PackedMessage::comm, "communicator");
  column("source", "rank", &PackedMessage::source, "who sent");
  column("destination", "rank", &PackedMessage::destination, "who received");
  column("tag", "1", &PackedMessage::tag, "of the message");
  column("flags", "bits", &PackedMessage::flags, "see below");
  column("bytes", "bytes", &PackedMessage::bytes, "as received when known, else as sent");
  column("recv_end_step", "ns, zigzag", &PackedMessage::recv_end_step,
         "recv_end minus that of the row before; in the first row of a chunk minus 0");
  column("send_to_end", "ns", &PackedMessage::send_to_end, "recv_end - send_begin: the message's time");
  column("sent_to_end", "ns, zigzag", &PackedMessage::sent_to_end, "recv_end - send_end");
  column("wait_to_end", "ns", &PackedMessage::wait_to_end, "recv_end - recv_wait");
  column("post_to_wait", "ns", &PackedMessage::post_to_wait, "recv_wait - recv_post");
  column("send_site", "id of a row of sites", &PackedMessage::send_site, "call that started the send; 0 not known");
  column("recv_site", "id of a row of sites", &PackedMessage::recv_site, "call that posted the receive; 0 not known");
}

template <class Column>
void describe(Column&& column, const PackedCollective*) {
  column("comm", "id", &PackedCollective::comm, "communicator");
  column("ordinal", "1", &PackedCollective::ordinal, "number of the operation on its communicator");
  column("rank", "rank", &PackedCollective::rank, "in the application's world");
  column("awaited", "rank", &PackedCollective::awaited, "the last of those whom this rank had to wait for; -1 nobody");
  column("function", "id", &PackedCollective::function, "MPI function");
  column(
      "shape", "id", &PackedCollective::shape,
      "who waits for whom: 0 all for all, 1 members for the root, 2 the root for all, 3 for lower ranks, 4 not known, "
      "5 for neighbours, 6 for a Win_post, 7 for a Win_complete, 8 for a lock, 9 a completed send for its receive, "
      "10 a Probe for the message");
  column("nonblocking", "0 or 1", &PackedCollective::nonblocking, "posted by one call, completed by another");
  column("bytes", "bytes", &PackedCollective::bytes, "this rank's contribution");
  column("end_step", "ns, zigzag", &PackedCollective::end_step,
         "end minus that of the row before; in the first row of a chunk minus 0");
  column("begin_to_end", "ns", &PackedCollective::begin_to_end, "end - begin");
  column("begin_to_awaited", "ns, zigzag", &PackedCollective::begin_to_awaited, "awaited_begin - begin");
  column("site", "id of a row of sites", &PackedCollective::site, "call site; 0 not known");
  column("completing", "ns", &PackedCollective::completing,
         "nonblocking: how long the call took that completed it, before `end`; 0 not known");
}

}  // namespace pclscope::store
