// Networks with traffic: sums, filters against a brute force, files.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <set>

#include "analysis/mapping/mapping.hpp"
#include "tests/seed.hpp"
#include "tests/test_data.hpp"
#include "tests/viewer/memory_session.hpp"
#include "tests/viewer/random_network.hpp"
#include "viewer/session/network_filter.hpp"
#include "viewer/session/network_source.hpp"
#include "viewer/session/run_network.hpp"

using namespace pclscope;
using session::NetworkCasePtr;
using session::NetworkMetric;
using test::network_of;
using test::random_traffic;

namespace {

// A folder of its own that goes with the test.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("pclscope-network-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

double value_by_hand(const session::NetworkCase& n, NetworkMetric metric, std::size_t i) {
  const auto& routes = n.routes.routes;
  if (metric == NetworkMetric::route_length) return double(routes[i].path.size()) - 1;
  if (metric == NetworkMetric::route_bytes) return routes[i].bytes;
  if (metric == NetworkMetric::route_hop_bytes) return routes[i].bytes * (double(routes[i].path.size()) - 1);
  double most = 0;
  for (std::size_t k = 1; k < routes[i].path.size(); ++k) {
    double load = 0;
    for (const auto& other : routes)
      for (std::size_t m = 1; m < other.path.size(); ++m)
        if (other.path[m - 1] == routes[i].path[k - 1] && other.path[m] == routes[i].path[k]) load += other.bytes;
    most = std::max(most, load);
  }
  return most;
}

}  // namespace

TEST_CASE("network: loads add up to bytes x hops, bytes at vertices to the loads, on random traffic") {
  std::mt19937 random(test::random_seed());
  for (const char* spec : {"torus:3x4x2", "mesh:5x3", "dragonfly:5x2x2", "fattree:3x2x2", "nodes:7", "hyperx:3x2"}) {
    const NetworkCasePtr n = network_of(spec, random, 60);
    const double loads = std::accumulate(n->loads.begin(), n->loads.end(), 0.0);
    CHECK(loads == mapping::sum_hop_bytes(n->routes.routes));
    CHECK(std::accumulate(n->out_bytes.begin(), n->out_bytes.end(), 0.0) == loads);
    CHECK(std::accumulate(n->in_bytes.begin(), n->in_bytes.end(), 0.0) == loads);
    CHECK(n->routes_from.find(spec) != std::string::npos);
  }
}

TEST_CASE("network: another placement has the cost that the mapping says, and another generation") {
  std::mt19937 random(test::random_seed());
  const NetworkCasePtr n = network_of("torus:4x3x2", random, 80);
  std::vector<std::int32_t> other(static_cast<std::size_t>(n->traffic.ranks));
  std::iota(other.begin(), other.end(), 0);
  std::shuffle(other.begin(), other.end(), random);
  const auto moved = session::with_placement(*n, other, "moved");
  REQUIRE(moved);
  const mapping::MappingCost cost = mapping::cost_of(n->traffic, *n->topology, other);
  CHECK(std::accumulate((*moved)->loads.begin(), (*moved)->loads.end(), 0.0) == Approx(cost.hop_bytes));
  CHECK(*std::max_element((*moved)->loads.begin(), (*moved)->loads.end()) == Approx(cost.max_link_load));
  CHECK((*moved)->generation > n->generation);
  CHECK((*moved)->change == "moved");
  for (std::size_t rank = 0; rank < other.size(); ++rank) {
    const auto& here = (*moved)->ranks_at[static_cast<std::size_t>(other[rank])];
    CHECK(std::find(here.begin(), here.end(), static_cast<std::int32_t>(rank)) != here.end());
  }
  CHECK_FALSE(session::with_placement(*n, std::vector<std::int32_t>(other.size(), 99), "beyond the network"));
}

