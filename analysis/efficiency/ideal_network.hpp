// What a network on which nothing takes time would have saved each rank: its calls are replayed (analysis/whatif/) with
// no time for transfers and for MPI's own work, and with the computation and the dependences that were measured.
//
// In one pass over a running job: messages and calls are kept until a stretch of time is over, then it is replayed from
// where the replay of the one before has brought each rank. One thread. Memory: what was given and not replayed yet,
// and for each rank the newest moments at which its lead changed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"

namespace pclscope::efficiency {

class IdealNetwork {
 public:
  // Nothing is replayed that returned before `from_ns`.
  explicit IdealNetwork(std::int32_t ranks, std::int64_t from_ns = INT64_MIN);

  // What completes (a call of a collective: returns) after the end of the last replay. Any order.
  void add(std::span<const Message> messages, std::span<const CollectiveCall> calls);
  // Replays the calls that return until then. What was under way at that moment must have been added, too: give it
  // messages of some time beyond. False, and nothing is replayed, where calls of a rank overlap (threads).
  bool advance(std::int64_t until_ns);
  // What waits is not replayed: everything until then is as measured.
  void skip(std::int64_t until_ns);

  std::size_t waiting() const { return messages_.size(); }  // messages
  std::size_t held() const { return messages_.size() + calls_.size(); }
  std::int64_t done_ns() const { return done_ns_; }
  // How much earlier the rank would have come to where it was at done_ns().
  std::int64_t saved_ns(std::int32_t rank) const;
  // When the rank would have been where it was at the moment `ns`, at most done_ns().
  std::int64_t moved(std::int32_t rank, std::int64_t ns) const;

 private:
  struct Lead {  // from `from_ns` on, until the next
    std::int64_t from_ns = 0, saved_ns = 0;
  };
  void forget(std::int64_t until_ns);

  std::size_t most_leads_;  // per rank, when they are cut; up to twice as many until then
  std::int64_t done_ns_;
  std::vector<Message> messages_;
  std::vector<CollectiveCall> calls_;
  std::vector<std::vector<Lead>> leads_;  // by rank, ascending
};

}  // namespace pclscope::efficiency
