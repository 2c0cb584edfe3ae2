#include "analysis/pipeline/pipeline.hpp"

#include <algorithm>
#include <limits>

#include "analysis/pipeline/pipeline_state.hpp"

namespace pclscope {

namespace {
constexpr std::size_t chunk_events = 256;  // read by several stages: stays in the nearest cache
}  // namespace

void Pipeline::State::add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) {
  if (!knows(rank) || events.empty()) return;
  newest_ns = std::max(newest_ns, scale.to_ns(events.back().end));
  while (!events.empty()) {
    const auto chunk = events.first(std::min(chunk_events, events.size()));
    activity.add(rank, thread, chunk);
    if (!options.collectives_elsewhere)
      for (const record::Event& e : chunk) collectives.add(rank, e);
    matcher.add(rank, thread, chunk);
    events = events.subspan(chunk.size());
  }
}

void Pipeline::State::name_sites() {
  if (options.name_sites) return options.name_sites(batch);
  for (Message& m : batch) m.send_site = m.recv_site = 0;
}

void Pipeline::State::measure() {
  for (Message& m : batch) {
    totals.bytes += m.bytes;
    const std::int32_t from = application.node_of_rank[m.source], to = application.node_of_rank[m.destination];
    if (from != to && from >= 0 && to >= 0) m.flags |= message_flag::inter_node;
    if (m.flags & message_flag::unseen_completion) continue;
    const std::int64_t time = m.time();
    if (time < 0) {
      const bool violation = time + m.clock_error_ns < 0;
      m.flags |= violation ? message_flag::clock_violation : message_flag::clock_unclear;
      ++(violation ? totals.clock_violations : totals.clock_unclear);
      continue;
    }
    const std::int64_t transfer = wait_split(m).transfer;
    criteria.add(m.flags & message_flag::inter_node, m.bytes, time, transfer);
    times.add(time);
    if (options.role == PipelineRole::node) count_time(m, time, transfer);
  }
  windows.add(batch);
}

void Pipeline::State::refresh_totals() {
  if (options.role == PipelineRole::job) return;  // reports have told
  const MatchCounts counts = matcher.counts();
  totals.matched = counts.matched + from_file;
  totals.unmatched_sends = counts.unmatched_sends;
  totals.unmatched_receives = counts.unmatched_receives;
  totals.ambiguous = counts.ambiguous;
  totals.foreign = counts.foreign;
  totals.half_recorded = counts.half_recorded;
  totals.events = activity.events();
}

Pipeline::Pipeline(Application application, PipelineOptions options)
    : state_(std::make_unique<State>(std::move(application), std::move(options))) {}
Pipeline::~Pipeline() = default;

void Pipeline::set_tick_scale(TickScale scale) {
  state_->scale = scale;
  state_->matcher.set_tick_scale(scale);
  state_->collectives.set_tick_scale(scale);
}

void Pipeline::set_node(std::int32_t rank, const std::string& node) {
  if (!state_->knows(rank)) return;
  auto& nodes = state_->application.nodes;
  const auto it = std::find(nodes.begin(), nodes.end(), node);
  state_->application.node_of_rank[rank] = static_cast<std::int32_t>(it - nodes.begin());
  state_->matcher.set_node(rank, state_->application.node_of_rank[rank]);
  if (it == nodes.end()) nodes.push_back(node);
}

void Pipeline::set_mpi(const std::string& mpi) { state_->application.mpi = mpi; }

void Pipeline::add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) {
  state_->add(rank, thread, events);
}

void Pipeline::add_messages(std::span<const Message> messages) {
  State& s = *state_;
  while (!messages.empty()) {
    const auto chunk = messages.first(std::min(chunk_events, messages.size()));
    messages = messages.subspan(chunk.size());
    const bool in_range = std::all_of(chunk.begin(), chunk.end(),
                                      [&](const Message& m) { return s.knows(m.source) && s.knows(m.destination); });
    if (!in_range) continue;  // a file that contradicts itself
    s.from_file += chunk.size();
    s.batch.assign(chunk.begin(), chunk.end());
    s.measure();
    for (const Message& m : chunk) s.newest_ns = std::max(s.newest_ns, m.recv_end);
    // They were stored window by window: what lies before the newest one's window is complete.
    s.close_windows(s.windows.newest_begin_ns() + s.options.allowance_ns);
  }
  s.refresh_totals();
}

void Pipeline::set_dropped(std::int32_t rank, std::uint64_t dropped_total) {
  State& s = *state_;
  if (!s.knows(rank) || dropped_total <= s.dropped[rank]) return;
  s.totals.dropped_events += dropped_total - s.dropped[rank];
  s.dropped[rank] = dropped_total;
  s.matcher.note_drop(rank, dropped_total);
}

void Pipeline::set_threads(std::int32_t rank, bool several) { state_->matcher.set_threads(rank, several); }
void Pipeline::set_muted(std::int32_t rank, bool muted) { state_->matcher.note_muted(rank, muted); }

void Pipeline::end_round(std::int64_t now_ns, bool all_read) {
  if (state_->finished) return;
  state_->matcher.end_round(all_read);
  state_->close_windows(now_ns);
  state_->refresh_totals();
}

void Pipeline::finish() {
  State& s = *state_;
  if (s.finished) return;
  s.finished = true;
  s.matcher.finish();
  OpenWindows::Closed closed;
  while (s.windows.close_any(closed)) s.close_window(closed);
  s.close_calls(std::numeric_limits<std::int64_t>::max());
  if (s.options.role == PipelineRole::node) return s.refresh_totals();
  s.attribute_rest();
  s.follow_delays({}, std::numeric_limits<std::int64_t>::max());
  s.delays.finish();
  s.attributor.finish(s.regions.tracker().regions().size());
  s.regions.finish();
  s.retention.finish(s.regions.evolutions());
  s.recluster(final_margin, true);
  s.refresh_totals();
}

const RegionClocks* Pipeline::clocks(std::int32_t region) const { return state_->clocks.of(region); }
void Pipeline::set_not_stored(std::uint64_t messages) { state_->retention.set_not_stored(messages); }
void Pipeline::set_file_bytes(std::uint64_t bytes) { state_->retention.set_file_bytes(bytes); }
std::optional<std::string> Pipeline::budget_bites() { return state_->retention.bites(); }

std::int32_t Pipeline::ranks() const { return state_->application.ranks; }
std::int64_t Pipeline::passed_until_ns() const { return state_->windows.earliest_end_ns(); }
const MessageTotals& Pipeline::totals() const { return state_->totals; }
const Matcher& Pipeline::matcher() const { return state_->matcher; }

}  // namespace pclscope
