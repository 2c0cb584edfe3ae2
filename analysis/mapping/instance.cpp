#include "analysis/mapping/instance.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

namespace pclscope::mapping {
namespace {

constexpr std::size_t most_near = 16;

// All nodes with capacity; where there are too many, those in use and the nearest around them.
std::vector<std::int32_t> choose_nodes(const MappingProblem& problem) {
  std::vector<std::int32_t> all;
  for (std::int32_t node = 0; node < problem.topology.nodes(); ++node)
    if (problem.capacity[node] > 0) all.push_back(node);
  const std::size_t most = std::max<std::size_t>(most_sites, 0);
  if (all.size() <= most) return all;
  std::vector<bool> seen(problem.topology.vertices(), false);
  std::deque<std::int32_t> queue;
  std::vector<std::int32_t> chosen;
  for (const std::int32_t node : problem.current)
    if (!seen[node]) seen[node] = true, queue.push_back(node);
  const std::size_t used = queue.size();
  while (!queue.empty() && chosen.size() < std::max(most, used)) {
    const std::int32_t vertex = queue.front();
    queue.pop_front();
    if (vertex < problem.topology.nodes() && problem.capacity[vertex] > 0) chosen.push_back(vertex);
    for (const std::int32_t next : problem.topology.neighbours(vertex))
      if (!seen[next]) seen[next] = true, queue.push_back(next);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

struct Weight {
  double hop = 0;  // for each hop
  double far = 0;  // on another node, however far
};

// Distances are hops; else all are 1.
bool counts_hops(const MappingProblem& problem) {
  if (problem.objective == Objective::time) return problem.times.further_hop_s > 0;
  return problem.objective == Objective::hop_bytes || problem.objective == Objective::max_link_load;
}

// A negative time: messages that are quicker between nodes.
Weight weight_of(const Flow& flow, const MappingProblem& problem) {
  const auto messages = static_cast<double>(flow.messages);
  if (problem.objective == Objective::inter_messages) return {messages};
  if (problem.objective != Objective::time) return {flow.bytes};
  const double first = problem.times.of(1, messages, flow.bytes) - problem.times.of(0, messages, flow.bytes);
  if (!counts_hops(problem)) return {first};
  const double further = messages * problem.times.further_hop_s;
  return {further, first - further};
}

void add_partners(const MappingProblem& problem, Instance& instance) {
  struct Direction {
    std::int32_t from, to;
    Weight weight;
  };
  std::vector<Direction> directions;
  directions.reserve(problem.traffic.flows.size() * 2);
  for (const Flow& flow : problem.traffic.flows) {
    const Weight weight = weight_of(flow, problem);
    if (flow.source == flow.destination || (weight.hop == 0 && weight.far == 0)) continue;
    directions.push_back({flow.source, flow.destination, weight});
    directions.push_back({flow.destination, flow.source, weight});
  }
  std::sort(directions.begin(), directions.end(),
            [](const Direction& a, const Direction& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
  instance.first.assign(static_cast<std::size_t>(instance.ranks) + 1, 0);
  double total = 0;
  bool some_far = false;
  for (std::size_t k = 0; k < directions.size(); ++k) {
    const Weight& weight = directions[k].weight;
    total += std::abs(weight.hop) + std::abs(weight.far);
    some_far = some_far || weight.far != 0;
    if (k > 0 && directions[k].from == directions[k - 1].from && directions[k].to == directions[k - 1].to) {
      instance.weight.back() += weight.hop;
      instance.far.back() += weight.far;
      continue;
    }
    instance.partner.push_back(directions[k].to);
    instance.weight.push_back(weight.hop);
    instance.far.push_back(weight.far);
    ++instance.first[directions[k].from + 1];
  }
  std::partial_sum(instance.first.begin(), instance.first.end(), instance.first.begin());
  // Scaled for floats: any unit will do, as temperatures are relative to the mean.
  const double scale = total > 0 ? instance.ranks / total : 1;
  if (!some_far) instance.far.clear();
  for (const double weight : instance.weight) instance.light.push_back(static_cast<float>(weight * scale));
  for (const double weight : instance.far) instance.light_far.push_back(static_cast<float>(weight * scale));
  instance.mean_weight = total > 0 ? total / instance.ranks : 0;
}

void add_distances(const MappingProblem& problem, Instance& instance) {
  const auto n = static_cast<std::size_t>(instance.sites);
  instance.distances.resize(n * n);
  instance.uniform = true;
  std::uint16_t any = 0;
  for (std::size_t a = 0; a < n && !instance.is_ended(); ++a)
    for (std::size_t b = 0; b < n; ++b) {
      const std::int32_t hops = counts_hops(problem) ? problem.topology.hops(instance.node[a], instance.node[b]) : 1;
      const auto distance = static_cast<std::uint16_t>(a == b ? 0 : std::min(hops, 65535));
      instance.distances[a * n + b] = distance;
      if (a == b) continue;
      if (any == 0) any = distance;
      instance.uniform = instance.uniform && distance == any;
    }
}

void add_near(Instance& instance) {
  std::vector<std::int32_t> others;
  for (std::int32_t site = 0; site < instance.sites && !instance.is_ended(); ++site) {
    instance.first_near.push_back(static_cast<std::uint32_t>(instance.near.size()));
    others.clear();
    // Beginning behind the site itself: where many are equally near, each site has others.
    for (std::int32_t k = 1; k < instance.sites; ++k) others.push_back((site + k) % instance.sites);
    const std::size_t keep = std::min(most_near, others.size());
    const std::uint16_t* row = instance.row(site);
    const auto nearer = [&](std::int32_t a, std::int32_t b) {
      return row[a] != row[b]
                 ? row[a] < row[b]
                 : (a - site + instance.sites) % instance.sites < (b - site + instance.sites) % instance.sites;
    };
    std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(keep), others.end(), nearer);
    instance.near.insert(instance.near.end(), others.begin(), others.begin() + static_cast<std::ptrdiff_t>(keep));
  }
  instance.first_near.push_back(static_cast<std::uint32_t>(instance.near.size()));
}

Grid find_grid(const MappingProblem& problem, const Instance& instance) {
  const Topology& topology = problem.topology;
  Grid grid;
  if (!counts_hops(problem) || instance.uniform || instance.sites != topology.nodes()) return grid;
  for (std::int32_t site = 1; site < instance.sites; ++site)
    if (instance.capacity(site) != instance.capacity(0)) return grid;
  std::vector<std::int32_t> last = topology.coordinates(instance.sites - 1);
  std::int64_t product = 1;
  for (std::int32_t& extent : last) product *= ++extent;
  if (last.empty() || product != instance.sites) return grid;
  grid.extents = last;
  grid.strides.assign(last.size(), 1);
  for (std::size_t d = last.size(); d-- > 1;) grid.strides[d - 1] = grid.strides[d] * last[d];
  for (std::size_t d = 0; d < last.size(); ++d)
    grid.wraps.push_back(last[d] > 2 && instance.row(0)[(last[d] - 1) * grid.strides[d]] == 1);
  return grid;
}

}  // namespace

Instance make_instance(const MappingProblem& problem) {
  Instance instance;
  instance.ranks = problem.traffic.ranks;
  instance.ended = problem.ended;
  instance.node = choose_nodes(problem);
  instance.sites = static_cast<std::int32_t>(instance.node.size());
  for (std::int32_t site = 0; site < instance.sites; ++site) {
    instance.first_slot.push_back(instance.slots);
    // More room than ranks is as good as room for all.
    const std::int32_t room = std::min(problem.capacity[instance.node[site]], problem.traffic.ranks);
    instance.site_of_slot.insert(instance.site_of_slot.end(), static_cast<std::size_t>(room), site);
    instance.slots += room;
  }
  instance.first_slot.push_back(instance.slots);
  add_partners(problem, instance);
  add_distances(problem, instance);
  add_near(instance);
  instance.grid = find_grid(problem, instance);
  return instance;
}

double cost_of(const Instance& instance, const Placement& placement) {
  double cost = 0;
  for (std::int32_t rank = 0; rank < instance.ranks; ++rank) {
    const std::uint16_t* row = instance.row(placement.site[rank]);
    for (std::uint32_t k = instance.first[rank]; k < instance.first[rank + 1]; ++k)
      if (instance.partner[k] > rank) cost += instance.cost(k, row[placement.site[instance.partner[k]]]);
  }
  return cost;
}

double change_of(const Instance& instance, const Placement& placement, std::int32_t rank, std::int32_t slot) {
  const std::int32_t from = placement.site[rank], to = instance.site_of_slot[slot], other = placement.rank_at[slot];
  const std::uint16_t* here = instance.row(from);
  const std::uint16_t* there = instance.row(to);
  double change = 0;
  for (std::uint32_t k = instance.first[rank]; k < instance.first[rank + 1]; ++k) {
    const std::int32_t partner = instance.partner[k];
    if (partner == other) continue;  // as far apart as before
    const std::int32_t at = placement.site[partner];
    change += instance.change(k, here[at], there[at]);
  }
  if (other < 0) return change;
  for (std::uint32_t k = instance.first[other]; k < instance.first[other + 1]; ++k) {
    const std::int32_t partner = instance.partner[k];
    if (partner == rank) continue;
    const std::int32_t at = placement.site[partner];
    change += instance.change(k, there[at], here[at]);
  }
  return change;
}

Placement place(const Instance& instance, std::span<const std::int32_t> wanted_site) {
  Placement placement;
  placement.site.assign(wanted_site.begin(), wanted_site.end());
  placement.slot.assign(static_cast<std::size_t>(instance.ranks), -1);
  placement.rank_at.assign(static_cast<std::size_t>(instance.slots), -1);
  std::vector<std::int32_t> used(static_cast<std::size_t>(instance.sites), 0), late;
  const auto settle = [&](std::int32_t rank, std::int32_t site) {
    placement.site[rank] = site;
    placement.slot[rank] = instance.first_slot[site] + used[site]++;
    placement.rank_at[placement.slot[rank]] = rank;
  };
  for (std::int32_t rank = 0; rank < instance.ranks; ++rank) {
    const std::int32_t site = wanted_site[rank];
    if (site >= 0 && site < instance.sites && used[site] < instance.capacity(site)) settle(rank, site);
    else late.push_back(rank), placement.site[rank] = std::clamp(site, 0, instance.sites - 1);
  }
  for (const std::int32_t rank : late) {
    std::int32_t best = -1;
    double least = 0;
    for (std::int32_t site = 0; site < instance.sites; ++site) {
      if (used[site] >= instance.capacity(site)) continue;
      double cost = 0;
      for (std::uint32_t k = instance.first[rank]; k < instance.first[rank + 1]; ++k)
        cost += instance.cost(k, instance.row(site)[placement.site[instance.partner[k]]]);
      if (best < 0 || cost < least) best = site, least = cost;
    }
    settle(rank, best);
  }
  return placement;
}

}  // namespace pclscope::mapping
