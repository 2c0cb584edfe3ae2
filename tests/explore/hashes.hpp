// A set of 64-bit hashes, for millions of them: one table, looked through from where a hash belongs. 0 counts as 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace explore {

class Hashes {
 public:
  bool insert(std::uint64_t hash) {  // true: it was not there
    if (4 * (count_ + 1) > 3 * table_.size()) grow();
    return put(hash == 0 ? 1 : hash);
  }
  std::size_t size() const { return count_; }

 private:
  bool put(std::uint64_t hash) {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = (hash * 0x9E3779B97F4A7C15u >> 20) & mask;
    while (table_[at] != 0) {
      if (table_[at] == hash) return false;
      at = (at + 1) & mask;
    }
    table_[at] = hash;
    ++count_;
    return true;
  }
  void grow() {
    std::vector<std::uint64_t> before(table_.empty() ? 1024 : 2 * table_.size());
    std::swap(before, table_);
    count_ = 0;
    for (const std::uint64_t hash : before)
      if (hash != 0) put(hash);
  }

  std::vector<std::uint64_t> table_;  // a power of two; a quarter of it is empty, as 0
  std::size_t count_ = 0;
};

}  // namespace explore
