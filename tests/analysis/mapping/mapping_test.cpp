#include "analysis/mapping/mapping.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "analysis/mapping/traffic_file.hpp"
#include "tests/test_data.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::mapping;

namespace {

using Nodes = std::vector<std::int32_t>;

Topology network(const std::string& text) {
  auto topology = Topology::parse(text);
  REQUIRE(topology);
  return std::move(*topology);
}

Traffic random_traffic(std::mt19937& random, std::int32_t ranks, double share) {
  Traffic traffic{ranks, {}};
  std::uniform_real_distribution<double> unit(0, 1);
  for (std::int32_t a = 0; a < ranks; ++a)
    for (std::int32_t b = 0; b < ranks; ++b)
      if (unit(random) < share) traffic.flows.push_back({a, b, 1 + random() % 9, std::floor(1000 * unit(random))});
  return traffic;
}

Traffic published(const std::string& name) {
  auto file = read_traffic(test::data_file("par-comm/hopbyte/" + name + "_hopbyte.txt"));
  REQUIRE(file);
  return file->traffic;
}

// By hand, not by cost_of().
double hop_bytes(const Traffic& traffic, const Topology& topology, const Nodes& nodes) {
  double sum = 0;
  for (const Flow& flow : traffic.flows) sum += flow.bytes * topology.hops(nodes[flow.source], nodes[flow.destination]);
  return sum;
}

void require_fits(const Nodes& nodes, const Nodes& capacity, std::int32_t ranks) {
  REQUIRE(nodes.size() == static_cast<std::size_t>(ranks));
  Nodes used(capacity.size(), 0);
  for (const std::int32_t node : nodes) {
    REQUIRE(node >= 0);
    REQUIRE(static_cast<std::size_t>(node) < capacity.size());
    ++used[node];
  }
  for (std::size_t node = 0; node < capacity.size(); ++node) REQUIRE(used[node] <= capacity[node]);
}

// Every way there is.
void try_all(const Traffic& traffic, const Topology& topology, Objective objective, Nodes& nodes, Nodes& room,
             double& least) {
  if (nodes.size() == static_cast<std::size_t>(traffic.ranks)) {
    least = std::min(least, value_of(cost_of(traffic, topology, nodes, false), objective));
    return;
  }
  for (std::size_t node = 0; node < room.size(); ++node) {
    if (room[node] == 0) continue;
    --room[node];
    nodes.push_back(static_cast<std::int32_t>(node));
    try_all(traffic, topology, objective, nodes, room, least);
    nodes.pop_back();
    ++room[node];
  }
}

}  // namespace

TEST_CASE("few ranks: no placement is better than ours, by looking at all of them") {
  const std::uint32_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const char* text : {"nodes:3", "torus:2x3", "mesh:5", "torus:4x2", "dragonfly:2x2x2", "fattree:2x2"}) {
    const Topology topology = network(text);
    for (const Objective objective : {Objective::hop_bytes, Objective::inter_bytes, Objective::inter_messages}) {
      const std::int32_t ranks = 2 + static_cast<std::int32_t>(random() % 6);
      const Traffic traffic = random_traffic(random, ranks, 0.5);
      Nodes capacity(static_cast<std::size_t>(topology.nodes()), 1);
      while (std::accumulate(capacity.begin(), capacity.end(), 0) < ranks) ++capacity[random() % capacity.size()];
      Nodes nodes, room = capacity;
      double least = INFINITY;
      try_all(traffic, topology, objective, nodes, room, least);
      const auto mapping = find_mapping({traffic, topology, capacity, {}, objective, 0.1});
      REQUIRE(mapping);
      INFO(text << ", " << ranks << " ranks, objective " << static_cast<int>(objective));
      require_fits(mapping->node_of_rank, capacity, ranks);
      REQUIRE(value_of(mapping->after, objective) == Approx(least).epsilon(1e-12).margin(1e-9));
    }
  }
}

// Beyond nine ranks nothing is looked at exhaustively: the search itself must find the best of all.
TEST_CASE("a ring of 12 ranks in disorder: every message is one hop after the search") {
  std::mt19937 random(7);
  const Topology topology = network("torus:12");
  Nodes order(12);
  std::iota(order.begin(), order.end(), 0);
  for (int turn = 0; turn < test::thinned(10, 2); ++turn) {
    std::shuffle(order.begin(), order.end(), random);
    Traffic traffic{12, {}};
    for (int k = 0; k < 12; ++k) traffic.flows.push_back({order[k], order[(k + 1) % 12], 1, 8});
    const auto mapping = find_mapping({traffic, topology, Nodes(12, 1), {}, Objective::hop_bytes, 1});
    REQUIRE(mapping);
    REQUIRE(mapping->after.hop_bytes == 12 * 8);
  }
}

