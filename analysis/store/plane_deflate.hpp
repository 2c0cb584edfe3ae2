// One chunk of a column as HDF5's filters "shuffle" and "deflate" would leave it, several times faster than they do:
// byte planes that are constant cost nothing, and for each other one zlib is asked for what its content is worth:
// repetitions and codes, codes alone (Z_HUFFMAN_ONLY), or nothing.
// Any reader with the stock filters undoes it. Private to analysis/store.
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
  // `level`: zlib's, where repetitions are looked for.
  explicit PlaneDeflate(int level = 4);
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
  class Stream;
  void append_constant(std::uint8_t value, std::size_t count);
  // What is known of a plane of a column: which way pays, and for how many chunks to believe it.
  struct Habit {
    Stream* way = nullptr;
    int left = 0;
  };
  void append_plane(const Bytes& plane, Habit& habit);

  struct Run {
    Bytes compressed;
    std::uint32_t checksum = 0;
  };

  std::unique_ptr<Stream> matching_, coding_, storing_;
  std::vector<Habit> habits_;                                      // eight for each column
  std::map<std::pair<std::uint8_t, std::size_t>, Run> constants_;  // by value and length
  Bytes plane_, trial_, out_;
  std::uint32_t checksum_ = 1;  // Adler-32 of all planes so far
};

}  // namespace pclscope::store
