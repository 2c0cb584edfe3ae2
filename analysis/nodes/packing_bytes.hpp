// Writer and Reader of a frame's bytes, for packing*.cpp only. Both have the same functions, so that one template can
// say a layout for both directions: number, step, real, real8, text, list.
//
// A Reader never reads beyond its frame: after the first thing that does not fit ok() is false and all that is read
// is zero. Little endian.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/nodes/packing.hpp"

namespace pclscope::nodes::packing {

static_assert(std::endian::native == std::endian::little, "fields are copied as they lie in memory");

inline constexpr std::uint8_t version = 6;

// Differences modulo 2^64, small ones of either sign as small numbers.
constexpr std::uint64_t zigzag(std::uint64_t difference) {
  return difference << 1 ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(difference) >> 63);
}
constexpr std::uint64_t unzigzag(std::uint64_t v) { return v >> 1 ^ (~(v & 1) + 1); }
constexpr unsigned bytes_of(std::uint64_t v) { return (static_cast<unsigned>(std::bit_width(v)) + 7) / 8; }

// A number's length in two bits.
struct Lengths {
  unsigned of[4];
  constexpr unsigned code(std::uint64_t v) const {
    const unsigned n = bytes_of(v);
    return n <= of[0] ? 0 : n <= of[1] ? 1 : n <= of[2] ? 2 : 3;
  }
};
inline constexpr Lengths short_lengths{{1, 2, 4, 8}};  // durations
inline constexpr Lengths long_lengths{{2, 3, 4, 8}};   // distances between events

class Writer {
 public:
  static constexpr bool writing = true;

  Writer(FrameKind kind, std::size_t expected) : bytes_(expected + 16) {
    fixed(static_cast<std::uint64_t>(kind), 1);
    fixed(version, 1);
  }

  void fixed(std::uint64_t v, unsigned length) {
    room(8);
    std::memcpy(bytes_.data() + used_, &v, 8);
    used_ += length;
  }
  void varint(std::uint64_t v) {
    room(10);
    for (; v >= 0x80; v >>= 7) bytes_[used_++] = static_cast<std::byte>(v | 0x80);
    bytes_[used_++] = static_cast<std::byte>(v);
  }
  template <class T>
  void number(const T& v) {
    static_assert(std::is_integral_v<T>);
    if constexpr (std::is_signed_v<T>) {
      varint(zigzag(static_cast<std::uint64_t>(static_cast<std::int64_t>(v))));
    } else {
      varint(v);
    }
  }
  // As the difference from `last`, which then becomes v.
  template <class T>
  void step(const T& v, T& last) {
    using U = std::make_unsigned_t<T>;
    const auto difference =
        static_cast<std::make_signed_t<T>>(static_cast<U>(static_cast<U>(v) - static_cast<U>(last)));
    number(difference);
    last = v;
  }
  void real8(double v) { fixed(std::bit_cast<std::uint64_t>(std::isfinite(v) ? v : 0.0), 8); }
  // One byte when zero, few when round, else nine.
  void real(double v) {
    const auto bits = std::bit_cast<std::uint64_t>(std::isfinite(v) ? v : 0.0);
    const unsigned n = bits == 0 ? 0 : 8 - static_cast<unsigned>(std::countr_zero(bits)) / 8;
    fixed(n, 1);
    fixed(n == 0 ? 0 : bits >> (64 - 8 * n), n);
  }
  void raw(const void* data, std::size_t size) {
    room(size);
    if (size != 0) std::memcpy(bytes_.data() + used_, data, size);
    used_ += size;
  }
  void text(const std::string& v) {
    varint(v.size());
    raw(v.data(), v.size());
  }
  template <class T, class Each>
  void list(const std::vector<T>& values, std::size_t, Each&& each) {
    varint(values.size());
    for (const T& v : values) each(v);
  }
  void fail() {}
  bool ok() const { return true; }

  std::vector<std::byte> take() {
    bytes_.resize(used_);
    return std::move(bytes_);
  }

 private:
  void room(std::size_t n) {
    if (bytes_.size() - used_ < n) bytes_.resize(std::max(bytes_.size() * 2, used_ + n));
  }

  std::vector<std::byte> bytes_;
  std::size_t used_ = 0;
};

class Reader {
 public:
  static constexpr bool writing = false;

