#include "viewer/session/run_network.hpp"

#include <algorithm>
#include <numeric>

#include "analysis/mapping/node_match.hpp"

namespace pclscope::session {
namespace {

using mapping::Topology;

}  // namespace

Result<Topology> topology_of_run(const FoundMachines& found, const std::vector<std::string>& nodes,
                                 std::vector<std::string>& notes) {
  if (!found.slurm_topology.empty() && nodes.size() > 1) {
    auto told = Topology::parse_slurm(found.slurm_topology, mapping::told_by_slurm);
    if (!told) notes.push_back("the network that the run found is of no use: " + told.error().message);
    else if (const auto there = mapping::match_nodes(*told, nodes); !there) notes.push_back(there.error().message);
    else return told;
  }
  return Topology::parse("nodes:" + std::to_string(std::max<std::size_t>(1, nodes.size())));
}

void NodeNumbers::renumber(std::vector<std::int32_t>& node_of_rank) const {
  for (std::int32_t& node : node_of_rank)
    if (node >= 0 && static_cast<std::size_t>(node) < number.size()) node = number[static_cast<std::size_t>(node)];
}

Result<NodeNumbers> number_nodes(const Topology& topology, const std::vector<std::string>& nodes) {
  if (static_cast<std::int64_t>(nodes.size()) > topology.nodes())
    return Error{ErrorCode::bad_argument, "the run had " + std::to_string(nodes.size()) + " nodes, " + topology.text() +
                                              " has " + std::to_string(topology.nodes())};
  NodeNumbers numbers;
  if (!mapping::goes_by_name(topology, nodes)) {
    numbers.number.resize(nodes.size());
    std::iota(numbers.number.begin(), numbers.number.end(), 0);
    numbers.names = nodes;
    return numbers;
  }
  auto there = mapping::match_nodes(topology, nodes);
  if (!there) return there.error();
  for (std::int32_t node = 0; node < topology.nodes(); ++node) numbers.names.push_back(topology.name(node));
  for (std::size_t i = 0; i < nodes.size(); ++i) numbers.names[static_cast<std::size_t>((*there)[i])] = nodes[i];
  numbers.number = std::move(*there);
  return numbers;
}

Result<std::vector<std::int32_t>> place_in_order(const Topology& topology, std::int32_t ranks, std::int32_t each) {
  std::int64_t room = 0;
  for (std::int32_t node = 0; node < topology.nodes(); ++node) room += topology.takes_ranks(node);
  if (ranks > room * each)
    return Error{ErrorCode::bad_argument, std::to_string(ranks) + " ranks, but " + topology.text() + " has " +
                                              std::to_string(room) + " nodes for " + std::to_string(each) +
                                              (each == 1 ? " rank" : " ranks") +
                                              " each: give a larger one, or --ranks-per-node " +
                                              std::to_string((ranks + room - 1) / std::max<std::int64_t>(room, 1))};
  std::vector<std::int32_t> node_of_rank;
  for (std::int32_t node = 0; node < topology.nodes(); ++node) {
    const std::size_t left = static_cast<std::size_t>(std::max(ranks, 0)) - node_of_rank.size();
    if (topology.takes_ranks(node))
      node_of_rank.insert(node_of_rank.end(), std::min(left, static_cast<std::size_t>(each)), node);
  }
  return node_of_rank;
}

std::vector<std::int32_t> equal_capacities(const Topology& topology, std::int32_t each) {
  std::vector<std::int32_t> capacities(static_cast<std::size_t>(topology.nodes()), 0);
  for (std::int32_t node = 0; node < topology.nodes(); ++node)
    if (topology.takes_ranks(node)) capacities[static_cast<std::size_t>(node)] = each;
  return capacities;
}

}  // namespace pclscope::session
