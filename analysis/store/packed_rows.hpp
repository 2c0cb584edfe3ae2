// Messages and collective calls as the file has them: times as differences, so that what is left of them is small and
// mostly of one sign. Exact for any values: differences wrap around. Private to analysis/store.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
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
};

// Rows [first, chunk.size()) of what is, or will be, one chunk; appended.
void pack(std::span<const Message> chunk, std::size_t first, std::vector<PackedMessage>& to);
void pack(std::span<const CollectiveCall> chunk, std::size_t first, std::vector<PackedCollective>& to);
// One chunk, or its first rows; appended.
void unpack(std::span<const PackedMessage> chunk, std::vector<Message>& to);
void unpack(std::span<const PackedCollective> chunk, std::vector<CollectiveCall>& to);

// First and last moment of a row; a broken clock may turn them round.
inline std::pair<std::int64_t, std::int64_t> times_of(const Message& m) {
  return std::minmax({m.send_begin, m.recv_end});
}
inline std::pair<std::int64_t, std::int64_t> times_of(const CollectiveCall& c) { return std::minmax({c.begin, c.end}); }

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

template <class Column>
void describe(Column&& column, const PackedMessage*) {
  column("comm", "id", &PackedMessage::comm);
  column("source", "rank", &PackedMessage::source);
  column("destination", "rank", &PackedMessage::destination);
  column("tag", "1", &PackedMessage::tag);
  column("flags", "bits", &PackedMessage::flags);
  column("bytes", "bytes", &PackedMessage::bytes);
  column("recv_end_step", "ns, zigzag", &PackedMessage::recv_end_step);
  column("send_to_end", "ns", &PackedMessage::send_to_end);
  column("sent_to_end", "ns, zigzag", &PackedMessage::sent_to_end);
  column("wait_to_end", "ns", &PackedMessage::wait_to_end);
  column("post_to_wait", "ns", &PackedMessage::post_to_wait);
  column("send_site", "id of a row of sites", &PackedMessage::send_site);
  column("recv_site", "id of a row of sites", &PackedMessage::recv_site);
}

template <class Column>
void describe(Column&& column, const PackedCollective*) {
  column("comm", "id", &PackedCollective::comm);
  column("ordinal", "1", &PackedCollective::ordinal);
  column("rank", "rank", &PackedCollective::rank);
  column("awaited", "rank", &PackedCollective::awaited);
  column("function", "id", &PackedCollective::function);
  column("shape", "id", &PackedCollective::shape);
  column("nonblocking", "0 or 1", &PackedCollective::nonblocking);
  column("bytes", "bytes", &PackedCollective::bytes);
  column("end_step", "ns, zigzag", &PackedCollective::end_step);
  column("begin_to_end", "ns", &PackedCollective::begin_to_end);
  column("begin_to_awaited", "ns, zigzag", &PackedCollective::begin_to_awaited);
  column("site", "id of a row of sites", &PackedCollective::site);
}

}  // namespace pclscope::store
