// The published route files, and files that do not fit together.
#include "analysis/mapping/route_file.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <sstream>

#include "analysis/mapping/link_load.hpp"
#include "analysis/mapping/route_line.hpp"
#include "tests/analysis/mapping/temporary_file.hpp"
#include "tests/test_data.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::mapping;

namespace {

const std::string data = test::data_file("par-comm/");

RouteFile read(const std::string& path, const Topology* topology = nullptr) {
  auto file = read_routes(path, topology);
  INFO(path << ": " << (file ? "" : file.error().message));
  REQUIRE(file);
  return std::move(*file);
}

struct Published {
  const char* name;
  const char* topology;  // whose routes these are
  std::size_t routes, lines;
};

std::string refusal(const std::string& text) {
  const test::TemporaryFile file(text);
  const auto result = read_routes(file.path());
  REQUIRE_FALSE(result);
  REQUIRE(result.error().message.rfind(file.path(), 0) == 0);
  return result.error().message.substr(file.path().size());
}

}  // namespace

TEST_CASE("the published routes are, link by link, those of a torus with the right order of its dimensions") {
  for (const Published& one : {Published{"IMB-MPI1_Vesta_n32_c16", "torus:2x2x2x2x2@DCBAE", 527, 1337},
                               Published{"MiniAMR_Vesta_n128_c1_s1", "torus:2x2x4x4x2@BACDE", 2222, 5058},
                               Published{"IoOpt_Mira_n512_c16", "torus:4x4x4x4x2", 504, 1658},
                               Published{"MiniMD_Theta_n64_c1_w", "hyperx:7x6x16x4@DCBA", 384, 616}}) {
    INFO(one.name);
    const auto topology = Topology::parse(one.topology);
    REQUIRE(topology);
    const RouteFile file = read(data + "route/" + one.name + "_route.txt", &*topology);
    CHECK(file.lines == one.lines);
    CHECK(file.problem_count == 0);
    REQUIRE(file.set.routes.size() == one.routes);
    double hops = 0;
    for (const Route& route : file.set.routes) {
      REQUIRE(route.path == topology->route(route.path.front(), route.path.back()));
      hops += route.length();
    }
    const auto graph = LinkGraph::of(*topology);
    REQUIRE(graph);
    CHECK(summarise(link_loads(*graph, file.set.routes)).total == hops);  // a byte each
  }
}

TEST_CASE("without a topology a file's coordinates make the vertices, and its links the network") {
  const RouteFile file = read(data + "route/IMB-MPI1_Vesta_n32_c16_route.txt");
  CHECK(file.set.vertices == 32);
  CHECK(file.set.coordinates[1] == std::vector<std::int32_t>{0, 0, 0, 0, 1});
  CHECK(file.set.number[1] == 16);
  const Route& route = file.set.routes.front();
  CHECK(route.source == 15);
  CHECK(route.destination == 16);
  CHECK(file.set.places.at(15).core == 15);
  const LinkGraph graph = LinkGraph::of(file.set);
  CHECK(graph.vertices() == 32);
  CHECK(graph.links() <= 32 * 5);
  CHECK(is_route_file(data + "route/IMB-MPI1_Vesta_n32_c16_route.txt"));
  CHECK_FALSE(is_route_file(data + "hopbyte/IMB-MPI1_Vesta_n32_c16_hopbyte.txt"));
  CHECK_FALSE(is_route_file("/does/not/exist"));
}

