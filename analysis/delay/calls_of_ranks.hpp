// What each rank did, as far as matched messages and collectives tell it: its MPI calls in order of time, with whom it
// waited for in each. Time between two calls is called computation (calls that leave no message lie in it).
// Definitions: docs/methods.md, "Delays". One thread owns a CallsOfRanks. Times are nanoseconds since the time origin.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/delay/history.hpp"
#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/wait_state.hpp"

namespace pclscope {

struct RankCall {
  // Calls that begin together (Sendrecv) are in this order: first those that can wait.
  enum class Kind : std::uint8_t {
    collective,  // blocking
    completion,  // of receives: Recv, Wait, Waitall ... the receives of one call are one RankCall
    post,        // of a receive or a nonblocking collective: its return is not known, end == begin
    send,
  };
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t wait_end = 0;  // it waited for `peer` from begin to here; begin: for nobody
  std::int64_t other = 0;   // send: when its receiver came for it and it was sent. collective: which, 0: unknown shape
  std::uint32_t site = 0;   // of a completion: where its last message's receive was posted, if it has one
  std::int32_t peer = -1;   // send: destination. completion: who was last to send. collective: awaited
  std::uint32_t blame = 0;  // owner's: where the wait goes back to, 0: nowhere
  Kind kind = Kind::send;
  WaitGroup group = WaitGroup::point_to_point;
  bool fresh : 1 = true;        // not settled yet
  bool followed : 1 = false;    // owner's: its wait has been counted
  bool first_come : 1 = false;  // a completion that another rank's message would have ended, too
  bool of_send : 1 = false;     // a completion that waited for the receive of what `peer` was sent

  std::int64_t wait() const { return wait_end - begin; }
};

static_assert(sizeof(RankCall) == 48);

class CallsOfRanks {
 public:
  // Smaller sends are copied: they wait for their receiver only where their times say so.
  static constexpr std::uint64_t eager_bytes = 1024;
  static constexpr std::int64_t long_wait_ns = 100'000;              // of a copied one
  static constexpr std::int64_t time_limit = std::int64_t{1} << 61;  // beyond +-73 years times are cut: no overflow
  // A probe that another rank's message would have ended, too.
  static bool of_any_source(const CollectiveCall& c) { return c.shape == CollectiveShape::probe && c.ordinal != 0; }
  static std::int64_t cut(std::int64_t time) { return std::clamp(time, -time_limit, time_limit); }

  struct Rank {
    std::vector<RankCall> calls;        // by begin, then kind
    std::size_t settled = 0;            // calls behind are in the order of add()
    std::size_t completion = SIZE_MAX;  // the newest completion behind `settled`
    mutable std::size_t near = 0;       // where first_from() found the last one: the next is seldom far
    History history;                    // of those that were forgotten at the front
    bool complete = true;               // all calls are in one or the other

    // Index of the first call that begins at or after `time`, of the settled ones.
    std::size_t first_from(std::int64_t time) const;
  };
  struct Wait {
    std::int32_t rank = 0;
    RankCall call;
  };

  explicit CallsOfRanks(std::int32_t ranks) : ranks_(static_cast<std::size_t>(ranks < 0 ? 0 : ranks)) {
    is_touched_.resize(ranks_.size());
  }

  // False: the ranks contradict the world, nothing was added.
  bool add(const Message& m);
  bool add(const CollectiveCall& c);
  // Brings new calls into order and joins the receives of one call. `waits` (may be null) gets the new calls that
  // waited at least `least_wait`.
  void settle(std::int64_t least_wait, std::vector<Wait>* waits);

  const std::vector<Rank>& ranks() const { return ranks_; }
  // The settled call, null when it is gone. Good until the next settle() or forget().
  RankCall* find(const Wait& wait);
  // Keeps of each rank the calls from `horizon` on and `most` before, the others in its history. `blames_of(call)`:
  // where its wait goes back to; called once for each call that has any. Lazy: a rank may hold half as many more.
  template <class BlamesOf>
  void forget(std::int64_t horizon, std::size_t most, BlamesOf blames_of) {
    const std::size_t stretches = ranks_.size() > 1024 ? 8 : 32;
    for (const std::int32_t rank : touched_) {
      Rank& r = ranks_[static_cast<std::size_t>(rank)];
      is_touched_[static_cast<std::size_t>(rank)] = false;
      const std::size_t past = r.calls.size() <= most + most / 2 ? 0 : r.first_from(horizon);
      if (past <= most + most / 2) continue;
      const std::size_t old = past - most;
      for (std::size_t i = 0; i < old; ++i) {
        const RankCall& call = r.calls[i];
        r.history.add(call, call.blame != 0 ? blames_of(call.blame) : std::span<const Blame>(), stretches);
      }
      r.calls.erase(r.calls.begin(), r.calls.begin() + static_cast<std::ptrdiff_t>(old));
      if (r.calls.capacity() > 4 * most && r.calls.capacity() > 4 * r.calls.size()) r.calls.shrink_to_fit();
      r.settled = r.calls.size();
      r.near = r.near > old ? r.near - old : 0;
    }
    touched_.clear();
  }
  // Each origin's row has another number now.
  void renumber(const std::vector<std::uint32_t>& now_at) {
    for (Rank& r : ranks_) r.history.renumber(now_at);
  }

  // Forgets all calls, as forget() does. After settle().
  template <class OnBlame>
  void clear(OnBlame on_blame) {
    for (Rank& r : ranks_) {
      if (r.calls.empty() && r.history.empty()) continue;
      r.history.clear();
      for (const RankCall& call : r.calls)
        if (call.blame != 0) on_blame(call.blame);
      r.calls.clear();
      r.settled = r.near = 0;
      r.completion = SIZE_MAX;
      r.complete = false;
    }
  }

 private:
  bool knows(std::int32_t rank) const { return rank >= 0 && static_cast<std::size_t>(rank) < ranks_.size(); }
  Rank& append(std::int32_t rank, const RankCall& call);
  void complete(std::int32_t rank, const RankCall& receive);
  void settle_rank(std::int32_t rank, std::int64_t least_wait, std::vector<Wait>* waits);

  std::vector<Rank> ranks_;
  std::vector<std::int32_t> touched_;  // ranks with new calls since forget(), each once
  std::vector<char> is_touched_;
};

}  // namespace pclscope
