#include "analysis/window/packed_messages.hpp"

#include <algorithm>

namespace pclscope {

namespace {

constexpr std::size_t overhead = 64;        // of a block: its entry, and the allocator's
constexpr std::size_t least_expected = 64;  // when messages come one by one
constexpr std::size_t least_memory = 2048;  // to begin

}  // namespace

bool PackedMessages::append(std::span<const Message> messages, std::size_t limit) {
  if (messages.empty()) return true;
  if (limit < least_memory) return false;
  if (!open_) open_ = std::make_unique<Open>(std::min(std::max(messages.size(), least_expected), limit / 32));
  for (const Message& m : messages) {
    if (!make_room(limit)) return false;
    open_->writer.put(open_->out, m);
    ++open_->messages;
    ++count_;
  }
  return true;
}

// For one message more, and for what its writer remembers of it.
bool PackedMessages::make_room(std::size_t limit) {
  const packing::Writer& out = open_->out;
  const std::size_t held = sealed_bytes_ + open_->writer.memory() + overhead + packing::most_message;
  if (out.capacity() - out.size() < packing::most_message) {
    if (out.size() >= block_bytes / 2) seal();
    // While it grows both are held, and then a copy of what is filled.
    if (held + 3 * std::max<std::size_t>(out.capacity(), 512) > limit) return false;
    if (out.capacity() - out.size() < packing::most_message)
      open_->out.reserve(std::max<std::size_t>(out.capacity() * 2, 512));
  }
  return held + 2 * out.capacity() <= limit;
}

void PackedMessages::seal() {
  if (!open_ || open_->messages == 0) return;
  const packing::Writer& out = open_->out;
  blocks_.push_back({{out.data(), out.data() + out.size()}, open_->messages});
  sealed_bytes_ += out.size() + overhead;
  open_->out.clear();
  open_->messages = 0;
}

void PackedMessages::close() {
  seal();
  open_ = nullptr;
  blocks_.shrink_to_fit();
}

std::size_t PackedMessages::bytes() const {
  return sizeof *this + sealed_bytes_ + (open_ ? sizeof *open_ + open_->writer.memory() + open_->out.capacity() : 0);
}

}  // namespace pclscope
