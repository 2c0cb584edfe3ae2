// A hash map with room for so many entries: when one more comes, the oldest goes, and is counted.
//
// One thread. Memory: an entry's slot stays when it is taken, and is used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pclscope {

template <class Value>
class NewestMap {
 public:
  using Key = std::uint64_t;

  explicit NewestMap(std::size_t most) : most_(most < 1 ? 1 : most) {}

  bool empty() const { return slot_of_.empty(); }
  std::size_t size() const { return slot_of_.size(); }
  std::uint64_t dropped() const { return dropped_; }  // entries that nobody took, so far

  // What stood there is replaced, and counts as new.
  void put(Key key, Value value) {
    take(key);
    if (size() >= most_) {
      ++dropped_;
      take(slots_[oldest_].key);
    }
    const std::uint32_t slot = free_slot();
    slots_[slot] = {key, std::move(value), newest_, none};
    (newest_ == none ? oldest_ : slots_[newest_].next) = slot;
    newest_ = slot;
    slot_of_[key] = slot;
  }

  // The entry, which is then no more in here.
  std::optional<Value> take(Key key) {
    const auto it = slot_of_.find(key);
    if (it == slot_of_.end()) return std::nullopt;
    const std::uint32_t slot = it->second;
    slot_of_.erase(it);
    Slot& s = slots_[slot];
    (s.previous == none ? oldest_ : slots_[s.previous].next) = s.next;
    (s.next == none ? newest_ : slots_[s.next].previous) = s.previous;
    s.next = std::exchange(free_, slot);
    return std::move(s.value);
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct Slot {
    Key key = 0;
    Value value{};
    std::uint32_t previous = none, next = none;  // older and newer; of a free slot: the next free one
  };

  std::uint32_t free_slot() {
    if (free_ != none) return std::exchange(free_, slots_[free_].next);
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }

  std::size_t most_;
  std::unordered_map<Key, std::uint32_t> slot_of_;
  std::vector<Slot> slots_;
  std::uint32_t oldest_ = none, newest_ = none, free_ = none;
  std::uint64_t dropped_ = 0;
};

}  // namespace pclscope
