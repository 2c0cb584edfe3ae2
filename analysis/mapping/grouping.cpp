#include "analysis/mapping/grouping.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pclscope::mapping {

bool groups_help(const Instance& instance) {
  if (instance.uniform || instance.slots == instance.sites) return false;
  for (std::int32_t site = 1; site < instance.sites; ++site)
    if (instance.capacity(site) != instance.capacity(0)) return false;
  return true;
}

Instance make_uniform(const Instance& instance) {
  Instance uniform = instance;
  uniform.grid = {};
  uniform.uniform = true;
  for (std::size_t a = 0, sites = static_cast<std::size_t>(instance.sites); a < sites; ++a)
    for (std::size_t b = 0; b < sites; ++b) uniform.distances[a * sites + b] = a != b;
  return uniform;
}

Instance make_group_instance(const Instance& instance, const Placement& grouping) {
  Instance groups;
  groups.ranks = groups.sites = groups.slots = instance.sites;
  groups.node = instance.node;
  groups.first_slot.resize(static_cast<std::size_t>(instance.sites) + 1);
  std::iota(groups.first_slot.begin(), groups.first_slot.end(), 0);
  groups.site_of_slot.assign(groups.first_slot.begin(), groups.first_slot.end() - 1);
  groups.distances = instance.distances;
  groups.first_near = instance.first_near;
  groups.near = instance.near;
  groups.grid = instance.grid;
  groups.ended = instance.ended;
  double total = 0;
  std::vector<double> sum(static_cast<std::size_t>(instance.sites), 0), far = sum;
  std::vector<char> is_met(sum.size());
  std::vector<std::int32_t> met;
  for (std::int32_t group = 0; group < instance.sites; ++group) {
    groups.first.push_back(static_cast<std::uint32_t>(groups.partner.size()));
    met.clear();
    for (std::int32_t slot = instance.first_slot[group]; slot < instance.first_slot[group + 1]; ++slot) {
      const std::int32_t rank = grouping.rank_at[slot];
      if (rank < 0) continue;
      for (std::uint32_t k = instance.first[rank]; k < instance.first[rank + 1]; ++k) {
        const std::int32_t other = grouping.site[instance.partner[k]];
        if (other == group) continue;
        if (!is_met[other]) is_met[other] = true, met.push_back(other);
        sum[other] += instance.weight[k];
        if (!instance.far.empty()) far[other] += instance.far[k];
      }
    }
    std::sort(met.begin(), met.end());
    for (const std::int32_t other : met) {
      groups.partner.push_back(other);
      groups.weight.push_back(sum[other]);
      if (!instance.far.empty()) groups.far.push_back(far[other]);
      total += std::abs(sum[other]) + std::abs(far[other]);
      sum[other] = far[other] = 0;
      is_met[other] = false;
    }
  }
  groups.first.push_back(static_cast<std::uint32_t>(groups.partner.size()));
  groups.mean_weight = total / groups.ranks;
  for (const double weight : groups.weight)
    groups.light.push_back(static_cast<float>(total > 0 ? weight / groups.mean_weight : 0));
  for (const double weight : groups.far)
    groups.light_far.push_back(static_cast<float>(total > 0 ? weight / groups.mean_weight : 0));
  return groups;
}

}  // namespace pclscope::mapping
