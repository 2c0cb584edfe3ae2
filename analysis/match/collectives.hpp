// Collective operations: events of all members of a communicator belong together by their ordinal on it. When the last
// member's has been read, each member's part comes out, with the wait for the last arrival (collective_call.hpp).
//
// One thread owns a Collectives. Memory: operations that are not complete, at most 16,384 per communicator and a
// million parts in all; beyond, the oldest of the communicator are given up. Communicators fall out when all members
// freed them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/tick_scale.hpp"
#include "interpose/record/event.hpp"

namespace pclscope {

// How ranks wait for each other in a function (functions.def).
CollectiveShape shape_of(std::uint16_t function);

class Collectives {
 public:
  using Sink = std::function<void(std::span<const CollectiveCall>)>;

  // `sink` gets the calls of each completed operation at once; none: they are only counted.
  explicit Collectives(std::int32_t world_size, Sink sink = {});

  void set_tick_scale(TickScale scale) { scale_ = scale; }
  // comm_created, comm_freed and collective events; others are ignored. A comm_created with record::flag::unrecorded is
  // of a member that begins to record: what it posted before can never complete, and does not count.
  void add(std::int32_t rank, const record::Event& event) {
    if (event.kind == record::EventKind::collective || event.kind == record::EventKind::comm_created ||
        event.kind == record::EventKind::comm_freed)
      take(rank, event);
  }

  std::uint64_t completed() const { return completed_; }  // operations that all members have completed
  std::uint64_t incomplete() const;                       // seen on some members only, so far
  std::uint64_t abandoned() const { return abandoned_; }  // given up: events missing, or size unknown
  std::size_t communicators() const { return comms_.size(); }
  std::size_t parts() const { return parts_; }  // held of incomplete operations

 private:
  struct Part {
    std::int32_t rank;
    std::int32_t root;
    std::uint64_t begin, end;  // ticks
    std::uint64_t bytes, site;
    std::uint16_t function;
    bool nonblocking, intercomm;
  };
  using Operation = std::vector<Part>;
  struct Comm {
    std::uint64_t members = 0;  // 0 = not known (yet)
    std::uint64_t freed = 0;
    std::uint64_t first = 0;  // ordinal of arrived.front()
    std::deque<Operation> arrived;
  };
  void take(std::int32_t rank, const record::Event& event);
  void arrive(std::uint64_t id, Comm& comm, std::uint64_t ordinal, const Part& part);
  void complete_front(std::uint64_t id, Comm& comm);
  void give_up_front(Comm& comm);
  void begin_at(Comm& comm, std::uint64_t base);
  void emit(std::uint64_t id, std::uint64_t ordinal, const Operation& operation);

  Sink sink_;
  TickScale scale_;
  std::unordered_map<std::uint64_t, Comm> comms_;
  std::uint64_t last_id_ = 0;  // most events come for the communicator of the previous one
  Comm* last_ = nullptr;
  std::size_t parts_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t abandoned_ = 0;
  std::vector<CollectiveCall> calls_;
  std::vector<Operation> spare_;  // buffers for reuse
};

}  // namespace pclscope
