// One chunk of a column as HDF5's filters "shuffle" and "deflate" would leave it, many times faster than they do: byte
// planes that are constant cost nothing, each other one is compressed by ISA-L, or stored where that makes it no
// smaller. Any reader with the stock filters undoes it. Private to analysis/store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pclscope::store {

// One thread. Throws std::bad_alloc only.
class PlaneDeflate {
 public:
  PlaneDeflate();
  ~PlaneDeflate();
  PlaneDeflate(const PlaneDeflate&) = delete;
  PlaneDeflate& operator=(const PlaneDeflate&) = delete;

  // `rows` values of `width` (1 to 8) little-endian bytes each, back to back. The result, a zlib stream (RFC 1950) of
  // all first bytes, then all second bytes and so on, is valid until the next call. `column`: which of those that are
  // compressed in turn; what its planes are like is remembered.
  std::span<const std::uint8_t> compress(const std::uint8_t* values, std::size_t rows, std::size_t width,
                                         std::size_t column);

 private:
  using Bytes = std::vector<std::uint8_t>;
  class Deflate;
  void append_constant(std::uint8_t value, std::size_t count);
  // `store_next`: of this plane of its column, how many of the next chunks are stored as they are.
  void append_plane(const Bytes& plane, std::uint8_t& store_next);

  struct Run {
    Bytes compressed;
    std::uint32_t checksum = 0;
  };

  std::unique_ptr<Deflate> deflate_;
  Bytes stored_;                                                   // store_next of eight planes for each column
  std::map<std::pair<std::uint8_t, std::size_t>, Run> constants_;  // by value and length
  Bytes plane_, out_;
  std::uint32_t checksum_ = 1;  // Adler-32 of all planes so far
};

}  // namespace pclscope::store
