#include "analysis/window/packed_messages.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "analysis/values/zigzag.hpp"

namespace pclscope {

static_assert(std::endian::native == std::endian::little, "fields are copied as they lie in memory");

namespace {

constexpr std::size_t overhead = 64;  // of a block: its entry, and the allocator's

std::uint64_t bits(std::int64_t v) { return static_cast<std::uint64_t>(v); }
std::uint64_t bits32(std::int32_t v) { return static_cast<std::uint32_t>(v); }
// Of 32-bit values, sign-extended: a small step is a small number.
std::uint64_t step32(std::int32_t to, std::int32_t from) {
  return zigzag(bits(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits32(to) - bits32(from)))));
}
std::int32_t add32(std::int32_t from, std::uint64_t step) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(from) + static_cast<std::uint32_t>(unzigzag(step)));
}

struct Packer {
  std::uint8_t* at;
  std::uint64_t lengths = 0;
  unsigned shift = 0;

  void put(std::uint64_t v) {
    unsigned n = (static_cast<unsigned>(std::bit_width(v)) + 7) / 8;
    std::memcpy(at, &v, 8);
    lengths |= static_cast<std::uint64_t>(n > 7 ? 7 : n) << shift;
    shift += 3;
    at += n >= 7 ? 8 : n;
  }
};

struct Unpacker {
  const std::uint8_t* at;
  std::uint64_t lengths;

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

}  // namespace

bool PackedMessages::append(std::span<const Message> messages, std::size_t limit) {
  const Message* before = &last_;
  const auto done = [&](bool all) {
    if (before != &last_) last_ = *before;
    return all;
  };
  for (const Message& m : messages) {
    const Message& last = *before;
    if (used_ + most_bytes + 8 > open_.size()) {
      if (open_.size() >= block_bytes) seal();
      const std::size_t size = std::min(block_bytes, std::max<std::size_t>(open_.size() * 2, 1024));
      if (sealed_bytes_ + open_.size() + size + overhead > limit) return done(false);  // while it grows both are held
      open_.resize(size);
    }
    Packer p{open_.data() + used_ + 5};
    p.put(m.comm ^ last.comm);
    p.put(step32(m.source, last.source));
    p.put(step32(m.destination, last.destination));
    p.put(step32(m.tag, last.tag));
    p.put(std::rotl(m.flags ^ last.flags, 4) | std::uint64_t{m.clock_error_ns ^ last.clock_error_ns} << 32);
    p.put(m.bytes ^ last.bytes);
    p.put(zigzag(bits(m.send_begin) - bits(last.send_begin)));
    p.put(zigzag(bits(m.send_end) - bits(m.send_begin)));
    p.put(zigzag(bits(m.recv_post) - bits(m.send_begin)));
    p.put(zigzag(bits(m.recv_wait) - bits(m.recv_post)));
    p.put(zigzag(bits(m.recv_end) - bits(m.recv_wait)));
    p.put(m.send_site ^ last.send_site);
    p.put(m.recv_site ^ last.recv_site);
    std::memcpy(open_.data() + used_, &p.lengths, 5);
    used_ = static_cast<std::size_t>(p.at - open_.data());
    before = &m;
    ++open_messages_;
    ++count_;
  }
  return done(true);
}

void PackedMessages::next(Cursor& cursor) {
  Unpacker u{cursor.at + 5, 0};
  std::memcpy(&u.lengths, cursor.at, 8);
  u.lengths &= 0xffffffffff;
  Message& m = cursor.message;
  const auto number = [](std::uint64_t v) { return static_cast<std::int64_t>(v); };
  m.comm ^= u.get();
  m.source = add32(m.source, u.get());
  m.destination = add32(m.destination, u.get());
  m.tag = add32(m.tag, u.get());
  const std::uint64_t flags_and_error = u.get();
  m.flags ^= std::rotr(static_cast<std::uint32_t>(flags_and_error), 4);
  m.clock_error_ns ^= static_cast<std::uint32_t>(flags_and_error >> 32);
  m.bytes ^= u.get();
  m.send_begin = number(bits(m.send_begin) + unzigzag(u.get()));
  m.send_end = number(bits(m.send_begin) + unzigzag(u.get()));
  m.recv_post = number(bits(m.send_begin) + unzigzag(u.get()));
  m.recv_wait = number(bits(m.recv_post) + unzigzag(u.get()));
  m.recv_end = number(bits(m.recv_wait) + unzigzag(u.get()));
  m.send_site ^= u.get();
  m.recv_site ^= u.get();
  cursor.at = u.at;
}

void PackedMessages::seal() {
  if (open_messages_ == 0) return;
  Block block{std::make_unique<std::uint8_t[]>(used_ + 8), used_, open_messages_};
  std::memcpy(block.data.get(), open_.data(), used_);
  sealed_bytes_ += used_ + 8 + overhead;
  blocks_.push_back(std::move(block));
  used_ = 0;
  open_messages_ = 0;
}

void PackedMessages::close() {
  seal();
  open_ = {};
  blocks_.shrink_to_fit();
}

std::size_t PackedMessages::bytes() const { return sizeof *this + sealed_bytes_ + open_.capacity(); }

}  // namespace pclscope
