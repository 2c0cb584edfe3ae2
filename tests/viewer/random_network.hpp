// A network with random traffic, for tests of what is made of it. Bytes are whole, so that sums are exact.
#pragma once

#include <map>
#include <random>
#include <string>

#include "viewer/session/network_case.hpp"

namespace pclscope::test {

inline mapping::Traffic random_traffic(std::int32_t ranks, int pairs, std::mt19937& random) {
  std::map<std::pair<std::int32_t, std::int32_t>, mapping::Flow> flows;
  for (int i = 0; i < pairs; ++i) {
    const auto a = static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks)),
               b = static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks));
    if (a != b) flows[{a, b}] = {a, b, 1 + random() % 9, static_cast<double>(1 + random() % 100'000)};
  }
  mapping::Traffic traffic;
  traffic.ranks = ranks;
  for (const auto& [pair, flow] : flows) traffic.flows.push_back(flow);
  return traffic;
}

// `each` ranks on each node.
inline session::NetworkCasePtr network_of(const std::string& topology, std::mt19937& random, int pairs,
                                          std::int32_t each = 1) {
  session::NetworkFacts facts;
  auto parsed = mapping::Topology::parse(topology);
  facts.topology = std::make_shared<mapping::Topology>(std::move(*parsed));
  const std::int32_t ranks = facts.topology->nodes() * each;
  facts.traffic = random_traffic(ranks, pairs, random);
  for (std::int32_t rank = 0; rank < ranks; ++rank) facts.node_of_rank.push_back(rank / each);
  facts.capacities.assign(static_cast<std::size_t>(facts.topology->nodes()), each);
  facts.title = "random traffic on " + topology;
  auto made = session::make_network_case(facts);
  return *made;
}

}  // namespace pclscope::test
