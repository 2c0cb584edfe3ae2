#include "viewer/session/history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "viewer/session/history_thinning.hpp"

namespace pclscope::session {
namespace {

constexpr double longest_s = 1e9, shortest_s = 1e-6;  // of a run and a window: what is beyond is damaged
constexpr std::size_t most_periods = 4096;            // per region, as the analysis keeps
constexpr std::size_t bytes_per_region = 500;         // nodes of both maps, empty lists

bool usable(double begin_s, double length_s) {
  return std::fabs(begin_s) < longest_s && length_s >= shortest_s && length_s < longest_s;  // false for NaN
}

// Windows follow on each other to a microsecond; what overlaps more is damaged or the same again.
bool follows(double begin_s, double length_s, double until_s) { return begin_s >= until_s - 1e-3 * length_s - 1e-6; }

std::uint32_t narrowed(std::uint64_t count) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

float finite_ratio(double ratio) { return ratio > 0 ? static_cast<float>(std::min(ratio, 1e30)) : 0.f; }

// Share of delayed messages at a moment, as far as periods tell.
double delayed_share_at(const Region& region, double at_s) {
  for (auto p = region.periods.rbegin(); p != region.periods.rend(); ++p) {
    if (at_s < p->begin_s || at_s >= p->end_s || p->messages == 0) continue;
    return std::min(1.0, static_cast<double>(p->delayed) / static_cast<double>(p->messages));
  }
  if (region.messages == 0) return 0;
  return std::min(1.0, static_cast<double>(region.delayed) / static_cast<double>(region.messages));
}

// Gives each window its delayed messages: shares of `total` if that is known (>= 0).
void share_out(const Region& region, std::vector<HistoryPoint>& windows, double total) {
  std::vector<double> expected;
  double sum = 0;
  for (const HistoryPoint& w : windows) {
    expected.push_back(delayed_share_at(region, (w.begin_s + w.end_s()) / 2) * w.messages);
    sum += expected.back();
  }
  double left = total >= 0 ? total : sum;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    // Of what is left, as this window's part in what is expected of it and its followers: the sum comes out exactly.
    const double part = sum > 0 ? left * expected[i] / sum : left / static_cast<double>(windows.size() - i);
    windows[i].delayed =
        static_cast<std::uint32_t>(std::clamp(std::round(part), 0.0, static_cast<double>(windows[i].messages)));
    left = std::max(0.0, left - windows[i].delayed);
    sum -= expected[i];
  }
}

// The snapshot's periods replace those that they overlap; older ones stay.
void merge_periods(SharedList<Period, 16>& kept, const std::vector<Period>& newest) {
  const auto sound = [](const Period& p) { return p.end_s > p.begin_s && usable(p.begin_s, p.end_s - p.begin_s); };
  const auto first = std::find_if(newest.begin(), newest.end(), sound);
  if (first == newest.end()) return;
  std::size_t count = kept.size();
  while (count > 0 && kept[count - 1].begin_s >= first->begin_s) --count;
  const bool cut = count > 0 && (kept[count - 1].end_s > first->begin_s || kept[count - 1].open);
  Period last = cut ? kept[count - 1] : Period{};
  kept.truncate(cut ? count - 1 : count);
  if (cut) {
    last.end_s = std::min(last.end_s, first->begin_s);
    last.open = false;
    kept.push_back(last);
  }
  for (auto p = first; p != newest.end(); ++p) {
    if (sound(*p) && (kept.empty() || p->begin_s >= kept.back().begin_s)) kept.push_back(*p);
  }
  if (kept.size() <= most_periods) return;
  SharedList<Period, 16> later;
  for (std::size_t i = kept.size() - most_periods * 3 / 4; i < kept.size(); ++i) later.push_back(kept[i]);
  kept = std::move(later);
}

}  // namespace

void History::begin_anew(const Snapshot& snapshot) {
  regions_.clear();
  progress_.clear();
  job_ = snapshot.job;
  origin_ns_ = snapshot.time_origin_realtime_ns;
  sequence_ = 0;
  until_s_ = 0;
  any_ = thinned_ = whole_ = false;
}

void History::add(const Snapshot& snapshot) {
  const bool first = job_.empty() && origin_ns_ == 0;
  if (!first && (snapshot.job != job_ || snapshot.time_origin_realtime_ns != origin_ns_)) begin_anew(snapshot);
  job_ = snapshot.job;
  origin_ns_ = snapshot.time_origin_realtime_ns;
  const double window_s = snapshot.live.window_s, end_s = live_until_s(snapshot);
  const bool windows =
      usable(end_s, window_s) && std::any_of(snapshot.regions.begin(), snapshot.regions.end(), [](const Region& r) {
        return !r.history_ratio.empty() && !r.history_messages.empty();
      });
  // Before the first window the snapshot's end is the present and tells nothing.
  if (any_ && !whole_ && (snapshot.live.sequence < sequence_ || (windows && end_s < until_s_ - window_s / 2))) return;
  sequence_ = snapshot.live.sequence;
  for (auto& [id, progress] : progress_) progress.present = false;
  for (const Region& region : snapshot.regions) add_region(region, end_s, windows ? window_s : 0);
  if (windows) {
    until_s_ = whole_ ? std::max(until_s_, end_s) : end_s;
    any_ = true;
  }
  keep_within_budget();
}

