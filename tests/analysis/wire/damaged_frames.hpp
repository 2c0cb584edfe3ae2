// Damage to frames: by chance, and where it hurts a FlatBuffer (offsets, lengths, tables of fields).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "analysis/wire/frame.hpp"

namespace pclscope::testing {

using Bytes = std::vector<std::uint8_t>;

class FrameDamage {
 public:
  explicit FrameDamage(std::uint64_t seed) : random_(seed) {}

  // `other`: any frame, for parts of it.
  Bytes of(const Bytes& whole, const Bytes& other) {
    Bytes frame = whole;
    switch (below(12)) {
      case 0: flip_bits(frame); break;
      case 1: replace_bytes(frame); break;
      case 2: cut(frame); break;
      case 3: append(frame); break;
      case 4: overwrite_word(frame, awkward(frame.size())); break;
      case 5: overwrite_word(frame, other_place(frame)); break;  // an offset or a length that leads somewhere else
      case 6: splice(frame, other); break;
      case 7: repeat_part(frame); break;
      case 8: noise(frame); break;
      case 9: header(frame); break;
      case 10: overwrite_half(frame); break;  // tables of fields have 16 bits per field
      default: overwrite_double(frame); break;
    }
    if (below(4) == 0) flip_bits(frame);
    return frame;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::size_t place(const Bytes& frame, std::size_t size) {
    if (frame.size() < wire::header_bytes + size) return 0;
    const std::size_t at = wire::header_bytes + below(frame.size() - wire::header_bytes - size + 1);
    return below(2) ? at / size * size : at;  // words lie aligned: hit them whole
  }
  template <class T>
  void put(Bytes& frame, T value) {
    if (frame.size() >= wire::header_bytes + sizeof value)
      std::memcpy(frame.data() + place(frame, sizeof value), &value, sizeof value);
  }

  void flip_bits(Bytes& frame) {
    for (std::uint64_t n = 1 + below(8); n > 0 && !frame.empty(); n--) {
      frame[below(frame.size())] ^= static_cast<std::uint8_t>(1u << below(8));
    }
  }
  void replace_bytes(Bytes& frame) {
    for (std::uint64_t n = 1 + below(8); n > 0 && frame.size() > wire::header_bytes; n--) {
      frame[wire::header_bytes + below(frame.size() - wire::header_bytes)] = static_cast<std::uint8_t>(random_());
    }
  }
  void cut(Bytes& frame) { frame.resize(below(frame.size() + 1)); }
  void append(Bytes& frame) {
    for (std::uint64_t n = below(300); n > 0; n--) frame.push_back(static_cast<std::uint8_t>(random_()));
  }
  std::uint32_t awkward(std::size_t size) {
    const std::uint32_t values[] = {0,
                                    1,
                                    2,
                                    4,
                                    7,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    0xfffffffc,
                                    0x3fffffff,
                                    0x10000000,
                                    static_cast<std::uint32_t>(size),
                                    static_cast<std::uint32_t>(size - wire::header_bytes),
                                    static_cast<std::uint32_t>(size + 4),
                                    static_cast<std::uint32_t>(-size)};
    return values[below(std::size(values))];
  }
  std::uint32_t other_place(const Bytes& frame) {
    const auto distance = static_cast<std::uint32_t>(below(frame.size() + 1));
    return below(4) ? distance : 0u - distance;
  }
  void overwrite_word(Bytes& frame, std::uint32_t value) { put(frame, value); }
  void overwrite_half(Bytes& frame) { put(frame, static_cast<std::uint16_t>(below(2) ? random_() : below(64))); }
  void overwrite_double(Bytes& frame) {
    using Limits = std::numeric_limits<double>;
    const double values[] = {
        Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), Limits::max(), -Limits::max(), -0.0, 1e308};
    if (below(3) == 0) return put(frame, static_cast<float>(values[below(3)]));
    put(frame, values[below(std::size(values))]);
  }
  void splice(Bytes& frame, const Bytes& other) {
    if (other.empty() || frame.empty()) return;
    const std::size_t size = 1 + below(std::min<std::size_t>(other.size(), 200));
    const std::size_t from = below(other.size() - size + 1), to = below(frame.size());
    std::copy_n(other.begin() + static_cast<std::ptrdiff_t>(from), std::min(size, frame.size() - to),
                frame.begin() + static_cast<std::ptrdiff_t>(to));
  }
  void repeat_part(Bytes& frame) {
    const Bytes before = frame;
    splice(frame, before);
  }
  void noise(Bytes& frame) {
    for (std::size_t i = wire::header_bytes; i + 8 <= frame.size(); i += 8) {
      const std::uint64_t bytes = random_();
      std::memcpy(frame.data() + i, &bytes, sizeof bytes);
    }
  }
  void header(Bytes& frame) {
    for (std::size_t i = 0; i < wire::header_bytes && i < frame.size(); i++) {
      if (below(4) == 0) frame[i] = static_cast<std::uint8_t>(below(2) ? random_() : below(4));
    }
  }

  std::mt19937_64 random_;
};

}  // namespace pclscope::testing
