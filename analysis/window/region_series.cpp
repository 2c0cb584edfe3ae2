#include "analysis/window/region_series.hpp"

#include <algorithm>

namespace pclscope {

bool RegionSeries::recluster(std::int32_t ranks, const PairTable& pairs, const RegionOptions& options, double margin) {
  std::vector<Link> links;
  links.reserve(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const PairTable::Pair& p = pairs.pair(i);
    links.push_back({p.source, p.destination, static_cast<double>(pairs.total(i).messages)});
  }
  if (!tracker_.update(CommunicationGraph(ranks, links), options, margin)) return false;
  totals_.assign(tracker_.regions().size(), {});
  links_.clear();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (const std::int32_t region = region_of(pairs.pair(i)); region >= 0) totals_[region] += pairs.total(i);
    if (const auto link = link_of(pairs.pair(i))) links_[*link] += pairs.total(i);
  }
  std::unordered_map<std::int32_t, std::deque<Point>> kept;
  for (const TrackedRegion& r : tracker_.regions()) kept[r.id] = std::move(history_[r.id]);
  history_ = std::move(kept);
  ids_.clear();
  std::fill(id_of_rank_.begin(), id_of_rank_.end(), -1);
  for (const TrackedRegion& r : tracker_.regions()) {
    ids_.push_back(r.id);
    for (const std::int32_t rank : r.ranks) id_of_rank_[rank] = r.id;
  }
  return true;
}

std::optional<std::uint64_t> RegionSeries::link_of(const PairTable::Pair& pair) const {
  const std::int32_t a = tracker_.region_of(pair.source), b = tracker_.region_of(pair.destination);
  if (a < 0 || b < 0 || a == b) return std::nullopt;
  return static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<std::uint32_t>(std::max(a, b));
}

void RegionSeries::push_history(std::deque<Point>& history, Point point) {
  history.push_back(point);
  if (history.size() > history_limit_) history.pop_front();
}

namespace {
RegionWindow region_window(std::int32_t id, const LatencySums& sums) {
  return {id,
          sums.messages,
          sums.bytes,
          sums.delayed,
          sums.mean_ratio(),
          static_cast<double>(sums.blocked.late_sender) * 1e-9,
          static_cast<double>(sums.blocked.late_receiver) * 1e-9,
          static_cast<double>(sums.blocked.transfer()) * 1e-9,
          sums.mean_transfer_ratio(),
          sums.typical_ratio()};
}
}  // namespace

void RegionSeries::fold(const PairTable& pairs) {
  for (const std::uint32_t i : pairs.touched()) {
    if (const std::int32_t region = region_of(pairs.pair(i)); region >= 0) totals_[region] += pairs.window(i);
    if (const auto link = link_of(pairs.pair(i))) links_[*link] += pairs.window(i);
  }
}

std::uint64_t RegionSeries::close_window(const LatencySums& all, std::span<const RegionSums> sums, std::int64_t skipped,
                                         Window& window) {
  std::unordered_map<std::int32_t, const LatencySums*> by_id;
  for (const RegionSums& s : sums) by_id[s.region] = &s.sums;
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
    if (of_region.messages > 0) window.regions.push_back(region_window(id, of_region));
  }
  return evolutions_.close_window(window, ids_);
}

std::vector<Region> RegionSeries::regions(std::size_t periods, const PairTable& pairs,
                                          std::span<const RatioSums> ratios) const {
  std::vector<Region> list;
  std::vector<RatioSums> of_region(tracker_.regions().size());
  for (std::size_t i = 0; i < ratios.size(); ++i)
    if (const std::int32_t region = region_of(pairs.pair(i)); region >= 0) of_region[region] += ratios[i];
  for (std::size_t r = 0; r < tracker_.regions().size(); ++r) {
    const TrackedRegion& tracked = tracker_.regions()[r];
    const LatencySums& sums = totals_[r];
    Region& region = list.emplace_back();
    region.id = tracked.id;
    region.ranks = tracked.ranks;
    region.messages = sums.messages;
    region.bytes = sums.bytes;
    region.delayed = sums.delayed;
    region.mean_latency_ratio = of_region[r].mean_time();
    region.mean_transfer_ratio = of_region[r].mean_transfer();
    region.typical_ratio = of_region[r].typical_time();
    region.delayed_share =
        sums.messages == 0 ? 0 : static_cast<double>(sums.delayed) / static_cast<double>(sums.messages);
    region.late_sender_s = static_cast<double>(sums.blocked.late_sender) * 1e-9;
    region.late_receiver_s = static_cast<double>(sums.blocked.late_receiver) * 1e-9;
    region.transfer_s = static_cast<double>(sums.blocked.transfer()) * 1e-9;
    region.periods = evolutions_.newest(tracked.id, periods);
    const auto history = history_.find(tracked.id);
    if (history == history_.end()) continue;
    for (const Point& p : history->second) {
      region.history_ratio.push_back(p.ratio);
      region.history_messages.push_back(p.messages);
    }
  }
  return list;
}

std::vector<RegionLink> RegionSeries::links(std::size_t most, const PairTable& pairs,
                                            std::span<const RatioSums> ratios) const {
  std::vector<RegionLink> list;
  std::unordered_map<std::uint64_t, RatioSums> of_link;
  for (std::size_t i = 0; i < ratios.size(); ++i)
    if (const auto link = link_of(pairs.pair(i))) of_link[*link] += ratios[i];
  for (const auto& [key, sums] : links_) {
    const std::int32_t a = tracker_.regions()[key >> 32].id, b = tracker_.regions()[key & 0xffffffffu].id;
    const RegionWindow w = region_window(-1, sums);
    const RatioSums& judged = of_link[key];
    list.push_back({std::min(a, b), std::max(a, b), w.messages, w.bytes, w.delayed, judged.mean_time(),
                    judged.mean_transfer(), w.late_sender_s, w.late_receiver_s, w.transfer_s, judged.typical_time()});
  }
  std::sort(list.begin(), list.end(), [](const RegionLink& x, const RegionLink& y) {
    return x.messages != y.messages ? x.messages > y.messages : x.a != y.a ? x.a < y.a : x.b < y.b;
  });
  if (list.size() > most) list.resize(most);
  return list;
}

}  // namespace pclscope
