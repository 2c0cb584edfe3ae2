#include "analysis/store/packed_rows.hpp"

namespace pclscope::store {
namespace {

// Signed overflow is undefined, and a damaged file or a broken clock may ask for it: unsigned numbers wrap.
constexpr std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }
constexpr std::int64_t number(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }
constexpr std::uint64_t minus(std::int64_t a, std::int64_t b) { return bits(a) - bits(b); }

}  // namespace

void pack(std::span<const Message> chunk, std::size_t first, std::vector<PackedMessage>& to) {
  std::int64_t before = first > 0 ? chunk[first - 1].recv_end : 0;
  for (const Message& m : chunk.subspan(first)) {
    to.push_back({m.comm, m.source, m.destination, m.tag, m.flags, m.bytes, zigzag(minus(m.recv_end, before)),
                  number(minus(m.recv_end, m.send_begin)), zigzag(minus(m.recv_end, m.send_end)),
                  number(minus(m.recv_end, m.recv_wait)), number(minus(m.recv_wait, m.recv_post)), m.send_site,
                  m.recv_site});
    before = m.recv_end;
  }
}

void unpack(std::span<const PackedMessage> chunk, std::vector<Message>& to) {
  std::uint64_t end = 0;
  for (const PackedMessage& p : chunk) {
    end += unzigzag(p.recv_end_step);
    const std::uint64_t wait = end - bits(p.wait_to_end);
    to.push_back({p.comm, p.source, p.destination, p.tag, p.flags, p.bytes, number(end - bits(p.send_to_end)),
                  number(end - unzigzag(p.sent_to_end)), number(wait - bits(p.post_to_wait)), number(wait), number(end),
                  p.send_site, p.recv_site});
  }
}

void pack(std::span<const CollectiveCall> chunk, std::size_t first, std::vector<PackedCollective>& to) {
  std::int64_t before = first > 0 ? chunk[first - 1].end : 0;
  for (const CollectiveCall& c : chunk.subspan(first)) {
    to.push_back({c.comm, c.ordinal, c.rank, c.awaited, c.function, c.shape, c.nonblocking, c.bytes,
                  zigzag(minus(c.end, before)), number(minus(c.end, c.begin)), zigzag(minus(c.awaited_begin, c.begin)),
                  c.site, c.completing});
    before = c.end;
  }
}

void unpack(std::span<const PackedCollective> chunk, std::vector<CollectiveCall>& to) {
  std::uint64_t end = 0;
  for (const PackedCollective& p : chunk) {
    end += unzigzag(p.end_step);
    const std::uint64_t begin = end - bits(p.begin_to_end);
    const CollectiveShape shape = p.shape <= last_shape ? p.shape : CollectiveShape::unknown;
    to.push_back({p.comm, p.ordinal, p.rank, p.awaited, p.function, shape, p.nonblocking, number(begin), number(end),
                  number(begin + unzigzag(p.begin_to_awaited)), p.bytes, p.site, p.completing});
  }
}

void pack(std::span<const MpiCall> chunk, std::size_t first, std::vector<PackedCall>& to) {
  std::int64_t begin = first > 0 ? chunk[first - 1].begin : 0, end = first > 0 ? chunk[first - 1].end : 0;
  for (const MpiCall& c : chunk.subspan(first)) {
    to.push_back({c.comm, c.rank, c.thread, c.function, c.ending, c.peer, zigzag(minus(c.begin, begin)),
                  number(minus(c.end, c.begin)), zigzag(bits(c.outside) - minus(c.begin, end)), c.bytes, c.site});
    begin = c.begin;
    end = c.end;
  }
}

void unpack(std::span<const PackedCall> chunk, std::vector<MpiCall>& to) {
  std::uint64_t begin = 0, end = 0;
  for (const PackedCall& p : chunk) {
    begin += unzigzag(p.begin_step);
    const std::uint64_t outside = begin - end + unzigzag(p.outside_step);
    end = begin + bits(p.duration);
    const CallEnding ending = p.ending <= last_ending ? p.ending : CallEnding::returned;
    to.push_back({p.comm, p.rank, p.thread, p.function, ending, p.peer, number(begin), number(end), number(outside),
                  p.bytes, p.site});
  }
}

}  // namespace pclscope::store
