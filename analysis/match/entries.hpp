// What waits in a channel: sends without a receive yet, and receives posted or completed. One cache line each, kept
// in pools and linked by index, so that memory follows the number of outstanding messages and nothing is allocated
// per message once a pool has grown to its peak.
#pragma once

#include <cstdint>
#include <vector>

#include "interpose/record/event.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope {

inline constexpr std::uint32_t no_index = 0xffffffffu;

// Either one send, or `bytes` sends of the channel that left no events (unrecorded): `ordinal` and `end` are then the
// numbers [ordinal, end) among which they are in unknown order; with none, they come right before number `ordinal`.
struct alignas(64) SendEntry {
  std::uint64_t ordinal;     // number and concurrent count, as in the event
  std::uint64_t begin, end;  // ticks
  std::uint64_t site;
  std::uint64_t bytes;
  std::uint32_t flags;  // record::flag, message_flag::sendrecv_send
  std::uint32_t next;   // in the channel
  std::uint8_t thread;
  bool held;  // MPI_Cancel was called, outcome unknown
  bool unrecorded;
  bool raced;                     // with a send that failed
  std::uint32_t clock_error = 0;  // ns, of a sender on another node
};

enum class RecvState : std::uint8_t {
  posted,    // specific, in its channel, not complete
  wildcard,  // posted with ANY_SOURCE or ANY_TAG, not complete: in no channel yet
  completed,
  freed,       // specific, MPI_Request_free: takes its turn, completes unseen
  unrecorded,  // `bytes` receives without events: as in SendEntry, the numbers are [ordinal, wait)
  gone,        // took nothing after all
};

namespace recv_bit {
inline constexpr std::uint8_t truncated = 1;     // its message was longer than the buffer
inline constexpr std::uint8_t unseen_post = 2;   // posted while nothing was recorded: `post` is later than the truth
inline constexpr std::uint8_t unseen_end = 4;    // completed while nothing was recorded
inline constexpr std::uint8_t out_of_order = 8;  // as flag::out_of_order
inline constexpr std::uint8_t entered = 16;      // its call has not returned: the concurrent count is to come
inline constexpr std::uint8_t first_come = 32;   // its call would have returned for another message, too
inline constexpr std::uint8_t sendrecv = 64;     // of MPI_Sendrecv
inline constexpr std::uint8_t alone = 128;       // its call completed no other receive
inline constexpr std::uint8_t of_no_turn =
    truncated | first_come | sendrecv | alone;  // these say nothing about its turn
}  // namespace recv_bit

struct alignas(64) RecvEntry {
  std::uint64_t ordinal;          // number and concurrent count, as in the event
  std::uint64_t post, wait, end;  // ticks; `wait` of a wildcard holds its pattern until it completes
  std::uint64_t site;
  std::uint64_t bytes;
  std::uint32_t next, prev;  // in the channel
  std::uint32_t channel;     // wildcard: first of the channels that wait for its resolution
  std::uint8_t round;        // (low bits of) the round in which its completion was read
  RecvState state;
  std::uint8_t bits;  // recv_bit
  std::uint8_t thread;
};
static_assert(sizeof(SendEntry) == 64 && sizeof(RecvEntry) == 64);

// Calls that send and receive, and return when both are over.
constexpr bool is_sendrecv(std::uint16_t function) {
  using enum record::Function;
  switch (static_cast<record::Function>(function)) {
    case Sendrecv:
    case Sendrecv_c:
    case Sendrecv_replace:
    case Sendrecv_replace_c: return true;
    default: return false;
  }
}

inline bool can_be_cancelled(const SendEntry& s) {
  return s.flags & (record::flag::nonblocking | record::flag::persistent);
}

// Threads beyond are not told apart: any two of them may be different.
inline constexpr std::uint8_t many_threads = 255;

// Place in the order of a rank's numbers: unrecorded ones come before the number that they carry.
inline std::uint64_t place_of(const SendEntry& s) { return record::number_of(s.ordinal) * 2 + !s.unrecorded; }
inline std::uint64_t place_of(const RecvEntry& r) {
  return record::number_of(r.ordinal) * 2 + (r.state != RecvState::unrecorded);
}

// The pattern of an unresolved wildcard, in RecvEntry::wait; its communicator is in RecvEntry::bytes.
constexpr std::uint64_t pattern_of(std::int32_t source, std::int32_t tag) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32 | static_cast<std::uint32_t>(tag);
}
constexpr std::int32_t pattern_source(std::uint64_t pattern) { return static_cast<std::int32_t>(pattern >> 32); }
constexpr std::int32_t pattern_tag(std::uint64_t pattern) { return static_cast<std::int32_t>(pattern); }

// Entries by index. References are valid until the next take(). Those that are free lie elsewhere in memory by the
// time they are taken again: they are asked for some takes before.
template <class Entry>
class EntryPool {
 public:
  std::uint32_t take() {
    ++in_use_;
    if (!free_.empty()) {
      const std::uint32_t index = free_.back();
      free_.pop_back();
      follows_[index] = no_index;
      if (free_.size() >= ahead) __builtin_prefetch(&entries_[free_[free_.size() - ahead]], 1);
      return index;
    }
    entries_.emplace_back();
    follows_.push_back(no_index);
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }
  void give(std::uint32_t index) {
    free_.push_back(index);
    --in_use_;
  }
  Entry& operator[](std::uint32_t index) { return entries_[index]; }
  const Entry& operator[](std::uint32_t index) const { return entries_[index]; }
  void prefetch(std::uint32_t index) const {
    if (index != no_index) __builtin_prefetch(&entries_[index]);
  }
  // `next` comes behind `index` in their channel, as far as one looks ahead; what is linked otherwise later is not
  // told.
  void note_next(std::uint32_t index, std::uint32_t next) { follows_[index] = next; }
  // Asks for the entries of a channel some steps before their turn, following note_next().
  class Ahead {
   public:
    Ahead(const EntryPool& pool, std::uint32_t first) : pool_(pool), at_(first) {
      for (int i = 0; i < steps; ++i) step();
    }
    void step() {
      if (at_ == no_index) return;
      pool_.prefetch(at_);
      at_ = pool_.follows_[at_];
    }

   private:
    static constexpr int steps = 5;
    const EntryPool& pool_;
    std::uint32_t at_;
  };
  std::uint64_t in_use() const { return in_use_; }
  std::uint64_t capacity() const { return entries_.size(); }

 private:
  static constexpr std::size_t ahead = 8;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> follows_;  // by index: dense, so that looking ahead does not wait for memory itself
  std::vector<std::uint32_t> free_;
  std::uint64_t in_use_ = 0;
};

}  // namespace pclscope
