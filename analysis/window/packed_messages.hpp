// Messages in memory in 8 to 15 bytes each (analysis/packing/messages.hpp), exact for any values. Read from the front
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analysis/packing/messages.hpp"
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
    packing::MessageReader reader;
    Message message;
    for (const Block& block : blocks_) {
      packing::Reader in(block.data);
      for (std::uint32_t i = 0; i < block.messages; ++i) {
        reader.get(in, message);
        take(static_cast<const Message&>(message));
      }
    }
  }

 private:
  struct Block {
    std::vector<std::byte> data;
    std::uint32_t messages = 0;
  };
  struct Open {  // being filled
    explicit Open(std::size_t expected) : writer(expected), out(0) {}
    packing::MessageWriter writer;
    packing::Writer out;
    std::uint32_t messages = 0;
  };
  bool make_room(std::size_t limit);
  void seal();

  std::vector<Block> blocks_;
  std::unique_ptr<Open> open_;
  std::uint64_t count_ = 0;
  std::size_t sealed_bytes_ = 0;
};

}  // namespace pclscope
