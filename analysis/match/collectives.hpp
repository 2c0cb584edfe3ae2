// Collective operations: events of all members of a communicator belong together by their ordinal on it. When the last
// member's has been read, each member's part comes out, with the wait for the last arrival (collective_call.hpp).
// So do collective calls on windows and files, by their number on each, and MPI_Init and MPI_Finalize. Whether those
// wait for all is up to MPI: where a member left before the last one came, no wait is claimed.
//
// One thread owns a Collectives. Memory: operations that are not complete, at most 16,384 per communicator and a
// million parts in all; beyond, the oldest of the communicator are given up. Communicators fall out when all members
// freed them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/match/one_sided.hpp"
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
  // Others than those that concern() are ignored. A comm_created with record::flag::unrecorded is of a member that
  // begins to record: what it posted before can never complete, and does not count.
  void add(std::int32_t rank, const record::Event& event) {
    if (concerns(event)) take(rank, event);
  }
  // One of them may.
  static bool may_concern(std::span<const record::Event> events) {
    std::uint32_t kinds = 0;
    for (const record::Event& e : events) kinds |= 1u << (static_cast<unsigned>(e.kind) & 31);
    return (kinds & ~messages_and_calls) != 0;
  }
  static bool concerns(const record::Event& event) {
    using enum record::EventKind;
    switch (event.kind) {
      case collective:
      case comm_created:
      case comm_freed:
      case neighbour:
      case init:
      case finalize:
      case awaited: return true;
      case rma_sync:
      case file: return event.ordinal != 0 || OneSided::concerns(event.function);
      default: return false;
    }
  }
  // Waits that are certain only when time has passed `until_ns` (locks).
  void pass(std::int64_t until_ns);

  std::uint64_t completed() const { return completed_; }  // operations that all members have completed
  std::uint64_t incomplete() const;                       // seen on some members only, so far
  std::uint64_t abandoned() const { return abandoned_; }  // given up: events missing, or size unknown
  std::size_t communicators() const { return comms_.size(); }
  std::size_t parts() const { return parts_; }  // held of incomplete operations

 private:
  static constexpr std::uint32_t messages_and_calls =
      (1u << static_cast<unsigned>(record::EventKind::collective)) - 1;  // the kinds before it
  struct Part {
    std::int32_t rank;
    std::int32_t root;                     // Scan, Exscan: the rank's place in the communicator
    std::uint64_t begin, end, completing;  // ticks
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
    std::uint64_t of = 0;  // of a window, a file ...: its communicator. What is not complete holds nobody up
    std::map<std::int32_t, std::vector<std::int32_t>> neighbours;  // by rank: those that it receives from
  };
  enum class On : std::uint64_t { window = 1, windows, file, files, start_up, finish };
  void take(std::int32_t rank, const record::Event& event);
  void take_on(On what, std::int32_t rank, const record::Event& event);
  void take_awaited(std::int32_t rank, const record::Event& event);
  void take_neighbour(std::int32_t rank, Comm& comm, const record::Event& event);
  void find_awaited(const Comm& comm, const Operation& operation, CollectiveShape shape);
  void sort_by_entry(const Operation& operation);
  const Part* seen_to_wait_for(const Operation& operation, const Part& p, std::uint64_t from,
                               std::uint64_t least_gap) const;
  const Part* relay_of(const Operation& operation, const Part& p, const Part* root, std::uint64_t from,
                       std::uint64_t least_gap) const;
  Comm& comm_of(std::uint64_t id);
  void arrive(std::uint64_t id, Comm& comm, std::uint64_t ordinal, const Part& part);
  void complete_front(std::uint64_t id, Comm& comm);
  void give_up_front(Comm& comm);
  void begin_at(Comm& comm, std::uint64_t base);
  void emit(std::uint64_t id, const Comm& comm, std::uint64_t ordinal, const Operation& operation);

  Sink sink_;
  OneSided one_sided_;
  TickScale scale_;
  std::unordered_map<std::uint64_t, Comm> comms_;
  std::uint64_t last_id_ = 0;  // most events come for the communicator of the previous one
  Comm* last_ = nullptr;
  std::size_t parts_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t abandoned_ = 0;
  std::vector<CollectiveCall> calls_;
  std::vector<const Part*> awaited_;  // by place in the operation that is being emitted
  std::vector<std::uint32_t> order_;
  std::unordered_map<std::int32_t, const Part*> part_of_rank_;
  std::vector<Operation> spare_;  // buffers for reuse
};

}  // namespace pclscope
