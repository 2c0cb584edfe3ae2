#include "analysis/window/region_series.hpp"

#include <algorithm>

namespace pclscope {

std::optional<std::uint64_t> RegionSeries::link_of(const PairTable::Pair& pair) const {
  const std::int32_t a = tracker_.region_of(pair.source), b = tracker_.region_of(pair.destination);
  if (a < 0 || b < 0 || a == b) return std::nullopt;
  return static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<std::uint32_t>(std::max(a, b));
}

RegionSeries::Ids RegionSeries::ids_of(std::uint64_t link) const {
  const std::int32_t a = tracker_.regions()[link >> 32].id, b = tracker_.regions()[link & 0xffffffffu].id;
  return std::minmax(a, b);
}

void RegionSeries::push_history(std::deque<Point>& history, Point point) {
  history.push_back(point);
  if (history.size() > history_limit_) history.pop_front();
}

namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

RegionWindow region_window(std::int32_t id, const LatencySums& sums) {
  return {id,
          sums.messages,
          sums.bytes,
          sums.delayed,
          sums.mean_ratio(),
          seconds(sums.blocked.late_sender),
          seconds(sums.blocked.late_receiver),
          seconds(sums.blocked.transfer()),
          sums.mean_transfer_ratio(),
          sums.typical_ratio()};
}

// Region and RegionLink name them alike.
template <class To>
void tell(const LatencySums& sums, const RatioSums& ratios, To& to) {
  to.messages = sums.messages;
  to.bytes = sums.bytes;
  to.delayed = sums.delayed;
  to.mean_latency_ratio = ratios.mean_time();
  to.typical_ratio = ratios.typical_time();
  to.mean_transfer_ratio = ratios.mean_transfer();
  to.late_sender_s = seconds(sums.blocked.late_sender);
  to.late_receiver_s = seconds(sums.blocked.late_receiver);
  to.transfer_s = seconds(sums.blocked.transfer());
}

Region region_of_sums(const TrackedRegion& tracked, const IntervalSums& sums, const Judge& judge) {
  Region region;
  region.id = tracked.id;
  region.ranks = tracked.ranks;
  tell(sums.sums, sums.ratios(judge), region);
  region.delayed_share =
      sums.sums.messages == 0 ? 0 : static_cast<double>(sums.sums.delayed) / static_cast<double>(sums.sums.messages);
  return region;
}

void add_link(std::pair<std::int32_t, std::int32_t> ids, const IntervalSums& sums, const Judge& judge,
              std::vector<RegionLink>& list) {
  if (sums.sums.messages == 0) return;
  RegionLink& link = list.emplace_back();
  link.a = ids.first;
  link.b = ids.second;
  tell(sums.sums, sums.ratios(judge), link);
}

void most_first(std::vector<RegionLink>& list, std::size_t most) {
  std::sort(list.begin(), list.end(), [](const RegionLink& x, const RegionLink& y) {
    return x.messages != y.messages ? x.messages > y.messages : x.a != y.a ? x.a < y.a : x.b < y.b;
  });
  if (list.size() > most) list.resize(most);
}

}  // namespace

void RegionSeries::fold(const PairTable& pairs) {
  for (const std::uint32_t i : pairs.touched()) {
    IntervalSums* const to = sums_of(pairs.pair(i), since_);
    if (to == nullptr) continue;
    to->sums += pairs.window(i);
    pairs.window_times(i, [&](bool inter_node, std::uint32_t bin, const PairTable::TimeSums& times) {
      to->add_times(inter_node, bin, times);
    });
  }
}

std::uint64_t RegionSeries::close_window(const LatencySums& all, std::span<const RegionSums> sums, std::int64_t skipped,
                                         Window& window) {
  std::unordered_map<std::int32_t, const LatencySums*> by_id;
  for (const RegionSums& s : sums) {
    by_id[s.region] = &s.sums;
    if (s.sums.messages > 0) window.regions.push_back(region_window(s.region, s.sums));
  }
  window.all = region_window(-1, all);
  const std::int64_t silent = std::min<std::int64_t>(skipped, history_limit_);
  const LatencySums none;
  for (const std::int32_t id : ids_) {
    const auto found = by_id.find(id);
    const LatencySums& of_region = found == by_id.end() ? none : *found->second;
    std::deque<Point>& history = history_[id];
    if (!history.empty())
      for (std::int64_t i = 0; i < silent; ++i) push_history(history, {0, 0});
    push_history(history,
                 {static_cast<float>(of_region.typical_ratio()), static_cast<std::uint32_t>(of_region.messages)});
  }
  const std::uint64_t number = evolutions_.close_window(window, ids_);
  if (evolutions_.ended().empty()) return number;
  for (Ended& e : ended_)
    if (e.periods.empty()) e.periods = evolutions_.periods_of_ended(e.region.id);
  return number;
}

void RegionSeries::fill_present(Snapshot& snapshot, const Most& most, const Judge& judge) const {
  for (std::size_t r = 0; r < tracker_.regions().size(); ++r) {
    const TrackedRegion& tracked = tracker_.regions()[r];
    const Life& life = lives_.at(tracked.id);
    IntervalSums sums = life.before;
    sums += since_.regions[r];
    Region& region = snapshot.regions.emplace_back(region_of_sums(tracked, sums, judge));
    region.from_s = seconds(life.from_ns);
    region.parent = life.parent;
    region.periods = evolutions_.newest(tracked.id, most.periods);
    const auto history = history_.find(tracked.id);
    if (history == history_.end()) continue;
    for (const Point& p : history->second) {
      region.history_ratio.push_back(p.ratio);
      region.history_messages.push_back(p.messages);
    }
  }
  std::map<Ids, IntervalSums> links = links_before_;
  for (const auto& [key, sums] : since_.links) links[ids_of(key)] += sums;
  for (const auto& [ids, sums] : links) add_link(ids, sums, judge, snapshot.links);
  most_first(snapshot.links, most.links);
}

void RegionSeries::fill(Snapshot& snapshot, const Most& most, const Judge& judge) const {
  fill_present(snapshot, most, judge);
  for (auto e = ended_.rbegin(); e != ended_.rend() && snapshot.ended_regions.size() < most.ended; ++e) {
    Region& region = snapshot.ended_regions.emplace_back(region_of_sums(e->region, e->sums, judge));
    region.from_s = seconds(e->from_ns);
    region.until_s = seconds(e->until_ns);
    region.parent = e->parent;
    const auto periods = static_cast<std::ptrdiff_t>(std::min(most.periods, e->periods.size()));
    region.periods.assign(e->periods.end() - periods, e->periods.end());
  }
  for (const EndedLink& e : ended_links_) add_link({e.a, e.b}, e.sums, judge, snapshot.ended_links);
  most_first(snapshot.ended_links, most.ended_links);
  Pattern& pattern = snapshot.pattern;
  pattern.from_s = seconds(pattern_begin_ns_);
  pattern.changes = static_cast<std::uint32_t>(patterns_);
  pattern.modularity = tracker_.modularity();
  pattern.chance_modularity = tracker_.chance_modularity();
  pattern.dropped_regions = dropped_;
  pattern.dropped_messages = dropped_messages_;
  pattern.dropped_bytes = dropped_bytes_;
}

}  // namespace pclscope
