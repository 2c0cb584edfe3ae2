#include "analysis/store/plane_deflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <new>

namespace pclscope::store {
namespace {

constexpr std::size_t most_stored = 65535;      // in one stored block (RFC 1951, 3.2.4)
constexpr std::size_t most_constants = 1024;    // runs kept compressed; few lengths occur
constexpr std::uint64_t adler_base = 65521;     // RFC 1950
constexpr double noise_bits = 7.8;              // per byte: above, compressing is not worth its time
constexpr int habit_chunks = 64;                // until a plane is looked at again

// Of `count` equal bytes after what `checksum` stands for: the sums of RFC 1950 in closed form.
std::uint32_t adler_of_run(std::uint32_t checksum, std::uint8_t value, std::size_t count) {
  const std::uint64_t a = checksum & 0xffff, b = checksum >> 16, n = count % adler_base;
  const std::uint64_t triangle = (count % 2 == 0 ? (count / 2 % adler_base) * ((count + 1) % adler_base)
                                                 : (count % adler_base) * ((count + 1) / 2 % adler_base)) % adler_base;
  const std::uint64_t next_a = (a + n * value) % adler_base;
  const std::uint64_t next_b = (b + n * a + triangle * value) % adler_base;
  return static_cast<std::uint32_t>(next_b << 16 | next_a);
}

ByteCounts counts_of(const std::vector<std::uint8_t>& plane) {
  std::array<ByteCounts, 4> counts{};  // four: equal neighbours do not wait for each other
  std::size_t i = 0;
  for (; i + 4 <= plane.size(); i += 4) {
    for (std::size_t k = 0; k < 4; k++) counts[k][plane[i + k]]++;
  }
  for (; i < plane.size(); i++) counts[0][plane[i]]++;
  for (std::size_t value = 0; value < 256; value++) {
    counts[0][value] += counts[1][value] + counts[2][value] + counts[3][value];
  }
  return counts[0];
}

// Bits per byte that its frequencies alone leave.
double entropy(const ByteCounts& counts, std::size_t size) {
  const double total = static_cast<double>(size);
  double bits = 0;
  for (const std::uint32_t count : counts) {
    if (count > 0) bits -= count * std::log2(count / total);
  }
  return bits / total;
}

}  // namespace

// Raw deflate blocks that end on a byte, each call for itself: they can be put one after the other.
class PlaneDeflate::Stream {
 public:
  Stream(int level, int strategy) {
    if (deflateInit2(&state_, level, Z_DEFLATED, -15, 8, strategy) != Z_OK) throw std::bad_alloc();
  }
  ~Stream() { deflateEnd(&state_); }
  Stream(const Stream&) = delete;
  void append(const Bytes& from, Bytes& to) {
    deflateReset(&state_);
    const std::size_t before = to.size();
    to.resize(before + deflateBound(&state_, from.size()) + 16);  // 16: the empty block that ends on a byte
    state_.next_in = const_cast<Bytef*>(from.data());
    state_.avail_in = static_cast<uInt>(from.size());
    state_.next_out = to.data() + before;
    state_.avail_out = static_cast<uInt>(to.size() - before);
    deflate(&state_, Z_SYNC_FLUSH);
    to.resize(to.size() - state_.avail_out);
  }

