// How logical time is made: events (trace.cpp), phases (phases.cpp), steps (steps.cpp). Private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "analysis/logical/logical_time.hpp"

namespace pclscope::logical {

inline std::size_t at(std::int32_t rank) { return static_cast<std::size_t>(rank); }

// Sets of ranks.
class RankSets {
 public:
  explicit RankSets(std::size_t ranks) : parent_(ranks) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::int32_t find(std::int32_t rank) {
    while (parent_[at(rank)] != rank) rank = parent_[at(rank)] = parent_[at(parent_[at(rank)])];
    return rank;
  }
  // The set's name afterwards, the least of both; -1: it was one set already.
  std::int32_t unite(std::int32_t a, std::int32_t b) {
    a = find(a), b = find(b);
    if (a == b) return -1;
    if (a > b) std::swap(a, b);
    return parent_[at(b)] = a;
  }
  void reset(std::int32_t rank) { parent_[at(rank)] = rank; }  // of all members, or of those only that are left

 private:
  std::vector<std::int32_t> parent_;
};

// Gathered records become events in program order, with what ties them.
class Trace {
 public:
  // Messages are given away unless they are kept. Collective calls are put in another order.
  Trace(Records& records, bool keeps_messages);
  LogicalTime& time() { return time_; }
  // Takes from the records (kept ones) those whose events are before those of their rank.
  void drop_before(const std::vector<std::uint32_t>& first_event, Records& records) const;

 private:
  struct Piece;
  void make_operations(std::vector<Records::Called>& calls);
  void make_events(std::vector<Records::Sent>& messages, const std::vector<Records::Called>& calls, bool keeps);
  static void settle_sendrecvs(std::span<Event> events);  // of one rank
  void tie();
  void tie_several();

  LogicalTime time_;
  std::vector<std::uint32_t> send_event_, receive_event_;  // by message
  std::vector<std::uint32_t> operation_of_, call_event_;   // by collective call
};

// Steps of one phase after the other; an object is reused for its buffers.
class Stepper {
 public:
  // `next_step`: of each rank the least that it may have, which goes on.
  Stepper(LogicalTime& time, std::vector<std::uint32_t>& next_step);
  // Gives the events of `parts` their steps, from the least that lies behind the ranks' earlier phases, and appends
  // the phase and its parts. All partners and members are in the parts, of earlier phases none.
  void add_phase(std::span<const Part> parts);

 private:
  void order();
  void run(std::int32_t rank);
  bool pass_receive(std::int32_t rank, Event& e);
  void pass_send(std::int32_t rank, Event& e);
  bool pass_collective(std::int32_t rank, const Event& e);
  bool release_one();
  void list_sends(std::span<const Part> parts);
  void receive_until(std::int32_t rank, std::uint32_t event);
  std::uint32_t number_steps(std::span<const Part> parts);

  struct RankState {
    std::uint32_t at = 0, end = 0;  // events
    std::uint32_t level = 0;        // the least position that its next send may have
    std::uint32_t partner = 0;      // of the receive at `at`: those before it are there
    bool waits = false;             // at a receive, for a send
  };
  struct Operation {
    std::uint32_t arrived = 0;
    std::uint32_t level = 0;
    bool dissolved = false;
  };

  LogicalTime& time_;
  std::vector<RankState> ranks_;
  std::vector<Operation> operations_;
  std::vector<std::uint32_t>& next_step_;  // by rank, of the run
  std::vector<std::int32_t> ready_;
  std::vector<std::int32_t> members_;              // ranks of the phase
  std::vector<std::uint32_t> sends_, first_send_;  // events by position
};

// By time, then rank.
void sort_phases(LogicalTime& time);

}  // namespace pclscope::logical
