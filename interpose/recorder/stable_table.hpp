// Entries by MPI handle that never move and are never removed: the owner marks one as unused. MPI takes handles from
// free lists, so there are as many entries as handles were in use at once. find() takes no lock and may run beside
// insert(): nothing that was published changes. Calls of insert() exclude each other (a SpinGuard); it is rare, as
// handles come again. An entry is touched only by the thread that owns the handle at that moment, which MPI's own rules
// guarantee. Handles that are near each other have slots that are near each other: of 1e5 outstanding requests,
// neighbours in time are neighbours in memory. `Granule` is the least distance of two handles, as a power of two.
#pragma once

#include <stdlib.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace pclscope {

template <class Entry, unsigned Granule>
class StableTable {
  static_assert(std::is_trivially_copyable_v<Entry>);

 public:
  // The entry of a handle that was inserted before, else nullptr.
  Entry* find(std::uint64_t key) const {
    const Page* page = page_of(directory_.load(std::memory_order_acquire), key >> (Granule + page_bits));
    return page != nullptr ? page->slots[slot_of(key)].load(std::memory_order_acquire) : nullptr;
  }

  // Visits all entries, unused ones too. Excludes insert().
  template <class Visit>
  void for_each(Visit visit) {
    const Directory* directory = directory_.load(std::memory_order_acquire);
    for (std::size_t i = 0; directory != nullptr && i <= directory->mask; ++i) {
      Page* page = directory->places[i].page.load(std::memory_order_acquire);
      if (page == nullptr) continue;
      for (const std::atomic<Entry*>& slot : page->slots) {
        if (Entry* entry = slot.load(std::memory_order_acquire)) visit(*entry);
      }
    }
  }

  // The entry of a handle, a fresh Entry{} if it is new; nullptr without memory.
  Entry* insert(std::uint64_t key) {
    Page* page = page_of(directory_.load(std::memory_order_relaxed), key >> (Granule + page_bits));
    if (page == nullptr && (page = add_page(key >> (Granule + page_bits))) == nullptr) return nullptr;
    std::atomic<Entry*>& slot = page->slots[slot_of(key)];
    if (Entry* known = slot.load(std::memory_order_relaxed)) return known;
    Entry* fresh = allocate();
    if (fresh != nullptr) slot.store(fresh, std::memory_order_release);
    return fresh;
  }

 private:
  static constexpr unsigned page_bits = 9;
  static constexpr std::size_t chunk_size = 256;
  struct Page {
    std::atomic<Entry*> slots[1u << page_bits];
  };
  struct Place {
    std::uint64_t number;  // of the page, plus one; published by `page`
    std::atomic<Page*> page;
  };
  // Open addressing, at most half full. A full one is replaced by a copy; readers may still be in the old one, which
  // stays.
  struct Directory {
    std::size_t mask;
    std::size_t used;
    Place* places;
    const Directory* previous;
  };

  static std::size_t slot_of(std::uint64_t key) { return (key >> Granule) & ((1u << page_bits) - 1); }

  static Page* page_of(const Directory* directory, std::uint64_t number) {
    if (directory == nullptr) [[unlikely]]
      return nullptr;
    for (std::size_t i = home(*directory, number);; i = (i + 1) & directory->mask) {
      const Place& place = directory->places[i];
      Page* page = place.page.load(std::memory_order_acquire);
      if (page == nullptr || place.number == number) return page;
    }
  }
  static std::size_t home(const Directory& directory, std::uint64_t number) {
    return static_cast<std::size_t>((number * 0x9E3779B97F4A7C15u) >> 32) & directory.mask;
  }

  static void put(Directory& directory, std::uint64_t number, Page* page) {
    std::size_t i = home(directory, number);
    while (directory.places[i].page.load(std::memory_order_relaxed) != nullptr) i = (i + 1) & directory.mask;
    directory.places[i].number = number;
    directory.places[i].page.store(page, std::memory_order_release);
    ++directory.used;
  }

  [[gnu::noinline]] Page* add_page(std::uint64_t number) {
    auto* page = static_cast<Page*>(calloc(1, sizeof(Page)));
    if (page == nullptr) return nullptr;
    Directory* directory = directory_.load(std::memory_order_relaxed);
    if (directory == nullptr || 2 * (directory->used + 1) > directory->mask + 1) directory = grow(directory);
    if (directory == nullptr) {
      free(page);
      return nullptr;
    }
    put(*directory, number, page);
    directory_.store(directory, std::memory_order_release);
    return page;
  }

  static Directory* grow(const Directory* old) {
    const std::size_t count = old == nullptr ? 16 : 2 * (old->mask + 1);
    auto* larger = static_cast<Directory*>(malloc(sizeof(Directory)));
    auto* places = static_cast<Place*>(calloc(count, sizeof(Place)));
    if (larger == nullptr || places == nullptr) {
      free(larger);
      free(places);
      return nullptr;
    }
    *larger = {count - 1, 0, places, old};
    for (std::size_t i = 0; old != nullptr && i <= old->mask; ++i) {
      if (Page* page = old->places[i].page.load(std::memory_order_relaxed)) put(*larger, old->places[i].number, page);
    }
    return larger;
  }

  Entry* allocate() {
    if (left_ == 0) {
      next_ = static_cast<Entry*>(aligned_alloc(64, chunk_size * sizeof(Entry)));
      if (next_ == nullptr) return nullptr;
      left_ = chunk_size;
    }
    --left_;
    return new (next_++) Entry{};
  }

  std::atomic<Directory*> directory_{nullptr};
  Entry* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace pclscope
