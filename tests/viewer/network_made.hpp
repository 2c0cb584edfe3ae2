// Networks with traffic of our own making.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>

#include "viewer/session/network_case.hpp"

namespace pclscope::test {

// Rank r on node r / each.
inline session::NetworkFacts network_facts(const std::string& topology, mapping::Traffic traffic,
                                           std::int32_t each = 1) {
  auto parsed = mapping::Topology::parse(topology);
  INFO(topology);
  REQUIRE(parsed);
  session::NetworkFacts facts;
  facts.topology = std::make_shared<const mapping::Topology>(std::move(*parsed));
  for (std::int32_t rank = 0; rank < traffic.ranks; ++rank) facts.node_of_rank.push_back(rank / each);
  facts.capacities.assign(static_cast<std::size_t>(facts.topology->nodes()), each);
  facts.traffic = std::move(traffic);
  facts.title = topology;
  return facts;
}

inline session::NetworkCasePtr network_case(const std::string& topology, mapping::Traffic traffic,
                                            std::int32_t each = 1) {
  const auto made = session::make_network_case(network_facts(topology, std::move(traffic), each));
  REQUIRE(made);
  return *made;
}

// Whole bytes, so that sums are exact.
inline mapping::Traffic random_traffic(std::mt19937_64& random, std::int32_t ranks, std::size_t flows) {
  std::map<std::pair<std::int32_t, std::int32_t>, double> bytes;
  for (std::size_t i = 0; i < flows; ++i) {
    const auto rank = [&] { return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(ranks)); };
    bytes[{rank(), rank()}] += static_cast<double>(1 + random() % 1000);
  }
  mapping::Traffic traffic{ranks, {}};
  for (const auto& [pair, sum] : bytes)
    if (pair.first != pair.second) traffic.flows.push_back({pair.first, pair.second, 1, sum});
  return traffic;
}

}  // namespace pclscope::test
