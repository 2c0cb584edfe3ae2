#include "viewer/layout/spatial_layout.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "viewer/layout/spatial_edges.hpp"
#include "viewer/layout/spatial_ranks.hpp"

namespace pclscope::layout {
namespace {

constexpr std::size_t most_regions = 20'000, most_ranks = 100'000, most_pairs = 3000;
constexpr std::size_t region_steps = 600'000;  // of the forces between regions
constexpr std::size_t rank_steps = 1'500'000;  // of those between ranks, all regions together: some seconds

std::uint64_t digest(std::span<const Spring> springs) {  // FNV-1a over who talks to whom
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const Spring& s : springs) h = ((h ^ s.a) * 0x100000001b3u ^ s.b) * 0x100000001b3u;
  return h | 1;
}

// Regions of different ids with the ranks that no earlier one has.
std::vector<std::vector<std::int32_t>> take_regions(const Snapshot& snapshot, SpatialLayout& layout) {
  std::vector<std::vector<std::int32_t>> members;
  std::unordered_set<std::int32_t> ids, taken;
  for (std::uint32_t i = 0; i < snapshot.regions.size() && layout.regions.size() < most_regions; ++i) {
    const Region& region = snapshot.regions[i];
    if (!ids.insert(region.id).second) continue;
    std::vector<std::int32_t> ranks;
    for (const std::int32_t rank : region.ranks) {
      if (rank >= 0 && taken.size() < most_ranks && taken.insert(rank).second) ranks.push_back(rank);
    }
    std::sort(ranks.begin(), ranks.end());
    PlacedRegion placed;
    placed.id = region.id;
    placed.index = i;
    layout.ranks += ranks.size();
    layout.regions.push_back(std::move(placed));
    members.push_back(std::move(ranks));
  }
  return members;
}

using OldRegions = std::unordered_map<std::int32_t, const PlacedRegion*>;

void fill_regions(SpatialLayout& layout, const std::vector<std::vector<std::int32_t>>& members,
                  const std::vector<PlacedPair>& pairs, const OldRegions& old, const Stopping& stopping) {
  const int steps =
      static_cast<int>(std::clamp<std::size_t>(rank_steps / std::max<std::size_t>(1, layout.ranks), 60, 250));
  std::vector<std::vector<Spring>> talk(layout.regions.size());
  for (const PlacedPair& pair : pairs) {
    if (pair.a.region == pair.b.region)
      talk[pair.a.region].push_back({pair.a.rank, pair.b.rank, static_cast<float>(pair.messages)});
  }
  for (std::size_t i = 0; i < layout.regions.size(); ++i) {
    PlacedRegion& region = layout.regions[i];
    const auto found = old.find(region.id);
    const PlacedRegion* before = found != old.end() ? found->second : nullptr;
    std::sort(talk[i].begin(), talk[i].end(),
              [](const Spring& x, const Spring& y) { return x.a < y.a || (x.a == y.a && x.b < y.b); });
    region.talk = talk[i].empty() ? 0 : digest(talk[i]);
    const auto same_rank = [](const PlacedRank& placed, std::int32_t rank) { return placed.rank == rank; };
    if (before != nullptr && before->talk == region.talk &&
        std::equal(before->ranks.begin(), before->ranks.end(), members[i].begin(), members[i].end(), same_rank)) {
      region.ranks = before->ranks;
      region.radius = before->radius;
    } else {
      place_ranks(region, members[i], talk[i], before, steps, stopping);
    }
  }
}

// A link keeps the weight that it had for the forces until it is twice or half of that, relative to the heaviest, and
// one that has dropped out of the list of the most (live: 200) stays: what the forces see changes rarely. True: it
// changed.
bool update_springs(SpatialLayout& layout, const SpatialLayout* before) {
  if (before != nullptr) layout.springs = before->springs;
  std::unordered_set<std::int32_t> ids;
  for (const PlacedRegion& region : layout.regions) ids.insert(region.id);
  const auto gone = std::erase_if(
      layout.springs, [&](const auto& s) { return !ids.contains(s.first.first) || !ids.contains(s.first.second); });
  const std::vector<RegionLink>& links = layout.snapshot->links;
  std::uint64_t heaviest = 1;
  for (const PlacedLink& link : layout.links) heaviest = std::max(heaviest, links[link.index].messages);
  bool changed = gone > 0;
  for (const PlacedLink& link : layout.links) {
    const float weight = std::max(
        1e-3f, static_cast<float>(static_cast<double>(links[link.index].messages) / static_cast<double>(heaviest)));
    float& kept = layout.springs[std::minmax(layout.regions[link.a].id, layout.regions[link.b].id)];
    if (kept > 0 && weight < 2 * kept && weight > kept / 2) continue;
    kept = weight;
    changed = true;
  }
  return changed;
}

std::vector<Spring> springs_of(const SpatialLayout& layout) {
  std::unordered_map<std::int32_t, std::uint32_t> by_id;
  for (std::uint32_t i = 0; i < layout.regions.size(); ++i) by_id.emplace(layout.regions[i].id, i);
  std::vector<Spring> made;
  for (const auto& [ids, weight] : layout.springs)
    made.push_back({by_id[ids.first], by_id[ids.second], std::sqrt(weight)});
  return made;
}

// Turned so that the longest extent lies level: screens are wide.
void lay_level(std::vector<Body>& bodies) {
  double xx = 0, yy = 0, xy = 0, mx = 0, my = 0;
  for (const Body& b : bodies) mx += static_cast<double>(b.at.x), my += static_cast<double>(b.at.y);
  mx /= static_cast<double>(bodies.size());
  my /= static_cast<double>(bodies.size());
  for (const Body& b : bodies) {
    const double x = static_cast<double>(b.at.x) - mx, y = static_cast<double>(b.at.y) - my;
    xx += x * x, yy += y * y, xy += x * y;
  }
  const double angle = -0.5 * std::atan2(2 * xy, xx - yy);
  const auto c = static_cast<float>(std::cos(angle)), s = static_cast<float>(std::sin(angle));
  for (Body& b : bodies) b.at = {b.at.x * c - b.at.y * s, b.at.x * s + b.at.y * c};
}

std::unordered_map<std::int32_t, Point> old_rank_places(const SpatialLayout* before) {
  std::unordered_map<std::int32_t, Point> made;
  if (before == nullptr) return made;
  for (const PlacedRegion& region : before->regions) {
    for (const PlacedRank& rank : region.ranks) made.emplace(rank.rank, region.at + rank.offset);
  }
  return made;
}

struct Start {
  std::vector<Body> bodies;
  std::vector<bool> old;  // lay somewhere before, or is pinned
  std::size_t known = 0;  // of those
  bool guessed = false;   // some new one starts where its ranks were
  bool still = true;      // all lay there before, as large
};

// Old regions where they were, new ones where their ranks were, others on the spiral.
Start start_places(const SpatialLayout& layout, const SpatialLayout* before, const OldRegions& old, const Pins& pins) {
  Start start;
  double area = 0;
  for (const PlacedRegion& r : layout.regions) area += static_cast<double>(r.radius) * static_cast<double>(r.radius);
  const float step =
      static_cast<float>(std::sqrt(area / static_cast<double>(std::max<std::size_t>(1, layout.regions.size())))) *
          1.6f +
      1;
  const bool none_new = std::all_of(layout.regions.begin(), layout.regions.end(),
                                    [&](const PlacedRegion& r) { return old.contains(r.id); });
  const auto places = old_rank_places(none_new ? nullptr : before);
  for (std::size_t i = 0; i < layout.regions.size(); ++i) {
    const PlacedRegion& region = layout.regions[i];
    Body body{spiral_place(i, step), region.radius, false};
    const auto was = old.find(region.id);
    Point sum;
    float count = 0;
    for (const PlacedRank& rank : region.ranks) {
      const auto place = places.find(rank.rank);
      if (place == places.end()) continue;
      sum = sum + place->second;
      ++count;
    }
    if (was != old.end()) body.at = was->second->at;
    else if (count > 0) body.at = sum * (1 / count);
    start.guessed |= was == old.end() && count > 0;
    const auto pin = pins.find(region.id);
    if (pin != pins.end()) body.at = pin->second, body.fixed = true;
    start.old.push_back(was != old.end() || body.fixed);
    start.known += start.old.back() ? 1 : 0;
    start.still = start.still && was != old.end() && was->second->at == body.at && was->second->radius == body.radius;
    start.bodies.push_back(body);
  }
  return start;
}

void place_regions(SpatialLayout& layout, const SpatialLayout* before, const OldRegions& old, const Pins& pins,
                   bool links_changed, const Stopping& stopping) {
  if (layout.regions.empty()) return;
  Start start = start_places(layout, before, old, pins);
  std::vector<Body>& bodies = start.bodies;
  if (start.still && !links_changed) {
    for (std::size_t i = 0; i < bodies.size(); ++i) layout.regions[i].at = bodies[i].at;
    return;
  }
  const std::vector<Spring> springs = springs_of(layout);
  float mean = 0;
  for (const Body& body : bodies) mean += body.radius / static_cast<float>(bodies.size());
  ForceOptions options;
  options.gap = 2 + mean * 0.5f;
  if (start.known == 0) {
    options.steps = static_cast<int>(std::clamp<std::size_t>(region_steps / bodies.size(), 40, 300));
    spread(bodies, springs, options, stopping);
    if (!start.guessed) lay_level(bodies);
  } else if (start.known < bodies.size()) {  // the new ones find their place among the old
    std::vector<Body> placing = bodies;
    for (std::size_t i = 0; i < placing.size(); ++i) placing[i].fixed = start.old[i];
    options.steps = 80;
    spread(placing, springs, options, stopping);
    for (std::size_t i = 0; i < placing.size(); ++i) bodies[i].at = placing[i].at;
  } else if (links_changed) {
    options.steps = 20;
    options.heat = 0.045f;
    spread(bodies, springs, options, stopping);
  }
  separate(bodies, 1.5f + mean * 0.3f, bodies.size() > 2000 ? 150 : 400, 0, stopping);
  for (std::size_t i = 0; i < bodies.size(); ++i) layout.regions[i].at = bodies[i].at;
}

RankIndex index_ranks(const std::vector<std::vector<std::int32_t>>& members) {
  RankIndex made;
  for (std::uint32_t r = 0; r < members.size(); ++r) {
    for (std::uint32_t i = 0; i < members[r].size(); ++i) made.emplace(members[r][i], RankAt{r, i});
  }
  return made;
}

}  // namespace

