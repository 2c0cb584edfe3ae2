// From calls that do not return to a wait graph: whom each blocked thread needs. A need stands in the graph only when
// it is proven by what was read and by what all ranks are inside now; in doubt it is left out, and its rank may go on.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/blocked/call_kind.hpp"
#include "analysis/blocked/current_call.hpp"
#include "analysis/blocked/operations.hpp"
#include "analysis/blocked/participants.hpp"
#include "analysis/blocked/wait_graph.hpp"
#include "analysis/match/matcher.hpp"
#include "analysis/values/rank_wait.hpp"

namespace pclscope::blocked {

// One rank as it is now.
struct RankNow {
  std::vector<CurrentCall> calls;  // of the threads that are inside MPI
  bool finished = false;           // has entered MPI_Finalize
  // It can do nothing but what `calls` are waiting for, all its events before them were read, and none are missing.
  bool blocked = false;
  bool many_threads = false;                          // MPI_THREAD_MULTIPLE
  bool ending = false;                                // then: its process is being killed
  std::vector<const record::SegmentHeader*> headers;  // of its threads
};

// Whom one rank waits for, for people.
struct WaitsFor {
  std::vector<std::int32_t> ranks;  // ascending
  bool any = false;                 // one of them suffices
};

WaitsFor waits_of(const WaitGraph& graph, const Waiter& waiter);

class RankWaits {
 public:
  // Looks at all ranks once.
  RankWaits(std::span<const RankNow> ranks, const Matcher& matcher, const Participants& participants,
            const Operations& operations);

  const WaitGraph& graph() const { return graph_; }
  // Of graph().waiters: which of RankNow::calls it is.
  std::size_t call_of(std::size_t waiter) const { return calls_[waiter]; }
  // Empty when it is not known, or when it may go on.
  WaitsFor waits_for(std::size_t waiter) const { return waits_of(graph_, graph_.waiters[waiter]); }
  // The collective that the rank called where other members of the communicator called another one; 0: none.
  std::uint16_t called(std::int32_t rank) const { return called_[static_cast<std::size_t>(rank)]; }
  // Of each rank, for the root of a job on several nodes; without times and node.
  std::vector<nodes::RankWait> reports();

 private:
  // Index of a set of ranks, one of which has to move; nothing when the call may go on without.
  using Need = std::optional<std::uint32_t>;
  struct Pattern {
    std::int32_t source;
    std::uint64_t comm;
    std::int32_t tag;
    bool covers(std::int32_t from, std::uint64_t in, std::int32_t with) const {
      return comm == in && (source == record::any_source || source == from) && (tag == record::any_tag || tag == with);
    }
  };
  struct Sending {  // a blocking send that is going on
    std::int32_t rank;
    std::uint64_t comm;
    std::int32_t tag;
  };
  struct Sent {  // a nonblocking one, not paired yet
    std::int32_t destination;
    std::uint64_t comm;
    std::int32_t tag;
    bool taken;
  };
  struct Missing {  // members that have not come to a collective yet
    std::vector<std::int32_t> ranks;
    bool all_known = false;  // nobody else can be missing
    Need one_of_them;
  };

  void collect_sending();
  void collect_sent();
  void add_waiter(std::int32_t rank, std::size_t call);

  void add_all(Waiter& w, const CurrentCall& call);
  void add_any(Waiter& w, const CurrentCall& call);
  void add_collective(Waiter& w, const CurrentCall& call);
  void add_other_collectives(Waiter& w, const CurrentCall& call, const Participants::Comm& comm, std::uint64_t number);
  std::uint16_t function_of(const Participants::Member& m, std::uint64_t comm, std::uint64_t number) const;
  void add_operation(Waiter& w, const CurrentCall& call);
  void add_together(Waiter& w, const CurrentCall& call, CallKind kind);
  void add_start(Waiter& w, const CurrentCall& call, bool starting);
  void add_wait_post(Waiter& w, const CurrentCall& call);
  void add_lock(Waiter& w, const CurrentCall& call);
  void report_call(std::int32_t rank, const CurrentCall& call, nodes::RankWait& wait);
  void report_awaited(std::int32_t rank, const CurrentCall& call, nodes::RankWait& wait);
  void add_creation(Waiter& w, const CurrentCall& call);
  void add(Waiter& w, Need need) {
    if (need) w.needs.push_back(*need);
  }
  void add_each(Waiter& w, const std::vector<std::int32_t>& ranks);

  Need message(std::int32_t rank, const Pattern& pattern, bool waits);
  Need receiver(std::int32_t rank, std::int32_t destination, std::uint64_t comm, std::int32_t tag);
  Need awaited(std::int32_t rank, std::uint64_t what);
  void add_awaited_collective(Waiter& w, std::uint64_t what, std::uint64_t comm);
  Need sendrecv_send(std::int32_t rank, const CurrentCall& call);
  Need one_of(std::vector<std::int32_t> ranks);
  Need exactly(std::int32_t rank);
  Need anybody_in(std::uint64_t comm);
  const Missing& missing(std::uint64_t comm, std::uint64_t number, bool creation);

  // Its rings are read here, or were: else it is of another node.
  bool here(std::int32_t rank) const {
    const RankNow& now = ranks_[static_cast<std::size_t>(rank)];
    return !now.headers.empty() || now.finished;
  }
  bool knows(std::int32_t rank) const { return rank >= 0 && static_cast<std::size_t>(rank) < ranks_.size(); }
  bool inside(std::int32_t rank, std::initializer_list<CallKind> kinds, const CurrentCall& of) const;
  // How many collectives of the communicator the member has begun, but for the blocking one that it is inside.
  std::optional<std::uint64_t> begun(const Participants::Member& m, std::uint64_t comm) const;
  bool being_sent(std::int32_t rank, const Pattern& pattern) const;
  bool being_received(std::int32_t destination, std::int32_t source, std::uint64_t comm, std::int32_t tag) const;

  std::span<const RankNow> ranks_;
  const Matcher& matcher_;
  const Participants& participants_;
  const Operations& operations_;
  WaitGraph graph_;
  std::vector<std::size_t> calls_;                               // by waiter
  std::vector<std::uint16_t> called_;                            // by rank
  std::vector<std::vector<Sending>> sending_;                    // by destination
  std::map<std::pair<std::int32_t, std::uint64_t>, Sent> sent_;  // by rank and number: those awaited
  std::unordered_map<std::int32_t, std::uint32_t> exactly_;
  std::unordered_map<std::uint64_t, Need> anybody_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, bool>, Missing> missing_;
};

}  // namespace pclscope::blocked
