#include "viewer/layout/spatial_edges.hpp"

#include <algorithm>
#include <unordered_set>

#include "viewer/layout/edge_bundling.hpp"

namespace pclscope::layout {
namespace {

constexpr std::size_t most_links = 2000;
constexpr std::size_t most_traffic = 2'000'000;

std::uint64_t mixed(std::int32_t a, std::int32_t b) {  // SplitMix64's last step, over both ranks
  std::uint64_t x = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32 | static_cast<std::uint32_t>(b)) +
                    0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// From rim to rim; touching or overlapping discs: between the middles.
StraightEdge rim_to_rim(const PlacedRegion& a, const PlacedRegion& b) {
  const Point between = b.at - a.at;
  const float far = length(between);
  if (!(far > a.radius + b.radius + 0.01f)) return {a.at, b.at};
  return {a.at + between * (a.radius / far), b.at - between * (b.radius / far)};
}

bool same_places(const SpatialLayout& a, const SpatialLayout& b) {
  return std::equal(a.regions.begin(), a.regions.end(), b.regions.begin(), b.regions.end(),
                    [](const PlacedRegion& x, const PlacedRegion& y) {
                      return x.id == y.id && x.at == y.at && x.radius == y.radius && x.ranks == y.ranks;
                    });
}

// Which edges there are decides their lines, not the order of their messages.
template <class Edges, class Same>
bool take_lines(Edges& now, const Edges& before, Same same) {
  if (now.size() != before.size()) return false;
  std::vector<std::size_t> found;
  std::unordered_multimap<std::uint64_t, std::size_t> by_ends;
  for (std::size_t i = 0; i < before.size(); ++i) by_ends.emplace(same(before[i]), i);
  for (const auto& edge : now) {
    const auto at = by_ends.find(same(edge));
    if (at == by_ends.end()) return false;
    found.push_back(at->second);
    by_ends.erase(at);
  }
  for (std::size_t i = 0; i < now.size(); ++i) now[i].line = before[found[i]].line;
  return true;
}

std::uint64_t ends_of(const PlacedLink& link) { return static_cast<std::uint64_t>(link.a) << 32 | link.b; }
std::uint64_t ends_of(const PlacedPair& pair) {  // regions < 2^15, ranks inside them < 2^17
  const auto end = [](RankAt at) { return static_cast<std::uint64_t>(at.region) << 17 | at.rank; };
  return (end(pair.a) << 32) ^ end(pair.b);
}

void bundle_links(SpatialLayout& layout, const Stopping& stopping) {
  std::vector<StraightEdge> edges;
  for (const PlacedLink& link : layout.links)
    edges.push_back(rim_to_rim(layout.regions[link.a], layout.regions[link.b]));
  auto lines = bundle_edges(edges, {}, stopping);
  for (std::size_t i = 0; i < lines.size(); ++i) layout.links[i].line = std::move(lines[i]);
}

// Inside a region the pattern itself is worth seeing: straight.
void bundle_pairs(SpatialLayout& layout, const Stopping& stopping) {
  std::vector<StraightEdge> edges;
  std::vector<std::size_t> of;
  for (std::size_t i = 0; i < layout.pairs.size(); ++i) {
    PlacedPair& pair = layout.pairs[i];
    pair.line = {place_of(layout, pair.a), place_of(layout, pair.b)};
    if (pair.a.region == pair.b.region) continue;
    edges.push_back({pair.line[0], pair.line[1]});
    of.push_back(i);
  }
  auto lines = bundle_edges(edges, {}, stopping);
  for (std::size_t i = 0; i < lines.size(); ++i) layout.pairs[of[i]].line = std::move(lines[i]);
}

}  // namespace

std::vector<PlacedPair> pairs_of(const Snapshot& snapshot, const RankIndex& ranks) {
  std::unordered_map<std::uint64_t, PlacedPair> both;
  std::size_t seen = 0;
  for (const PairTraffic& traffic : snapshot.traffic) {
    const auto low = ranks.find(std::min(traffic.source, traffic.destination)),
               high = ranks.find(std::max(traffic.source, traffic.destination));
    if (low == ranks.end() || high == ranks.end() || low == high || traffic.messages == 0) continue;
    if (++seen > most_traffic) break;
    const std::uint64_t key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(low->first)) << 32 |
                              static_cast<std::uint32_t>(high->first);
    PlacedPair& pair = both[key];
    pair.a = low->second;
    pair.b = high->second;
    pair.messages += std::min(traffic.messages, UINT64_MAX / 2 - pair.messages / 2);
  }
  std::vector<std::pair<std::uint64_t, PlacedPair>> sorted;
  for (auto& [key, pair] : both)
    sorted.emplace_back(mixed(static_cast<std::int32_t>(key >> 32), static_cast<std::int32_t>(key & UINT32_MAX)),
                        std::move(pair));
  std::sort(sorted.begin(), sorted.end(), [](const auto& x, const auto& y) {
    return x.second.messages > y.second.messages || (x.second.messages == y.second.messages && x.first < y.first);
  });
  std::vector<PlacedPair> made;
  for (auto& [order, pair] : sorted) made.push_back(std::move(pair));
  return made;
}

std::vector<PlacedLink> links_of(const Snapshot& snapshot, const std::vector<PlacedRegion>& regions) {
  std::unordered_map<std::int32_t, std::uint32_t> by_id;
  for (std::uint32_t i = 0; i < regions.size(); ++i) by_id.emplace(regions[i].id, i);
  std::vector<PlacedLink> made;
  std::unordered_set<std::uint64_t> seen;
  for (std::uint32_t i = 0; i < snapshot.links.size(); ++i) {
    const auto a = by_id.find(snapshot.links[i].a), b = by_id.find(snapshot.links[i].b);
    if (a == by_id.end() || b == by_id.end() || a == b) continue;
    if (!seen.insert(static_cast<std::uint64_t>(std::min(a->second, b->second)) << 32 | std::max(a->second, b->second))
             .second)
      continue;
    made.push_back({std::min(a->second, b->second), std::max(a->second, b->second), i, {}});
  }
  std::stable_sort(made.begin(), made.end(), [&](const PlacedLink& x, const PlacedLink& y) {
    return snapshot.links[x.index].messages > snapshot.links[y.index].messages;
  });
  if (made.size() > most_links) made.resize(most_links);
  return made;
}

void draw_lines(SpatialLayout& layout, const SpatialLayout* before, const Stopping& stopping) {
  const bool still = before != nullptr && same_places(layout, *before);
  const auto ends = [](const auto& edge) { return ends_of(edge); };
  if (!still || !take_lines(layout.links, before->links, ends)) bundle_links(layout, stopping);
  if (!still || !take_lines(layout.pairs, before->pairs, ends)) bundle_pairs(layout, stopping);
}

}  // namespace pclscope::layout
