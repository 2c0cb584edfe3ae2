// Distances, neighbours and routes against breadth-first search, and against what was measured on real machines.
#include "analysis/mapping/topology.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "tests/analysis/mapping/temporary_file.hpp"
#include "tests/test_data.hpp"

using namespace pclscope;
using namespace pclscope::mapping;

namespace {

Topology make(const std::string& text) {
  auto topology = Topology::parse(text);
  INFO(text << ": " << (topology ? "" : topology.error().message));
  REQUIRE(topology);
  return std::move(*topology);
}

// The oracle: nothing but neighbours().
std::vector<std::int32_t> search(const Topology& topology, std::int32_t from) {
  std::vector<std::int32_t> hops(static_cast<std::size_t>(topology.vertices()), -1), queue{from};
  hops[static_cast<std::size_t>(from)] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (const auto next : topology.neighbours(queue[head])) {
      if (hops[static_cast<std::size_t>(next)] >= 0) continue;
      hops[static_cast<std::size_t>(next)] = hops[static_cast<std::size_t>(queue[head])] + 1;
      queue.push_back(next);
    }
  }
  return hops;
}

bool linked(const Topology& topology, std::int32_t a, std::int32_t b) {
  const auto around = topology.neighbours(a);
  return std::binary_search(around.begin(), around.end(), b);
}

// Everything that holds for any topology; small ones only.
void check_all(const Topology& topology) {
  INFO(topology.text());
  std::int32_t longest = 0;
  for (std::int32_t a = 0; a < topology.vertices(); ++a) {
    const auto around = topology.neighbours(a);
    REQUIRE(std::is_sorted(around.begin(), around.end()));
    REQUIRE(std::adjacent_find(around.begin(), around.end()) == around.end());
    REQUIRE_FALSE(linked(topology, a, a));
    const auto hops = search(topology, a);
    for (std::int32_t b = 0; b < topology.vertices(); ++b) {
      REQUIRE(linked(topology, a, b) == linked(topology, b, a));
      REQUIRE(topology.hops(a, b) == hops[static_cast<std::size_t>(b)]);
      if (a < topology.nodes() && b < topology.nodes()) longest = std::max(longest, topology.hops(a, b));
      const auto route = topology.route(a, b);
      REQUIRE(route.front() == a);
      REQUIRE(route.back() == b);
      REQUIRE(static_cast<std::int32_t>(route.size()) == topology.hops(a, b) + 1);
      for (std::size_t i = 1; i < route.size(); ++i) REQUIRE(linked(topology, route[i - 1], route[i]));
    }
  }
  REQUIRE(topology.diameter() == longest);
}

std::string random_sizes(std::mt19937& random, int dimensions, int most, bool marks) {
  std::ostringstream text;
  for (int d = 0; d < dimensions; ++d) {
    text << (d ? "x" : "") << 1 + random() % static_cast<unsigned>(most);
    text << (marks && random() % 3 == 0 ? "m" : "");
  }
  return text.str();
}

// Every hop count of a published file (source, destination, bytes, hops) against the topology's.
std::pair<int, int> explained(const std::string& file, const std::string& text, int ranks_per_node) {
  const Topology topology = make(text);
  std::ifstream in(test::data_file("par-comm/hopbyte/" + file + "_hopbyte.txt"));
  int equal = 0, lines = 0, from = 0, to = 0, hops = 0;
  for (std::string bytes; in >> from >> to >> bytes >> hops; ++lines)
    equal += topology.hops(from / ranks_per_node, to / ranks_per_node) == hops;
  return {equal, lines};
}

}  // namespace

TEST_CASE("the hop counts measured on Vesta and Mira are those of the tori") {
  CHECK(explained("MiniAMR_Vesta_n128_c1_s1", "torus:2x2x4x4x2", 1) == std::pair(2222, 2222));
  CHECK(explained("IMB-MPI1_Vesta_n32_c16", "torus:2x2x2x2x2", 16) == std::pair(1023, 1023));
  CHECK(explained("MiniMD_Mira_n1024_c1_w", "torus:4x4x4x8mx2", 1) == std::pair(6144, 6144));
  CHECK(explained("MiniMD_Mira_n1024_c1_w", "torus:4x4x4x8x2", 1) == std::pair(6016, 6144));  // the 98 % without a mesh
}

TEST_CASE("tori, meshes and fully linked dimensions of any shape: distances, routes, diameter") {
  const unsigned seed = 20261121;
  std::mt19937 random(seed);
  INFO("seed " << seed);
  for (int round = 0; round < 25; ++round) {
    const int dimensions = 1 + static_cast<int>(random() % 4), most = dimensions < 3 ? 9 : 4;
    check_all(make("torus:" + random_sizes(random, dimensions, most, true)));
    check_all(make("mesh:" + random_sizes(random, dimensions, most, false)));
    check_all(make("hyperx:" + random_sizes(random, dimensions, most, false)));
  }
  check_all(make("torus:1"));
  check_all(make("torus:3x70"));  // a dimension without a table
  check_all(make("torus:70mx3"));
}

TEST_CASE("nodes, dragonflies and fat trees: distances, routes, diameter") {
  for (const char* text : {"nodes:1", "nodes:2", "nodes:9", "dragonfly:1x1x1", "dragonfly:1x4x2", "dragonfly:5x1x2",
                           "dragonfly:5x2x2", "dragonfly:9x4x2", "dragonfly:3x5x1", "fattree:1", "fattree:4",
                           "fattree:4x3", "fattree:2x2x2x2", "fattree:3x1x2"}) {
    check_all(make(text));
  }
}

