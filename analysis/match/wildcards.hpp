// Unresolved wildcard receives of one rank: which of them could still claim a channel, and which came first.
// Posted in ordinal order, resolved in any order. Queries are O(1) amortised: each kind of pattern is a queue from
// which resolved receives fall out lazily.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/match/entries.hpp"

namespace pclscope {

class Wildcards {
 public:
  using Pool = EntryPool<RecvEntry>;

  // source == any_source, tag == any_tag, or both.
  void post(std::uint64_t comm, std::int32_t source, std::int32_t tag, std::uint64_t ordinal, std::uint32_t entry);
  // The receive is resolved or gone: its entry's state must no longer be `wildcard`, or it is given back.
  void resolved(std::uint64_t comm, std::int32_t source, std::int32_t tag, const Pool& pool);
  // The first unresolved receive that could claim (comm, source, tag), if it was posted before `ordinal`; else
  // no_index. While it is unresolved it stays the first: whoever is blocked may wait for it alone.
  std::uint32_t blocker(std::uint64_t comm, std::int32_t source, std::int32_t tag, std::uint64_t ordinal,
                        const Pool& pool);
  std::size_t open() const { return open_; }
  void clear();

 private:
  struct Item {
    std::uint64_t ordinal;
    std::uint32_t entry;
  };
  struct Queue {
    std::vector<Item> items;
    std::size_t head = 0;
    std::size_t open = 0;
    void compact(const Pool& pool);
    std::uint32_t first_before(std::uint64_t ordinal, const Pool& pool);
  };
  struct OfComm {
    std::uint64_t comm = 0;
    std::size_t open = 0;
    Queue any;                                          // (ANY, ANY)
    std::unordered_map<std::int32_t, Queue> by_source;  // (s, ANY)
    std::unordered_map<std::int32_t, Queue> by_tag;     // (ANY, t)
    Queue& queue(std::int32_t source, std::int32_t tag);
  };
  static bool is_open(const Item& item, const Pool& pool) {
    const RecvEntry& entry = pool[item.entry];
    return entry.state == RecvState::wildcard && record::number_of(entry.ordinal) == item.ordinal;
  }
  OfComm* find(std::uint64_t comm);

  std::vector<OfComm> comms_;  // few: communicators on which this rank uses wildcards
  std::size_t open_ = 0;
};

}  // namespace pclscope
