#include "analysis/window/packed_calls.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "analysis/values/zigzag.hpp"

namespace pclscope {

static_assert(std::endian::native == std::endian::little, "fields are copied as they lie in memory");

namespace {

constexpr unsigned ending_shift = 16;

std::uint64_t modulo(std::int64_t v) { return static_cast<std::uint64_t>(v); }
std::int64_t signed_of(std::uint64_t v) { return static_cast<std::int64_t>(v); }
std::uint64_t step_of(std::int64_t to, std::int64_t from) { return zigzag(modulo(to) - modulo(from)); }
std::uint64_t what_of(const MpiCall& c) {
  return c.function | std::uint64_t{static_cast<std::uint8_t>(c.ending)} << ending_shift;
}

struct CallPacker {
  std::uint8_t* at;
  std::uint32_t lengths = 0;
  unsigned shift = 0;

  void put(std::uint64_t v) {
    const unsigned n = (static_cast<unsigned>(std::bit_width(v)) + 7) / 8;
    std::memcpy(at, &v, 8);
    lengths |= (n > 7 ? 7 : n) << shift;
    shift += 3;
    at += n >= 7 ? 8 : n;
  }
};

struct CallUnpacker {
  const std::uint8_t* at;
  std::uint32_t lengths;

  std::uint64_t get() {
    static constexpr std::uint64_t masks[8] = {0,          0xff,         0xffff,         0xffffff,
                                               0xffffffff, 0xffffffffff, 0xffffffffffff, ~std::uint64_t{0}};
    std::uint64_t v;
    std::memcpy(&v, at, 8);
    const unsigned n = lengths & 7;
    lengths >>= 3;
    at += n + (n == 7);
    return v & masks[n];
  }
};

// Of a call whose lengths these are, without them.
std::size_t bytes_of(std::uint32_t lengths) {
  std::size_t sum = 0;
  for (int field = 0; field < 10; ++field, lengths >>= 3) sum += (lengths & 7) + ((lengths & 7) == 7);
  return sum;
}

}  // namespace

void PackedCalls::append(const MpiCall& c) {
  if (used_ + most_bytes + 8 > bytes_.size()) bytes_.resize(std::max<std::size_t>(bytes_.size() * 2, 256));
  const std::uint64_t gap = modulo(c.begin) - modulo(last_.end);
  CallPacker p{bytes_.data() + used_ + 4};
  p.put(step_of(c.rank, last_.rank));
  p.put(step_of(c.thread, last_.thread));
  p.put(what_of(c) ^ what_of(last_));
  p.put(step_of(c.peer, last_.peer));
  p.put(zigzag(gap));
  p.put(zigzag(modulo(c.end) - modulo(c.begin)));
  p.put(zigzag(modulo(c.outside) - gap));
  p.put(c.comm ^ last_.comm);
  p.put(c.bytes ^ last_.bytes);
  p.put(c.site ^ last_.site);
  std::memcpy(bytes_.data() + used_, &p.lengths, 4);
  used_ = static_cast<std::size_t>(p.at - bytes_.data());
  last_ = c;
  ++count_;
}

const std::uint8_t* PackedCalls::next(const std::uint8_t* at, MpiCall& c) {
  CallUnpacker u{at + 4, 0};
  std::memcpy(&u.lengths, at, 4);
  c.rank = static_cast<std::int32_t>(modulo(c.rank) + unzigzag(u.get()));
  c.thread = static_cast<std::uint16_t>(c.thread + unzigzag(u.get()));
  const std::uint64_t what = what_of(c) ^ u.get();
  c.function = static_cast<std::uint16_t>(what);
  c.ending = static_cast<CallEnding>(what >> ending_shift);
  c.peer = static_cast<std::int32_t>(modulo(c.peer) + unzigzag(u.get()));
  const std::uint64_t gap = unzigzag(u.get());
  c.begin = signed_of(modulo(c.end) + gap);
  c.end = signed_of(modulo(c.begin) + unzigzag(u.get()));
  c.outside = signed_of(gap + unzigzag(u.get()));
  c.comm ^= u.get();
  c.bytes ^= u.get();
  c.site ^= u.get();
  return u.at;
}

std::optional<std::vector<MpiCall>> PackedCalls::unpack(std::span<const std::uint8_t> packed, std::size_t count) {
  if (count > packed.size() / sizeof(std::uint32_t)) return std::nullopt;
  std::vector<std::uint8_t> copy(packed.size() + 8);  // fields are read 8 bytes at a time
  std::copy(packed.begin(), packed.end(), copy.begin());
  std::vector<MpiCall> calls;
  calls.reserve(count);
  std::size_t at = 0;
  MpiCall call;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t lengths = 0;
    if (packed.size() - at < sizeof lengths) return std::nullopt;
    std::memcpy(&lengths, copy.data() + at, sizeof lengths);
    const std::size_t size = sizeof lengths + bytes_of(lengths);
    if (lengths >> 30 != 0 || packed.size() - at < size) return std::nullopt;
    if (next(copy.data() + at, call) != copy.data() + at + size) return std::nullopt;
    if (call.ending > last_ending) return std::nullopt;
    calls.push_back(call);
    at += size;
  }
  if (at != packed.size()) return std::nullopt;
  return calls;
}

}  // namespace pclscope