  Reader(std::span<const std::byte> frame, FrameKind kind) : at_(frame.data()), end_(frame.data() + frame.size()) {
    if (kind_of(frame) == kind) {
      at_ += 2;
    } else {
      fail();
    }
  }

  bool ok() const { return ok_; }
  bool done() const { return ok_ && at_ == end_; }
  void fail() {
    ok_ = false;
    at_ = end_;
  }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  std::uint64_t fixed(unsigned length) {
    if (left() < length) return fail(), 0;
    std::uint64_t v = 0;
    if (left() >= 8) {
      std::memcpy(&v, at_, 8);
      if (length < 8) v &= (std::uint64_t{1} << (8 * length)) - 1;
    } else if (length != 0) {
      std::memcpy(&v, at_, length);
    }
    at_ += length;
    return v;
  }
  std::uint64_t varint() {
    std::uint64_t v = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<std::uint64_t>(*at_++);
      if (shift == 63 && byte > 1) break;
      v |= (byte & 0x7f) << shift;
      if (byte < 0x80) return v;
    }
    return fail(), 0;
  }
  template <class T>
  void number(T& v) {
    const std::uint64_t raw = varint();
    if constexpr (std::is_signed_v<T>) {
      const auto wide = static_cast<std::int64_t>(unzigzag(raw));
      v = static_cast<T>(wide);
      if (v != wide) v = 0, fail();
    } else {
      v = static_cast<T>(raw);
      if (v != raw) v = 0, fail();
    }
  }
  template <class T>
  void step(T& v, T& last) {
    using U = std::make_unsigned_t<T>;
    std::make_signed_t<T> difference;
    number(difference);
    v = last = static_cast<T>(static_cast<U>(static_cast<U>(last) + static_cast<U>(difference)));
  }
  void real8(double& v) { finite(v, fixed(8)); }
  void real(double& v) {
    const auto n = static_cast<unsigned>(fixed(1));
    if (n > 8) return v = 0, fail();
    finite(v, n == 0 ? 0 : fixed(n) << (64 - 8 * n));
  }
  void raw(void* data, std::size_t size) {
    if (left() < size) return fail();
    if (size != 0) std::memcpy(data, at_, size);
    at_ += size;
  }
  void text(std::string& v) {
    v.resize(count(1));
    raw(v.data(), v.size());
  }
  // A count of things of which each takes so many bytes at least; 0 when there cannot be so many.
  std::size_t count(std::size_t least_bytes) {
    const std::uint64_t n = varint();
    if (n > left() / least_bytes) return fail(), 0;
    return static_cast<std::size_t>(n);
  }
  template <class T, class Each>
  void list(std::vector<T>& values, std::size_t least_bytes, Each&& each) {
    const std::size_t n = count(least_bytes);
    values.clear();
    values.reserve(n);
    for (std::size_t i = 0; i < n && ok_; ++i) each(values.emplace_back());
  }

 private:
  void finite(double& v, std::uint64_t bits) {
    v = std::bit_cast<double>(bits);
    if (!std::isfinite(v)) v = 0, fail();
  }

  const std::byte* at_;
  const std::byte* end_;
  bool ok_ = true;
};

// Communicators are hashes: 8 bytes the first time, then their number in the frame.
class CommNumbers {
 public:
  void put(Writer& out, std::uint64_t comm);
  std::uint64_t get(Reader& in);
  template <class Io, class Comm>
  void pass(Io& io, Comm& comm) {
    if constexpr (Io::writing) {
      put(io, comm);
    } else {
      comm = get(io);
    }
  }

 private:
  static constexpr std::size_t searched = 64;  // newest that put() looks through
  std::vector<std::uint64_t> known_{0, record::world_comm_id, record::self_comm_id};
};

// Lists of events, of messages and of calls, parts of several frames.
void put_events(Writer& out, const std::vector<RankEvent>& sends);
void get_events(Reader& in, std::vector<RankEvent>& sends);
void put_messages(Writer& out, std::span<const Message> messages);
void get_messages(Reader& in, std::vector<Message>& messages);
void put_calls(Writer& out, const std::vector<MpiCall>& calls);
void get_calls(Reader& in, std::vector<MpiCall>& calls);
inline constexpr std::size_t least_event = 2;  // bytes
inline constexpr std::size_t least_message = 6;

}  // namespace pclscope::nodes::packing
