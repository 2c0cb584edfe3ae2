#include "analysis/pipeline/evaluation.hpp"

#include <algorithm>
#include <limits>

#include "analysis/pipeline/evaluation_state.hpp"

namespace pclscope {

Evaluation::Evaluation(const Measured& measured, PipelineOptions options)
    : state_(std::make_unique<State>(measured, std::move(options))) {}
Evaluation::~Evaluation() = default;

void Evaluation::take_pairs(std::int64_t begin_ns) { state_->take_pairs(begin_ns); }
void Evaluation::close_window(const ClosedWindow& window) { state_->close_window(window); }

void Evaluation::closed_until(std::int64_t until_ns) {
  State& s = *state_;
  const std::int64_t length = s.window_ns;
  if (s.calls.empty() || until_ns == INT64_MIN || (s.closed_ns != INT64_MIN && until_ns <= s.closed_ns + length))
    return;
  const auto [first, last] = std::minmax_element(
      s.calls.begin(), s.calls.end(), [](const CollectiveCall& a, const CollectiveCall& b) { return a.end < b.end; });
  if (first->end >= until_ns) return;
  until_ns = std::min(until_ns, std::max(last->end, first->end) + 1);  // "all windows" is no time
  const std::int64_t begin = std::max(first->end, until_ns - length);
  s.close_calls(until_ns);
  s.look(begin, until_ns, {});
  s.attribute(begin, until_ns, {});
  s.follow_delays({}, until_ns);
  s.attributor.refresh(s.regions.tracker().regions().size());
}

void Evaluation::set_tick_scale(TickScale scale) {
  state_->collectives.set_tick_scale(scale);
  if (state_->call_log) state_->call_log->set_tick_scale(scale);
}

void Evaluation::add_collectives(std::int32_t rank, std::span<const record::Event> events) {
  if (!state_->measured.knows(rank) || !Collectives::may_concern(events)) return;
  Collectives& collectives = state_->collectives;
  for (const record::Event& e : events) collectives.add(rank, e);
}

void Evaluation::add_calls(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) {
  State& s = *state_;
  if (!s.call_log) return;
  const TimeShare::Clock::time_point start = TimeShare::Clock::now();
  s.call_log->add(rank, thread, events);
  s.calls_time.used(TimeShare::Clock::now() - start);
}

void Evaluation::add_calls(std::span<const MpiCall> calls) {
  if (!state_->call_log) return;
  for (const MpiCall& call : calls) state_->call_log->add(call);
}
void Evaluation::set_calls_elsewhere(const CallsLeftOut& left_out) { state_->calls_elsewhere = left_out; }

void Evaluation::add_wait(const CollectiveCall& call) { state_->take_calls({&call, 1}); }
void Evaluation::add_off_core(std::int32_t rank, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t off_ns) {
  state_->delays.add_off_core(rank, begin_ns, end_ns, off_ns);
  state_->attributor.add_off_core(rank, begin_ns, end_ns, static_cast<double>(off_ns) * 1e-9);
}

void Evaluation::set_load(Load load) {
  State& s = *state_;
  s.load = load;
  s.shed_calls();
}
void Evaluation::last_windows() { state_->ending = true; }

void Evaluation::finish() {
  State& s = *state_;
  s.ending = true;
  if (std::exchange(s.finished, true)) return;
  s.close_calls(std::numeric_limits<std::int64_t>::max());
  s.look_at_rest();
  for (const auto& stage : s.stages) stage->finish();
  s.attribute_rest();
  s.follow_delays({}, std::numeric_limits<std::int64_t>::max());
  s.delays.finish();
  s.attributor.finish(s.regions.tracker().regions().size());
  s.regions.finish();
  s.keep_calls(std::numeric_limits<std::int64_t>::max());
  s.retention.finish(s.regions.evolutions());
  s.recluster(true);
}

std::span<const std::int32_t> Evaluation::region_of_rank() const { return state_->regions.id_of_rank(); }
std::uint64_t Evaluation::regions_version() const { return state_->regions_version; }
Evaluation::CallsLeftOut Evaluation::calls_left_out() const {
  const State& s = *state_;
  if (!s.call_log) return {};
  return {s.calls_elsewhere.all + s.call_log->left_out() + s.retention.calls_left_out(),
          s.calls_elsewhere.shed + s.call_log->shed()};
}
std::uint64_t Evaluation::events() const { return state_->measured.totals.events; }
void Evaluation::set_not_stored(std::uint64_t messages) { state_->retention.set_not_stored(messages); }
void Evaluation::set_file_bytes(std::uint64_t bytes) { state_->retention.set_file_bytes(bytes); }
std::optional<std::string> Evaluation::budget_bites() { return state_->retention.bites(); }

}  // namespace pclscope
