#include <stdlib.h>

#include "interpose/recorder/unrecorded.hpp"

namespace pclscope {

std::uint32_t ChannelCounts::place(std::uint64_t comm, std::int32_t peer, std::int32_t tag) const {
  const std::uint64_t mixed = (comm ^ static_cast<std::uint32_t>(peer) * 0xBF58476D1CE4E5B9u) * 0x9E3779B97F4A7C15u +
                              static_cast<std::uint32_t>(tag) * 0x94D049BB133111EBu;
  std::uint32_t i = static_cast<std::uint32_t>((mixed * 0x9E3779B97F4A7C15u) >> 40) & (slot_count_ - 1);
  while (slots_[i].count != 0 && (slots_[i].comm != comm || slots_[i].peer != peer || slots_[i].tag != tag))
    i = (i + 1) & (slot_count_ - 1);
  return i;
}

// Channels keep their order.
bool ChannelCounts::grow() {
  ChannelCounts larger(most_);
  larger.slot_count_ = slot_count_ == 0 ? first_slots : 2 * slot_count_;
  larger.slots_ = static_cast<Channel*>(calloc(larger.slot_count_, sizeof(Channel)));
  larger.used_ = static_cast<std::uint32_t*>(malloc(larger.slot_count_ / 2 * sizeof *used_));
  if (larger.slots_ == nullptr || larger.used_ == nullptr) {
    larger.give_memory_back();
    return false;
  }
  for (std::uint32_t i = 0; i < size_; ++i) {
    const Channel& c = slots_[used_[i]];
    const std::uint32_t slot = larger.place(c.comm, c.peer, c.tag);
    larger.slots_[slot] = c;
    larger.used_[larger.size_++] = slot;
  }
  give_memory_back();
  *this = larger;
  return true;
}

bool ChannelCounts::add_all(const ChannelCounts& other) {
  for (std::uint32_t i = 0; i < other.size(); ++i) {
    const Channel& c = other[i];
    if (!add(c.comm, c.peer, c.tag, c.begin, 0, c.latest)) return false;
    last_->count += c.count - 1;
    last_->end += c.end;
  }
  return true;
}

void ChannelCounts::take_back(std::uint64_t comm, std::int32_t peer, std::int32_t tag) {
  if (slots_ == nullptr) return;
  Channel& c = slots_[place(comm, peer, tag)];
  if (c.count > c.end) ++c.end;
}

ChannelCounts::Channel* ChannelCounts::place_for(std::uint64_t comm, std::int32_t peer, std::int32_t tag,
                                                 std::uint64_t begin) {
  if (2 * size_ >= slot_count_ && slot_count_ < 2 * most_ && !grow()) return nullptr;
  const std::uint32_t slot = place(comm, peer, tag);
  Channel& c = slots_[slot];
  if (c.count == 0) {
    if (size_ == most_) return nullptr;
    c = {comm, peer, tag, 0, begin, 0, 0};
    used_[size_++] = slot;
  }
  return &c;
}

const ChannelCounts::Channel* ChannelCounts::find(std::uint64_t comm, std::int32_t peer, std::int32_t tag) const {
  if (slots_ == nullptr) return nullptr;
  const Channel& c = slots_[place(comm, peer, tag)];
  return c.count != 0 ? &c : nullptr;
}

void ChannelCounts::clear() {
  for (std::uint32_t i = 0; i < size_; ++i) slots_[used_[i]].count = 0;
  size_ = 0;
  last_ = nullptr;
  for (Channel*& recent : recent_) recent = nullptr;
}

void ChannelCounts::give_memory_back() {
  free(slots_);
  free(used_);
  *this = ChannelCounts(most_);
}

}  // namespace pclscope
