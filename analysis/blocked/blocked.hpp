// What is everyone blocked in? Time per MPI function, what each rank is inside now and whom it waits for, deadlocks.
//
//   events ─▶ add()        slots ─▶ sample()        all rings read ─▶ look()        ─▶ fill(snapshot)
//
// One thread owns a Blocked. Knows no files: segments come as ThreadView.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/blocked/current_call.hpp"
#include "analysis/blocked/function_times.hpp"
#include "analysis/blocked/operations.hpp"
#include "analysis/blocked/participants.hpp"
#include "analysis/blocked/rank_waits.hpp"
#include "analysis/density/shown.hpp"
#include "analysis/match/matcher.hpp"
#include "analysis/values/mpi_call.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::blocked {

// A deadlock is told when all its members have been in their calls for so long. It is proven without that; this is for
// what nobody foresaw.
inline constexpr std::int64_t deadlock_after_ns = 500'000'000;
// Who has been in a call for so long is asked whom it waits for.
inline constexpr std::int64_t blocked_after_ns = 100'000'000;

// A recording thread's segment.
struct ThreadView {
  std::int32_t rank = 0;
  std::uint32_t thread = 0;
  const record::SegmentHeader* header = nullptr;
  bool unread = false;  // it holds events that add() has not got
};

// The id of a call site in Snapshot::sites.
using SiteOf = std::function<std::uint32_t(std::int32_t rank, std::uint64_t address, std::uint16_t function)>;

class Blocked {
 public:
  // `matcher` gets the same events.
  Blocked(std::int32_t ranks, std::int64_t window_ns, const Matcher& matcher, SiteOf site_of = {});

  void set_tick_scale(TickScale scale);
  void add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);

  // Looks into the current-call slots. `now_ns`: on the axis of the tick scale, taken before.
  void sample(std::span<const ThreadView> threads, std::int64_t now_ns);
  // Finds out for whom the blocked ranks of the last sample wait. `threads` as they are now, after it: a ring without
  // unread events then says that all was read which its thread did before the call. `all_found`: no ring is missing.
  void look(std::span<const ThreadView> threads, bool all_found);

  const std::vector<Deadlock>& deadlocks() const { return deadlocks_; }  // standing at the last look()
  // Those that were not handed out yet; one that grew is not new.
  std::vector<Deadlock> news();

  // Of a job on several nodes: look() then also says what the root must know, by rank. Empty: nobody is blocked.
  void watch_for_others() { for_others_ = true; }
  const std::vector<nodes::RankWait>& waits() const { return waits_; }  // local axis; without node and read_ns

  // functions, deadlocks, and of the ranks what they are inside.
  // `alive_until`: of a rank whose process has died, when it was last seen alive; else INT64_MAX. Its call ended then.
  using AliveUntil = std::function<std::int64_t(std::int32_t rank)>;
  void fill(Snapshot& snapshot, const AliveUntil& alive_until) const;
  // The density of calls: of a job on one node for its snapshots; else what is new, on the job's axis.
  void fill_density(Snapshot& snapshot);
  DensityPart density(const DensityQuestion& question);
  // No event comes any more.
  void end_polls() { times_.end(); }
  // As FunctionTimes::polled_ticks.
  std::int64_t polled_ns(std::int32_t rank) const {
    return static_cast<std::int64_t>(static_cast<double>(times_.polled_ticks(rank)) * scale_.ns_per_tick);
  }
  // The calls of all threads at the last sample, with the site's address (site_key.hpp), on the local axis; not those
  // that poll.
  std::vector<MpiCall> running_calls() const;
  std::int64_t sampled_ns() const { return now_ns_; }
  CallDensity take_density() { return times_.density().take(); }
  void set_regions(std::span<const std::int32_t> region_of_rank) { times_.density().set_regions(region_of_rank); }
  void set_axis_shift(std::int64_t ns) { times_.set_axis_shift(ns); }
  // By site, ascending.
  std::vector<SiteTime> site_times() const;

 private:
  struct Shown {  // of one rank
    CurrentCall call;
    WaitsFor waits_for;
    std::uint64_t waits_since = 0;  // the call for which that was found out; 0: for none
    std::uint64_t told_since = 0;   // the call for which news() told a deadlock
  };

  void show_calls();
  bool someone_blocked() const;
  void judge(std::span<const ThreadView> threads, bool all_found);
  static bool being_ended(const RankNow& now, std::span<const ThreadView> of_rank);
  bool nothing_else_can_run(const RankNow& now, std::span<const ThreadView> of_rank) const;
  void note_waits(const RankWaits& waits);
  void note_deadlocks(const RankWaits& waits);
  bool ends_inside(const Deadlock& deadlock) const;  // some are being killed, all are in the calls that they were in
  Deadlock describe(const Knot& knot, const RankWaits& waits) const;
  void tell_once(const Deadlock& deadlock);

  std::uint32_t site_of(std::int32_t rank, const CurrentCall& call) const {
    return site_of_ ? site_of_(rank, call.site, call.function) : 0;
  }
  double seconds(std::uint64_t ticks) const { return static_cast<double>(scale_.to_ns(ticks)) * 1e-9; }
  std::uint64_t now_ticks() const;
  bool lasts(const CurrentCall& call, std::int64_t ns) const { return now_ns_ - scale_.to_ns(call.since) >= ns; }

  const Matcher& matcher_;
  SiteOf site_of_;
  TickScale scale_;
  FunctionTimes times_;
  density::Shown shown_density_;
  Participants participants_;
  Operations operations_;
  std::int64_t now_ns_ = 0;  // of the last sample, as the rest
  std::vector<RankNow> ranks_;
  std::vector<Shown> shown_;  // by rank
  std::vector<InsideNow> inside_;
  std::vector<Deadlock> deadlocks_, news_;
  bool for_others_ = false;
  std::vector<nodes::RankWait> waits_;
};

}  // namespace pclscope::blocked
