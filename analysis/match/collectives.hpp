// Collective operations: events of all members of a communicator belong together by their ordinal on it.
// Memory: a small window of incomplete operations per communicator; communicators fall out when all members freed
// them.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "interpose/record/event.hpp"

namespace pclscope {

class Collectives {
 public:
  explicit Collectives(std::int32_t world_size);

  // comm_created, comm_freed and collective events; others are ignored.
  void add(const record::Event& event);

  std::uint64_t completed() const { return completed_; }  // operations that all members have completed
  std::uint64_t incomplete() const;                       // seen on some members only, so far
  std::uint64_t abandoned() const { return abandoned_; }  // given up: events missing, or size unknown
  std::size_t communicators() const { return comms_.size(); }

 private:
  struct Comm {
    std::uint64_t members = 0;  // 0 = not known (yet)
    std::uint64_t freed = 0;
    std::uint64_t first = 0;  // ordinal of arrived.front()
    std::deque<std::uint32_t> arrived;
  };
  void arrive(Comm& comm, std::uint64_t ordinal);
  void complete_front(Comm& comm);

  std::unordered_map<std::uint64_t, Comm> comms_;
  std::uint64_t last_id_ = 0;  // most events come for the communicator of the previous one
  Comm* last_ = nullptr;
  std::uint64_t completed_ = 0;
  std::uint64_t abandoned_ = 0;
};

}  // namespace pclscope
