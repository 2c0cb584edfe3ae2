// Requests by handle. A slim index of handles, and the entries themselves in the order in which requests were posted:
// of 1e5 outstanding requests, neighbours in time are neighbours in memory. Not thread-safe: callers hold a Guard.
// Entries never move.
#pragma once

#include <stdlib.h>

#include "interpose/handle_table.hpp"
#include "interpose/requests.hpp"

namespace pclscope {

class RequestTable {
 public:
  TrackedRequest* find(std::uint64_t key) {
    const Place* place = index_.find(key);
    return place != nullptr ? &entry(place->slot) : nullptr;
  }

  // The entry of `key`, one of kind `none` if it is new; nullptr without memory.
  TrackedRequest* insert(std::uint64_t key) {
    Place* place = index_.insert(key);
    if (place == nullptr) return nullptr;
    if (place->slot != 0) return &entry(place->slot);
    if (free_ == 0 && !grow()) {
      index_.erase(place);
      return nullptr;
    }
    place->slot = free_;
    TrackedRequest& fresh = entry(free_);
    free_ = static_cast<std::uint32_t>(fresh.ordinal);
    fresh.kind = RequestKind::none;
    fresh.key = key;
    return &fresh;
  }

  void erase(TrackedRequest* request) {
    Place* place = index_.find(request->key);
    const std::uint32_t slot = place->slot;
    index_.erase(place);
    request->ordinal = free_;
    free_ = slot;
  }

  std::size_t size() const { return index_.size(); }

 private:
  struct Place {
    std::uint64_t key;
    std::uint32_t slot;  // from 1
  };
  // Requests are structures of some hundred bytes in Open MPI, consecutive numbers in MPICH.
  static constexpr unsigned granule = std::is_pointer_v<MPI_Request> ? 9 : 0;
  static constexpr std::uint32_t chunk_bits = 8;
  static constexpr std::uint32_t chunk_size = 1u << chunk_bits;
  static constexpr std::uint32_t chunk_limit = 1u << 16;  // 16 million requests

  TrackedRequest& entry(std::uint32_t slot) {
    return chunks_[(slot - 1) >> chunk_bits][(slot - 1) & (chunk_size - 1)];
  }

  [[gnu::noinline]] bool grow() {
    if (chunk_count_ == chunk_room_) {
      if (chunk_room_ == chunk_limit) return false;
      const std::uint32_t room = chunk_room_ == 0 ? 16 : 4 * chunk_room_;
      auto** larger = static_cast<TrackedRequest**>(realloc(chunks_, room * sizeof *chunks_));
      if (larger == nullptr) return false;
      chunks_ = larger;
      chunk_room_ = room;
    }
    auto* chunk = static_cast<TrackedRequest*>(aligned_alloc(64, chunk_size * sizeof(TrackedRequest)));
    if (chunk == nullptr) return false;
    const std::uint32_t first = chunk_count_ * chunk_size + 1;
    chunks_[chunk_count_++] = chunk;
    for (std::uint32_t i = 0; i < chunk_size; ++i) chunk[i].ordinal = i + 1 < chunk_size ? first + i + 1 : 0;
    free_ = first;
    return true;
  }

  HandleTable<Place, granule> index_;
  TrackedRequest** chunks_ = nullptr;
  std::uint32_t chunk_count_ = 0;
  std::uint32_t chunk_room_ = 0;
  std::uint32_t free_ = 0;  // first of the list of free slots, linked by `ordinal`; 0: none
};

}  // namespace pclscope
