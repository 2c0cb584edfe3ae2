#include "analysis/window/retention.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

#include "analysis/window/retention_state.hpp"

namespace pclscope {

namespace {
constexpr std::size_t messages_per_call = 1024;
}

MessageRetention::MessageRetention(Keep keep, std::uint64_t file_budget, std::size_t memory_bytes, Sink sink,
                                   CallSink call_sink)
    : keep_(keep),
      budget_(file_budget),
      memory_(memory_bytes),
      sink_(std::move(sink)),
      call_sink_(std::move(call_sink)) {
  buffer_.reserve(messages_per_call);
}
MessageRetention::~MessageRetention() = default;

// --- the file ---

// Rows that certainly fit below 95 % of the budget.
std::uint64_t MessageRetention::rows_left() const {
  if (not_stored_ > 0) return 0;
  const double end = retention::nothing_above * static_cast<double>(budget_);
  const double used = static_cast<double>(told_bytes_) + static_cast<double>(since_told_) * retention::bytes_per_row;
  return used >= end ? 0 : static_cast<std::uint64_t>((end - used) / retention::bytes_per_row);
}

// Estimated from how the file grew so far: a wrong guess costs nothing but a little of the first quarter.
bool MessageRetention::room_for_everything() const {
  const double row = measured_row_ > 0 ? measured_row_ : static_cast<double>(retention::expected_row);
  const double used = static_cast<double>(told_bytes_) + static_cast<double>(since_told_) * row;
  return used < retention::everything_below * static_cast<double>(budget_);
}

void MessageRetention::set_file_bytes(std::uint64_t bytes) {
  told_rows_ += since_told_;
  since_told_ = 0;
  told_bytes_ = bytes;
  if (told_rows_ >= 10'000)
    measured_row_ = std::min(static_cast<double>(bytes) / static_cast<double>(told_rows_),
                             static_cast<double>(retention::bytes_per_row));
}

void MessageRetention::set_not_stored(std::uint64_t messages) {
  if (messages == not_stored_) return;
  stored_ -= messages - not_stored_;
  not_stored_ = messages;
  left_out(now_s_);
}

MessageRetention::Phase MessageRetention::phase() {
  if (keep_ == Keep::summaries || rows_left() == 0) return Phase::nothing;
  if (keep_ == Keep::all) return Phase::everything;
  if (!everything_over_ && !room_for_everything()) everything_over_ = true;
  return everything_over_ ? Phase::interesting : Phase::everything;
}

void MessageRetention::write(std::span<const Message> messages) {
  while (!messages.empty()) {
    const std::uint64_t fit = std::min<std::uint64_t>({messages.size(), messages_per_call, rows_left()});
    if (fit == 0) return left_out(now_s_);
    sink_(messages.first(fit));
    stored_ += fit;
    since_told_ += fit;
    messages = messages.subspan(fit);
  }
}

// The file may have less room for them than it says of messages: then it counts what it did not take.
void MessageRetention::write(std::span<const MpiCall> calls) {
  const std::uint64_t fit = std::min<std::uint64_t>(calls.size(), rows_left());
  if (fit == 0) return;
  call_sink_(calls.first(fit));
  calls_stored_ += fit;
  since_told_ += fit;
}

void MessageRetention::left_out(double since_s) {
  if (bites_since_s_ < 0 && keep_ != Keep::summaries) bites_since_s_ = std::max(0.0, since_s);
}

std::optional<std::string> MessageRetention::bites() {
  if (bites_since_s_ < 0 || bites_told_) return std::nullopt;
  bites_told_ = true;
  char text[256];
  const char* const what =
      rows_left() == 0 ? "no more messages are stored, summaries go on (--budget)"
      : everything_over_
          ? "from now on it keeps all messages of growth and steady periods only, else the first, middle and last "
            "window "
            "(--budget, --keep)"
          : "messages come so fast that those of some windows are not stored, to be sure to stay below (--budget)";
  std::snprintf(text, sizeof text, "the dump has %.0f MB of its budget of %.0f MB: %s",
                static_cast<double>(told_bytes_) / 1e6, static_cast<double>(budget_) / 1e6, what);
  return text;
}

void MessageRetention::report(Retention& to) const {
  to.keep = keep_;
  to.budget_bytes = budget_;
  to.file_bytes = told_bytes_;
  to.messages_stored = stored_;
  to.messages_left_out = left_out();
  to.bites_since_s = bites_since_s_;
  to.messages_shed = shed_;
  to.shed_from_s = shed_from_s_;
  to.shed_to_s = shed_to_s_;
  to.memory_bytes += bytes();
}

std::uint64_t MessageRetention::calls_left_out() const {
  return calls_seen_ - calls_stored_ - held_calls_ - source_calls_;
}

// --- a window comes in ---

void MessageRetention::add_calls(std::uint64_t calls, CallSource source) {
  if (!call_sink_ || finished_) return;
  calls_seen_ += calls;
  source_calls_ = calls;
  call_source_ = std::move(source);
}

// Those of the window, once, if it is time for them.
void MessageRetention::take_calls(bool wanted, const CallSink& sink) {
  if (wanted && source_calls_ > 0) call_source_(sink);
  source_calls_ = 0;
  call_source_ = nullptr;
}

void MessageRetention::hold_calls(Origin& origin) {
  if (source_calls_ > 0 && held_call_bytes_ <= memory_ / 4) origin.calls = std::make_unique<HeldCalls>(*this);
  take_calls(origin.calls != nullptr, [&](std::span<const MpiCall> calls) { origin.calls->add(calls); });
}

std::shared_ptr<const MessageRetention::RegionMap> MessageRetention::share_map(std::span<const std::int32_t> now) {
  if (!map_ || !std::equal(now.begin(), now.end(), map_->begin(), map_->end()))
    map_ = std::make_shared<const RegionMap>(now.begin(), now.end());
  return map_;
}

void MessageRetention::add(const Window& window, std::uint64_t number, std::span<const Message> messages,
                           std::span<const std::int32_t> region_of_rank, const Evolutions& evolutions,
                           std::shared_ptr<const KeptWindow> packed) {
  if (finished_) return;
  const Phase now = begin_window(window, messages.size(), evolutions);
  if (now != Phase::interesting || messages.empty())
    take_calls(now == Phase::everything, [this](std::span<const MpiCall> calls) { write(calls); });
  if (messages.empty()) return release_decided();
  if (now == Phase::nothing) return left_out(now_s_);
  if (now == Phase::everything) return write(messages);
  if (!packed) packed = keep_window(0, 0, messages, largest_window());
  if (packed && packed->bytes() > largest_window()) packed = nullptr;
  if (!packed) return take_large(window, number, messages, share_map(region_of_rank), evolutions);
  hold(window, number, share_map(region_of_rank), std::move(packed));
  release_decided();
  keep_memory_bound(evolutions);
}

void MessageRetention::shed(const Window& window, std::uint64_t messages, const Evolutions& evolutions) {
  if (finished_) return;
  begin_window(window, messages, evolutions);
  take_calls(false, {});
  release_decided();
  if (messages == 0) return;
  shed_ += messages;
  if (shed_from_s_ < 0) shed_from_s_ = std::max(0.0, now_s_);
  shed_to_s_ = std::max(shed_from_s_, now_s_ + window.length_s);
}

MessageRetention::Phase MessageRetention::begin_window(const Window& window, std::uint64_t messages,
                                                       const Evolutions& evolutions) {
  seen_ += messages;
  now_s_ = std::isfinite(window.begin_s) ? window.begin_s : 0;
  const Phase now = phase();
  if (now == Phase::nothing) drop_everything();
  decide_all(evolutions);
  return now;
}

// The regions with messages of their own wait for their verdicts; ranks without one have theirs at once.
void MessageRetention::hold(const Window& window, std::uint64_t number, std::shared_ptr<const RegionMap> map,
                            std::shared_ptr<const KeptWindow> packed) {
  waiting_ += packed->messages.count();
  Waiting& held = waiting_windows_.emplace_back();
  held.origin = std::make_shared<Origin>(Origin{number, now_s_, std::move(map), {}, nullptr});
  held.packed = std::move(packed);
  hold_calls(*held.origin);
  for (const RegionWindow& r : window.regions)
    if (r.messages > 0 && r.region >= 0) held.regions.push_back(r.region);
  const RegionMap& regions = *held.origin->region_of_rank;
  if (std::find(regions.begin(), regions.end(), -1) != regions.end()) held.regions.push_back(-1);
  std::sort(held.regions.begin(), held.regions.end());
  held.undecided = held.regions;
  if (!held.regions.empty() && held.regions.front() == -1) decide(-1, number, PeriodKind::other, false);
}

// More than can wait: what its regions look like now decides, behind everything that waits.
void MessageRetention::take_large(const Window& window, std::uint64_t number, std::span<const Message> messages,
                                  std::shared_ptr<const RegionMap> map, const Evolutions& evolutions) {
  while (!waiting_windows_.empty()) force_oldest(evolutions);
  Origin origin{number, now_s_, std::move(map), {}, nullptr};
  for (const RegionWindow& r : window.regions) {
    if (r.region < 0 || r.messages == 0) continue;
    const RegionState& state = regions_[r.region];
    const PeriodKind kind = evolutions.provisional(r.region, number);
    const bool first = !state.any || kind != state.kind;
    decide(r.region, number, kind, first);
    if (first || kind != PeriodKind::other) origin.mark(r.region);
  }
  hold_calls(origin);
  write_calls(origin, [&](std::int32_t rank) { return origin.is_stored(origin.region_of(rank)); });
  buffer_.clear();
  for (const Message& m : messages) {
    if (origin.in_file(m)) buffer_.push_back(m);
    else left_out(now_s_);
    if (buffer_.size() < messages_per_call) continue;
    write(buffer_);
    buffer_.clear();
  }
  write(buffer_);
  buffer_.clear();
}

void MessageRetention::finish(const Evolutions& evolutions) {
  if (finished_) return;
  finished_ = true;
  const Phase now = phase();
  if (now == Phase::nothing) drop_everything();
  take_calls(now == Phase::everything, [this](std::span<const MpiCall> calls) { write(calls); });
  decide_all(evolutions);
  while (!waiting_windows_.empty()) force_oldest(evolutions);
  for (auto& [region, state] : regions_) end_period(state, region);
  regions_.clear();
  released_.clear();
}

void MessageRetention::drop_everything() {
  if (waiting_ > 0) left_out(now_s_);
  waiting_ = 0;
  waiting_windows_.clear();
  released_.clear();
  regions_.clear();
}

}  // namespace pclscope