TEST_CASE("a dragonfly has one link between any two groups, and at most three router links between routers") {
  const Topology topology = make("dragonfly:9x4x2");
  CHECK(topology.nodes() == 72);
  CHECK(topology.vertices() == 72 + 36);
  CHECK(topology.diameter() == 5);
  int between = 0;
  for (std::int32_t a = 72; a < topology.vertices(); ++a) {
    for (const auto b : topology.neighbours(a)) between += b > a && (a - 72) / 4 != (b - 72) / 4;
  }
  CHECK(between == 9 * 8 / 2);
}

TEST_CASE("routers and switches are called by where they are, nodes and vertices of files by their own names") {
  const auto title = [](const char* text, std::int32_t vertex) {
    const auto topology = Topology::parse(text);
    REQUIRE(topology);
    return topology->title(vertex);
  };
  CHECK(title("dragonfly:9x4x2", 71) == "71");
  CHECK(title("dragonfly:9x4x2", 72) == "router 0.0");
  CHECK(title("dragonfly:9x4x2", 90) == "router 4.2");  // 72 + 4 x 4 + 2
  CHECK(title("dragonfly:9x4x2", 107) == "router 8.3");
  // 16 x 4 x 4: 256 nodes, 16 leaf switches, 4 above them, the root.
  CHECK(title("fattree:16x4x4", 255) == "255");
  CHECK(title("fattree:16x4x4", 256) == "switch 1.0");
  CHECK(title("fattree:16x4x4", 271) == "switch 1.15");
  CHECK(title("fattree:16x4x4", 272) == "switch 2.0");
  CHECK(title("fattree:16x4x4", 276) == "switch 3.0");
  CHECK(title("torus:3x3", 4) == "4");
  // A leaf switch is next to its own nodes, a router to its own.
  for (const char* text : {"dragonfly:5x3x2", "fattree:3x2x2"}) {
    const auto topology = Topology::parse(text);
    REQUIRE(topology);
    for (std::int32_t vertex = topology->nodes(); vertex < topology->vertices(); ++vertex)
      CHECK(topology->title(vertex) != topology->name(vertex));
  }
}

TEST_CASE("in a fat tree the way goes up to the common switch and down again") {
  const Topology topology = make("fattree:4x3x2");
  CHECK(topology.nodes() == 24);
  CHECK(topology.vertices() == 24 + 6 + 2 + 1);
  CHECK(topology.hops(0, 3) == 2);
  CHECK(topology.hops(0, 4) == 4);
  CHECK(topology.hops(0, 12) == 6);
  CHECK(topology.route(0, 12) == std::vector<std::int32_t>{0, 24, 30, 32, 31, 27, 12});
}

TEST_CASE("random edge lists: distances, routes, diameter") {
  const unsigned seed = 7;
  std::mt19937 random(seed);
  INFO("seed " << seed);
  for (int round = 0; round < 30; ++round) {
    const unsigned vertices = 2 + random() % 30;
    std::ostringstream text;
    for (unsigned v = 1; v < vertices; ++v) text << "n" << v << " n" << random() % v << "\n";  // a tree
    for (unsigned extra = random() % 20; extra > 0; --extra) {
      const unsigned a = random() % vertices, b = random() % vertices;
      if (a != b) text << "n" << a << "\tn" << b << "  # again, or new\n";
    }
    for (unsigned v = 0; round % 2 == 1 && v < vertices; v += 2) text << "node n" << v << "\n";
    const test::TemporaryFile file(text.str());
    check_all(make("edges:" + file.path()));
  }
}

TEST_CASE("a long chain and a star of many nodes are answered without a table of all pairs") {
  std::ostringstream chain, star;
  for (int v = 0; v < 50'000; ++v) chain << v << " " << v + 1 << "\n";
  for (int v = 0; v < 200'000; ++v) star << "switch host" << v << "\nnode host" << v << "\n";
  const test::TemporaryFile chain_file(chain.str()), star_file(star.str());
  const Topology line = make("edges:" + chain_file.path()), hub = make("edges:" + star_file.path());
  CHECK(line.hops(0, 50'000) == 50'000);
  CHECK(line.diameter() == 50'000);
  CHECK(hub.nodes() == 200'000);
  CHECK(hub.hops(3, 199'999) == 2);
  CHECK(hub.diameter() == 2);
}

TEST_CASE("the largest tori are there, and their corners know each other") {
  const Topology cube = make("torus:2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2");
  CHECK(cube.nodes() == 1 << 20);
  CHECK(cube.hops(0, (1 << 20) - 1) == 20);
  const Topology square = make("torus:1024x1024m");
  CHECK(square.hops(0, 1023) == 1023);
  CHECK(square.hops(0, 1023 * 1024) == 1);
  CHECK(square.coordinates(1024 * 5 + 7) == std::vector<std::int32_t>{5, 7});
  CHECK(square.vertex_at({5, 7}) == 1024 * 5 + 7);
}

TEST_CASE("threads that ask at the same time get the same answers") {
  const Topology shared = make("dragonfly:9x4x2"), alone = make("dragonfly:9x4x2");
  std::vector<std::vector<std::int32_t>> seen(4);
  std::vector<std::thread> threads;
  for (auto& row : seen) {
    threads.emplace_back([&] {
      for (std::int32_t a = 0; a < shared.nodes(); ++a) {
        for (std::int32_t b = 0; b < shared.nodes(); ++b) row.push_back(shared.hops(a, b));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::size_t i = 0;
  for (std::int32_t a = 0; a < alone.nodes(); ++a) {
    for (std::int32_t b = 0; b < alone.nodes(); ++b, ++i) {
      for (const auto& row : seen) REQUIRE(row[i] == alone.hops(a, b));
    }
  }
}
