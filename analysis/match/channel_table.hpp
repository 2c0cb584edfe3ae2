// Channels in use, found by (communicator, source, destination, tag). Open addressing over 64-byte channels that
// keep their index for life. Idle channels are evicted when the table has grown: an empty channel is no state.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "analysis/match/entries.hpp"

namespace pclscope {

struct Channel {
  std::uint64_t comm = 0;
  std::uint64_t ambiguous_from = ~0ull;  // receives with this posting ordinal or a later one are ambiguous
  std::int32_t source = 0;
  std::int32_t destination = 0;
  std::int32_t tag = 0;
  std::uint32_t send_head = no_index, send_tail = no_index;  // in sending order
  std::uint32_t recv_head = no_index, recv_tail = no_index;  // in posting order
  std::uint32_t late = no_index;         // receives to be merged in by ordinal (resolved wildcards), see Matcher
  std::uint32_t next_waiter = no_index;  // in the chain of channels that wait for the same wildcard
  std::int32_t ambiguous_surplus = 0;    // ambiguous sends minus ambiguous receives seen
  bool dirty = false;                    // is in the list of channels to look at when the round ends
  bool waiting = false;                  // is in a wildcard's chain
  bool sends_ambiguous = false;          // the order of its sends is not known any more
  bool used = true;                      // since the last sweep
  bool special = false;                  // threads or unrecorded intervals: pairing looks closer (races.cpp)
};
static_assert(sizeof(Channel) == 64);

class ChannelTable {
 public:
  // The channel's index; `made` tells whether it is new.
  std::uint32_t find_or_make(std::uint64_t comm, std::int32_t source, std::int32_t destination, std::int32_t tag,
                             bool& made) {
    const std::uint64_t hash = mix(comm, source, destination, tag);
    const Slot first = slots_[hash & mask_];  // mostly it is the one
    made = false;
    if (first.channel != no_index && is(channels_[first.channel], comm, source, destination, tag)) [[likely]]
      return first.channel;
    return find_further(hash, comm, source, destination, tag, made);
  }

  // The channel's index, or no_index.
  std::uint32_t find(std::uint64_t comm, std::int32_t source, std::int32_t destination, std::int32_t tag) const;

  Channel& operator[](std::uint32_t index) { return channels_[index]; }
  const Channel& operator[](std::uint32_t index) const { return channels_[index]; }

  // Visits every channel in use: visit(index).
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Slot& slot : slots_)
      if (slot.channel != no_index) visit(slot.channel);
  }

  std::size_t size() const { return count_; }
  bool wants_sweep() const { return count_ >= sweep_at_; }
  // Drops channels that hold nothing and were not used since the last sweep, unless they are special and
  // keep(index) says so.
  void sweep(const std::function<bool(std::uint32_t)>& keep);

 private:
  struct Slot {
    std::uint32_t check = 0;
    std::uint32_t channel = no_index;
  };

  static std::uint64_t mix(std::uint64_t comm, std::int32_t source, std::int32_t destination, std::int32_t tag) {
    const auto low = [](std::int32_t v) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(v)); };
    std::uint64_t hash = comm * 0x9e3779b97f4a7c15u ^ (low(source) << 32 | low(destination));
    hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u ^ low(tag) * 0x94d049bb133111ebu;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
  }
  static bool is(const Channel& channel, std::uint64_t comm, std::int32_t source, std::int32_t destination,
                 std::int32_t tag) {
    return channel.comm == comm && channel.source == source && channel.destination == destination && channel.tag == tag;
  }
  std::uint32_t find_further(std::uint64_t hash, std::uint64_t comm, std::int32_t source, std::int32_t destination,
                             std::int32_t tag, bool& made);
  std::uint32_t make(std::uint64_t hash, std::uint64_t comm, std::int32_t source, std::int32_t destination,
                     std::int32_t tag);
  void rehash(std::size_t slots);
  void place(std::uint64_t hash, std::uint32_t channel);

  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  std::size_t mask_ = 1023;
  std::vector<Channel> channels_;
  std::vector<std::uint32_t> free_;
  std::size_t count_ = 0;
  std::size_t sweep_at_ = 1 << 16;
};

}  // namespace pclscope
