// How regions begin, end and take each other's place: the part of RegionSeries that runs when regions are made anew.
#include <algorithm>

#include "analysis/window/region_series.hpp"

namespace pclscope {

namespace {

constexpr std::size_t most_replaced = 4096;  // forgotten regions whose successors are known

std::size_t shared_ranks(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::size_t shared = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) ++shared, ++i, ++j;
    else if (a[i] < b[j]) ++i;
    else ++j;
  }
  return shared;
}

}  // namespace

void RegionSeries::begin_pattern(std::int64_t begin_ns, const PairTable& pairs, const RecentWindows& recent) {
  if (next_pattern_) return;  // no regions were made of that one: they will be of what it is now
  begin_ns = recent.each_since(begin_ns, [](std::uint32_t, const LatencySums&, std::span<const SizeTimes>) {});
  next_pattern_ = {begin_ns, PairBaseline(pairs, recent, begin_ns)};
}

bool RegionSeries::recluster(std::int32_t ranks, const PairTable& pairs, const GraphChange& graph,
                             const RegionOptions& options, double margin) {
  std::vector<Link> links;
  links.reserve(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const PairTable::Pair& p = pairs.pair(i);
    links.push_back({p.source, p.destination, graph.weight(i)});
  }
  const bool other_pattern = next_pattern_.has_value();
  if (other_pattern) turn_to_next_pattern(pairs);
  const std::vector<TrackedRegion> old = tracker_.regions();
  const bool changed = tracker_.update(CommunicationGraph(ranks, links), options, margin);
  if (changed) replace(old);
  since_ = sums_until(pairs, nullptr);
  return changed;
}

// What regions had until the next pattern began is theirs for good.
void RegionSeries::turn_to_next_pattern(const PairTable& pairs) {
  const Sums until = sums_until(pairs, &next_pattern_->base);
  for (std::size_t r = 0; r < until.regions.size(); ++r) lives_[tracker_.regions()[r].id].before += until.regions[r];
  for (const auto& [key, sums] : until.links) links_before_[ids_of(key)] += sums;
  base_ = std::move(next_pattern_->base);
  pattern_begin_ns_ = next_pattern_->begin_ns;
  next_pattern_.reset();
  ++patterns_;
}

void RegionSeries::replace(const std::vector<TrackedRegion>& old) {
  std::vector<std::int32_t> present;
  for (const TrackedRegion& r : tracker_.regions()) present.push_back(r.id);
  std::sort(present.begin(), present.end());
  const auto goes_on = [&](std::int32_t id) { return std::binary_search(present.begin(), present.end(), id); };
  for (const TrackedRegion& region : old) {
    if (goes_on(region.id)) continue;
    const auto life = lives_.find(region.id);
    if (life->second.from_ns < pattern_begin_ns_) {
      end(region, life->second);
    } else {
      std::size_t most = 0;
      for (const TrackedRegion& r : tracker_.regions())
        if (const std::size_t shared = shared_ranks(region.ranks, r.ranks); shared > most) {
          most = shared;
          took_place_[region.id] = r.id;
        }
    }
    lives_.erase(life);
  }
  while (took_place_.size() > most_replaced) took_place_.erase(took_place_.begin());
  end_links(present);
  for (const TrackedRegion& r : tracker_.regions())
    if (lives_.count(r.id) == 0) lives_[r.id] = {pattern_begin_ns_, parent_of(r), {}};
  keep_bounds();
  std::unordered_map<std::int32_t, std::deque<Point>> kept;
  for (const TrackedRegion& r : tracker_.regions()) kept[r.id] = std::move(history_[r.id]);
  history_ = std::move(kept);
  ids_.clear();
  std::fill(id_of_rank_.begin(), id_of_rank_.end(), -1);
  for (const TrackedRegion& r : tracker_.regions()) {
    ids_.push_back(r.id);
    for (const std::int32_t rank : r.ranks) id_of_rank_[rank] = r.id;
  }
}