TEST_CASE("random problems: capacities hold, and it never gets worse") {
  const std::uint32_t seed = 11 + GENERATE(range(0u, test::thinned(4u)));
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const char* text :
       {"nodes:7", "torus:3x4x2", "mesh:10", "torus:6x4m", "dragonfly:3x2x3", "fattree:4x3", "hyperx:3x4"}) {
    const Topology topology = network(text);
    INFO(text);
    const std::int32_t ranks = 10 + static_cast<std::int32_t>(random() % 30);
    const Traffic traffic = random_traffic(random, ranks, 0.15);
    Nodes capacity(static_cast<std::size_t>(topology.nodes()), 0);
    for (std::int32_t room = ranks + static_cast<std::int32_t>(random() % 9); room > 0; --room)
      ++capacity[random() % capacity.size()];
    Nodes places;
    for (std::size_t node = 0; node < capacity.size(); ++node)
      places.insert(places.end(), static_cast<std::size_t>(capacity[node]), static_cast<std::int32_t>(node));
    std::shuffle(places.begin(), places.end(), random);
    const Nodes current(places.begin(), places.begin() + ranks);
    for (const Objective objective : {Objective::hop_bytes, Objective::inter_bytes, Objective::inter_messages}) {
      const auto mapping = find_mapping({traffic, topology, capacity, current, objective, 0.05});
      REQUIRE(mapping);
      require_fits(mapping->node_of_rank, capacity, ranks);
      CHECK(value_of(mapping->after, objective) <= value_of(mapping->before, objective));
      CHECK(mapping->before.hop_bytes == Approx(hop_bytes(traffic, topology, current)));
      CHECK(mapping->after.hop_bytes == Approx(hop_bytes(traffic, topology, mapping->node_of_rank)));
    }
  }
}

TEST_CASE("trees and dragonflies: shuffled groups that talk among themselves come together") {
  const double effort = test::under_sanitizer ? 0.2 : 1;  // less finds the same
  for (const std::string text : {"fattree:4x4x4", "dragonfly:8x4x2"}) {
    CAPTURE(text);
    const Topology topology = network(text);
    const std::int32_t ranks = topology.nodes(), together = 4;
    Nodes shuffled(static_cast<std::size_t>(ranks));
    std::iota(shuffled.begin(), shuffled.end(), 0);
    std::mt19937 random(5);
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    Traffic traffic{ranks, {}};
    for (std::int32_t a = 0; a < ranks; ++a)
      for (std::int32_t b = a / together * together; b < (a / together + 1) * together; ++b)
        if (a != b) traffic.flows.push_back({shuffled[a], shuffled[b], 1, 1000});
    const auto found =
        find_mapping({traffic, topology, Nodes(static_cast<std::size_t>(ranks), 1), {}, Objective::hop_bytes, effort});
    REQUIRE(found);
    require_fits(found->node_of_rank, Nodes(static_cast<std::size_t>(ranks), 1), ranks);
    Nodes in_order(static_cast<std::size_t>(ranks));  // each group on nodes that follow each other
    for (std::int32_t a = 0; a < ranks; ++a) in_order[shuffled[a]] = a;
    CHECK(found->after.hop_bytes <= hop_bytes(traffic, topology, in_order) * (1 + 1e-9));
  }
}

TEST_CASE("the same question has the same answer") {
  std::mt19937 random(3);
  const Topology topology = network("torus:4x4x2");
  const Traffic traffic = random_traffic(random, 60, 0.1);
  const auto a = find_mapping({traffic, topology, Nodes(32, 2), {}, Objective::hop_bytes, 0.2});
  const auto b = find_mapping({traffic, topology, Nodes(32, 2), {}, Objective::hop_bytes, 0.2});
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a->node_of_rank == b->node_of_rank);
}

// Reference §8: what Scotch alone reaches is 31.5 and 22.8 %. Ours: 35.57 (found again from random starts: it seems to
// be the best there is) and 45.61 (every byte between nodes goes one hop).
TEST_CASE("published patterns: the hop counts, and more than Scotch alone gains") {
  struct Case {
    const char *file, *topology;
    std::int32_t each;
    double gain, before;
  };
  const Case c = GENERATE(Case{"MiniAMR_Vesta_n128_c1_s1", "torus:2x2x4x4x2", 1, 0.3550, 698780228.0},
                          Case{"IMB-MPI1_Vesta_n32_c16", "torus:2x2x2x2x2", 16, 0.43, 0});
  if (test::under_sanitizer && c.each > 1) return;        // the dearest
  const double effort = test::under_sanitizer ? 0.3 : 1;  // as much is gained
  INFO(c.file);
  const Topology topology = network(c.topology);
  const Traffic traffic = published(c.file);
  const auto mapping = find_mapping(
      {traffic, topology, Nodes(static_cast<std::size_t>(topology.nodes()), c.each), {}, Objective::hop_bytes, effort});
  REQUIRE(mapping);
  require_fits(mapping->node_of_rank, Nodes(static_cast<std::size_t>(topology.nodes()), c.each), traffic.ranks);
  if (c.before > 0) CHECK(mapping->before.hop_bytes == Approx(c.before).epsilon(1e-4));
  CHECK(1 - mapping->after.hop_bytes / mapping->before.hop_bytes > c.gain);
  CHECK(mapping->after.max_link_load > 0);
}

