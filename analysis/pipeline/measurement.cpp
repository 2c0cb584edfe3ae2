#include "analysis/pipeline/measurement.hpp"

#include <algorithm>
#include <utility>

#include "analysis/match/matcher.hpp"
#include "analysis/match/message_waits.hpp"
#include "analysis/window/call_waits.hpp"

namespace pclscope {

namespace {
constexpr std::size_t chunk_events = 256;  // read by several stages: stays in the nearest cache
// Between looks for messages that are missing: at least, and per channel and receive that the last one looked at.
constexpr std::int64_t between_looks_ns = 5'000'000, between_looks_each_ns = 200;
}  // namespace

struct Measurement::State {
  State(Measured& measured, const PipelineOptions& options, Hooks&& told)
      : m(measured),
        name_sites(options.name_sites),
        hooks(std::move(told)),
        matcher(m.application.ranks,
                [this](std::span<Message> matched) {
                  name(matched);
                  measure(matched);
                  note_waits(matched);
                }),
        waits(m.application.ranks,
              [this](const CollectiveCall& call, const MessageWaits::Awaited& message) {
                const CallWaits::Of of{message.source, message.destination,
                                       static_cast<std::uint32_t>(message.send_site),
                                       static_cast<std::uint32_t>(message.recv_site)};
                waited.push_back({call.begin, call.end, call.awaited_begin, of, call.shape == CollectiveShape::send});
                if (hooks.on_wait) hooks.on_wait(call);
              }),
        windows(std::max<std::int64_t>(options.window_ns, 1), options.allowance_ns, options.open_messages),
        hold_ns(options.hold_ns) {
    matcher.set_send_done([this](std::int32_t rank, const record::Event& event, bool away) {
      waits.completed(rank, event, m.scale, away);
    });
  }

  void name(std::span<Message> batch);              // addresses become ids
  void measure(std::span<Message> batch);           // times it, puts it into its window
  void note_waits(std::span<const Message> batch);  // which calls waited for its messages
  std::int64_t close_windows(std::int64_t now_ns);
  std::int64_t missing_from(std::int64_t now_ns);
  void close_window(OpenWindows::Closed& closed);
  double judge(Message& message);
  void charge(const CallWaits::Of& of, const BlockedTime& blocked);
  void close_calls(std::int64_t end_ns);

