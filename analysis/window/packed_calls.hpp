// MPI calls in a few bytes each (8 to 20 where they are of one thread): what differs from the call before, in 0 to 8
// bytes per field. Exact for any values. Read from the front only.
//
// A call is 4 bytes of 10 three-bit lengths (0 to 6 bytes; 7 means 8) and then the fields, little endian: rank and
// thread minus the last, function with the ending above it XOR the last's, peer minus the last, begin minus the last
// end, duration, outside minus (begin minus the last end), and comm, bytes, site XOR the last's. Differences are modulo
// 2^64, signed as zigzag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/values/mpi_call.hpp"

namespace pclscope {

class PackedCalls {
 public:
  void append(const MpiCall& call);
  void append(std::span<const MpiCall> calls) {
    for (const MpiCall& call : calls) append(call);
  }
  std::uint64_t count() const { return count_; }
  std::size_t bytes() const { return bytes_.capacity(); }
  std::size_t used() const { return used_; }
  std::span<const std::uint8_t> packed() const { return {bytes_.data(), used_}; }
  // `count` calls from bytes of packed(), which may come from anywhere: empty when they are not exactly that.
  static std::optional<std::vector<MpiCall>> unpack(std::span<const std::uint8_t> packed, std::size_t count);
  // Empty again, with its memory.
  void clear() {
    used_ = count_ = 0;
    last_ = {};
  }

  // Calls take(call) for each, oldest first.
  template <class Take>
  void each(Take&& take) const {
    const std::uint8_t* at = bytes_.data();
    MpiCall call;
    for (std::uint64_t i = 0; i < count_; ++i) {
      at = next(at, call);
      take(static_cast<const MpiCall&>(call));
    }
  }

 private:
  static constexpr std::size_t most_bytes = 4 + 10 * 8;
  static const std::uint8_t* next(const std::uint8_t* at, MpiCall& call);

  std::vector<std::uint8_t> bytes_;  // 8 bytes longer than `used_`: fields are read 8 bytes at a time
  std::size_t used_ = 0;
  std::uint64_t count_ = 0;
  MpiCall last_;
};

}  // namespace pclscope