TEST_CASE("what is written is read again, and is the published file up to the order of its lines") {
  const RouteFile first = read(data + "route/IMB-MPI1_Vesta_n32_c16_route.txt");
  const test::TemporaryFile copy;
  REQUIRE(write_routes(copy.path(), first.set));
  const auto sorted_lines = [](const std::string& path) {
    std::ifstream in(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  CHECK(sorted_lines(copy.path()) == sorted_lines(data + "route/IMB-MPI1_Vesta_n32_c16_route.txt"));
}

TEST_CASE("routes through routers are written with numbers that no rank has, and read again") {
  const auto topology = Topology::parse("dragonfly:5x2x2");
  REQUIRE(topology);
  Traffic traffic{40, {}};
  std::vector<std::int32_t> node_of_rank(40);
  for (std::int32_t rank = 0; rank < 40; ++rank) {
    node_of_rank[static_cast<std::size_t>(rank)] = rank / 2;
    traffic.flows.push_back({rank, (rank * 7 + 3) % 40, 1, 100});
  }
  const auto set = routes_of(traffic, *topology, node_of_rank);
  REQUIRE(set);
  const test::TemporaryFile copy;
  REQUIRE(write_routes(copy.path(), *set));
  const RouteFile again = read(copy.path(), &*topology);
  CHECK(again.problem_count == 0);
  std::size_t next = 0;
  for (const Route& route : set->routes) {
    if (route.length() == 0) continue;
    REQUIRE(next < again.set.routes.size());
    CHECK(again.set.routes[next].path == route.path);
    CHECK(again.set.routes[next].source == route.source);
    CHECK(again.set.routes[next++].destination == route.destination);
  }
  CHECK(next == again.set.routes.size());
}

TEST_CASE("bytes come from the traffic, by source and destination") {
  RouteFile file = read(data + "route/IMB-MPI1_Vesta_n32_c16_route.txt");
  Traffic traffic{512, {{15, 16, 1, 2.5}, {102, 0, 1, 1764}, {511, 3, 1, 9}}};
  CHECK(set_bytes(file.set, traffic) == 2);
  CHECK(file.set.routes.front().bytes == 2.5);
  CHECK(sum_hop_bytes(file.set.routes) == 2.5 * file.set.routes.front().length() + 1764 * 2);
}

TEST_CASE("lines that are no route lines are refused with their number") {
  using Catch::Contains;
  const std::string good = "Hop 1: [1-0] 1 (0 1 0) -> 0 (0 0 0)\n";
  CHECK_THAT(refusal(""), Contains("no routes in it"));
  CHECK_THAT(refusal("\n\n# nothing\n"), Contains("no routes in it"));
  CHECK_THAT(refusal(good + "\n0 1 4.266e+06 1\n"), Contains(" line 3: not a line of a route file"));
  CHECK_THAT(refusal(good + "Hop 1: [2-0] 2 (0 1) -> 0 (0 0)\n"), Contains(" line 2: not 3 coordinates"));
  CHECK_THAT(refusal(good + std::string(100'000, 'H')), Contains(" line 2: not a line"));
  CHECK_THAT(refusal("Hop 1: [1-0] 1 (0 1 0) -> 5 (2 0 0)\n"),
             Contains("no route that fits together; line 1: route 1-0: does not end at its destination"));
  CHECK_FALSE(read_routes("/does/not/exist"));
  CHECK_FALSE(read_routes("/"));
  RouteLine line;
  for (const char* text : {"Hop : [1-0] 1 (0) -> 0 (1)", "Hop 0: [1-0] 1 (0) -> 0 (1)", "Hop 1: [1-0] 1 () -> 0 (1)",
                           "Hop 1: [1-0] 1 (0) > 0 (1)", "Hop 1: [1-0] 1 (0 -> 0 (1)", "Hop 1: [1-0] 1 (0) -> 0 (1) x",
                           "Hop 1: [1--1] 1 (0) -> 0 (1)", "Hop 1: [1-0] 1 (-1) -> 0 (1)",
                           "Hop 1: [99999999999-0] 1 (0) -> 0 (1)", "Hop"}) {
    INFO(text);
    CHECK_FALSE(parse_route_line(text, line));
  }
  CHECK(parse_route_line(" Hop 1 : [ 1 - 0 ] 1 (0)->0 (1)\r", line));
}

TEST_CASE("routes that do not fit together are left out and told with a line") {
  const test::TemporaryFile file(
      "Hop 1: [1-0] 1 (1 0) -> 0 (0 0)\n"                                   // good
      "Hop 2: [3-0] 1 (1 0) -> 0 (0 0)\n"                                   // hop 1 is missing
      "Hop 1: [4-0] 4 (4 0) -> 1 (1 0)\nHop 1: [4-0] 4 (4 0) -> 0 (0 0)\n"  // twice
      "Hop 1: [5-0] 5 (5 0) -> 1 (1 0)\nHop 2: [5-0] 2 (2 0) -> 0 (0 0)\n"  // a gap
      "Hop 1: [6-0] 5 (5 0) -> 0 (0 0)\n"                                   // begins elsewhere
      "Hop 1: [7-0] 7 (7 0) -> 0 (8 0)\n"                                   // rank 0 elsewhere
      "Hop 1: [8-0] 8 (9 0) -> 1 (1 0)\nHop 2: [8-0] 1 (1 0) -> 8 (9 0)\nHop 3: [8-0] 8 (9 0) -> 0 (0 0)\n");  // a loop
  const RouteFile read_file = read(file.path());
  REQUIRE(read_file.set.routes.size() == 1);
  CHECK(read_file.set.routes[0].source == 1);
  std::vector<std::string> told;
  for (const RouteProblem& problem : read_file.problems)
    told.push_back(std::to_string(problem.line) + " " + problem.what);
  CHECK(read_file.problem_count == told.size());
  CHECK(told == std::vector<std::string>{"2 route 3-0: hop 1 is missing", "4 route 4-0: hop 1 is there twice",
                                         "6 route 5-0: does not go on where hop 1 ended",
                                         "7 route 6-0: does not begin at its source",
                                         "8 rank 0 has had other coordinates", "9 route 8-0: comes to a vertex twice"});
}

TEST_CASE("routes that the topology cannot have are left out and told") {
  const auto ring = Topology::parse("torus:4");
  REQUIRE(ring);
  const test::TemporaryFile file(
      "Hop 1: [1-0] 1 (1 0) -> 0 (0 0)\nHop 1: [2-0] 2 (2 0) -> 0 (0 0)\nHop 1: [9-0] 9 (9 0) -> 0 (0 0)\n");
  const RouteFile read_file = read(file.path(), &*ring);
  CHECK(read_file.set.routes.size() == 1);
  REQUIRE(read_file.problem_count == 2);
  CHECK(read_file.problems[0].what == "route 2-0: a link that the topology does not have");
  CHECK(read_file.problems[1].what == "route 9-0: coordinates that the topology does not have");
}

TEST_CASE("damaged route files: an error, or routes that hold together") {
  const unsigned seed = 20261123;
  std::mt19937 random(seed);
  INFO("seed " << seed);
  std::ifstream in(data + "route/IMB-MPI1_Vesta_n32_c16_route.txt");
  std::vector<std::string> lines;
  for (std::string line; lines.size() < 200 && std::getline(in, line);) lines.push_back(line);
  const auto topology = Topology::parse("torus:2x2x2x2x2");
  REQUIRE(topology);
  std::size_t read_files = 0, refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (const std::string& line : lines) {
      if (random() % 20 != 0) text.append(line).append("\n");  // lines are missing
    }
    const bool digits = round % 2 == 0;  // another digit, else any byte
    for (unsigned damage = random() % 6; damage > 0; --damage) {
      char& c = text[random() % text.size()];
      if (!digits || (c >= '0' && c <= '9')) c = static_cast<char>(digits ? '0' + random() % 10 : random() % 256);
    }
    const test::TemporaryFile file(text);
    const auto result = read_routes(file.path(), round % 3 == 0 ? &*topology : nullptr);
    ++(result ? read_files : refused);
    if (!result) {
      REQUIRE(result.error().message.find(" line ") != std::string::npos);
      continue;
    }
    const LinkGraph graph = LinkGraph::of(result->set);
    REQUIRE(summarise(link_loads(graph, result->set.routes)).total == sum_hop_bytes(result->set.routes));
    for (const Route& route : result->set.routes) {
      for (std::size_t i = 1; i < route.path.size(); ++i) REQUIRE(graph.find(route.path[i - 1], route.path[i]) >= 0);
    }
    const test::TemporaryFile copy;
    REQUIRE(write_routes(copy.path(), result->set));
    REQUIRE(read(copy.path()).set.routes.size() <= result->set.routes.size());
  }
  CHECK(read_files > 50);
  CHECK(refused > 20);
}

TEST_CASE("a million lines are read") {
  std::ostringstream text;
  constexpr int routes = test::thinned(500'000);
  for (int i = 0; i < routes; ++i) {
    const int a = i % 1000, b = i / 1000;
    text << "Hop 1: [" << i << "-" << i + 500'001 << "] " << i << " (" << a << " " << b
         << " 0) -> 2000000 (1000 0 0)\n";
    text << "Hop 2: [" << i << "-" << i + 500'001 << "] 2000000 (1000 0 0) -> " << i + 500'001 << " (" << a << " "
         << b + 500 << " 0)\n";
  }
  const test::TemporaryFile file(text.str());
  const RouteFile read_file = read(file.path());
  CHECK(read_file.lines == 2 * routes);
  CHECK(read_file.set.routes.size() == routes);
  CHECK(read_file.problem_count == 0);
}