TEST_CASE("network: other routes keep what is sent and change the loads") {
  std::mt19937 random(test::random_seed());
  const NetworkCasePtr n = network_of("torus:4x4", random, 400);
  auto routes = n->routes.routes;
  for (auto& route : routes)
    if (route.length() > 0) route.path = n->topology->route(route.path.front(), route.path.back());
  const auto same = session::with_routes(*n, routes, "nothing");
  CHECK(same->loads == n->loads);
  // One route the long way round: 0 1 2 3 0's neighbour.
  std::size_t chosen = 0;
  while (routes[chosen].length() != 1 || !(routes[chosen].bytes > 0)) ++chosen;
  const std::int32_t from = routes[chosen].path[0], to = routes[chosen].path[1];
  for (const std::int32_t by : n->topology->neighbours(from))
    if (by != to && n->topology->hops(by, to) == 2) {
      routes[chosen].path = n->topology->route(by, to);
      routes[chosen].path.insert(routes[chosen].path.begin(), from);
      break;
    }
  REQUIRE(routes[chosen].length() == 3);
  const auto longer = session::with_routes(*n, routes, "one route");
  CHECK(std::accumulate(longer->loads.begin(), longer->loads.end(), 0.0) ==
        std::accumulate(n->loads.begin(), n->loads.end(), 0.0) + 2 * routes[chosen].bytes);
}

TEST_CASE("network: a ranking is sorted, and has each thing once with its value") {
  std::mt19937 random(test::random_seed());
  const NetworkCasePtr n = network_of("torus:3x3x2", random, 50);
  for (const auto metric : {NetworkMetric::route_length, NetworkMetric::route_bytes, NetworkMetric::route_hop_bytes,
                            NetworkMetric::route_load}) {
    const session::NetworkRanking ranking = session::rank_network(*n, metric);
    REQUIRE(ranking.order.size() == n->routes.routes.size());
    CHECK(std::set<std::uint32_t>(ranking.order.begin(), ranking.order.end()).size() == ranking.order.size());
    for (std::size_t i = 0; i < ranking.order.size(); ++i) {
      CHECK(ranking.values[i] == Approx(value_by_hand(*n, metric, ranking.order[i])));
      if (i > 0) CHECK(ranking.values[i - 1] >= ranking.values[i]);
    }
  }
  const auto links = session::rank_network(*n, NetworkMetric::link_load);
  CHECK(std::accumulate(links.values.begin(), links.values.end(), 0.0) ==
        Approx(std::accumulate(n->loads.begin(), n->loads.end(), 0.0)));
}

TEST_CASE("network: filters are those of a brute force, and their loads those of the routes that are left") {
  std::mt19937 random(test::random_seed());
  for (int round = 0; round < 20; ++round) {
    const NetworkCasePtr n = network_of(round % 2 == 0 ? "torus:3x4" : "dragonfly:4x2x2", random, 40);
    session::NetworkFilter filter;
    if (round % 3 != 0) {
      session::NetworkLasso lasso;
      for (std::int32_t v = 0; v < n->vertices(); ++v)
        if (random() % 2 == 0) lasso.vertices.push_back(v);
      lasso.crossing = round % 4 < 2;
      filter.lasso = lasso;
    }
    if (round % 5 != 0)
      filter.brush = session::NetworkBrush{static_cast<NetworkMetric>(round % 7), random() % 5, 5 + random() % 20};
    std::set<std::uint32_t> ranked;
    if (filter.brush) {
      const auto ranking = session::rank_network(*n, filter.brush->metric);
      for (std::size_t i = filter.brush->first; i < filter.brush->end && i < ranking.order.size(); ++i)
        ranked.insert(ranking.order[i]);
    }
    std::vector<std::uint32_t> expected;
    for (std::uint32_t r = 0; r < n->routes.routes.size(); ++r) {
      const auto& path = n->routes.routes[r].path;
      bool all = true, any = false, brushed = !filter.brush;
      for (const std::int32_t v : path) {
        const bool in = filter.lasso && std::count(filter.lasso->vertices.begin(), filter.lasso->vertices.end(), v) > 0;
        all = all && in;
        any = any || in;
      }
      if (filter.brush) {
        const auto thing = session::thing_of(filter.brush->metric);
        if (thing == session::NetworkThing::route) brushed = ranked.contains(r);
        for (std::size_t i = 1; i < path.size(); ++i)
          if (thing == session::NetworkThing::link)
            brushed = brushed || ranked.contains(static_cast<std::uint32_t>(n->links->find(path[i - 1], path[i])));
        if (thing == session::NetworkThing::vertex && path.size() > 1)
          for (const std::int32_t v : path) brushed = brushed || ranked.contains(static_cast<std::uint32_t>(v));
      }
      if (brushed && (!filter.lasso || (filter.lasso->crossing ? any : all))) expected.push_back(r);
    }
    const auto shown = session::filter_routes(n, filter);
    CHECK(shown.routes == expected);
    double sum = 0;
    for (const std::uint32_t r : expected) sum += n->routes.routes[r].hop_bytes();
    CHECK(std::accumulate(shown.loads.begin(), shown.loads.end(), 0.0) == sum);
  }
}

