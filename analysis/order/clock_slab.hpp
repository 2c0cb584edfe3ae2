// Vectors of equal length in a few large blocks, numbered and reused. Not thread-safe.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pclscope {

class ClockSlab {
 public:
  explicit ClockSlab(std::size_t width)
      : width_(std::max<std::size_t>(width, 1)),
        block_bits_(std::bit_width(std::max<std::size_t>(block_values / width_, 1)) - 1) {}

  std::uint32_t take() {  // its content is whatever was there
    if (free_.empty()) grow();
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(std::uint32_t slot) { free_.push_back(slot); }

  std::int64_t* operator[](std::uint32_t slot) { return at(slot); }
  const std::int64_t* operator[](std::uint32_t slot) const { return at(slot); }
  std::size_t slots() const { return blocks_.size() << block_bits_; }
  std::size_t taken() const { return slots() - free_.size(); }
  std::size_t bytes() const { return slots() * width_ * sizeof(std::int64_t) + free_.capacity() * sizeof(free_[0]); }

 private:
  static constexpr std::size_t block_values = 8192;  // at most, of several slots: 64 KiB

  std::int64_t* at(std::uint32_t slot) const {
    return blocks_[slot >> block_bits_].get() + (slot & (per_block() - 1)) * width_;
  }
  std::size_t per_block() const { return std::size_t{1} << block_bits_; }
  void grow() {
    blocks_.push_back(std::make_unique_for_overwrite<std::int64_t[]>(per_block() * width_));
    for (std::size_t i = per_block(); i-- > 0;)
      free_.push_back(static_cast<std::uint32_t>((blocks_.size() - 1) * per_block() + i));
  }

  std::size_t width_;
  int block_bits_;  // of the number of slots in a block
  std::vector<std::unique_ptr<std::int64_t[]>> blocks_;
  std::vector<std::uint32_t> free_;
};

}  // namespace pclscope
