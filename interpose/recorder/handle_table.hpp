// Hash table from MPI handles (as numbers, never 0) to small trivially copyable entries with a `key` member.
// Open addressing, at most half full, no tombstones. Not thread-safe: callers hold a Guard. Memory is taken when the
// table grows only; when there is none, insert() fails and the table stays as it was.
// Keys that are near each other lie near each other: MPI hands out requests side by side, and a table of 1e5 of them
// is far larger than the cache. `Granule` is the usual distance of two keys, as a power of two.
#pragma once

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pclscope {

template <class Entry, unsigned Granule = 0>
class HandleTable {
  static_assert(std::is_trivially_copyable_v<Entry>);

 public:
  // The entry of `key`, or nullptr. Valid until the next insert or erase.
  Entry* find(std::uint64_t key) {
    if (size_ == 0) return nullptr;
    for (std::size_t i = home(key);; i = (i + 1) & mask_) {
      if (entries_[i].key == key) return entries_ + i;
      if (entries_[i].key == 0) return nullptr;
    }
  }

  // The entry of `key`, a zeroed one if it is new; nullptr without memory.
  Entry* insert(std::uint64_t key) {
    if (2 * (size_ + 1) > capacity() && !grow()) return nullptr;
    std::size_t i = home(key);
    for (; entries_[i].key != 0; i = (i + 1) & mask_) {
      if (entries_[i].key == key) return entries_ + i;
    }
    entries_[i].key = key;
    ++size_;
    return entries_ + i;
  }

  void erase(Entry* entry) {
    auto hole = static_cast<std::size_t>(entry - entries_);
    // Close the hole: pull back every following entry of the run that may lie there.
    for (std::size_t i = (hole + 1) & mask_; entries_[i].key != 0; i = (i + 1) & mask_) {
      const std::size_t wanted = home(entries_[i].key);
      if (((i - wanted) & mask_) >= ((i - hole) & mask_)) {
        entries_[hole] = entries_[i];
        hole = i;
      }
    }
    memset(static_cast<void*>(entries_ + hole), 0, sizeof(Entry));
    --size_;
  }

  std::size_t size() const { return size_; }

  // There is no destructor: the tables of a process are in use until its very end.
  void give_memory_back() {
    free(entries_);
    *this = HandleTable();
  }

 private:
  std::size_t capacity() const { return entries_ == nullptr ? 0 : mask_ + 1; }
  // Blocks of eight neighbours are spread by Fibonacci hashing (the high bits of the product are the well mixed ones).
  std::size_t home(std::uint64_t key) const {
    const std::uint64_t granule = key >> Granule;
    const std::uint64_t block = ((granule >> 3) * 0x9E3779B97F4A7C15u) >> shift_;
    return static_cast<std::size_t>((block << 3) | (granule & 7));
  }

  [[gnu::noinline]] bool grow() {
    const std::size_t count = entries_ == nullptr ? 128 : 2 * capacity();
    const std::size_t bytes = count * sizeof(Entry);
    const std::size_t huge = std::size_t{2} << 20;
    auto* larger = static_cast<Entry*>(aligned_alloc(bytes < huge ? 64 : huge, bytes));
    if (larger == nullptr) return false;
    // Entries of a large table lie far apart: with small pages most of the cost would be address translation.
    if (bytes >= huge) madvise(larger, bytes, MADV_HUGEPAGE);
    memset(static_cast<void*>(larger), 0, bytes);
    Entry* old = entries_;
    const std::size_t old_count = capacity();
    entries_ = larger;
    mask_ = count - 1;
    shift_ = 64 + 3 - static_cast<unsigned>(__builtin_ctzll(count));
    for (std::size_t k = 0; k < old_count; ++k) {
      if (old[k].key == 0) continue;
      std::size_t i = home(old[k].key);
      while (entries_[i].key != 0) i = (i + 1) & mask_;
      entries_[i] = old[k];
    }
    free(old);
    return true;
  }

  Entry* entries_ = nullptr;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
  unsigned shift_ = 63;
};

}  // namespace pclscope
