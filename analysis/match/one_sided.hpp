// Whom ranks wait for in one-sided synchronisation between some of a window's ranks: an origin in Win_start or
// Win_complete for the Win_post of its targets (late post), a target in Win_wait for the Win_complete of its origins
// (late complete), and whoever wants a lock for the Win_unlock of another that held it (lock contention). Only calls
// that waited come out.
//
// Which belongs to which: the i-th Start of an origin that names a target and the i-th Post of that target that names
// the origin, as MPI matches them. Of locks: MPI does not say where a rank waits, in Win_lock, a flush or Win_unlock,
// so it is the call in which another one's conflicting Win_unlock began.
//
// Owned by one thread. Memory: epochs that are not complete, at most 65,536; the last 128 locks of each target.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/tick_scale.hpp"
#include "interpose/record/event.hpp"

namespace pclscope {

class OneSided {
 public:
  using Sink = std::function<void(const CollectiveCall&)>;
  static bool concerns(std::uint16_t function);

  // Events of kind rma_sync of which concerns() is true, of one rank in the order of its ring.
  void add(std::int32_t rank, const record::Event& event, TickScale scale, const Sink& sink);
  // What waits for others' events that began before `until_ns`: they have been added.
  void pass(std::int64_t until_ns, const Sink& sink);

 private:
  struct Call {
    std::int64_t begin = 0, end = 0;  // ns
    std::uint64_t site = 0;
    std::uint16_t function = 0;
  };
  // communicator, index of the window on it
  using Window = std::pair<std::uint64_t, std::int32_t>;
  using EpochKey = std::tuple<Window, std::int32_t, std::uint64_t>;  // rank, number
  struct Origin {                                                    // from Start to Complete
    Call start, complete;
    std::uint64_t size = 0, matched = 0;
    std::int64_t last_post = INT64_MIN;
    std::int32_t awaited = -1;
    bool done = false;
    std::vector<EpochKey> targets;
  };
  struct Target {  // from Post to Wait
    Call post, wait;
    std::uint64_t size = 0, completed = 0;
    std::int64_t last_complete = INT64_MIN;
    std::int32_t awaited = -1;
    bool done = false;
  };
  struct Pair {  // of an origin and a target: numbers that found no partner yet
    std::deque<std::uint64_t> starts, posts;
  };
  struct Lock {
    std::int32_t rank = -1;
    bool exclusive = false, judged = false;
    Call lock, unlock, flush;  // the longest flush
  };

  void match(const Window& window, std::int32_t origin, std::int32_t target);
  void completed(const EpochKey& target, std::int32_t origin, std::int64_t begin);
  void try_origin(const EpochKey& key, const Sink& sink);
  void try_target(const EpochKey& key, const Sink& sink);
  void add_lock(std::int32_t rank, const record::Event& event, const Call& call);
  void judge(const Window& window, std::deque<Lock>& locks, Lock& lock, const Sink& sink) const;
  void make_room();

  std::map<EpochKey, Origin> origins_;
  std::map<EpochKey, Target> targets_;
  std::map<std::tuple<Window, std::int32_t, std::int32_t>, Pair> pairs_;  // origin, target
  std::map<std::tuple<Window, std::int32_t, std::int32_t>, Lock> held_;   // rank, target
  std::map<std::pair<Window, std::int32_t>, std::deque<Lock>> locks_;     // target
  std::vector<EpochKey> due_, due_origins_;                               // targets, origins that may be complete now
};

}  // namespace pclscope
