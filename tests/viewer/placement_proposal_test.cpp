// Placements of a network: what is told is what mapping counts, and the file is what `pclscope map` writes.
#include "viewer/session/placement_proposal.hpp"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "analysis/mapping/traffic_file.hpp"
#include "tests/seed.hpp"
#include "tests/test_data.hpp"
#include "tests/viewer/network_made.hpp"

using namespace pclscope;
using namespace pclscope::session;
using mapping::LaunchFormat;
using mapping::Objective;

namespace {

void check_side(const PlacementSide& side, const NetworkCase& network) {
  const mapping::MappingCost cost = mapping::cost_of(network.traffic, *network.topology, network.node_of_rank);
  CHECK(side.hop_bytes == Approx(cost.hop_bytes));
  CHECK(side.heaviest == Approx(cost.max_link_load));
  CHECK(side.inter_bytes == Approx(cost.inter_bytes));
  CHECK(side.inter_messages == cost.inter_messages);
  CHECK(std::is_sorted(side.bytes_of_link.rbegin(), side.bytes_of_link.rend()));
  CHECK(std::accumulate(side.bytes_of_link.begin(), side.bytes_of_link.end(), 0.0) == Approx(cost.hop_bytes));
}

}  // namespace

TEST_CASE("two pairs of chatty ranks on two nodes are put together: by hand") {
  // 0 and 2 talk, 1 and 3 talk; two ranks on each node: 0 and 1, 2 and 3.
  const auto network =
      test::network_case("nodes:2", {4, {{0, 2, 10, 1000}, {1, 3, 10, 1000}, {2, 0, 10, 1000}, {3, 1, 10, 1000}}}, 2);
  check_side(placement_side(*network), *network);
  CHECK(placement_side(*network).inter_messages == 40);
  CHECK(placement_side(*network).heaviest == 2000);
  const auto proposal = propose_placement(network, {Objective::inter_messages, 1});
  REQUIRE(proposal);
  CHECK(proposal->side.inter_messages == 0);
  CHECK(proposal->side.bytes_of_link.empty());
  CHECK(proposal->moved.size() == 2);
  CHECK(proposal->after->change == "2 ranks moved");
  const auto& node = proposal->after->node_of_rank;
  CHECK(node[0] == node[2]);
  CHECK(node[1] == node[3]);
  CHECK(node[0] != node[1]);
  const auto again = propose_placement(proposal->after, {Objective::inter_messages, 1});
  REQUIRE(again);
  CHECK(again->moved.empty());
}

TEST_CASE("on random traffic sides are what mapping counts, capacities hold, and nothing gets worse") {
  const std::uint64_t seed = test::random_seed() + 51;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (const char* topology : {"torus:4x4", "dragonfly:5x4x2", "fattree:4x4", "nodes:8"}) {
    CAPTURE(topology);
    const auto network = test::network_case(topology, test::random_traffic(random, 16, 60), 2);
    check_side(placement_side(*network), *network);
    for (const Objective objective : {Objective::hop_bytes, Objective::inter_bytes, Objective::inter_messages}) {
      const auto proposal = propose_placement(network, {objective, 0.1});
      REQUIRE(proposal);
      check_side(proposal->side, *proposal->after);
      const PlacementSide before = placement_side(*network);
      if (objective == Objective::hop_bytes) CHECK(proposal->side.hop_bytes <= before.hop_bytes);
      if (objective == Objective::inter_bytes) CHECK(proposal->side.inter_bytes <= before.inter_bytes);
      if (objective == Objective::inter_messages) CHECK(proposal->side.inter_messages <= before.inter_messages);
      std::vector<std::int32_t> left = network->capacities;
      for (const std::int32_t node : proposal->after->node_of_rank) CHECK(left[static_cast<std::size_t>(node)]-- > 0);
      for (std::int32_t rank = 0; rank < 16; ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        CHECK((proposal->after->node_of_rank[at] != network->node_of_rank[at]) ==
              std::binary_search(proposal->moved.begin(), proposal->moved.end(), rank));
      }
    }
  }
}

