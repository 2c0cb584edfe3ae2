#include "analysis/blocked/function_times.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/blocked/call_kind.hpp"
#include "analysis/values/site_key.hpp"

namespace pclscope::blocked {

using record::Event;
using record::EventKind;

namespace {

constexpr std::int64_t allowance_ns = 20'000'000;  // events are read a little after their calls returned
constexpr std::uint64_t longest_gap_windows = 1;   // between samples that stand for the time between them

// Not one call of this thread with a begin and an end of its own.
bool no_call(const Event& e) {
  switch (e.kind) {
    case EventKind::none:
    case EventKind::init:
    case EventKind::finalize:
    case EventKind::lost:
    case EventKind::unrecorded_sends:
    case EventKind::unrecorded_receives:
    case EventKind::lost_number:
    case EventKind::call_path:
    case EventKind::marker:
    case EventKind::neighbour: return true;
    default:  // an `entered` receive has not returned: another event follows when it has
      return (e.flags & (record::flag::unrecorded | record::flag::entered)) != 0 || e.end < e.begin;
  }
}
// It spans from the call that posted it to another one that completed it.
bool spans_calls(const Event& e) {
  if (e.kind == EventKind::collective) return (e.flags & record::flag::nonblocking) != 0;
  return e.kind == EventKind::comm_created && (e.flags & record::flag::nonblocking) != 0;
}

}  // namespace

FunctionTimes::FunctionTimes(std::int32_t ranks, std::int64_t window_ns, std::uint32_t windows)
    : ranks_(std::max(ranks, 1)),
      window_ns_(static_cast<double>(std::max<std::int64_t>(window_ns, 1))),
      windows_(std::max(windows, 1u)),
      ticks_per_window_(window_ns_),
      threads_(static_cast<std::size_t>(ranks_)),
      polls_(static_cast<std::size_t>(ranks_)),
      polled_(static_cast<std::size_t>(ranks_), 0),
      sites_(static_cast<std::size_t>(ranks_)) {
  index_.fill(unused);
}

void FunctionTimes::set_tick_scale(TickScale scale) {
  scale_ = scale;
  ticks_per_window_ = window_ns_ / scale.ns_per_tick;
}

std::int64_t FunctionTimes::window_of(std::uint64_t ticks) const {
  const auto after = static_cast<double>(static_cast<std::int64_t>(ticks - scale_.origin_ticks));
  return static_cast<std::int64_t>(std::floor(after / ticks_per_window_));
}

std::uint64_t FunctionTimes::begin_of(std::int64_t window) const {
  return scale_.origin_ticks +
         static_cast<std::uint64_t>(std::llround(static_cast<double>(window) * ticks_per_window_));
}

FunctionTimes::Function& FunctionTimes::function(std::uint16_t number) {
  if (number >= most_functions) number = 0;
  std::uint16_t& index = index_[number];
  if (index == unused) {
    index = static_cast<std::uint16_t>(functions_.size());
    functions_.push_back({.number = number,
                          .place = density_.place(number),
                          .calls = 0,
                          .ticks = 0,
                          .windows = std::vector<std::uint64_t>(windows_, 0)});
  }
  return functions_[index];
}

void FunctionTimes::add(std::int32_t rank, std::uint32_t thread, std::span<const Event> events) {
  if (rank < 0 || rank >= ranks_) return;
  auto& threads = threads_[static_cast<std::size_t>(rank)];
  thread = std::min(thread, most_threads);
  if (threads.size() <= thread) threads.resize(thread + 1);
  if (polls_.any() && polls_.any(rank, thread)) decide_polls(rank, thread, events);
  Thread t = threads[thread];
  for (const Event& e : events) {
    if (no_call(e)) continue;
    Function& f = function(e.function);
    if (spans_calls(e)) {
      ++f.calls;
      density_.call(f.place, axis_ns(e.begin), axis_ns(e.end));
      continue;
    }
    // One call may leave several events with the same interval (Waitall, Sendrecv).
    const std::uint64_t calls = e.begin != t.begin || e.function != t.function;
    f.calls += calls;
    t.begin = e.begin;
    t.function = e.function;
    const std::uint64_t begin = std::min(std::max(e.begin, t.covered), e.end);
    if (calls != 0 || begin < e.end) sites_.add(static_cast<std::size_t>(rank), site_key(e), e.end - begin, calls);
    const bool inside = e.end > t.covered;
    if (e.end > t.covered) t.covered = e.end;
    const std::int64_t begin_ns = axis_ns(e.begin), end_ns = axis_ns(e.end);
    if (inside) spread(f, begin, e.end);
    if (inside && calls != 0 && begin == e.begin) [[likely]] {
      density_.call_inside(f.place, rank, begin_ns, end_ns);
      continue;
    }
    if (calls != 0) density_.call(f.place, begin_ns, end_ns);
    if (inside) density_.inside(f.place, rank, axis_ns(begin), end_ns);
  }
  threads[thread] = t;
}

void FunctionTimes::decide_polls(std::int32_t rank, std::uint32_t thread, std::span<const Event> events) {
  for (const Event& e : events) {
    if (no_call(e) || spans_calls(e)) continue;
    polls_.called(rank, thread, e.begin, e.end, [this](std::int32_t r, const auto& look) { take_poll(r, look); });
    if (!polls_.any(rank, thread)) return;
  }
}

void FunctionTimes::take_poll(std::int32_t rank, const SampledPolls::Look& look) {
  Function& f = function(look.function);
  spread(f, look.since, look.at);
  density_.inside(f.place, rank, axis_ns(look.since), axis_ns(look.at));
  polled_[static_cast<std::size_t>(rank)] += look.at - look.since;
}

void FunctionTimes::end() {
  polls_.end([this](std::int32_t rank, const auto& look) { take_poll(rank, look); });
}

std::uint64_t FunctionTimes::polled_ticks(std::int32_t rank) const {
  if (rank < 0 || rank >= ranks_) return 0;
  return polled_[static_cast<std::size_t>(rank)] + polls_.undecided(rank);
}

// Makes `window` the newest, and empties what it and those before it take the place of.
void FunctionTimes::advance(std::int64_t window) {
  const std::int64_t first = std::max(newest_ + 1, window - static_cast<std::int64_t>(windows_) + 1);
  for (Function& f : functions_)
    for (std::int64_t w = first; w <= window; ++w) f.windows[slot(w)] = 0;
  newest_ = window;
}

void FunctionTimes::turn_to(std::int64_t window) {
  if (window > newest_) advance(window);
  at_slot_ = slot(window);
  at_begin_ = begin_of(window);
  at_end_ = begin_of(window + 1);
}

void FunctionTimes::spread(Function& f, std::uint64_t begin, std::uint64_t end) {
  f.ticks += end - begin;
  if (begin >= at_begin_ && end <= at_end_) [[likely]] {
    f.windows[at_slot_] += end - begin;
    return;
  }
  const std::int64_t last = window_of(end);
  if (last < 0) return;
  if (last > newest_) advance(last);
  const std::int64_t oldest = std::max<std::int64_t>(newest_ - static_cast<std::int64_t>(windows_) + 1, 0);
  for (std::int64_t w = std::max(window_of(begin), oldest); w <= last; ++w) {
    const std::uint64_t from = std::max(begin, begin_of(w)), to = std::min(end, begin_of(w + 1));
    if (to > from) f.windows[slot(w)] += to - from;
  }
  if (last >= oldest) turn_to(last);
}

void FunctionTimes::sample(std::span<const InsideNow> inside, std::uint64_t now) {
  const std::uint64_t longest = longest_gap_windows * static_cast<std::uint64_t>(ticks_per_window_);
  const std::uint64_t since = sampled_ == 0 || now < sampled_ ? now : std::max(sampled_, now - std::min(now, longest));
  sampled_ = now;
  for (const InsideNow& i : inside) {
    if (call_kind(i.function) != CallKind::polling || now <= since) continue;
    if (i.rank < 0 || i.rank >= ranks_) continue;
    const std::uint32_t thread = std::min(i.thread, most_threads);
    // An event that has been read already may have it.
    const auto& threads = threads_[static_cast<std::size_t>(i.rank)];
    if (thread < threads.size() && threads[thread].covered >= now) continue;
    polls_.add(i.rank, thread, {since, now, i.function},
               [this](std::int32_t rank, const auto& look) { take_poll(rank, look); });
  }
}

std::vector<density::Pyramid::Running> FunctionTimes::running(std::span<const InsideNow> inside,
                                                              std::uint64_t now) const {
  std::vector<density::Pyramid::Running> calls;
  for (const InsideNow& i : inside)
    if (i.function != 0 && i.function < most_functions && call_kind(i.function) != CallKind::polling && i.since < now)
      calls.push_back({i.function, i.rank, axis_ns(i.since), axis_ns(now)});
  polls_.each([&](std::int32_t rank, const auto& look) {
    calls.push_back({look.function, rank, axis_ns(look.since), axis_ns(look.at)});
  });
  return calls;
}

// The functions and histories being put together.
class FunctionTimes::Shown {
 public:
  Shown(const FunctionTimes& times, std::int64_t first, std::int64_t last) : times_(times), first_(first), last_(last) {
    place_.fill(unused);
  }

