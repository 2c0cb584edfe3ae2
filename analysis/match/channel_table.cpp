#include "analysis/match/channel_table.hpp"

#include <algorithm>

namespace pclscope {

std::uint32_t ChannelTable::find(std::uint64_t comm, std::int32_t source, std::int32_t destination,
                                 std::int32_t tag) const {
  for (std::size_t at = mix(comm, source, destination, tag) & mask_;; at = (at + 1) & mask_) {
    const std::uint32_t index = slots_[at].channel;
    if (index == no_index) return no_index;
    if (is(channels_[index], comm, source, destination, tag)) return index;
  }
}

std::uint32_t ChannelTable::find_further(std::uint64_t hash, std::uint64_t comm, std::int32_t source,
                                         std::int32_t destination, std::int32_t tag, bool& made) {
  for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
    const Slot slot = slots_[at];
    if (slot.channel == no_index) break;
    if (slot.check == static_cast<std::uint32_t>(hash >> 32) &&
        is(channels_[slot.channel], comm, source, destination, tag))
      return slot.channel;
  }
  made = true;
  return make(hash, comm, source, destination, tag);
}

std::uint32_t ChannelTable::make(std::uint64_t hash, std::uint64_t comm, std::int32_t source, std::int32_t destination,
                                 std::int32_t tag) {
  if ((count_ + 1) * 2 > slots_.size()) rehash(slots_.size() * 2);
  std::uint32_t index;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(channels_.size());
    channels_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
    channels_[index] = Channel{};
  }
  Channel& channel = channels_[index];
  channel.comm = comm;
  channel.source = source;
  channel.destination = destination;
  channel.tag = tag;
  place(hash, index);
  ++count_;
  return index;
}

void ChannelTable::place(std::uint64_t hash, std::uint32_t channel) {
  std::size_t at = hash & mask_;
  while (slots_[at].channel != no_index) at = (at + 1) & mask_;
  slots_[at] = {static_cast<std::uint32_t>(hash >> 32), channel};
}

void ChannelTable::rehash(std::size_t slots) {
  std::vector<Slot> old(slots);
  old.swap(slots_);
  mask_ = slots - 1;
  for (const Slot& slot : old) {
    if (slot.channel == no_index) continue;
    const Channel& c = channels_[slot.channel];
    place(mix(c.comm, c.source, c.destination, c.tag), slot.channel);
  }
}

void ChannelTable::sweep(const std::function<bool(std::uint32_t)>& keep) {
  for (Slot& slot : slots_) {
    if (slot.channel == no_index) continue;
    Channel& c = channels_[slot.channel];
    const bool empty = c.send_head == no_index && c.recv_head == no_index && c.late == no_index;
    // What was declared ambiguous for one channel only must not be forgotten.
    const bool marked = c.sends_ambiguous || c.ambiguous_from != ~0ull;
    if (empty && !c.used && !c.dirty && !c.waiting && !marked && !(c.special && keep(slot.channel))) {
      free_.push_back(slot.channel);
      slot.channel = no_index;
      --count_;
    } else {
      c.used = false;
    }
  }
  std::size_t slots = slots_.size();
  while (slots > 1024 && count_ * 8 < slots) slots /= 2;
  rehash(slots);
  sweep_at_ = std::max<std::size_t>(1 << 16, count_ * 2);
}

}  // namespace pclscope
