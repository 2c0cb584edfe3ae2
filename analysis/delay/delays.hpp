// Where delays began: follows each wait state back across ranks to the computation that started it, and adds up what
// that cost all others (docs/methods.md, "Delays"). The same live, window by window, and on a stored run.
//
// One thread owns a Delays. Memory: `look_back` calls per rank (48 bytes each, half as many more at times, and 104 per
// one that waited), 32 stretches of history per rank (336 bytes each; 8 with more than 1,024 ranks), 400 bytes per
// origin (at most 65,536), and the calls of two chunks of messages.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/delay/blame_sum.hpp"
#include "analysis/delay/calls_of_ranks.hpp"
#include "analysis/delay/excess.hpp"
#include "analysis/delay/first_come.hpp"
#include "analysis/delay/in_order.hpp"
#include "analysis/delay/off_core.hpp"
#include "analysis/delay/origins.hpp"

namespace pclscope {

struct DelayOptions {
  std::size_t look_back = 0;          // calls per rank; 0: 256, with more than 16,384 ranks fewer, at least 64
  std::int64_t least_wait_ns = 1000;  // shorter waits are not followed
  // What counts: waits that end in [from_ns, to_ns) of these ranks, or that go back to them (empty: all ranks).
  std::int64_t from_ns = INT64_MIN;
  std::int64_t to_ns = INT64_MAX;
  std::vector<std::int32_t> ranks;
};

// Is told of each wait that was followed, and of its parts; some time later than it happened (Delays::add).
class DelayListener {
 public:
  static constexpr std::int32_t inside_mpi = -1, unknown = -2;  // in place of a rank
  struct Wait {
    std::int32_t victim = 0;
    std::int32_t cause = -1;                           // whom it waited for
    RankCall::Kind kind = RankCall::Kind::completion;  // completion: late sender; send: late receiver; collective
    WaitGroup group = WaitGroup::point_to_point;       // of a collective: what it is
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    double others = 0;  // the share of it that others than `cause` might have ended (FirstCome)
  };
  virtual void waited(const Wait& wait) = 0;
  // `ns` of it go back to computation of `rank` that began at `visit_ns` (or several_visits), before its call at
  // `site`. With `others` > 0 that many parts are those of other ranks than `cause`: all that it might as well have
  // waited for bear the same.
  virtual void goes_back(const Wait& wait, std::int32_t rank, std::uint32_t site, std::int64_t visit_ns, double ns) = 0;

 protected:
  ~DelayListener() = default;
};

class Delays {
 public:
  static constexpr std::size_t most_pending = 1u << 20;  // messages or collective calls ahead of until_ns

  explicit Delays(std::int32_t ranks, DelayOptions options = {});

  // Messages and collective calls in roughly the order of their completion, each once; sites are ids. Completed ones up
  // to `until_ns` are all there, so far as is known; later ones are kept until then. A wait is followed when a further
  // chunk (or batch) has come: a posted receive is told when it completes, and may say where computation ended. What
  // comes later is taken as well, but waits that were already followed do not change.
  void add(std::span<const Message> messages, std::span<const CollectiveCall> collectives, std::int64_t until_ns);
  // What comes next does not follow on what came before (a phase was left out): nothing is compared across.
  void leave_out(std::uint64_t messages);
  // The rank was runnable but off its core, outside MPI (OffCoreTimes::add): what of a delay goes back to that is told
  // in DelayOrigin::off_core_s.
  void add_off_core(std::int32_t rank, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t off_ns) {
    off_core_.add(rank, begin_ns, end_ns, off_ns);
  }
  void tell(DelayListener* listener) { listener_ = listener; }  // null: nobody; must outlive this
  // No more will come: follows the rest. (Should more come nevertheless, it is taken.)
  void finish();

  std::vector<DelayOrigin> list(std::size_t most) const { return origins_.list(most); }  // most cost first
  double caused_s(std::int32_t rank) const { return origins_.caused_s(rank); }
  const DelayTotals& totals() const { return totals_; }
  std::uint64_t refused() const { return refused_; }  // ranks out of range

 private:
  static constexpr std::size_t most_blames = 6;
  struct Blames {  // of one wait
    std::array<Blame, most_blames> blame;
    std::uint32_t count = 0;
  };
  struct Due {
    std::int64_t wait_end;
    std::int32_t rank;
    std::uint32_t wait;  // index into waits_
  };
  std::int64_t order(std::span<const Message> messages, std::span<const CollectiveCall> collectives);
  void take(std::span<const Message> messages, std::span<const CollectiveCall> collectives);
  bool take(const CollectiveCall& call);
  bool take(const Message& m);
  void follow_chunk(std::int64_t newest_ns);
  void follow_until(std::int64_t horizon);
  void follow(const CallsOfRanks::Wait& wait);
  void sum_up(const Lateness& lateness);
  void sum_up_waits(const Lateness& lateness);
  template <class Take>
  void parts_of_history(std::int32_t rank, const Excess::Waited& w, Take& take) const;
  struct OffShares {  // of the computation of both ranks
    double late = 0, waiting = 0;
  };
  OffShares off_shares(const Lateness& lateness, const InStep& since) const;
  void charge(const RankCall& call, const Lateness& lateness);
  void report(const RankCall& call, const Lateness& lateness);
  void remember(RankCall& call);
  void make_room();
  bool counts(std::int32_t rank) const { return counted_.empty() || counted_[static_cast<std::size_t>(rank)]; }

  DelayOptions options_;
  std::size_t chunk_;  // messages and collective calls
  CallsOfRanks calls_;
  Origins origins_;
  Excess excess_;
  FirstCome first_come_;
  OffCoreTimes off_core_;
  DelayTotals totals_;
  std::uint64_t refused_ = 0;
  DelayListener* listener_ = nullptr;
  std::vector<char> counted_;   // per rank; empty: all
  std::vector<Blames> blames_;  // [0] none
  std::vector<std::uint32_t> free_blames_;
  std::vector<Message> pending_;
  std::vector<CollectiveCall> pending_collectives_;
  // Buffers.
  std::vector<CallsOfRanks::Wait> waits_;  // not followed yet
  std::vector<Due> due_;
  std::int64_t newest_ns_ = INT64_MIN;  // of what was taken
  BlameSum sum_;
  InOrder order_, collective_order_;
};

}  // namespace pclscope
