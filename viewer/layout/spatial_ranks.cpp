#include "viewer/layout/spatial_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

namespace pclscope::layout {
namespace {

constexpr std::size_t most_on_ring = 6;
constexpr std::size_t most_by_forces = 20'000;
constexpr float spiral_step = 1.6f;  // neighbours 3 apart: a third of the disc is covered
constexpr float side = 2.9f;         // between neighbours on a ring
constexpr float rim = 0.7f;          // free between the outermost dots and the disc's edge

float ring_radius(std::size_t ranks) {
  return ranks < 2 ? 0 : side / 2 / static_cast<float>(std::sin(std::numbers::pi / static_cast<double>(ranks)));
}

Point on_ring(std::size_t slot, std::size_t ranks) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(slot) / static_cast<double>(ranks) -
                       std::numbers::pi * (ranks == 2 ? 1 : 0.75);
  const float r = ring_radius(ranks);
  return {r * static_cast<float>(std::cos(angle)), r * static_cast<float>(std::sin(angle))};
}

using Slots = std::unordered_map<std::int32_t, const PlacedRank*>;

Slots places_before(const PlacedRegion* before) {
  Slots made;
  if (before == nullptr) return made;
  for (const PlacedRank& rank : before->ranks) made.emplace(rank.rank, &rank);
  return made;
}

// Those who were there keep their slots, the new ones fill the free slots from the middle. Slots far outside are given
// up.
void on_spiral(PlacedRegion& region, const std::vector<std::int32_t>& ranks, const PlacedRegion* before) {
  const std::size_t slots = ranks.size() + ranks.size() / 4 + 1;
  const bool keep = before != nullptr && before->talk == 0 && before->ranks.size() > most_on_ring;
  const Slots old = places_before(keep ? before : nullptr);
  std::vector<bool> taken(slots, false);
  for (const std::int32_t rank : ranks) {
    const auto found = old.find(rank);
    if (found != old.end() && found->second->slot < slots) taken[found->second->slot] = true;
  }
  std::size_t free = 0, last = 0;
  for (const std::int32_t rank : ranks) {
    const auto found = old.find(rank);
    std::size_t slot = 0;
    if (found != old.end() && found->second->slot < slots) {
      slot = found->second->slot;
    } else {
      while (taken[free]) ++free;
      slot = free++;
    }
    last = std::max(last, slot);
    region.ranks.push_back({rank, spiral_place(slot, spiral_step), static_cast<std::uint32_t>(slot)});
  }
  region.radius = disc_radius(last + 1);
}

void by_forces(PlacedRegion& region, const std::vector<std::int32_t>& ranks, std::span<const Spring> talk,
               const PlacedRegion* before, int steps, const Stopping& stopping) {
  const Slots old = places_before(before);
  std::vector<Body> bodies;
  std::size_t known = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto found = old.find(ranks[i]);
    known += found != old.end() ? 1 : 0;
    bodies.push_back({found != old.end() ? found->second->offset : spiral_place(i, spiral_step), 1, false});
  }
  ForceOptions options;
  options.gap = 0.8f;
  options.steps = steps;
  options.heat = 1;
  if (known * 2 > ranks.size()) {
    options.steps = 20;
    options.heat = 0.045f;
  }
  spread(bodies, talk, options, stopping);
  region.radius = disc_radius(ranks.size());
  Point middle;
  for (const Body& body : bodies) middle = middle + body.at * (1 / static_cast<float>(bodies.size()));
  float farthest = 0;
  for (Body& body : bodies) body.at = known * 2 > ranks.size() ? body.at : body.at - middle;
  for (const Body& body : bodies) farthest = std::max(farthest, length(body.at));
  const float room = region.radius - rim - 1;
  if (farthest > room) {  // shrunk as a whole rather than pressed against the rim
    for (Body& body : bodies) body.at = body.at * (room / farthest);
  }
  separate(bodies, 0.6f, ranks.size() > 4000 ? 60 : 150, region.radius - rim, stopping);
  for (std::size_t i = 0; i < ranks.size(); ++i)
    region.ranks.push_back({ranks[i], bodies[i].at, static_cast<std::uint32_t>(i)});
}

}  // namespace

float disc_radius(std::size_t ranks) {
  const float outermost =
      ranks <= most_on_ring ? ring_radius(ranks) : spiral_step * std::sqrt(static_cast<float>(ranks));
  return outermost + 1 + rim;
}

void place_ranks(PlacedRegion& region, const std::vector<std::int32_t>& ranks, std::span<const Spring> talk,
                 const PlacedRegion* before, int steps, const Stopping& stopping) {
  region.ranks.clear();
  region.ranks.reserve(ranks.size());
  region.radius = disc_radius(ranks.size());
  if (ranks.size() <= most_on_ring) {
    for (std::size_t i = 0; i < ranks.size(); ++i)
      region.ranks.push_back({ranks[i], on_ring(i, ranks.size()), static_cast<std::uint32_t>(i)});
  } else if (talk.empty() || ranks.size() > most_by_forces) {
    on_spiral(region, ranks, before);
  } else {
    by_forces(region, ranks, talk, before, steps, stopping);
  }
}

}  // namespace pclscope::layout
