// One node's part of a job on several nodes: events are put on the job's time axis and go into a nodes::Node, which
// talks to the other nodes over the link. On node 0 it has the job's results.
#pragma once

#include "analysis/aggregator/analysis.hpp"
#include "analysis/aggregator/blocked_watch.hpp"
#include "analysis/callsite/call_sites.hpp"
#include "analysis/collect/global_clock.hpp"
#include "analysis/collect/rank_records.hpp"
#include "analysis/collect/tick_clock.hpp"
#include "analysis/conditions/sampler.hpp"
#include "analysis/machine/read_machine.hpp"
#include "analysis/machine/slurm_query.hpp"
#include "analysis/nodes/node.hpp"

namespace pclscope::aggregator {

class ManyNodes : public Analysis {
 public:
  // Refers to link, collector and clock; the link knows who we are, the clock is settled.
  ManyNodes(nodes::Link& link, Application application, PipelineOptions options, bool everything,
            collect::Collector& collector, const collect::TickClock& clock);

  bool ready() override;
  void found(collect::SegmentFile& segment) override;
  void take(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) override;
  void take_paths(std::int32_t rank, std::span<const record::Event> events) override {
    call_sites_.table().add_paths(rank, events);
  }
  void set_dropped(std::int32_t rank, std::uint64_t total) override;
  void set_buffer(std::int32_t rank, const BufferUse& use) override { node_.measurement().set_buffer(rank, use); }
  void set_muted(std::int32_t rank, bool muted) override { node_.measurement().set_muted(rank, muted); }
  void slice_read() override { node_.pair(); }
  void rings_read(std::int64_t began_ns, bool all_found) override;
  void end(bool in_order) override;
  bool over() override { return node_.over(); }
  void finish() override;
  const Matcher& matcher() const override;
  Evaluation* results() override { return node_.root() ? &node_.root()->evaluation() : nullptr; }
  void fill(Snapshot& snapshot) override;
  DensityPart density(const DensityQuestion& question) override;
  CallsPart calls(const CallsQuestion& question) override;
  void mark_missing(Snapshot& snapshot, bool over) override;
  std::vector<CallSite> site_news() override;
  void resolve_sites(std::chrono::milliseconds limit) override;

  const collect::GlobalClock& time() const { return time_; }
  // Of other ranks of this machine, which another aggregator reads.
  void set_other_processes(std::function<std::vector<std::uint32_t>()> others) { cores_.set_others(std::move(others)); }
  // How long nothing is to be done here unless something comes: until an epoch can be ended, or for ever.
  std::chrono::nanoseconds until_due() const;
  bool root_died() const { return node_.root_died(); }
  std::uint64_t heard() const { return heard_; }  // words of the other aggregators, ends of epochs among them

 private:
  using Clock = std::chrono::steady_clock;
  nodes::NodeOptions node_options(Application application, PipelineOptions options, bool everything);
  void listen();
  bool speaks_for_host() const { return link_.self() % link_.per_host() == 0; }
  std::int32_t completion_on_axis(std::int32_t tag) const;
  std::int64_t shift_ns() const;  // of the job's axis against the local one, now
  std::uint32_t error_of(std::span<const record::Event> events);
  void tell_status();
  void say_deadlocks();
  std::int64_t read_until_ns(const collect::RankRecord& record) const;
  nodes::NodeSite told(CallSite site) const;  // as the job numbers it
  void tell_sites();

  nodes::Link& link_;
  const collect::Collector& collector_;
  const collect::TickClock& clock_;
  callsite::CallSites call_sites_;
  conditions::Sampler cores_;
  std::optional<machine::Reading> machine_;   // until it is told
  std::optional<machine::SlurmQuery> slurm_;  // of the root
  collect::GlobalClock time_;
  std::vector<record::Event> converted_;
  std::vector<char> here_;
  std::string node_name_;
  std::int64_t window_ns_;
  std::uint32_t sites_asked_ = 0;
  std::uint64_t regions_told_ = 0;
  std::vector<nodes::NodeSite> late_sites_;
  std::int64_t looked_read_ns_ = INT64_MIN;  // what other nodes had sent until then was known at the last look
  bool ended_ = false, in_order_ = false;
  std::uint64_t heard_ = 0;
  double error_now_ = 0, error_before_ = 0;  // ns
  Clock::time_point error_since_{};
  bool time_is_good_ = false;
  Clock::time_point first_time_{};
  Clock::time_point next_epoch_{}, next_status_{};
  nodes::Node node_;  // its callbacks use the members above
  BlockedWatch blocked_;
};

}  // namespace pclscope::aggregator