  Measured& m;
  std::function<void(std::span<Message>)> name_sites;
  Hooks hooks;
  Matcher matcher;
  MessageWaits waits;
  std::vector<CallWaits::Other> waited;  // found by it, of calls that are not closed
  OpenWindows windows;
  std::int64_t hold_ns;
  std::int64_t missing_ns = INT64_MAX, next_look_ns = INT64_MIN;  // missing_from() as of the last look
  CallWaits calls;              // of windows that closed, and the one that is being closed
  std::vector<Message> stored;  // being measured
  std::uint64_t from_file = 0;  // messages that came matched
  bool finished = false;
};

void Measurement::State::name(std::span<Message> batch) {
  if (name_sites) return name_sites(batch);
  for (Message& message : batch) message.send_site = message.recv_site = 0;
}

void Measurement::State::measure(std::span<Message> batch) {
  for (Message& message : batch) {
    m.totals.bytes += message.bytes;
    const std::int32_t from = m.application.node_of_rank[message.source],
                       to = m.application.node_of_rank[message.destination];
    if (from != to && from >= 0 && to >= 0) message.flags |= message_flag::inter_node;
    if (message.flags & message_flag::unseen_completion) continue;
    const std::int64_t time = message.time();
    if (time < 0) {
      const bool violation = time + message.clock_error_ns < 0;
      message.flags |= violation ? message_flag::clock_violation : message_flag::clock_unclear;
      ++(violation ? m.totals.clock_violations : m.totals.clock_unclear);
      continue;
    }
    const std::int64_t transfer = wait_split(message).transfer;
    m.criteria.add(message.flags & message_flag::inter_node, message.bytes, time, transfer);
    m.times.add(time);
    if (hooks.on_time) hooks.on_time(message, time, transfer);
  }
  windows.add(batch);
}

void Measurement::State::note_waits(std::span<const Message> batch) {
  const std::span<const std::uint64_t> numbers = matcher.batch_numbers();
  for (std::size_t i = 0; i < batch.size(); ++i) waits.matched(batch[i], numbers[i]);
}

// The windows that are over at `now_ns`, as far as nothing of them is missing. Returns up to when they were closed: as
// if that were now.
std::int64_t Measurement::State::close_windows(std::int64_t now_ns) {
  if (hold_ns > 0 && windows.is_due(now_ns)) {
    const std::int64_t missing = missing_from(now_ns);
    if (missing < now_ns - windows.allowance_ns()) now_ns = missing + windows.allowance_ns();
  }
  OpenWindows::Closed closed;
  while (windows.close(now_ns, closed)) close_window(closed);
  return now_ns;
}

// The completion of the earliest receive whose send is still to be told, and worth waiting for; without one the future.
std::int64_t Measurement::State::missing_from(std::int64_t now_ns) {
  if (now_ns < next_look_ns) return missing_ns;
  const std::int64_t from = now_ns - hold_ns - windows.allowance_ns() - windows.length_ns();
  const Matcher::Unpaired unpaired = matcher.earliest_unpaired(m.scale.to_ticks(from));
  missing_ns = unpaired.end == ~std::uint64_t{0} ? INT64_MAX : m.scale.to_ns(unpaired.end);
  next_look_ns = now_ns + between_looks_ns + static_cast<std::int64_t>(unpaired.looked_at) * between_looks_each_ns;
  return missing_ns;
}

void Measurement::State::close_window(OpenWindows::Closed& closed) {
  m.criteria.refresh();
  for (Message& message : closed.messages) {
    const double ratio = judge(message);
    if (ratio > 0) m.worst.add(message, ratio);
  }
  // A silent window may turn out to have messages as long as none with messages has closed.
  if (!closed.messages.empty()) close_calls(closed.begin_ns + windows.length_ns());
  m.pairs.judge_window(m.inverse());
  m.pairs.fold_window();
  hooks.on_window(closed);
  m.worst.close_window(closed.begin_ns + windows.length_ns());
  m.pairs.clear_window();
  windows.recycle(std::move(closed.messages));
}

// Adds the message to its pair. Returns its ratio, 0 when it has no latency.
double Measurement::State::judge(Message& message) {
  const std::uint32_t pair = m.pairs.touch(message.source, message.destination);
  LatencySums& sums = m.pairs.window_sums(pair);
  ++sums.messages;
  sums.bytes += message.bytes;
  if (message.flags & message_flag::no_latency) {
    message.flags &= ~message_flag::received_alone;
    m.sites.add(message, {});
    return 0;
  }
  const double ratio = m.ratio_of(message);
  // Without a branch: half of them are.
  message.flags |= message_flag::delayed * static_cast<std::uint32_t>((ratio > 1) & (from_file == 0));
  const std::int64_t transfer = wait_split(message).transfer;
  sums.delayed += (message.flags & message_flag::delayed) != 0;
  ++sums.timed;
  m.pairs.add_times(pair, message.flags & message_flag::inter_node, size_bins::bin_of(message.bytes),
                    PairTable::TimeSums::of(message.time(), transfer));
  sums.transfer_time_ns += transfer;
  const BlockedTime blocked = calls.add(message);
  message.flags &= ~message_flag::received_alone;
  sums.blocked += blocked;
  m.sites.add(message, blocked);
  return ratio;
}

// What calls that returned before `end_ns` cost: all their messages are there, but for those that came too late.
void Measurement::State::close_calls(std::int64_t end_ns) {
  std::erase_if(waited, [&](const CallWaits::Other& other) {
    if (other.end >= end_ns) return false;
    calls.add(other);
    return true;
  });
  calls.close(end_ns, [this](const CallWaits::Of& of, const BlockedTime& b) { charge(of, b); });
}

void Measurement::State::charge(const CallWaits::Of& of, const BlockedTime& blocked) {
  m.pairs.window_sums(m.pairs.touch(of.source, of.destination)).blocked += blocked;
  m.sites.add_blocked(of.send_site, of.recv_site, blocked);
}

Measurement::Measurement(Measured& measured, const PipelineOptions& options, Hooks hooks)
    : state_(std::make_unique<State>(measured, options, std::move(hooks))) {}
Measurement::~Measurement() = default;

void Measurement::set_tick_scale(TickScale scale) {
  state_->m.scale = scale;
  state_->matcher.set_tick_scale(scale);
}

void Measurement::set_place(std::int32_t rank, std::int32_t node) {
  if (!state_->m.knows(rank)) return;
  state_->m.application.node_of_rank[static_cast<std::size_t>(rank)] = node;
  state_->matcher.set_node(rank, node);
}

void Measurement::add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) {
  State& s = *state_;
  if (!s.m.knows(rank) || events.empty()) return;
  s.m.newest_ns = std::max(s.m.newest_ns, s.m.scale.to_ns(events.back().end));
  while (!events.empty()) {
    const auto chunk = events.first(std::min(chunk_events, events.size()));
    s.m.activity.add(rank, thread, chunk);
    s.waits.add(rank, thread, chunk, s.m.scale);
    s.matcher.add(rank, thread, chunk);
    events = events.subspan(chunk.size());
  }
}

