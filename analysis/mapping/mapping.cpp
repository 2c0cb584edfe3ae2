#include "analysis/mapping/mapping.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "analysis/mapping/exact.hpp"
#include "analysis/mapping/input_checks.hpp"
#include "analysis/mapping/instance.hpp"
#include "analysis/mapping/link_search.hpp"
#include "analysis/mapping/refinement.hpp"

namespace pclscope::mapping {
namespace {

constexpr std::size_t most_nodes_in_use = 12288;  // their distances take 300 MB
constexpr std::int64_t most_slots = std::int64_t{1} << 26;

std::string rank_text(std::size_t rank) { return "rank " + std::to_string(rank); }

Status check(const MappingProblem& problem) {
  const std::int32_t nodes = problem.topology.nodes(), ranks = problem.traffic.ranks;
  if (ranks < 1) return bad("there are no ranks to place");
  if (problem.capacity.size() != static_cast<std::size_t>(nodes)) {
    return bad("capacities are given for " + std::to_string(problem.capacity.size()) + " nodes, the topology has " +
               std::to_string(nodes));
  }
  std::int64_t slots = 0;
  for (std::size_t node = 0; node < problem.capacity.size(); ++node) {
    if (problem.capacity[node] < 0)
      return bad("node " + problem.topology.name(static_cast<std::int32_t>(node)) + " has a negative capacity");
    slots += problem.capacity[node];
  }
  if (slots < ranks)
    return bad(std::to_string(ranks) + " ranks do not fit: the " + std::to_string(nodes) + " nodes take " +
               std::to_string(slots) + " (a larger topology, or more ranks per node?)");
  for (const Flow& flow : problem.traffic.flows) {
    if (flow.source < 0 || flow.source >= ranks || flow.destination < 0 || flow.destination >= ranks) {
      return bad("the traffic names " + rank_text(static_cast<std::size_t>(std::max(flow.source, flow.destination))) +
                 ", there are " + std::to_string(ranks) + " ranks");
    }
    if (!(flow.bytes >= 0) || !std::isfinite(flow.bytes))
      return bad("the traffic from " + rank_text(flow.source) + " to " + rank_text(flow.destination) +
                 " is no number of bytes");
  }
  return {};
}

// In order, node by node, where nothing else is given.
Result<std::vector<std::int32_t>> current_nodes(const MappingProblem& problem) {
  const auto ranks = static_cast<std::size_t>(problem.traffic.ranks);
  std::vector<std::int32_t> nodes = problem.current;
  if (nodes.empty()) {
    for (std::size_t node = 0; node < problem.capacity.size() && nodes.size() < ranks; ++node) {
      const std::size_t room = std::min<std::size_t>(problem.capacity[node], ranks - nodes.size());
      nodes.insert(nodes.end(), room, static_cast<std::int32_t>(node));
    }
    return nodes;
  }
  if (nodes.size() != ranks)
    return bad("the current mapping is of " + std::to_string(nodes.size()) + " ranks, the traffic of " +
               std::to_string(ranks));
  std::vector<std::int32_t> used(problem.capacity.size(), 0);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::int32_t node = nodes[rank];
    if (node < 0 || static_cast<std::size_t>(node) >= used.size())
      return bad("the current mapping puts " + rank_text(rank) + " on node " + std::to_string(node) +
                 ", which is not there");
    if (++used[node] > problem.capacity[node]) {
      return bad("the current mapping puts more than " + std::to_string(problem.capacity[node]) + " ranks on node " +
                 problem.topology.name(node));
    }
  }
  return nodes;
}

std::size_t count_nodes(std::vector<std::int32_t> nodes) {
  std::sort(nodes.begin(), nodes.end());
  return static_cast<std::size_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
}

std::int64_t slots_of(const MappingProblem& problem) {
  std::int64_t slots = 0;
  for (const std::int32_t capacity : problem.capacity) slots += std::min(capacity, problem.traffic.ranks);
  return slots;
}

std::vector<std::int32_t> nodes_of(const Instance& instance, const Placement& placement) {
  std::vector<std::int32_t> nodes;
  for (const std::int32_t site : placement.site) nodes.push_back(instance.node[site]);
  return nodes;
}

// The placement of the least cost of an instance that was found.
Placement placed(const Instance& instance, const MappingProblem& problem, const Placement& current) {
  Placement placement = current;
  if (instance.ranks > most_ranks_for_exact || !find_best_of_all(instance, placement))
    placement = refine(instance, problem.topology, placement, problem.effort);
  return placement;
}

// Few hops first: they use fewer links. From there, and from the current placement, with the loads themselves.
Result<Placement> lightened(const Instance& instance, const MappingProblem& problem, const Placement& current) {
  const auto graph = LinkGraph::of(problem.topology);
  if (!graph) return graph.error();
  Placement found = current;
  if (instance.ranks <= most_ranks_for_exact && find_lightest_of_all(instance, problem, *graph, found)) return found;
  std::vector<Placement> starts = {placed(instance, problem, current), std::move(found)};
  Placement best = current;
  double least = INFINITY;
  for (Placement& start : starts) {
    if (!instance.is_ended()) lighten_links(instance, problem, *graph, start, problem.effort);
    const double most = cost_of(problem.traffic, problem.topology, nodes_of(instance, start)).max_link_load;
    if (most < least * (1 - 1e-9)) least = most, best = std::move(start);
  }
  return best;
}

Result<std::vector<std::int32_t>> improved(const MappingProblem& problem) {
  const Instance instance = make_instance(problem);
  if (instance.is_ended()) return problem.current;
  std::vector<std::int32_t> site_of_node(static_cast<std::size_t>(problem.topology.nodes()), -1), wanted;
  for (std::int32_t site = 0; site < instance.sites; ++site) site_of_node[instance.node[site]] = site;
  for (const std::int32_t node : problem.current) wanted.push_back(site_of_node[node]);
  const Placement current = place(instance, wanted);
  if (problem.objective != Objective::max_link_load) return nodes_of(instance, placed(instance, problem, current));
  const auto found = lightened(instance, problem, current);
  if (!found) return found.error();
  return nodes_of(instance, *found);
}

}  // namespace

Result<Mapping> find_mapping(const MappingProblem& problem) {
  if (const Status status = check(problem); !status) return status.error();
  const auto current = current_nodes(problem);
  if (!current) return current.error();
  if (const auto used = count_nodes(*current); used > most_nodes_in_use) {
    return bad("the ranks are on " + std::to_string(used) + " nodes, more than the " +
               std::to_string(most_nodes_in_use) + " that can be searched");
  }
  if (slots_of(problem) > most_slots) return bad("too many slots: give a smaller --ranks-per-node");
  Mapping mapping;
  mapping.node_of_rank = mapping.node_before = *current;
  const bool links = problem.links || problem.objective == Objective::max_link_load;
  mapping.before = cost_of(problem.traffic, problem.topology, *current, links, problem.times);
  mapping.after = mapping.before;
  const double before = value_of(mapping.before, problem.objective);
  if (before <= 0) return mapping;  // nothing to gain
  MappingProblem from_here = problem;
  from_here.current = *current;
  auto nodes = improved(from_here);
  if (!nodes) return nodes.error();
  const MappingCost after = cost_of(problem.traffic, problem.topology, *nodes, links, problem.times);
  // Sums of fractions: a gain below rounding is none.
  if (value_of(after, problem.objective) >= before * (1 - 1e-9)) return mapping;
  mapping.node_of_rank = std::move(*nodes);
  mapping.after = after;
  return mapping;
}

}  // namespace pclscope::mapping
