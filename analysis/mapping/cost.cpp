#include <algorithm>
#include <unordered_map>
#include <vector>

#include "analysis/mapping/mapping.hpp"

namespace pclscope::mapping {
namespace {

// Bytes between each pair of nodes, so that ranks that share nodes share the walk along the route.
double heaviest_link(const Traffic& traffic, const Topology& topology, const std::vector<std::int32_t>& node_of_rank) {
  std::unordered_map<std::uint64_t, double> between, load;
  const auto key = [](std::int32_t a, std::int32_t b) {
    return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint32_t>(b);
  };
  for (const Flow& flow : traffic.flows) {
    const std::int32_t from = node_of_rank[flow.source], to = node_of_rank[flow.destination];
    if (from != to) between[key(from, to)] += flow.bytes;
  }
  for (const auto& [pair, bytes] : between) {
    const std::vector<std::int32_t> route =
        topology.route(static_cast<std::int32_t>(pair >> 32), static_cast<std::int32_t>(pair & 0xffffffff));
    for (std::size_t k = 1; k < route.size(); ++k) load[key(route[k - 1], route[k])] += bytes;
  }
  double most = 0;
  for (const auto& [link, bytes] : load) most = std::max(most, bytes);
  return most;
}

}  // namespace

double value_of(const MappingCost& cost, Objective objective) {
  switch (objective) {
    case Objective::hop_bytes: return cost.hop_bytes;
    case Objective::inter_bytes: return cost.inter_bytes;
    case Objective::inter_messages: return static_cast<double>(cost.inter_messages);
    case Objective::max_link_load: return cost.max_link_load;
    case Objective::time: return cost.time_s;
  }
  return 0;
}

MappingCost cost_of(const Traffic& traffic, const Topology& topology, const std::vector<std::int32_t>& node_of_rank,
                    bool links, const LinkTimes& times) {
  MappingCost cost;
  for (const Flow& flow : traffic.flows) {
    const std::int32_t from = node_of_rank[flow.source], to = node_of_rank[flow.destination];
    const std::int32_t hops = from == to ? 0 : topology.hops(from, to);
    if (flow.source != flow.destination) cost.time_s += times.of(hops, static_cast<double>(flow.messages), flow.bytes);
    if (from == to) continue;
    cost.hop_bytes += flow.bytes * hops;
    cost.inter_bytes += flow.bytes;
    cost.inter_messages += flow.messages;
  }
  if (links) cost.max_link_load = heaviest_link(traffic, topology, node_of_rank);
  return cost;
}

}  // namespace pclscope::mapping
