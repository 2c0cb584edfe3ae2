#include "analysis/aggregator/one_node.hpp"

#include <algorithm>
#include <utility>

#include "analysis/callsite/site_sums.hpp"

namespace pclscope::aggregator {
namespace {

constexpr std::chrono::milliseconds between_looks{50};
constexpr int rounds_to_pair = 3;  // with all rings found (Measurement::end_round)

}  // namespace

PipelineOptions OneNode::named(PipelineOptions options) {
  window_ns_ = options.window_ns;
  if (options.keep == Keep::all) calls_share_ = 1;
  options.name_sites = [this](std::span<Message> messages) { call_sites_.table().translate(messages); };
  options.name_mpi_calls = [this](std::span<MpiCall> calls) { call_sites_.table().translate(calls); };
  options.name_call_sites = [this](std::span<CollectiveCall> calls) { call_sites_.table().translate(calls); };
  return options;
}

void OneNode::found(collect::SegmentFile& segment) {
  pipeline_.set_tick_scale(clock_.scale());
  blocked_.set_tick_scale(clock_.scale());
  if (newest_calls_) newest_calls_->set_tick_scale(clock_.scale());
  pipeline_.set_node(segment.rank(), segment.node());
  pipeline_.measurement().set_threads(segment.rank(), segment.header().threads == record::Threads::many);
  pipeline_.set_mpi(segment.mpi());
  call_sites_.table().add_process(segment.rank(), segment.header().pid, segment.executable());
  if (segment.thread() == 0) cores_.add(segment.rank(), segment.header(), segment.executable());
}

void OneNode::take_off_core(const conditions::OffCore& off) {
  pipeline_.evaluation().add_off_core(off.rank, off.begin_ns, off.end_ns, off.off_ns);
}

void OneNode::rings_read(std::int64_t began_ns, bool all_found) {
  if (newest_calls_) settle_calls(began_ns);
  cores_.sample(clock_.now_ns(), [this](const conditions::OffCore& off) { take_off_core(off); });
  pipeline_.end_round(clock_.now_ns() - patience_ns_, all_found);
  const Evaluation& results = pipeline_.evaluation();
  if (std::exchange(regions_told_, results.regions_version()) != regions_told_)
    blocked_.set_regions(results.region_of_rank());
  const auto now = BlockedWatch::Clock::now();
  blocked_.round(now);
  if (!all_found || ++rounds_since_read_ < rounds_to_pair || now < next_look_) return;
  paired_ = std::exchange(read_, collect::rank_records(collector_, pipeline_.measured().dropped.size(), false));
  rounds_since_read_ = 0;
  next_look_ = now + between_looks;
}

void OneNode::settle_calls(std::int64_t read_until_ns) {
  if (std::chrono::steady_clock::now() - calls_asked_ > NewestCalls::forgotten_after) return newest_calls_.reset();
  NewestCalls& calls = *newest_calls_;
  calls.settle(read_until_ns, [&](std::span<MpiCall> batch) {
    call_sites_.table().translate(batch);
    calls.keep(batch);
  });
  if (calls.whole_from_ns() == INT64_MAX) return;
  calls.incomplete_before(calls.whole_from_ns());
  calls.complete_until(calls.settled_until_ns());
}

CallsPart OneNode::calls(const CallsQuestion& question) {
  calls_asked_ = std::chrono::steady_clock::now();
  if (!newest_calls_) {
    newest_calls_.emplace(pipeline_.measured().application.ranks, calls_share_);
    newest_calls_->set_tick_scale(clock_.scale());
  }
  std::vector<MpiCall> running = blocked_.running_calls();
  call_sites_.table().translate(running);
  return newest_calls_->part(question, std::move(running), blocked_.sampled_ns());
}

void OneNode::finish() {
  if (clock_.settled()) cores_.finish(clock_.now_ns(), [this](const conditions::OffCore& off) { take_off_core(off); });
  blocked_.end_polls();
  pipeline_.finish();
  blocked_.finish(in_order_);
}

// A message of two ranks is in the results when neither was missing before it was sent and received. In a session a
// rank without a ring has called nothing.
void OneNode::mark_missing(Snapshot& snapshot, bool over) {
  std::vector<collect::RankRecord> records =
      over ? collect::rank_records(collector_, snapshot.ranks.size(), true) : paired_;
  records.resize(snapshot.ranks.size());
  const std::int64_t passed_ns = pipeline_.measurement().passed_until_ns();
  for (RankSummary& rank : snapshot.ranks) {
    const collect::RankRecord& record = records[static_cast<std::size_t>(rank.rank)];
    std::int64_t until_ns = record.until_ticks == 0 ? 0 : clock_.ticks_to_ns(record.until_ticks);
    if (record.whole || (over && !record.here && collector_.in_session())) until_ns = INT64_MAX;
    rank.mark_missing(std::min(until_ns, passed_ns));
  }
}

void OneNode::fill(Snapshot& snapshot) {
  blocked_.fill(snapshot, cores_);
  blocked_.fill_density(snapshot);
  add_times(snapshot.site_activity, blocked_.site_times(), snapshot.finished ? SiteSums::most_pairs : live_sites);
  for (RankSummary& rank : snapshot.ranks) rank.set_cores(cores_.times(rank.rank));
  snapshot.conditions = cores_.conditions();
  for (Condition& condition : snapshot.conditions) condition.node = snapshot.application.nodes.empty() ? -1 : 0;
  if (const Machine* machine =
          machine_.machine(snapshot.ended ? machine::Reading::last_patience : std::chrono::milliseconds(0)))
    add_machine(snapshot.found, 0, static_cast<std::int32_t>(snapshot.application.nodes.size()), *machine);
  snapshot.found.bindings = cores_.bindings();
  call_sites_.describe(snapshot);
}

}  // namespace pclscope::aggregator
