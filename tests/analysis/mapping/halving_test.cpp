// The tree of halves that Scotch gets of a network without a grid.
#include "analysis/mapping/halving.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <set>

using namespace pclscope;
using namespace pclscope::mapping;

namespace {

Instance instance_of(const std::string& text, std::int32_t ranks, std::int32_t each) {
  auto topology = Topology::parse(text);
  REQUIRE(topology);
  const Traffic traffic{ranks, {{0, 1, 1, 1.0}}};
  const std::vector<std::int32_t> capacity(static_cast<std::size_t>(topology->nodes()), each);
  std::vector<std::int32_t> current;
  for (std::int32_t r = 0; r < ranks; ++r) current.push_back(r / each);
  return make_instance({traffic, *topology, capacity, current});
}

std::int32_t level(std::int32_t domain) {
  return static_cast<std::int32_t>(std::bit_width(static_cast<std::uint32_t>(domain))) - 1;
}

// The domain of `site` at that level.
std::int32_t part(const Domains& domains, std::int32_t site, std::int32_t at) {
  const std::int32_t domain = domains[static_cast<std::size_t>(site)];
  return domain >> std::max(0, level(domain) - at);
}

}  // namespace

TEST_CASE("a chain has every site once, and leaves of a tree no deeper than needed") {
  for (const char* text : {"dragonfly:9x4x2", "fattree:18x12x8", "fattree:5x3", "mesh:7x3", "dragonfly:3x1x1"}) {
    CAPTURE(text);
    const Instance instance = instance_of(text, 2, 1);
    std::vector<std::int32_t> chain = chain_of(instance);
    const Domains domains = halve_chain(instance, chain);
    std::sort(chain.begin(), chain.end());
    REQUIRE(chain.size() == static_cast<std::size_t>(instance.sites));
    for (std::int32_t k = 0; k < instance.sites; ++k) REQUIRE(chain[static_cast<std::size_t>(k)] == k);
    const auto most = static_cast<std::int32_t>(2 * std::bit_ceil(static_cast<std::uint32_t>(instance.sites)));
    const std::set<std::int32_t> leaves(domains.begin(), domains.end());
    REQUIRE(leaves.size() == domains.size());
    for (const std::int32_t leaf : leaves) {
      CHECK(leaf < most);
      for (std::int32_t above = leaf / 2; above > 0; above /= 2)
        CHECK(leaves.count(above) == 0);  // a leaf is no one's half
      if (leaf > 1) {                     // its other half is there, whole or cut
        const std::int32_t other = leaf ^ 1;
        CHECK(std::any_of(leaves.begin(), leaves.end(), [&](std::int32_t l) {
          return level(l) >= level(other) && l >> (level(l) - level(other)) == other;
        }));
      }
    }
  }
}

TEST_CASE("cuts go where the network is thin: no router of a dragonfly and no switch of a tree is cut early") {
  const Instance dragonfly = instance_of("dragonfly:9x4x2", 2, 1);
  const Domains routers = halve_chain(dragonfly, chain_of(dragonfly));
  for (std::int32_t site = 0; site < dragonfly.sites; ++site)
    CHECK(part(routers, site, 3) == part(routers, site / 2 * 2, 3));
  const Instance tree = instance_of("fattree:8x4x4", 2, 1);
  const Domains leaves = halve_chain(tree, chain_of(tree));
  for (std::int32_t site = 0; site < tree.sites; ++site) {
    CHECK(part(leaves, site, 2) == part(leaves, site / 32 * 32, 2));  // four switches of the second level
    CHECK(part(leaves, site, 4) == part(leaves, site / 8 * 8, 4));    // sixteen leaf switches
  }
}

TEST_CASE("what Scotch reads names sites, capacities, domains and distances") {
  const Instance instance = instance_of("fattree:2x2", 3, 3);
  const std::string text = decomposition(instance, halve_chain(instance, chain_of(instance)), 4);
  CHECK(text == "deco\n0\n4 7\n0 3 4\n1 3 5\n2 3 6\n3 3 7\n8 \n16 16 \n16 16 8 \n");
}