SpatialLayout spatial_layout(std::shared_ptr<const Snapshot> snapshot, const SpatialLayout* before, const Pins& pins,
                             const Stopping& stopping) {
  SpatialLayout layout;
  layout.snapshot = std::move(snapshot);
  if (!layout.snapshot) return layout;
  const auto members = take_regions(*layout.snapshot, layout);
  OldRegions old;
  if (before != nullptr) {
    for (const PlacedRegion& region : before->regions) old.emplace(region.id, &region);
  }
  layout.pairs = pairs_of(*layout.snapshot, index_ranks(members));
  fill_regions(layout, members, layout.pairs, old, stopping);
  if (layout.pairs.size() > most_pairs) layout.pairs.resize(most_pairs);
  layout.links = links_of(*layout.snapshot, layout.regions);
  const bool links_changed = update_springs(layout, before);
  place_regions(layout, before, old, pins, links_changed, stopping);
  draw_lines(layout, before, stopping);
  return layout;
}

Rect bounds(const SpatialLayout& layout) {
  if (layout.regions.empty()) return {};
  Rect all{layout.regions[0].at, layout.regions[0].at};
  for (const PlacedRegion& r : layout.regions) {
    all.low = {std::min(all.low.x, r.at.x - r.radius), std::min(all.low.y, r.at.y - r.radius)};
    all.high = {std::max(all.high.x, r.at.x + r.radius), std::max(all.high.y, r.at.y + r.radius)};
  }
  return all;
}

}  // namespace pclscope::layout
