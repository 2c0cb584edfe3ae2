#include "analysis/store/plane_deflate.hpp"

#include <isa-l/igzip_lib.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

namespace pclscope::store {
namespace {

constexpr std::size_t most_constants = 1024;   // runs kept compressed; few lengths occur
constexpr std::uint8_t habit_chunks = 64;      // a plane that does not get smaller is stored so often
constexpr std::uint32_t adler_of_nothing = 1;  // RFC 1950

std::uint32_t checksum_of(const std::vector<std::uint8_t>& bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(::adler32(before, bytes.data(), static_cast<uInt>(bytes.size())));
}

}  // namespace

class PlaneDeflate::Deflate {
 public:
  void append(const Bytes& from, Bytes& to);
  static void store(std::span<const std::uint8_t> from, Bytes& to, std::size_t at);

 private:
  isal_zstream state_{};
  Bytes tables_ = Bytes(ISAL_DEF_LVL1_DEFAULT);
};

// Raw deflate blocks that end on a byte, each call for itself: they can be put one after the other.
void PlaneDeflate::Deflate::append(const Bytes& from, Bytes& to) {
  // What isal_deflate writes at most, without a gain: stored blocks, and the empty one that ends on a byte.
  const std::size_t before = to.size(), most = from.size() + from.size() / 1024 * 8 + 512;
  to.resize(before + most);
  ::isal_deflate_init(&state_);
  state_.level = 1;
  state_.level_buf = tables_.data();
  state_.level_buf_size = static_cast<std::uint32_t>(tables_.size());
  state_.flush = SYNC_FLUSH;
  state_.next_in = const_cast<std::uint8_t*>(from.data());
  state_.avail_in = static_cast<std::uint32_t>(from.size());
  state_.next_out = to.data() + before;
  state_.avail_out = static_cast<std::uint32_t>(most);
  const int status = ::isal_deflate(&state_);
  if (status != COMP_OK || state_.avail_in > 0 || state_.avail_out == 0) return store(from, to, before);
  to.resize(to.size() - state_.avail_out);
}

// As it is: blocks of at most 64 KiB less one byte (RFC 1951, 3.2.4).
void PlaneDeflate::Deflate::store(std::span<const std::uint8_t> from, Bytes& to, std::size_t at) {
  to.resize(at);
  while (!from.empty()) {
    const std::size_t length = std::min<std::size_t>(from.size(), 0xffff), inverse = ~length;
    for (const std::size_t byte : {std::size_t{0}, length, length >> 8, inverse, inverse >> 8})
      to.push_back(static_cast<std::uint8_t>(byte));
    to.insert(to.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(length));
    from = from.subspan(length);
  }
}

PlaneDeflate::PlaneDeflate() : deflate_(std::make_unique<Deflate>()) {}
PlaneDeflate::~PlaneDeflate() = default;

void PlaneDeflate::append_constant(std::uint8_t value, std::size_t count) {
  if (constants_.size() > most_constants) constants_.clear();
  Run& run = constants_[{value, count}];
  if (run.compressed.empty()) {
    const Bytes plane(count, value);
    deflate_->append(plane, run.compressed);
    run.checksum = checksum_of(plane, adler_of_nothing);
  }
  out_.insert(out_.end(), run.compressed.begin(), run.compressed.end());
  checksum_ = static_cast<std::uint32_t>(::adler32_combine(checksum_, run.checksum, static_cast<z_off_t>(count)));
}

void PlaneDeflate::append_plane(const Bytes& plane, std::uint8_t& store_next) {
  checksum_ = checksum_of(plane, checksum_);
  const std::size_t before = out_.size();
  if (store_next > 0) {
    --store_next;
    return deflate_->store(plane, out_, before);
  }
  deflate_->append(plane, out_);
  if (out_.size() - before <= plane.size() / 50 * 49) return;  // a fiftieth less is not worth the time
  deflate_->store(plane, out_, before);
  store_next = habit_chunks;
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
  if (stored_.size() < (column + 1) * 8) stored_.resize((column + 1) * 8);
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
    append_plane(plane_, stored_[column * 8 + k]);
    k++;
  }
  out_.insert(out_.end(), {0x03, 0x00});  // a last block, empty
  for (int shift = 24; shift >= 0; shift -= 8) out_.push_back(static_cast<std::uint8_t>(checksum_ >> shift));
  return out_;
}

}  // namespace pclscope::store
