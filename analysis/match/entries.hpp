// What waits in a channel: sends without a receive yet, and receives posted or completed. One cache line each, kept
// in pools and linked by index, so that memory follows the number of outstanding messages and nothing is allocated
// per message once a pool has grown to its peak.
#pragma once

#include <cstdint>
#include <vector>

namespace pclscope {

inline constexpr std::uint32_t no_index = 0xffffffffu;

struct alignas(64) SendEntry {
  std::uint64_t ordinal;
  std::uint64_t begin, end;  // ticks
  std::uint64_t site;
  std::uint64_t bytes;
  std::uint32_t flags;  // record::flag
  std::uint32_t next;   // in the channel, or in the pool's free list
  bool held;            // MPI_Cancel was called, outcome unknown
};

enum class RecvState : std::uint8_t {
  posted,    // specific, in its channel, not complete
  wildcard,  // posted with ANY_SOURCE or ANY_TAG, not complete: in no channel yet
  completed,
  freed,  // specific, MPI_Request_free: takes its turn, completes unseen
};

struct alignas(64) RecvEntry {
  std::uint64_t ordinal;
  std::uint64_t post, wait, end;  // ticks; `wait` of a wildcard holds its pattern until it completes
  std::uint64_t site;
  std::uint64_t bytes;
  std::uint32_t next, prev;  // in the channel; `next` also in the pool's free list
  std::uint32_t channel;     // wildcard: first of the channels that wait for its resolution
  std::uint16_t round;       // (low bits of) the round in which its completion was read
  RecvState state;
  bool truncated;  // its message was longer than the buffer
};
static_assert(sizeof(SendEntry) == 64 && sizeof(RecvEntry) == 64);

// Entries by index. References are valid until the next take().
template <class Entry>
class EntryPool {
 public:
  std::uint32_t take() {
    ++in_use_;
    if (free_ != no_index) {
      const std::uint32_t index = free_;
      free_ = entries_[index].next;
      return index;
    }
    entries_.emplace_back();
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }
  void give(std::uint32_t index) {
    entries_[index].next = free_;
    free_ = index;
    --in_use_;
  }
  Entry& operator[](std::uint32_t index) { return entries_[index]; }
  const Entry& operator[](std::uint32_t index) const { return entries_[index]; }
  std::uint64_t in_use() const { return in_use_; }
  std::uint64_t capacity() const { return entries_.size(); }

 private:
  std::vector<Entry> entries_;
  std::uint32_t free_ = no_index;
  std::uint64_t in_use_ = 0;
};

}  // namespace pclscope
