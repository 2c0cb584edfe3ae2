// Messages in a few bytes each: what differs from the message before, in 0 to 8 bytes per field (32 to 50 bytes
// per message of the simulations measured, 109 at most). Exact for any values. Read from the front only.
//
// A message is 5 bytes of 13 three-bit lengths (0 to 6 bytes; 7 means 8) and then the fields, little endian: comm,
// flags, bytes, the two sites XOR the last message's (flags turned left by 4, so that the high flags lie low, and above
// them the clock's error, which is zero on one node),
// source, destination, tag minus the last, send_begin minus the last send_begin, send_end - send_begin, recv_post -
// send_begin, recv_wait - recv_post, recv_end - recv_wait. Differences are modulo 2^64, signed as zigzag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/values/message.hpp"

namespace pclscope {

class PackedMessages {
 public:
  static constexpr std::size_t block_bytes = 256 * 1024;

  // Appends as many as fit when the memory held may reach `limit` bytes; true when all did.
  bool append(std::span<const Message> messages, std::size_t limit = SIZE_MAX);
  // No more to come: gives up what is not filled.
  void close();

  std::uint64_t count() const { return count_; }
  // All memory that this object holds, allocator's overhead included as far as it is known.
  std::size_t bytes() const;

  // Calls take(message) for each, oldest first.
  template <class Take>
  void each(Take&& take) const {
    Cursor cursor;
    for (const Block& block : blocks_) {
      cursor.at = block.data.get();
      for (std::uint32_t i = 0; i < block.messages; ++i) {
        next(cursor);
        take(static_cast<const Message&>(cursor.message));
      }
    }
  }

 private:
  static constexpr std::size_t most_bytes = 5 + 13 * 8;
  struct Block {
    std::unique_ptr<std::uint8_t[]> data;  // 8 bytes longer than `size`: fields are read 8 bytes at a time
    std::size_t size = 0;
    std::uint32_t messages = 0;
  };
  struct Cursor {
    const std::uint8_t* at = nullptr;
    Message message;
  };
  static void next(Cursor& cursor);
  void seal();

  std::vector<Block> blocks_;
  std::vector<std::uint8_t> open_;  // being filled; small ones grow as they need
  std::size_t used_ = 0;
  std::uint32_t open_messages_ = 0;
  std::uint64_t count_ = 0;
  std::size_t sealed_bytes_ = 0;
  Message last_;
};

}  // namespace pclscope