TEST_CASE("network: the published hop-byte file and its routes give the same loads") {
  const std::string data = test::data_file("par-comm");
  const std::string bytes = data + "/hopbyte/MiniAMR_Vesta_n128_c1_s1_hopbyte.txt",
                    routes = data + "/route/MiniAMR_Vesta_n128_c1_s1_route.txt";
  REQUIRE(session::is_network_file(bytes));
  REQUIRE(session::is_network_file(routes));
  const auto by_traffic = session::read_network_file(bytes, {"torus:2x2x4x4x2@BACDE", "", {}});
  const auto by_routes = session::read_network_file(routes, {"torus:2x2x4x4x2", bytes, {}});
  REQUIRE(by_traffic);
  REQUIRE(by_routes);
  const auto a = session::make_network_case(*by_traffic), b = session::make_network_case(*by_routes);
  REQUIRE(a);
  REQUIRE(b);
  CHECK((*a)->loads == (*b)->loads);
  CHECK((*b)->routes_from.find("route.txt says") != std::string::npos);
  CHECK((*a)->routes_from.find("assumed") == 0);
}

TEST_CASE("network: a route file's ranks keep their names where they do not begin at 0") {
  const auto facts = session::read_network_file(test::data_file("par-comm/route/MiniMD_Theta_n64_c1_w_route.txt"), {});
  REQUIRE(facts);
  CHECK(facts->traffic.ranks == 64);
  const auto n = session::make_network_case(*facts);
  REQUIRE(n);
  CHECK(session::rank_name(**n, 0) == "3433");
  CHECK((*n)->routes.routes.size() == 384);
}

TEST_CASE("network: what is no file of traffic or routes is not taken for one") {
  const Folder folder;
  CHECK(session::is_network_file(folder.write("a", "# words\n\n0 1 5000\n")));
  CHECK(session::is_network_file(folder.write("b", "# pclscope traffic 1\n")));
  CHECK(session::is_network_file(folder.write("c", "0,1,6.5e+03,2\n")));
  CHECK_FALSE(session::is_network_file(folder.write("d", "")));
  CHECK_FALSE(session::is_network_file(folder.write("e", "hello world 12\n")));
  CHECK_FALSE(session::is_network_file(folder.write("f", "1 2\n")));
  CHECK_FALSE(session::is_network_file(folder.write("g", std::string("\x89HDF\r\n\0\0 1 2 3", 14))));
  CHECK_FALSE(session::is_network_file((folder.path / "none").string()));
}

TEST_CASE("network: what is missing or too small is said") {
  const Folder folder;
  const std::string traffic = folder.write("t", "0 1 100\n5 2 100\n");
  const auto no_topology = session::read_network_file(traffic, {});
  REQUIRE_FALSE(no_topology);
  CHECK(no_topology.error().message.find("--topology is needed") != std::string::npos);
  const auto too_small = session::read_network_file(traffic, {"nodes:4", "", {}});
  REQUIRE_FALSE(too_small);
  CHECK(too_small.error().message.find("--ranks-per-node 2") != std::string::npos);
  CHECK(session::read_network_file(traffic, {"nodes:3", "", 2}));
  CHECK_FALSE(session::read_network_file(traffic, {"nodes:6", "some file", {}}));
  CHECK_FALSE(session::read_network_file(traffic, {"donut:6", "", {}}));
}

