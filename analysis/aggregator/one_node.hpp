// A job whose ranks are all on this node: the rings go straight into the job's pipeline.
#pragma once

#include <algorithm>
#include <optional>

#include "analysis/aggregator/analysis.hpp"
#include "analysis/aggregator/blocked_watch.hpp"
#include "analysis/callsite/call_sites.hpp"
#include "analysis/collect/rank_records.hpp"
#include "analysis/collect/tick_clock.hpp"
#include "analysis/conditions/sampler.hpp"
#include "analysis/machine/read_machine.hpp"
#include "analysis/pipeline/pipeline.hpp"
#include "analysis/window/newest_calls.hpp"

namespace pclscope::aggregator {

class OneNode : public Analysis {
 public:
  // Refers to all but the application and the options; `clock` is settled before the first event.
  OneNode(Application application, PipelineOptions options, collect::Collector& collector,
          const collect::TickClock& clock)
      : clock_(clock),
        collector_(collector),
        pipeline_(std::move(application), named(std::move(options))),
        blocked_(pipeline_.measured().application.ranks, window_ns_, pipeline_.measurement().matcher(), collector,
                 clock, call_sites_) {
    pipeline_.set_polled([this](std::int32_t rank) { return blocked_.polled_ns(rank); });
    cores_.set_inside([this](std::int32_t rank, std::uint64_t since, std::int64_t now_ns) {
      return pipeline_.measured().inside_ns(rank) + (since == 0 ? 0 : now_ns - clock_.ticks_to_ns(since));
    });
  }

  void found(collect::SegmentFile& segment) override;
  void take(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) override {
    constexpr std::size_t at_once = 256;  // read by both: stays in the nearest cache
    while (!events.empty()) {
      const auto chunk = events.first(std::min(at_once, events.size()));
      pipeline_.add(rank, thread, chunk);
      blocked_.add(rank, thread, chunk);
      if (newest_calls_) newest_calls_->add(rank, thread, chunk);
      events = events.subspan(chunk.size());
    }
  }
  void take_paths(std::int32_t rank, std::span<const record::Event> events) override {
    call_sites_.table().add_paths(rank, events);
  }
  void set_dropped(std::int32_t rank, std::uint64_t total) override {
    if (total > 0) pipeline_.measurement().set_dropped(rank, total);
  }
  void set_muted(std::int32_t rank, bool muted) override { pipeline_.measurement().set_muted(rank, muted); }
  void set_buffer(std::int32_t rank, const BufferUse& use) override { pipeline_.measurement().set_buffer(rank, use); }
  void slice_read() override { pipeline_.end_round(clock_.now_ns() - patience_ns_, false); }
  void rings_read(std::int64_t began_ns, bool all_found) override;
  void set_patience(std::int64_t ns) override { patience_ns_ = ns; }
  void end(bool in_order) override { in_order_ = in_order; }
  void finish() override;
  const Matcher& matcher() const override { return pipeline_.measurement().matcher(); }
  Evaluation* results() override { return &pipeline_.evaluation(); }
  void fill(Snapshot& snapshot) override;
  DensityPart density(const DensityQuestion& question) override { return blocked_.density(question); }
  CallsPart calls(const CallsQuestion& question) override;
  void mark_missing(Snapshot& snapshot, bool over) override;
  std::vector<CallSite> site_news() override { return call_sites_.news(); }
  void resolve_sites(std::chrono::milliseconds limit) override { call_sites_.resolve_all(limit); }

 private:
  PipelineOptions named(PipelineOptions options);
  void settle_calls(std::int64_t read_until_ns);
  void take_off_core(const conditions::OffCore& off);

  const collect::TickClock& clock_;
  const collect::Collector& collector_;
  callsite::CallSites call_sites_;
  conditions::Sampler cores_;
  machine::Reading machine_;
  std::int64_t window_ns_ = 0, patience_ns_ = 0;
  bool in_order_ = false;
  // As of some rounds ago: what was read then is paired now. And a newer one, in which rounds have passed since.
  std::vector<collect::RankRecord> paired_, read_;
  int rounds_since_read_ = 0;
  std::uint64_t regions_told_ = 0;
  std::chrono::steady_clock::time_point next_look_{};
  double calls_share_ = NewestCalls::time_share;
  std::optional<NewestCalls> newest_calls_;  // while somebody asks for them
  std::chrono::steady_clock::time_point calls_asked_{};
  Pipeline pipeline_;  // its callbacks use the members above
  BlockedWatch blocked_;
};

}  // namespace pclscope::aggregator