// The spread that docs/mapping.md states.
TEST_CASE("other numbers for the same ranks: nearly the same gain") {
  const Topology topology = network("torus:2x2x4x4x2");
  const Traffic traffic = published("MiniAMR_Vesta_n128_c1_s1");
  const double effort = test::under_sanitizer ? 0.2 : 0.5;
  double least = 1, most = 0;
  for (std::uint32_t seed = 1; seed <= test::thinned(3u, 2u); ++seed) {
    std::mt19937 random(seed);
    Nodes number(128), current(128);
    std::iota(number.begin(), number.end(), 0);
    std::shuffle(number.begin(), number.end(), random);
    Traffic renamed{128, {}};
    for (const Flow& flow : traffic.flows)
      renamed.flows.push_back({number[flow.source], number[flow.destination], flow.messages, flow.bytes});
    std::sort(renamed.flows.begin(), renamed.flows.end(), [](const Flow& a, const Flow& b) {
      return a.source != b.source ? a.source < b.source : a.destination < b.destination;
    });
    for (std::int32_t rank = 0; rank < 128; ++rank) current[number[rank]] = rank;
    const auto mapping = find_mapping({renamed, topology, Nodes(128, 1), current, Objective::hop_bytes, effort});
    REQUIRE(mapping);
    const double gain = 1 - mapping->after.hop_bytes / mapping->before.hop_bytes;
    least = std::min(least, gain);
    most = std::max(most, gain);
  }
  INFO(least << " .. " << most);
  CHECK(most - least < 0.02);
}

TEST_CASE("what cannot be mapped is refused in words, what needs no mapping is left alone") {
  const Topology topology = network("torus:2x2");
  const Traffic traffic{4, {{0, 1, 1, 5}}};
  const auto refused = [&](const Traffic& t, Nodes capacity, Nodes current) {
    const auto mapping =
        find_mapping({t, topology, std::move(capacity), std::move(current), Objective::hop_bytes, 0.1});
    REQUIRE_FALSE(mapping);
    CHECK(mapping.error().code == ErrorCode::bad_argument);
    CHECK(mapping.error().message.find('\n') == std::string::npos);
    return mapping.error().message;
  };
  CHECK(refused(traffic, {1, 1, 1, 0}, {}).find("4 ranks do not fit") == 0);
  refused(traffic, {1, 1, 1}, {});
  refused(traffic, {1, 1, 1, -1}, {});
  refused(traffic, {1, 1, 1, 1}, {0, 1, 2});
  refused(traffic, {1, 1, 1, 1}, {0, 1, 2, 2});
  refused(traffic, {1, 1, 1, 1}, {0, 1, 2, 4});
  refused(traffic, {1, 1, 1, 1}, {0, 1, 2, -1});
  refused({0, {}}, {1, 1, 1, 1}, {});
  refused({2, {{0, 2, 1, 5}}}, {1, 1, 1, 1}, {});
  refused({2, {{-1, 1, 1, 5}}}, {1, 1, 1, 1}, {});
  refused({2, {{0, 1, 1, NAN}}}, {1, 1, 1, 1}, {});
  refused({2, {{0, 1, 1, INFINITY}}}, {1, 1, 1, 1}, {});
  const std::vector<Traffic> silent = {{4, {}}, {4, {{1, 1, 3, 100}}}, {4, {{0, 1, 7, 0}}}};
  for (const Traffic& t : silent) {
    const auto mapping = find_mapping({t, topology, {4, 4, 4, 4}, {3, 1, 0, 1}, Objective::hop_bytes, 0.1});
    REQUIRE(mapping);
    CHECK(mapping->node_of_rank == Nodes{3, 1, 0, 1});
  }
}

TEST_CASE("one node, ranks that talk to nobody, more nodes than ranks") {
  std::mt19937 random(5);
  for (const char* text : {"nodes:1", "nodes:100", "torus:16x16", "mesh:40"}) {
    const Topology topology = network(text);
    Traffic traffic = random_traffic(random, 20, 0.05);
    traffic.ranks = 30;  // ten more without a word
    const Nodes capacity(static_cast<std::size_t>(topology.nodes()), topology.nodes() == 1 ? 64 : 1);
    const auto mapping = find_mapping({traffic, topology, capacity, {}, Objective::hop_bytes, 0.05});
    REQUIRE(mapping);
    require_fits(mapping->node_of_rank, capacity, 30);
  }
}