  void add(const Function& f) {
    const std::uint16_t at = entry(f.number);
    out_[at].calls = f.calls;
    out_[at].inside_s = seconds(static_cast<double>(f.ticks));
    // The ring may not have got as far as now.
    const auto windows = static_cast<std::int64_t>(times_.windows_);
    for (std::int64_t w = std::max(first_, times_.newest_ - windows + 1); w < last_ && w <= times_.newest_; ++w)
      part(at, w, static_cast<double>(f.windows[times_.slot(w)]));
  }

  void add(const SampledPolls::Look& look) {
    const std::uint16_t at = entry(look.function);
    out_[at].inside_s += seconds(static_cast<double>(look.at - look.since));
    for (std::int64_t w = std::max(times_.window_of(look.since), first_); w < last_; ++w) {
      const std::uint64_t from = std::max(look.since, times_.begin_of(w)),
                          to = std::min(look.at, times_.begin_of(w + 1));
      if (to <= from) break;
      part(at, w, static_cast<double>(to - from));
    }
  }

  void add(const InsideNow& i, std::uint64_t now) {
    const std::uint16_t at = entry(i.function);
    inside_.emplace_back(at, i.rank);
    if (call_kind(i.function) == CallKind::polling || i.since >= now) return;
    out_[at].inside_s += seconds(static_cast<double>(now - i.since));
    const std::int64_t began = times_.window_of(i.since);
    if (began >= first_ && began < last_) part(at, began, static_cast<double>(times_.begin_of(began + 1) - i.since));
    whole_from(at, std::max(began + 1, first_));
  }

