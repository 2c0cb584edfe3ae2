// When to look what everyone is blocked in, and telling deadlocks on the job's stderr. Owned by the worker's thread.
#pragma once

#include <chrono>
#include <vector>

#include "analysis/blocked/blocked.hpp"
#include "analysis/callsite/call_sites.hpp"
#include "analysis/collect/collector.hpp"
#include "analysis/collect/tick_clock.hpp"
#include "analysis/conditions/sampler.hpp"

namespace pclscope::aggregator {

class BlockedWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // Refers to all but the numbers.
  BlockedWatch(std::int32_t ranks, std::int64_t window_ns, const Matcher& matcher, collect::Collector& collector,
               const collect::TickClock& clock, callsite::CallSites& call_sites);

  void set_tick_scale(TickScale scale) { blocked_.set_tick_scale(scale); }
  void add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) {
    blocked_.add(rank, thread, events);
  }
  // After each round of draining. Cheap when nothing is due. True: it asked for whom the blocked ranks wait.
  bool round(Clock::time_point now);
  // The job is over. In order: nobody waits any more. Else what stood last is kept: it may be why the job was ended.
  void finish(bool in_order);
  void watch_for_others() { blocked_.watch_for_others(); }
  const std::vector<nodes::RankWait>& waits() const { return blocked_.waits(); }  // as Blocked
  // On the job's stderr.
  void say(const Deadlock& deadlock, const std::vector<CallSite>& sites) const;
  void fill(Snapshot& snapshot, const conditions::Sampler& cores) const {
    blocked_.fill(snapshot, [&](std::int32_t rank) { return cores.alive_until_ns(rank); });
  }
  void fill_density(Snapshot& snapshot) { blocked_.fill_density(snapshot); }
  DensityPart density(const DensityQuestion& question) { return blocked_.density(question); }
  void end_polls() { blocked_.end_polls(); }
  std::int64_t polled_ns(std::int32_t rank) const { return blocked_.polled_ns(rank); }
  std::vector<MpiCall> running_calls() const { return blocked_.running_calls(); }  // as Blocked
  std::int64_t sampled_ns() const { return blocked_.sampled_ns(); }
  CallDensity take_density() { return blocked_.take_density(); }
  void set_regions(std::span<const std::int32_t> region_of_rank) { blocked_.set_regions(region_of_rank); }
  void set_axis_shift(std::int64_t ns) { blocked_.set_axis_shift(ns); }
  std::vector<SiteTime> site_times() const { return blocked_.site_times(); }  // by site

 private:
  struct News {
    Deadlock deadlock;
    Clock::time_point came;
  };
  void look_at_slots();
  void look_for_deadlocks();
  void tell(Clock::time_point now);

  collect::Collector& collector_;
  const collect::TickClock& clock_;
  callsite::CallSites& call_sites_;
  blocked::Blocked blocked_;
  std::vector<blocked::ThreadView> threads_;
  std::vector<News> news_;
  Clock::time_point next_sample_{}, next_look_{};
};

}  // namespace pclscope::aggregator