void RegionSeries::end(const TrackedRegion& region, Life& life) {
  ended_.push_back({region, life.from_ns, pattern_begin_ns_, life.parent, std::move(life.before), {}});
}

void RegionSeries::end_links(const std::vector<std::int32_t>& present) {
  const auto goes_on = [&](std::int32_t id) { return std::binary_search(present.begin(), present.end(), id); };
  for (auto it = links_before_.begin(); it != links_before_.end();) {
    const auto [a, b] = it->first;
    if (goes_on(a) && goes_on(b)) {
      ++it;
      continue;
    }
    ended_links_.push_back({a, b, std::move(it->second)});
    it = links_before_.erase(it);
  }
}

// Of the regions that ended when the present pattern began.
std::int32_t RegionSeries::parent_of(const TrackedRegion& region) const {
  std::int32_t parent = -1;
  std::size_t most = 0;
  for (auto e = ended_.rbegin(); e != ended_.rend() && e->until_ns == pattern_begin_ns_; ++e) {
    const std::size_t shared = shared_ranks(region.ranks, e->region.ranks);
    if (shared < most || shared == 0 || (shared == most && parent < e->region.id)) continue;
    most = shared;
    parent = e->region.id;
  }
  return parent;
}

void RegionSeries::keep_bounds() {
  const auto drop = [&](const IntervalSums& sums) {
    ++dropped_;
    dropped_messages_ += sums.sums.messages;
    dropped_bytes_ += sums.sums.bytes;
  };
  while (ended_.size() > most_ended_) {
    const auto least = std::min_element(ended_.begin(), ended_.end(), [](const Ended& a, const Ended& b) {
      return a.sums.sums.messages < b.sums.sums.messages;
    });
    drop(least->sums);
    ended_.erase(least);
  }
  if (ended_links_.size() <= 8 * most_ended_) return;
  std::stable_sort(ended_links_.begin(), ended_links_.end(),
                   [](const EndedLink& a, const EndedLink& b) { return a.sums.sums.messages > b.sums.sums.messages; });
  for (std::size_t i = 4 * most_ended_; i < ended_links_.size(); ++i) drop(ended_links_[i].sums);
  ended_links_.resize(4 * most_ended_);
}

IntervalSums* RegionSeries::sums_of(const PairTable::Pair& pair, Sums& sums) const {
  if (const std::int32_t region = region_of(pair); region >= 0) return &sums.regions[region];
  const auto link = link_of(pair);
  return link ? &sums.links[*link] : nullptr;
}

RegionSeries::Sums RegionSeries::sums_until(const PairTable& pairs, const PairBaseline* until) const {
  Sums sums;
  sums.regions.resize(tracker_.regions().size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    IntervalSums* const to = sums_of(pairs.pair(i), sums);
    if (to == nullptr) continue;
    to->sums += difference(until == nullptr ? pairs.total(i) : until->sums(i), base_.sums(i));
    const auto add = [&](bool inter_node, std::uint32_t bin, const PairTable::TimeSums& times) {
      to->add_times(inter_node, bin, times);
    };
    if (until == nullptr) pairs.total_times(i, add);
    else until->times(i, add);
    base_.times(i, [&](bool inter_node, std::uint32_t bin, const PairTable::TimeSums& t) {
      to->add_times(inter_node, bin, {0 - t.timed, -t.time, -t.transfer, -t.log});  // right modulo 2^64
    });
  }
  return sums;
}

const std::vector<std::int32_t>* RegionSeries::ranks_of(std::int32_t id) const {
  for (const TrackedRegion& r : tracker_.regions())
    if (r.id == id) return &r.ranks;
  for (const Ended& e : ended_)
    if (e.region.id == id) return &e.region.ranks;
  return nullptr;
}

std::int32_t RegionSeries::present_id(std::int32_t id) const {
  for (auto next = took_place_.find(id); next != took_place_.end(); next = took_place_.find(id)) id = next->second;
  return id;
}

}  // namespace pclscope
