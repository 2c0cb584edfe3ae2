// What each rank did in MPI and what its calls waited for, as a graph that can be replayed with other times: made of
// matched messages and collective calls alone (docs/methods.md, "What if").
//
// A call cannot return before its own entry + `own`, nor before the moment of any of its arrivals + their `lag`. With
// the measured computation between the calls every call returns when it was measured to. Times are nanoseconds since
// the time origin. Plain values; memory about 100 bytes per call and 24 per arrival.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"

namespace pclscope::whatif {

inline constexpr std::uint32_t nobody = UINT32_MAX;

// What a call is told by, the more telling first.
enum class Part : std::uint8_t { collective, completion, post, send, aside };  // aside: a probe, a Wait for a send

// One visit to MPI: all that began in it (Startall, Sendrecv) and what it completed.
struct Call {
  std::int64_t begin = 0;  // as measured
  std::int64_t end = 0;
  std::int64_t own = 0;  // it takes at least that long, whoever has come
  std::uint32_t first_arrival = 0;
  std::uint32_t site = 0;  // id, of its first part (a completion: where its receives were posted)
  std::int32_t rank = 0;
  Part part = Part::send;
};

struct Arrival {
  std::uint32_t node = nobody;     // of Graph: when that begins. nobody: `lag` is the moment itself
  std::uint32_t message = nobody;  // whose transfer the lag is
  std::int64_t lag = 0;
};

// The moment at which the last of several calls (or joins) has begun.
struct Join {
  std::uint32_t feeders = 0;
  std::int64_t begin = INT64_MIN;  // as measured
};

class Graph {
 public:
  static constexpr std::uint64_t eager_bytes = 1024;  // the data of smaller ones moves before the receive is posted

  // Any order of input; what has ranks out of range is left out. Messages without a latency hold nobody.
  Graph(std::int32_t ranks, std::span<const Message> messages, std::span<const CollectiveCall> collectives);

  std::int32_t ranks() const { return static_cast<std::int32_t>(first_.size()) - 1; }
  const std::vector<Call>& calls() const { return calls_; }  // by rank, then begin
  std::uint32_t first(std::int32_t rank) const { return first_[static_cast<std::size_t>(rank)]; }
  std::uint32_t end(std::int32_t rank) const { return first_[static_cast<std::size_t>(rank) + 1]; }
  const std::vector<Arrival>& arrivals() const { return arrivals_; }
  std::span<const Arrival> arrivals(std::uint32_t call) const {
    const std::uint32_t to =
        call + 1 < calls_.size() ? calls_[call + 1].first_arrival : static_cast<std::uint32_t>(arrivals_.size());
    return std::span(arrivals_).subspan(calls_[call].first_arrival, to - calls_[call].first_arrival);
  }
  // Nodes: calls, then joins.
  std::size_t nodes() const { return calls_.size() + joins_.size(); }
  const std::vector<Join>& joins() const { return joins_; }
  std::span<const std::uint32_t> joins_of(std::uint32_t node) const {  // that it feeds
    return std::span(feeds_).subspan(first_feed_[node], first_feed_[node + 1] - first_feed_[node]);
  }
  // For each node the call that begins it, of a join the last one; by when each call begins.
  std::vector<std::uint32_t> last_calls(std::span<const std::int64_t> begins) const;
  // What the rank computed before the call; negative where calls overlap. 0 before its first one.
  std::int64_t gap(std::uint32_t call) const {
    return call == first(calls_[call].rank) ? 0 : calls_[call].begin - calls_[call - 1].end;
  }
  // Of a rank's calls: the largest share, over ranks, that begins before an earlier one has returned (threads).
  double overlapping() const { return overlapping_; }

  // --- what a message did, for changes of links ---
  struct Transfer {
    std::int64_t lag = 0;
    bool last = false;  // the call that completed it waited for nothing later, and was there: its lag is its transfer
  };
  const std::vector<Transfer>& transfers() const { return transfers_; }  // by message; lag < 0: not known

 private:
  struct Build;
  friend struct Build;

  std::vector<Call> calls_;
  std::vector<std::uint32_t> first_;  // by rank, and the end
  std::vector<Arrival> arrivals_;
  std::vector<Join> joins_;
  std::vector<std::uint32_t> first_feed_, feeds_;
  std::vector<Transfer> transfers_;
  double overlapping_ = 0;
};

}  // namespace pclscope::whatif