 private:
  z_stream state_{};
};

PlaneDeflate::PlaneDeflate() : matching_(std::make_unique<Stream>(4, Z_DEFAULT_STRATEGY)) {}
PlaneDeflate::~PlaneDeflate() = default;

void PlaneDeflate::append_constant(std::uint8_t value, std::size_t count) {
  if (constants_.size() > most_constants) constants_.clear();
  Bytes& run = constants_[{value, count}];
  if (run.empty()) matching_->append(Bytes(count, value), run);
  out_.insert(out_.end(), run.begin(), run.end());
  checksum_ = adler_of_run(checksum_, value, count);
}

void PlaneDeflate::append_stored(const Bytes& plane) {
  for (std::size_t at = 0; at < plane.size(); at += most_stored) {
    const std::size_t size = std::min(plane.size() - at, most_stored);
    const auto low = static_cast<std::uint8_t>(size), high = static_cast<std::uint8_t>(size >> 8);
    for (const unsigned byte : {0u, 0u + low, 0u + high, 0xffu ^ low, 0xffu ^ high}) {
      out_.push_back(static_cast<std::uint8_t>(byte));
    }
    out_.insert(out_.end(), plane.begin() + static_cast<std::ptrdiff_t>(at),
                plane.begin() + static_cast<std::ptrdiff_t>(at + size));
  }
}

void PlaneDeflate::append_plane(const Bytes& plane, Habit& habit) {
  checksum_ = static_cast<std::uint32_t>(adler32(checksum_, plane.data(), static_cast<uInt>(plane.size())));
  const bool look = habit.left-- <= 0;
  if (!look && habit.repeats) return matching_->append(plane, out_);
  const ByteCounts counts = counts_of(plane);
  const std::size_t before = out_.size();
  if (entropy(counts, plane.size()) > noise_bits) append_stored(plane);
  else append_huffman_block(plane, counts, out_);
  if (!look) return;
  trial_.clear();
  matching_->append(plane, trial_);
  // A fiftieth less is not worth the time.
  habit = {trial_.size() < (out_.size() - before) / 50 * 49, habit_chunks};
  if (!habit.repeats) return;
  out_.resize(before);
  out_.insert(out_.end(), trial_.begin(), trial_.end());
}

namespace {

// Bits that are not the same in all rows, value as a number.
template <class Value>
std::uint64_t differing_bits(const std::uint8_t* values, std::size_t rows) {
  Value first{}, value{};
  std::uint64_t bits = 0;
  if (rows > 0) std::memcpy(&first, values, sizeof first);
  for (std::size_t i = 1; i < rows; i++) {
    std::memcpy(&value, values + i * sizeof value, sizeof value);
    bits |= static_cast<std::uint64_t>(value ^ first);
  }
  return bits;
}

std::uint64_t differing_bits(const std::uint8_t* values, std::size_t rows, std::size_t width) {
  switch (width) {
    case 1: return differing_bits<std::uint8_t>(values, rows);
    case 2: return differing_bits<std::uint16_t>(values, rows);
    case 4: return differing_bits<std::uint32_t>(values, rows);
    case 8: return differing_bits<std::uint64_t>(values, rows);
    default: return ~std::uint64_t{0};
  }
}

}  // namespace

std::span<const std::uint8_t> PlaneDeflate::compress(const std::uint8_t* values, std::size_t rows, std::size_t width,
                                                    std::size_t column) {
  if (habits_.size() < (column + 1) * 8) habits_.resize((column + 1) * 8);
  out_.assign({0x78, 0x01});  // deflate, window of 32 KiB, fastest
  checksum_ = 1;
  const std::uint64_t bits = differing_bits(values, rows, width);
  const auto constant = [bits](std::size_t plane) { return (bits >> 8 * plane & 0xff) == 0; };
  for (std::size_t k = 0; k < width && rows > 0;) {
    if (constant(k)) {
      std::size_t end = k + 1;
      while (end < width && constant(end) && values[end] == values[k]) end++;
      append_constant(values[k], rows * (end - k));
      k = end;
      continue;
    }
    plane_.resize(rows);
    for (std::size_t i = 0; i < rows; i++) plane_[i] = values[i * width + k];
    append_plane(plane_, habits_[column * 8 + k]);
    k++;
  }
  out_.insert(out_.end(), {0x03, 0x00});  // a last block, empty
  for (int shift = 24; shift >= 0; shift -= 8) out_.push_back(static_cast<std::uint8_t>(checksum_ >> shift));
  return out_;
}

}  // namespace pclscope::store