  std::vector<FunctionActivity> finish() {
    std::sort(inside_.begin(), inside_.end());
    inside_.erase(std::unique(inside_.begin(), inside_.end()), inside_.end());
    for (const auto& [at, rank] : inside_) ++out_[at].ranks_inside;
    for (std::size_t i = 0; i < out_.size(); ++i) {
      double threads = 0;  // inside during the whole window
      for (std::size_t w = 0; w < parts_[i].size(); ++w) {
        threads += whole_[i][w];
        const double share = (parts_[i][w] / times_.ticks_per_window_ + threads) / times_.ranks_;
        out_[i].history_share.push_back(static_cast<float>(share));
      }
    }
    std::stable_sort(out_.begin(), out_.end(),
                     [](const FunctionActivity& a, const FunctionActivity& b) { return a.inside_s > b.inside_s; });
    return std::move(out_);
  }

 private:
  std::uint16_t entry(std::uint16_t number) {
    std::uint16_t& place = place_[number];
    if (place == unused) {
      place = static_cast<std::uint16_t>(out_.size());
      out_.emplace_back().function = number;
      parts_.emplace_back(static_cast<std::size_t>(last_ - first_), 0.0);
      whole_.emplace_back(static_cast<std::size_t>(last_ - first_), 0.0);
    }
    return place;
  }
  void part(std::uint16_t at, std::int64_t window, double ticks) {
    parts_[at][static_cast<std::size_t>(window - first_)] += ticks;
  }
  void whole_from(std::uint16_t at, std::int64_t window) {
    if (window < last_) whole_[at][static_cast<std::size_t>(window - first_)] += 1;
  }
  double seconds(double ticks) const { return ticks * times_.scale_.ns_per_tick * 1e-9; }

  const FunctionTimes& times_;
  const std::int64_t first_, last_;                  // windows; last_ not included
  std::array<std::uint16_t, most_functions> place_;  // by number, in those below
  std::vector<FunctionActivity> out_;
  std::vector<std::vector<double>> parts_;  // ticks
  std::vector<std::vector<double>> whole_;  // threads that are inside from this window on
  std::vector<std::pair<std::uint16_t, std::int32_t>> inside_;
};

std::vector<FunctionActivity> FunctionTimes::list(std::span<const InsideNow> inside, std::uint64_t now) const {
  const auto allowance = static_cast<std::uint64_t>(static_cast<double>(allowance_ns) / scale_.ns_per_tick);
  // `last` is not shown: it has not ended, or its events may not have been read.
  const std::int64_t last = std::max<std::int64_t>(window_of(now - std::min(now, allowance)), 0);
  Shown shown(*this, std::max<std::int64_t>(last - static_cast<std::int64_t>(windows_), 0), last);
  for (const Function& f : functions_) shown.add(f);
  polls_.each([&](std::int32_t, const auto& look) { shown.add(look); });
  for (const InsideNow& i : inside)
    if (i.function != 0 && i.function < most_functions) shown.add(i, now);
  return shown.finish();
}

}  // namespace pclscope::blocked
