#include "analysis/attribute/better_mapping.hpp"

#include <algorithm>
#include <string>

#include "analysis/mapping/mapping.hpp"

namespace pclscope::attribute {

std::optional<BetterMapping> better_mapping(mapping::Traffic traffic, const std::vector<std::int32_t>& node_of_rank,
                                            std::int32_t nodes, double effort) {
  if (nodes < 2 || node_of_rank.size() != static_cast<std::size_t>(std::max(traffic.ranks, 0))) return std::nullopt;
  std::vector<std::int32_t> capacity(static_cast<std::size_t>(nodes));
  for (const std::int32_t node : node_of_rank) {
    if (node < 0 || node >= nodes) return std::nullopt;
    ++capacity[static_cast<std::size_t>(node)];
  }
  std::sort(traffic.flows.begin(), traffic.flows.end(), [](const mapping::Flow& a, const mapping::Flow& b) {
    return a.source != b.source ? a.source < b.source : a.destination < b.destination;
  });
  const auto topology = mapping::Topology::parse("nodes:" + std::to_string(nodes));
  if (!topology) return std::nullopt;
  const auto found =
      mapping::find_mapping({traffic, *topology, capacity, node_of_rank, mapping::Objective::inter_messages, effort});
  if (!found) return std::nullopt;
  BetterMapping better;
  better.messages_before = found->before.inter_messages;
  better.messages_after = found->after.inter_messages;
  better.bytes_before = found->before.inter_bytes;
  better.bytes_after = found->after.inter_bytes;
  for (std::size_t r = 0; r < node_of_rank.size() && r < found->node_of_rank.size(); ++r)
    if (found->node_of_rank[r] != node_of_rank[r]) better.moved.push_back(static_cast<std::int32_t>(r));
  better.node_of_rank = found->node_of_rank;
  return better;
}

}  // namespace pclscope::attribute
