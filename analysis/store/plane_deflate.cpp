#include "analysis/store/plane_deflate.hpp"

#include <zlib.h>

#include <cstring>
#include <new>

namespace pclscope::store {
namespace {

constexpr std::size_t most_constants = 1024;   // runs kept compressed; few lengths occur
constexpr int habit_chunks = 64;               // until a plane is looked at again
constexpr std::uint32_t adler_of_nothing = 1;  // RFC 1950

std::uint32_t checksum_of(const std::vector<std::uint8_t>& bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(adler32(before, bytes.data(), static_cast<uInt>(bytes.size())));
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

PlaneDeflate::PlaneDeflate(int level)
    : matching_(std::make_unique<Stream>(level, Z_DEFAULT_STRATEGY)),
      coding_(std::make_unique<Stream>(1, Z_HUFFMAN_ONLY)),
      storing_(std::make_unique<Stream>(Z_NO_COMPRESSION, Z_DEFAULT_STRATEGY)) {}
PlaneDeflate::~PlaneDeflate() = default;

void PlaneDeflate::append_constant(std::uint8_t value, std::size_t count) {
  if (constants_.size() > most_constants) constants_.clear();
  Run& run = constants_[{value, count}];
  if (run.compressed.empty()) {
    const Bytes plane(count, value);
    matching_->append(plane, run.compressed);
    run.checksum = checksum_of(plane, adler_of_nothing);
  }
  out_.insert(out_.end(), run.compressed.begin(), run.compressed.end());
  checksum_ = static_cast<std::uint32_t>(adler32_combine(checksum_, run.checksum, static_cast<z_off_t>(count)));
}

void PlaneDeflate::append_plane(const Bytes& plane, Habit& habit) {
  checksum_ = checksum_of(plane, checksum_);
  if (habit.left-- > 0) return habit.way->append(plane, out_);
  const std::size_t before = out_.size();
  coding_->append(plane, out_);
  const std::size_t coded = out_.size() - before;
  trial_.clear();
  matching_->append(plane, trial_);
  // A fiftieth less is not worth the time.
  const bool repeats = trial_.size() < coded / 50 * 49;
  habit = {(repeats ? matching_ : coded > plane.size() / 50 * 49 ? storing_ : coding_).get(), habit_chunks};
  if (!repeats) return;
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
  checksum_ = adler_of_nothing;
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