TEST_CASE("every objective is searched for, time by what messages take") {
  const auto network =
      test::network_case("nodes:2", {4, {{0, 2, 10, 1000}, {1, 3, 10, 1000}, {2, 0, 10, 1000}, {3, 1, 10, 1000}}}, 2);
  const LinkTimes times{1e-6, 1e-9, 50e-6, 0, 1e-8};
  for (const Objective objective : {Objective::hop_bytes, Objective::inter_bytes, Objective::inter_messages,
                                    Objective::max_link_load, Objective::time}) {
    const auto proposal = propose_placement(network, {objective, 1, times});
    REQUIRE(proposal);
    CHECK(proposal->side.inter_messages == 0);
    REQUIRE(proposal->times);
    CHECK(proposal->times->before_s == Approx(40 * 50e-6 + 4000 * 1e-8));
    CHECK(proposal->times->after_s == Approx(40 * 1e-6 + 4000 * 1e-9));
  }
  CHECK_FALSE(propose_placement(network, {Objective::max_link_load, 1})->times);
  const auto unknown = propose_placement(network, {Objective::time, 1});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message.starts_with("what messages take is not known"));
  const auto ended = propose_placement(network, {.ended = [] { return true; }});
  REQUIRE(ended);
  CHECK(ended->moved.empty());
}

TEST_CASE("what cannot be placed is refused with a reason") {
  auto one = test::network_case("nodes:1", {2, {{0, 1, 1, 5}}}, 2);
  CHECK_FALSE(propose_placement(one, {Objective::hop_bytes, 1}));
  auto facts = test::network_facts("torus:4", {4, {{0, 3, 1, 5}}});
  facts.node_of_rank[2] = -1;
  const auto unknown = make_network_case(facts);
  REQUIRE(unknown);
  const auto refused = propose_placement(*unknown, {Objective::hop_bytes, 1});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "the nodes of some ranks are not known");
}

TEST_CASE("the launcher's file is that of the map command, is written once, and never over another") {
  auto file = mapping::read_traffic(test::data_file("par-comm/hopbyte/MiniAMR_Vesta_n128_c1_s1_hopbyte.txt"));
  REQUIRE(file);
  const auto network = test::network_case("torus:2x2x4x4x2", std::move(file->traffic));
  const auto proposal = propose_placement(network, {Objective::hop_bytes, 0.2});
  REQUIRE(proposal);
  CHECK(proposal->side.hop_bytes < 0.7 * placement_side(*network).hop_bytes);
  const auto text = placement_file(*proposal->after, LaunchFormat::plain);
  REQUIRE(text);
  std::istringstream lines(*text);
  for (std::string comment; lines.peek() == '#';) std::getline(lines, comment);
  for (std::int32_t rank = 0; rank < 128; ++rank) {
    std::int32_t of = -1, node = -1;
    lines >> of >> node;
    CHECK(of == rank);
    CHECK(node == proposal->after->node_of_rank[static_cast<std::size_t>(rank)]);
  }
  const std::string path =
      (std::filesystem::temp_directory_path() / ("placement-" + std::to_string(::getpid()))).string();
  CHECK(write_placement(*proposal->after, LaunchFormat::plain, path));
  std::ostringstream written;
  written << std::ifstream(path).rdbuf();
  CHECK(written.str() == *text);
  CHECK_FALSE(write_placement(*network, LaunchFormat::plain, path));
  std::remove(path.c_str());
  CHECK_FALSE(write_placement(*network, LaunchFormat::plain, "/nonexistent/file"));
}

TEST_CASE("the command line says what was asked for, as a shell takes it") {
  const auto network = test::network_case("torus:2x4", {16, {{0, 9, 1, 5}}}, 2);
  CHECK(map_command(*network, "my traffic.txt", Objective::hop_bytes, 1, LaunchFormat::plain, "ranks.txt") ==
        "pclscope map 'my traffic.txt' --topology torus:2x4 --ranks-per-node 2 --objective hop-bytes --format plain "
        "-o ranks.txt");
  const auto one = test::network_case("torus:2x4", {8, {{0, 5, 1, 5}}});
  CHECK(map_command(*one, "t", Objective::inter_bytes, 0.5, LaunchFormat::slurm, "r") ==
        "pclscope map t --topology torus:2x4 --objective inter-bytes --effort 0.5 --format slurm -o r");
  auto facts = test::network_facts("torus:4", {4, {{0, 3, 1, 5}}});
  facts.capacities = {2, 0, 1, 1};
  facts.node_of_rank = {0, 0, 2, 3};
  const auto uneven = make_network_case(facts);
  REQUIRE(uneven);
  CHECK(map_command(**uneven, "t", Objective::inter_messages, 1, LaunchFormat::hydra, "r") ==
        "pclscope map t --topology torus:4 --capacity 2,0,1,1 --objective inter-messages --format hydra -o r");
}
