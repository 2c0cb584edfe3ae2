// How far ranks are apart: by hand, and against a reference that looks at single hardware threads.
#include "analysis/machine/places.hpp"

#include <catch2/catch.hpp>

#include "tests/seed.hpp"

using namespace pclscope;
using machine::Distance;

namespace {

// Two packages with two NUMA domains of two L3 caches; each with two cores of two hardware threads.
Machine two_packages() {
  Machine made;
  for (std::int32_t t = 0; t < 32; ++t) made.threads.push_back({t, t / 16, t / 8, t / 4, t / 2, t / 2});
  return made;
}

FoundMachines found_on(int nodes, const std::vector<std::vector<std::int32_t>>& bindings) {
  FoundMachines found;
  found.machines = {two_packages()};
  found.of_node.assign(static_cast<std::size_t>(nodes), 0);
  for (std::size_t rank = 0; rank < bindings.size(); ++rank)
    found.bindings.push_back({static_cast<std::int32_t>(rank), ranges_of(bindings[rank]), 0});
  return found;
}

Application application_of(std::vector<std::int32_t> nodes) {
  Application a;
  a.ranks = static_cast<std::int32_t>(nodes.size());
  a.node_of_rank = std::move(nodes);
  return a;
}

}  // namespace

TEST_CASE("each distance, by hand") {
  std::vector<std::int32_t> all(32), half(16);
  for (std::int32_t t = 0; t < 32; ++t) all[static_cast<std::size_t>(t)] = t;
  for (std::int32_t t = 0; t < 16; ++t) half[static_cast<std::size_t>(t)] = t;
  const auto found = found_on(2, {{0}, {1}, {2}, {4}, {8}, {16}, all, half, {0}});
  const auto places = machine::places_of(application_of({0, 0, 0, 0, 0, 0, 0, 0, 1, 0}), found);
  const Distance expected[] = {Distance::same_core, Distance::same_core,    Distance::same_l3,
                               Distance::same_numa, Distance::same_package, Distance::other_package,
                               Distance::not_bound, Distance::same_package, Distance::other_node,
                               Distance::not_known};
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    INFO(rank);
    CHECK(machine::distance_between(places[0], places[rank]) == expected[rank]);
    CHECK(machine::distance_between(places[rank], places[0]) == expected[rank]);
  }
  const auto shared = machine::shared_cores(places, found);
  REQUIRE(shared.size() == 1);
  CHECK((shared[0].node == 0 && shared[0].core == 0 && shared[0].hardware_threads == 2));
  CHECK(shared[0].ranks == std::vector<std::int32_t>{0, 1});
}

TEST_CASE("random bindings: the nearest thing that holds every pair of threads; sums are the whole") {
  std::uint64_t random = test::random_seed();
  const auto below = [&random](std::uint64_t most) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int32_t>((random >> 33) % most);
  };
  const Machine m = two_packages();
  for (int round = 0; round < 50; ++round) {
    std::vector<std::vector<std::int32_t>> bindings;
    std::vector<std::int32_t> nodes;
    for (int rank = 0; rank < 12; ++rank) {
      const std::int32_t length = 1 << below(6), at = below(32) / length * length;  // a part of the tree
      std::vector<std::int32_t>& binding = bindings.emplace_back();
      for (std::int32_t t = at; t < at + length; ++t)
        if (t == at || below(4) > 0) binding.push_back(t);
      nodes.push_back(below(3) - (round % 2));
    }
    const auto found = found_on(3, bindings);
    const auto places = machine::places_of(application_of(nodes), found);
    std::vector<PairTraffic> traffic;
    std::uint64_t messages = 0, by_hand[machine::distances] = {};
    for (std::int32_t a = 0; a < 12; ++a)
      for (std::int32_t b = 0; b < 12; ++b) {
        const auto &x = bindings[static_cast<std::size_t>(a)], &y = bindings[static_cast<std::size_t>(b)];
        // The largest distance of two of their threads; wide ones first.
        auto distance = Distance::same_core;
        const auto wide = [&](const std::vector<std::int32_t>& set) { return set.front() / 16 != set.back() / 16; };
        std::vector<std::int32_t> both = x;
        both.insert(both.end(), y.begin(), y.end());
        for (const std::int32_t s : both)
          for (const std::int32_t t : both) {
            auto of_two = s / 2 == t / 2     ? Distance::same_core
                          : s / 4 == t / 4   ? Distance::same_l3
                          : s / 8 == t / 8   ? Distance::same_numa
                          : s / 16 == t / 16 ? Distance::same_package
                                             : Distance::other_package;
            distance = std::max(distance, of_two);
          }
        if (wide(x) || wide(y)) distance = Distance::not_bound;
        const auto node_a = nodes[static_cast<std::size_t>(a)], node_b = nodes[static_cast<std::size_t>(b)];
        if (node_a != node_b) distance = Distance::other_node;
        if (node_a < 0 || node_b < 0) distance = Distance::not_known;
        CHECK(machine::distance_between(places[static_cast<std::size_t>(a)], places[static_cast<std::size_t>(b)]) ==
              distance);
        const auto count = static_cast<std::uint64_t>(below(1000));
        traffic.push_back({a, b, count, 8 * count, count, 1e-6, 5e-7});
        messages += count;
        by_hand[static_cast<std::size_t>(distance)] += count;
      }
    std::uint64_t sum = 0, pairs = 0;
    const auto sums = machine::sum_by_distance(traffic, places);
    for (std::size_t d = 0; d < machine::distances; ++d) {
      CHECK(sums[d].messages == by_hand[d]);
      CHECK(sums[d].bytes == 8 * by_hand[d]);
      sum += sums[d].messages, pairs += sums[d].pairs;
    }
    CHECK((sum == messages && pairs == traffic.size()));
  }
}

TEST_CASE("nothing is known of older dumps, and damaged ones are not believed") {
  FoundMachines found;
  Application application = application_of({0, 0, 7});
  for (const auto& place : machine::places_of(application, found)) CHECK_FALSE(place.known);
  found = found_on(1, {{0}, {99}, {1}});
  found.bindings.push_back({-1, {{0, 1}}, 0});
  found.bindings.push_back({1000, {{0, 1}}, 0});
  const auto places = machine::places_of(application, found);
  CHECK(places[0].known);
  CHECK_FALSE(places[1].known);  // bound to what the machine does not have
  CHECK_FALSE(places[2].known);  // on a node that is not there
  found.of_node = {4};
  CHECK_FALSE(machine::places_of(application, found)[0].known);
}