void Measurement::add_messages(std::span<const Message> messages) {
  State& s = *state_;
  while (!messages.empty()) {
    const auto chunk = messages.first(std::min(chunk_events, messages.size()));
    messages = messages.subspan(chunk.size());
    const bool in_range = std::all_of(chunk.begin(), chunk.end(), [&](const Message& message) {
      return s.m.knows(message.source) && s.m.knows(message.destination);
    });
    if (!in_range) continue;  // a file that contradicts itself
    s.from_file += chunk.size();
    s.stored.assign(chunk.begin(), chunk.end());
    s.measure(s.stored);
    for (const Message& message : chunk) s.m.newest_ns = std::max(s.m.newest_ns, message.recv_end);
    // They were stored window by window: what lies before the newest one's window is complete.
    s.close_windows(s.windows.newest_begin_ns() + s.windows.allowance_ns());
  }
  refresh_totals();
}

void Measurement::set_dropped(std::int32_t rank, std::uint64_t dropped_total) {
  Measured& m = state_->m;
  if (!m.knows(rank) || dropped_total <= m.dropped[rank]) return;
  m.totals.dropped_events += dropped_total - m.dropped[rank];
  m.dropped[rank] = dropped_total;
  state_->matcher.note_drop(rank, dropped_total);
}

void Measurement::set_buffer(std::int32_t rank, const BufferUse& use) {
  if (state_->m.knows(rank)) state_->m.buffers[static_cast<std::size_t>(rank)] = use;
}

void Measurement::set_threads(std::int32_t rank, bool several) {
  state_->matcher.set_threads(rank, several);
  if (state_->m.knows(rank)) state_->m.several_at_once[static_cast<std::size_t>(rank)] = several;
}
void Measurement::set_muted(std::int32_t rank, bool muted) { state_->matcher.note_muted(rank, muted); }

void Measurement::end_round(std::int64_t now_ns, bool all_read) {
  if (state_->finished) return;
  state_->matcher.end_round(all_read);
  state_->close_windows(now_ns);
  refresh_totals();
}

std::int64_t Measurement::epoch_over(std::int64_t until_ns) {
  if (state_->finished) return until_ns;
  state_->matcher.epoch_over();
  until_ns = state_->close_windows(until_ns);
  refresh_totals();
  return until_ns;
}

void Measurement::finish() {
  State& s = *state_;
  if (std::exchange(s.finished, true)) return;
  s.matcher.finish();
  OpenWindows::Closed closed;
  while (s.windows.close_any(closed)) s.close_window(closed);
  refresh_totals();
}

void Measurement::refresh_totals() {
  const MatchCounts counts = state_->matcher.counts();
  MessageTotals& totals = state_->m.totals;
  totals.matched = counts.matched + state_->from_file;
  totals.unmatched_sends = counts.unmatched_sends;
  totals.unmatched_receives = counts.unmatched_receives;
  totals.ambiguous = counts.ambiguous;
  totals.foreign = counts.foreign;
  totals.half_recorded = counts.half_recorded;
  totals.events = state_->m.activity.events();
}

std::int64_t Measurement::passed_until_ns() const { return state_->windows.earliest_end_ns(); }
Matcher& Measurement::matcher() { return state_->matcher; }
const Matcher& Measurement::matcher() const { return state_->matcher; }

}  // namespace pclscope
