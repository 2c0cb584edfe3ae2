#include "viewer/layout/spatial_values.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/session/harm.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::layout {
namespace {

constexpr std::uint64_t enough_messages = 10;
constexpr std::int32_t most_rank = 1 << 22;

RegionValue whole_run(const Region& region) {
  const bool known = region.messages > 0 && region.level() > 0;
  return {known ? region.level() : 0, region.messages};
}

RegionValue in_period(const session::RegionHistory& history, const TimeRange& period) {
  RegionValue value;
  double sum = 0;
  for (const session::HistoryPoint& point : history.points) {
    if (!(point.begin_s < period.end_s && point.begin_s + point.length_s > period.begin_s)) continue;
    value.messages += point.messages;
    if (point.ratio > 0) sum += static_cast<double>(point.ratio) * point.messages;
  }
  if (value.messages == 0) return value;
  value.ratio = sum / static_cast<double>(value.messages);
  return value;
}

}  // namespace

std::vector<RegionValue> region_values(const SpatialLayout& layout, const session::History* history,
                                       const std::optional<TimeRange>& period) {
  std::vector<RegionValue> values;
  for (const PlacedRegion& region : layout.regions) {
    if (!period) {
      values.push_back(whole_run(layout.snapshot->regions[region.index]));
      continue;
    }
    values.emplace_back();
    if (history == nullptr) continue;
    const auto found = history->regions().find(region.id);
    if (found != history->regions().end()) values.back() = in_period(found->second, *period);
  }
  return values;
}

std::optional<std::size_t> worst_region(const std::vector<RegionValue>& values) {
  std::optional<std::size_t> worst;
  const auto rank_of = [](const RegionValue& v) { return std::pair(v.messages >= enough_messages, v.ratio); };
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].messages == 0 || !(values[i].ratio > 0)) continue;
    if (!worst || rank_of(values[i]) > rank_of(values[*worst])) worst = i;
  }
  return worst;
}

bool latencies_alike(const std::vector<RegionValue>& values) {
  std::vector<double> ratios;
  for (const RegionValue& value : values)
    if (value.messages > 0 && value.ratio > 0) ratios.push_back(value.ratio);
  return session::all_alike(ratios);
}

double latency_top(const std::vector<RegionValue>& values) {
  const auto worst = worst_region(values);
  const double ratio = worst ? values[*worst].ratio : 0;
  double top = 8;
  for (double decade = 10; top < ratio && decade < 1e9; decade *= 10) {
    for (const double step : {1.0, 1.5, 2.0, 3.0, 5.0, 7.0}) top = top < ratio ? step * decade : top;
  }
  return top;
}

std::string ranks_line(const PlacedRegion& region, std::size_t width) {
  if (region.ranks.empty()) return "no ranks";
  std::vector<std::int32_t> ranks;
  for (const PlacedRank& rank : region.ranks) ranks.push_back(rank.rank);
  return std::string(ranks.size() == 1 ? "rank " : "ranks ").append(text::compact_ranks(std::move(ranks), width));
}

std::string region_line(const PlacedRegion& region, const RegionValue& value, std::size_t width) {
  std::string line = std::string("region ")
                         .append(std::to_string(region.id))
                         .append(" (")
                         .append(ranks_line(region, width))
                         .append("): ");
  return line.append(value.ratio > 0 ? text::format_times(value.ratio) : std::string("no messages inside"));
}

RankSummaries::RankSummaries(const Snapshot& snapshot) : snapshot_(&snapshot) {
  std::int32_t last = -1;
  for (const RankSummary& rank : snapshot.ranks) last = rank.rank < most_rank ? std::max(last, rank.rank) : last;
  by_rank_.assign(static_cast<std::size_t>(last + 1), 0);
  for (std::uint32_t i = 0; i < snapshot.ranks.size(); ++i) {
    const std::int32_t rank = snapshot.ranks[i].rank;
    if (rank >= 0 && rank < most_rank) by_rank_[static_cast<std::size_t>(rank)] = i + 1;
  }
}

const RankSummary* RankSummaries::find(std::int32_t rank) const {
  if (rank < 0 || static_cast<std::size_t>(rank) >= by_rank_.size()) return nullptr;
  const std::uint32_t at = by_rank_[static_cast<std::size_t>(rank)];
  return at > 0 ? &snapshot_->ranks[at - 1] : nullptr;
}

namespace {

void colour_by_harm(const SpatialLayout& layout, const Palette& palette, SpatialColours& made) {
  const session::Harms harms(*layout.snapshot);
  const std::vector<double> regions = region_harms(layout);
  std::vector<double> all_ranks;
  for (const PlacedRegion& region : layout.regions)
    for (const PlacedRank& rank : region.ranks) all_ranks.push_back(harms.of_rank(rank.rank));
  made.harm_top = session::harm_top(regions);
  const double rank_top = session::harm_top(all_ranks);
  for (std::size_t i = 0; i < layout.regions.size(); ++i) {
    made.regions.push_back(palette.harm(regions[i] / made.harm_top));
    std::vector<Rgba>& ranks = made.ranks.emplace_back();
    for (const PlacedRank& rank : layout.regions[i].ranks)
      ranks.push_back(palette.harm(harms.of_rank(rank.rank) / rank_top));
  }
  made.links.assign(layout.links.size(), palette.edge);
}

}  // namespace

SpatialColouring colouring_of(const Snapshot& snapshot) {
  return session::Harms(snapshot).lead() ? SpatialColouring::harm : SpatialColouring::latency;
}

std::vector<double> region_harms(const SpatialLayout& layout) {
  const session::Harms harms(*layout.snapshot);
  std::vector<double> values;
  for (const PlacedRegion& region : layout.regions)
    values.push_back(harms.of_region(layout.snapshot->regions[region.index]));
  return values;
}

SpatialColours spatial_colours(const SpatialLayout& layout, const std::vector<RegionValue>& values, bool of_period,
                               SpatialColouring colouring, const Palette& palette) {
  SpatialColours made;
  const bool latency = colouring == SpatialColouring::latency;
  const RankSummaries summaries(*layout.snapshot);
  made.top = latency_top(values);
  if (colouring == SpatialColouring::harm) {
    colour_by_harm(layout, palette, made);
    return made;
  }
  for (std::size_t i = 0; i < layout.regions.size(); ++i) {
    const PlacedRegion& region = layout.regions[i];
    made.regions.push_back(latency ? palette.latency(i < values.size() ? values[i].ratio : 0, made.top)
                                   : palette.region(region.id));
    std::vector<Rgba>& ranks = made.ranks.emplace_back(region.ranks.size(), made.regions.back());
    if (!latency || of_period) continue;
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      const RankSummary* summary = summaries.find(region.ranks[k].rank);
      ranks[k] = palette.latency(summary != nullptr && summary->receives > 0 ? summary->level() : 0, made.top);
    }
  }
  for (const PlacedLink& link : layout.links) {
    const RegionLink& values_of = layout.snapshot->links[link.index];
    if (latency) made.links.push_back(palette.latency(values_of.messages > 0 ? values_of.level() : 0, made.top));
    else made.links.push_back(mix(made.regions[link.a], made.regions[link.b], 0.5f));
  }
  return made;
}

}  // namespace pclscope::layout
