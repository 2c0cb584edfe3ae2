// Who belongs to a communicator and how far each member is in its collectives, from the events read so far; and whose
// events are missing.
//
// One thread owns a Participants. Memory: 56 bytes per member of a live communicator, at most 65,536 communicators.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <unordered_map>
#include <vector>

#include "interpose/record/event.hpp"

namespace pclscope::blocked {

class Participants {
 public:
  struct Member {
    std::int32_t rank = 0;
    std::uint32_t losses = 0;       // of the rank, when its newest collective here was read
    std::uint32_t creations = 0;    // communicators made from this one
    std::uint64_t collectives = 0;  // number of its next collective, as far as completed ones tell
    // Of a blocking collective that it has completed, by its number; 0: not known, or not among the newest.
    std::uint16_t function_of(std::uint64_t number) const {
      const std::uint64_t p = past[number % std::size(past)];
      return p >> 16 == number + 1 ? static_cast<std::uint16_t>(p) : 0;
    }
    std::uint64_t past[4] = {};  // number + 1, and the function in the lowest 16 bits
  };
  struct Comm {
    std::vector<Member> members;  // by rank; those known
    bool complete = false;        // they are all
    bool foreign = false;         // some are outside the application's world
    std::uint64_t size = 0;       // 0 unknown
    std::uint64_t freed = 0;
    const Member* find(std::int32_t rank) const;
  };

  explicit Participants(std::int32_t ranks);

  void add(std::int32_t rank, std::span<const record::Event> events);

  const Comm* comm(std::uint64_t id) const;  // nullptr: not known
  template <class Each>                      // each(id, const Comm&)
  void for_each_comm(Each each) const {
    for (const auto& [id, comm] : comms_) each(id, comm);
  }
  // What this member says about itself can be relied on: no event of its rank is missing since.
  bool certain(const Member& m) const { return losses_[static_cast<std::size_t>(m.rank)] == m.losses; }
  std::uint64_t lost(std::int32_t rank) const {
    return lost_[static_cast<std::size_t>(rank)];
  }  // events, accounted for
  // Events are missing, and nobody knows which.
  bool in_doubt(std::int32_t rank) const { return in_doubt_[static_cast<std::size_t>(rank)]; }

 private:
  static constexpr std::size_t most_comms = 1 << 16;

  void take(std::int32_t rank, const record::Event& e);
  void take_loss(std::int32_t rank, const record::Event& e);
  Comm& comm_of(std::uint64_t id);
  Member& member_of(Comm& comm, std::int32_t rank);
  void leave(std::uint64_t id, std::int32_t rank);

  std::int32_t ranks_;
  std::unordered_map<std::uint64_t, Comm> comms_;
  std::uint64_t last_id_ = 0;  // most events are about the communicator of the previous one
  Comm* last_ = nullptr;
  std::vector<std::uint32_t> losses_;  // by rank: how often events went missing
  std::vector<std::uint64_t> lost_;
  std::vector<char> in_doubt_;
};

}  // namespace pclscope::blocked