// `window_s` 0: there are no windows.
void History::add_region(const Region& region, double end_s, double window_s) {
  RegionHistory& history = regions_[region.id];
  Progress& progress = progress_[region.id];
  if (progress.present) return;  // the same number twice in a damaged snapshot
  progress.present = true;
  history.average = std::isfinite(region.level()) ? std::clamp(region.level(), 0.0, 1e30) : 0;
  merge_periods(history.periods, region.periods);
  const std::size_t count = std::min(region.history_ratio.size(), region.history_messages.size());
  if (window_s <= 0 || count == 0) return;
  const double known_s = progress.any ? progress.until_s : whole_ ? until_s_ : -longest_s;
  const auto new_windows =
      static_cast<std::size_t>(std::clamp((end_s - known_s) / window_s + 0.5, 0.0, static_cast<double>(count)));
  std::vector<HistoryPoint> fresh;
  std::uint64_t messages = 0;
  for (std::size_t i = count - new_windows; i < count; ++i) {
    // Ends of lists are what counts: they may differ in length in a damaged snapshot.
    const std::uint32_t n = region.history_messages[region.history_messages.size() - count + i];
    const float ratio = region.history_ratio[region.history_ratio.size() - count + i];
    const double begin_s = end_s - static_cast<double>(count - i) * window_s;
    if (n == 0 || !usable(begin_s, window_s)) continue;
    if (!history.points.empty() && !follows(begin_s, window_s, history.points.back().end_s())) continue;
    fresh.push_back({begin_s, static_cast<float>(window_s), finite_ratio(static_cast<double>(ratio)), n, 0});
    messages += n;
  }
  // The totals have grown by these windows alone, unless some were lost or the region has other ranks now.
  const bool exact = region.messages >= progress.messages && region.messages - progress.messages == messages &&
                     region.delayed >= progress.delayed && region.delayed - progress.delayed <= messages;
  share_out(region, fresh, exact ? static_cast<double>(region.delayed - progress.delayed) : -1);
  for (const HistoryPoint& point : fresh) history.points.push_back(point);
  progress.messages = region.messages;
  progress.delayed = region.delayed;
  progress.until_s = std::max(end_s, known_s);
  progress.any = true;
}

void History::add(std::span<const Window> windows) {
  std::vector<const Window*> sorted;
  for (const Window& w : windows) {
    if (usable(w.begin_s, w.length_s)) sorted.push_back(&w);
  }
  if (sorted.empty()) return;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Window* a, const Window* b) { return a->begin_s < b->begin_s; });
  for (auto& [id, history] : regions_) history.points = {};
  double until_s = sorted.front()->begin_s;
  for (const Window* w : sorted) {
    if (!follows(w->begin_s, w->length_s, until_s)) continue;
    until_s = w->begin_s + w->length_s;
    for (const RegionWindow& sums : w->regions) {
      auto& points = regions_[sums.region].points;
      if (sums.messages == 0 || (!points.empty() && points.back().begin_s >= w->begin_s)) continue;
      points.push_back({w->begin_s, static_cast<float>(w->length_s), finite_ratio(sums.level()),
                        narrowed(sums.messages), narrowed(std::min(sums.delayed, sums.messages))});
    }
  }
  whole_ = any_ = true;
  until_s_ = until_s;
  for (const auto& [id, history] : regions_) {
    progress_[id].any = true;
    progress_[id].until_s = until_s;
  }
  keep_within_budget();
}

std::size_t History::bytes() const {
  std::size_t sum = 0;
  for (const auto& [id, history] : regions_) sum += history.points.bytes() + history.periods.bytes() + bytes_per_region;
  return sum;
}

double History::begin_s() const {
  double begin = std::numeric_limits<double>::infinity();
  for (const auto& [id, history] : regions_) {
    if (!history.points.empty()) begin = std::min(begin, history.points.front().begin_s);
  }
  return std::isfinite(begin) ? begin : 0;
}

void History::keep_within_budget() {
  if (bytes() <= budget_) return;
  // More than necessary, so that it is done seldom; no more of the time than necessary, oldest first.
  const std::size_t wanted = budget_ / 4 * 3;
  const double begin = begin_s();
  constexpr int steps = 8;
  for (const Thinning level : {Thinning::calm, Thinning::all, Thinning::drop}) {
    double until_s = begin;
    std::size_t bytes_then = 0;
    for (int k = 1; k <= steps; ++k) {
      until_s = k == steps ? until_s_ + longest_s : begin + (until_s_ - begin) * k / steps;
      bytes_then = 0;
      for (const auto& [id, history] : regions_)
        bytes_then += bytes_when_thinned(history, level, until_s) + bytes_per_region;
      if (bytes_then <= wanted) break;
    }
    for (auto& [id, history] : regions_) thinned_ |= thin(history, level, until_s);
    if (bytes_then <= wanted) return;
  }
  std::erase_if(regions_,
                [&](const auto& region) { return region.second.points.empty() && !progress_[region.first].present; });
  std::erase_if(progress_, [&](const auto& p) { return !regions_.contains(p.first); });
}

}  // namespace pclscope::session
