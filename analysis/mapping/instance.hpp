// A mapping problem as numbers that are quick to reach: sites (nodes that take ranks) with their slots, each rank's
// partners with symmetric weights, distances of sites. A Placement is a candidate solution. Capacities hold by
// construction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/mapping/mapping.hpp"

namespace pclscope::mapping {

// Sites beyond this number are left out of the search: those of the current mapping and near it stay.
inline constexpr std::int32_t most_sites = 8192;

// Sites that are a full grid with equal capacities: then whole boxes of it can change places.
struct Grid {
  std::vector<std::int32_t> extents, strides;  // empty: no grid
  std::vector<bool> wraps;
  std::int32_t coordinate(std::int32_t site, std::size_t dimension) const {
    return site / strides[dimension] % extents[dimension];
  }
};

struct Instance {
  std::int32_t ranks = 0, sites = 0, slots = 0;
  std::vector<std::int32_t> node;        // of each site, ascending
  std::vector<std::int32_t> first_slot;  // of each site; sites + 1
  std::vector<std::int32_t> site_of_slot;
  std::vector<std::uint32_t> first;  // of each rank's partners; ranks + 1
  std::vector<std::int32_t> partner;
  std::vector<double> weight;  // both directions together
  std::vector<float> light;    // the same for quick looks
  std::vector<double> far;     // besides, of each partner on another site, however far; empty: none
  std::vector<float> light_far;
  std::vector<std::uint16_t> distances;   // sites x sites; of inter-node objectives 1
  std::vector<std::uint32_t> first_near;  // of each site's nearest others; sites + 1
  std::vector<std::int32_t> near;         // nearest first
  bool uniform = false;                   // all distances are equal
  double mean_weight = 0;                 // of a rank's partners together
  Grid grid;
  std::function<bool()> ended;  // MappingProblem::ended

  bool is_ended() const { return ended && ended(); }
  const std::uint16_t* row(std::int32_t site) const { return &distances[static_cast<std::size_t>(site) * sites]; }
  std::int32_t capacity(std::int32_t site) const { return first_slot[site + 1] - first_slot[site]; }
  // What a partner of the number k, as in `partner`, costs at a distance.
  double cost(std::uint32_t k, std::uint16_t distance) const {
    const double near = weight[k] * distance;
    return far.empty() || distance == 0 ? near : near + far[k];
  }
  double change(std::uint32_t k, std::uint16_t from, std::uint16_t to) const {
    const double near = weight[k] * (to - from);
    return far.empty() ? near : near + far[k] * ((to > 0) - (from > 0));
  }
  std::span<const std::int32_t> near_of(std::int32_t site) const {
    return {near.data() + first_near[site], near.data() + first_near[site + 1]};
  }
};

// The problem must be valid (find_mapping checks). Of a problem that is ended it is incomplete.
Instance make_instance(const MappingProblem& problem);

struct Placement {
  std::vector<std::int32_t> site, slot;  // of each rank
  std::vector<std::int32_t> rank_at;     // each slot; -1 free
};

// Fills slots from wanted sites in the order of ranks; who finds his full goes to the free slot that costs least.
Placement place(const Instance& instance, std::span<const std::int32_t> wanted_site);
double cost_of(const Instance& instance, const Placement& placement);
// Of putting `rank` into `slot`, and who is there into rank's. Negative: better.
double change_of(const Instance& instance, const Placement& placement, std::int32_t rank, std::int32_t slot);
inline void exchange(const Instance& instance, Placement& placement, std::int32_t rank, std::int32_t slot) {
  const std::int32_t old_slot = placement.slot[rank], other = placement.rank_at[slot];
  placement.rank_at[slot] = rank;
  placement.rank_at[old_slot] = other;
  placement.slot[rank] = slot;
  placement.site[rank] = instance.site_of_slot[slot];
  if (other < 0) return;
  placement.slot[other] = old_slot;
  placement.site[other] = instance.site_of_slot[old_slot];
}

}  // namespace pclscope::mapping