TEST_CASE("network: ranks in order leave places without a node free") {
  const Folder folder;
  // A mesh of 2 x 3 of which two places are empty.
  const std::string file = folder.write("places", "mesh 2x3\na 0 0\nb 0 2\nc 1 0\nd 1 1\n");
  auto topology = mapping::Topology::parse("coordinates:" + file);
  REQUIRE(topology);
  const auto two_each = session::place_in_order(*topology, 7, 2);
  REQUIRE(two_each);
  std::vector<std::int32_t> used(static_cast<std::size_t>(topology->nodes()), 0);
  for (const std::int32_t node : *two_each) ++used[static_cast<std::size_t>(node)];
  CHECK(std::is_sorted(two_each->begin(), two_each->end()));
  const std::vector<std::int32_t> room = session::equal_capacities(*topology, 2);
  CHECK(std::accumulate(room.begin(), room.end(), 0) == 8);
  for (std::int32_t node = 0; node < topology->nodes(); ++node)
    CHECK(used[static_cast<std::size_t>(node)] <= (topology->takes_ranks(node) ? 2 : 0));
  const auto too_many = session::place_in_order(*topology, 9, 2);
  REQUIRE_FALSE(too_many);
  CHECK(too_many.error().message.find("has 4 nodes for 2 ranks each") != std::string::npos);
  CHECK(too_many.error().message.find("--ranks-per-node 3") != std::string::npos);
  // As the search begins.
  mapping::Traffic traffic{7, {{0, 6, 1, 10}}};
  const auto found = mapping::find_mapping({traffic, *topology, room, {}, mapping::Objective::hop_bytes, 0.1});
  REQUIRE(found);
  CHECK(found->node_before == *two_each);
}

TEST_CASE("network: of a run the placement is the run's, and its nodes have names") {
  struct Run final : test::MemorySession {
    Run() : MemorySession({}) {}
    Result<std::vector<PairTraffic>> traffic() override {
      return std::vector<PairTraffic>{{0, 1, 3, 100}, {0, 2, 1, 50}, {2, 2, 9, 9}, {3, 0, 1, 7}, {7, 0, 1, 7}};
    }
  } run;
  Snapshot snapshot;
  Application& application = snapshot.application;
  application.ranks = 4;
  application.nodes = {"red", "blue"};
  application.node_of_rank = {0, 0, 1, -1};
  const auto facts = session::read_network_of_run(run, snapshot, "run.h5", {});
  REQUIRE(facts);
  CHECK(facts->traffic.flows.size() == 3);  // none to oneself, none of a rank that is not there
  CHECK(facts->capacities == std::vector<std::int32_t>{2, 1});
  const auto n = session::make_network_case(*facts);
  REQUIRE(n);
  CHECK(session::vertex_name(**n, 1) == "blue");
  CHECK((*n)->links->find(0, 1) >= 0);
  CHECK((*n)->loads[static_cast<std::size_t>((*n)->links->find(0, 1))] == 50);
  const auto torus = session::read_network_of_run(run, snapshot, "run.h5", {"torus:2x2", "", {}});
  REQUIRE(torus);
  const auto on_torus = session::make_network_case(*torus);
  REQUIRE(on_torus);
  CHECK(session::vertex_name(**on_torus, 1) == "blue (0 1)");
  CHECK(session::vertex_name(**on_torus, 3) == "(1 1)");
  CHECK_FALSE(session::read_network_of_run(run, snapshot, "run.h5", {"nodes:1", "", {}}));
  // Slurm told the run, in another order and with short names.
  application.nodes = {"red.site", "blue.site"};
  snapshot.found.slurm_topology = "SwitchName=s Nodes=blue,green,red\n";
  const auto told = session::read_network_of_run(run, snapshot, "run.h5", {});
  REQUIRE(told);
  CHECK(told->topology->nodes() == 3);
  CHECK(told->node_of_rank == std::vector<std::int32_t>{2, 2, 0, -1});
  CHECK(told->node_names == std::vector<std::string>{"blue.site", "green", "red.site"});
  CHECK(told->capacities == std::vector<std::int32_t>{1, 0, 2});
  application.nodes = {"red.site", "yellow.site"};  // not all of them: then nothing is known
  const auto other = session::read_network_of_run(run, snapshot, "run.h5", {});
  REQUIRE(other);
  CHECK(other->topology->text() == "nodes:2");
}
