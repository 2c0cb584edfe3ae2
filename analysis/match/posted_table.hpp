// The outstanding nonblocking receives of one rank: posting ordinal -> entry. Open addressing with linear probing
// and backward-shift deletion; ordinals are scattered so that a dense run of them makes no cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/match/entries.hpp"

namespace pclscope {

class PostedTable {
 public:
  void insert(std::uint64_t ordinal, std::uint32_t entry) {
    if ((count_ + 1) * 2 > slots_.size()) grow();
    place(ordinal, entry);
    ++count_;
  }

  // Removes and returns the entry, or no_index.
  std::uint32_t take(std::uint64_t ordinal) {
    if (count_ == 0) return no_index;
    const std::size_t at = slot_of(ordinal);
    const std::uint32_t entry = slots_[at].entry;
    if (entry != no_index) remove(at);
    return entry;
  }
  // The entry, or no_index.
  std::uint32_t find(std::uint64_t ordinal) const { return count_ == 0 ? no_index : slots_[slot_of(ordinal)].entry; }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const Slot& slot : slots_)
      if (slot.entry != no_index) visit(slot.entry);
  }
  void clear() {
    slots_.clear();
    count_ = 0;
  }
  std::size_t size() const { return count_; }

 private:
  struct Slot {
    std::uint64_t ordinal = 0;
    std::uint32_t entry = no_index;
  };

  std::size_t home(std::uint64_t ordinal) const { return (ordinal * 0x9e3779b97f4a7c15u) >> shift_; }
  std::size_t slot_of(std::uint64_t ordinal) const {
    std::size_t at = home(ordinal);
    while (slots_[at].entry != no_index && slots_[at].ordinal != ordinal) at = (at + 1) & mask_;
    return at;
  }
  void place(std::uint64_t ordinal, std::uint32_t entry) {
    std::size_t at = home(ordinal);
    while (slots_[at].entry != no_index) at = (at + 1) & mask_;
    slots_[at] = {ordinal, entry};
  }
  void remove(std::size_t hole) {
    for (std::size_t at = (hole + 1) & mask_; slots_[at].entry != no_index; at = (at + 1) & mask_) {
      // Move a later entry into the hole unless its home lies behind the hole.
      if (((at - home(slots_[at].ordinal)) & mask_) >= ((at - hole) & mask_)) {
        slots_[hole] = slots_[at];
        hole = at;
      }
    }
    slots_[hole].entry = no_index;
    --count_;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    shift_ = 64 - static_cast<unsigned>(__builtin_ctzll(slots_.size()));
    for (const Slot& slot : old)
      if (slot.entry != no_index) place(slot.ordinal, slot.entry);
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  unsigned shift_ = 63;
  std::size_t count_ = 0;
};

}  // namespace pclscope
