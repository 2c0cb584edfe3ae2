// In which layer something was last done, and how often in it: a table with open addressing. Private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/logical/logical_time.hpp"

namespace pclscope::logical {

class LastSeen {
 public:
  struct Key {  // a send from a rank to another one; a collective's first rank and, negative, how many
    std::int32_t from = 0, to = 0;
    std::uint32_t line = 0;
    bool operator==(const Key&) const = default;
  };
  struct When {
    std::uint32_t layer = none;   // none: never
    std::uint32_t count = 0;      // in that layer
    std::uint32_t before = none;  // the layer before in which it was done
    std::uint32_t first = none;   // event of the first one in that layer
  };
  struct Undo {
    Key key;
    When when;
  };

  // It is done once more. Good until the next call.
  const When& add(const Key& key, std::uint32_t layer, std::uint32_t event, std::vector<Undo>& undo) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = find(key);
    if (!slot.used) {
      slot.used = true;
      slot.key = key;
      ++used_;
    }
    undo.push_back({key, slot.when});
    if (slot.when.layer == layer) ++slot.when.count;
    else slot.when = {layer, 1, slot.when.layer, event};
    return slot.when;
  }
  // All that was added since `undo` had that size.
  void take_back(std::vector<Undo>& undo, std::size_t size) {
    for (; undo.size() > size; undo.pop_back()) find(undo.back().key).when = undo.back().when;
  }

 private:
  struct Slot {
    Key key;
    When when;
    bool used = false;
  };

  Slot& find(const Key& key) {
    std::uint64_t hash =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.from)) << 32 | static_cast<std::uint32_t>(key.to);
    hash = (hash ^ std::uint64_t{key.line} << 20) * 0x9e3779b97f4a7c15;
    for (std::size_t i = hash >> 20;; ++i)
      if (Slot& slot = slots_[i & (slots_.size() - 1)]; !slot.used || slot.key == key) return slot;
  }
  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(1024, 2 * slots_.size()));
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.used) find(slot.key) = slot;
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace pclscope::logical
