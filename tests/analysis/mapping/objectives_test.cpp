// Every objective: few ranks against all placements there are, more ranks never worse, sums by hand.
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <random>

#include "analysis/mapping/mapping.hpp"
#include "tests/seed.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::mapping;

namespace {

using Places = std::vector<std::int32_t>;
constexpr Objective all_objectives[] = {Objective::hop_bytes, Objective::inter_bytes, Objective::inter_messages,
                                        Objective::max_link_load, Objective::time};

// Bytes and messages that do not belong together, so that objectives differ.
Traffic some_traffic(std::mt19937& random, std::int32_t ranks, unsigned one_in) {
  Traffic traffic{ranks, {}};
  for (std::int32_t a = 0; a < ranks; ++a)
    for (std::int32_t b = 0; b < ranks; ++b)
      if (random() % one_in == 0)
        traffic.flows.push_back({a, b, 1 + random() % 50, static_cast<double>(random() % 9000)});
  return traffic;
}

LinkTimes some_times(std::mt19937& random) {
  const auto draw = [&](double most) { return most * static_cast<double>(random() % 1000) / 1000; };
  return {draw(2e-6), draw(1e-9), draw(9e-6), random() % 3 == 0 ? 0 : draw(4e-6), draw(4e-9)};
}

// By hand, not by cost_of().
double value_by_hand(const MappingProblem& p, const Places& nodes) {
  double sum = 0;
  std::map<std::pair<std::int32_t, std::int32_t>, double> links;
  for (const Flow& f : p.traffic.flows) {
    const std::int32_t a = nodes[f.source], b = nodes[f.destination], hops = a == b ? 0 : p.topology.hops(a, b);
    const auto messages = static_cast<double>(f.messages);
    const auto path = p.topology.route(a, b);
    for (std::size_t k = 1; k < path.size(); ++k) links[{path[k - 1], path[k]}] += f.bytes;
    if (p.objective == Objective::hop_bytes) sum += f.bytes * hops;
    if (p.objective == Objective::inter_bytes && hops > 0) sum += f.bytes;
    if (p.objective == Objective::inter_messages && hops > 0) sum += messages;
    if (p.objective != Objective::time || f.source == f.destination) continue;
    if (hops == 0) sum += messages * p.times.inside_s + f.bytes * p.times.inside_s_per_byte;
    else sum += messages * (p.times.first_hop_s + (hops - 1) * p.times.further_hop_s) + f.bytes * p.times.s_per_byte;
  }
  if (p.objective == Objective::max_link_load)
    for (const auto& [link, bytes] : links) sum = std::max(sum, bytes);
  return sum;
}

double least_of_all(const MappingProblem& p, Places& nodes, Places& room) {
  if (nodes.size() == static_cast<std::size_t>(p.traffic.ranks)) return value_by_hand(p, nodes);
  double least = INFINITY;
  for (std::size_t node = 0; node < room.size(); ++node) {
    if (room[node] == 0) continue;
    --room[node];
    nodes.push_back(static_cast<std::int32_t>(node));
    least = std::min(least, least_of_all(p, nodes, room));
    nodes.pop_back();
    ++room[node];
  }
  return least;
}

}  // namespace

TEST_CASE("eight ranks: for each objective no permutation is better than ours") {
  std::mt19937 random(static_cast<std::uint32_t>(test::random_seed()));
  CAPTURE(test::random_seed());
  // 40,320 permutations; 720 of six ranks under a sanitizer.
  const std::int32_t ranks = test::under_sanitizer ? 6 : 8;
  for (const char* text : {"torus:2x2x2", "mesh:8", "fattree:2x4", "mesh:6"}) {
    const auto topology = Topology::parse(text);
    REQUIRE(topology);
    if (topology->nodes() != ranks) continue;
    const Traffic traffic = some_traffic(random, ranks, 3);
    const LinkTimes times = some_times(random);
    for (const Objective objective : all_objectives) {
      CAPTURE(text, static_cast<int>(objective));
      const Places room_of(static_cast<std::size_t>(ranks), 1);
      MappingProblem problem{traffic, *topology, room_of, {}, objective, 0.1};
      problem.times = times;
      Places nodes, room = room_of;
      const double least = least_of_all(problem, nodes, room);
      const auto mapping = find_mapping(problem);
      REQUIRE(mapping);
      CHECK(value_of(mapping->after, objective) == Approx(least).epsilon(1e-9).margin(1e-15));
      CHECK(value_by_hand(problem, mapping->node_of_rank) == Approx(least).epsilon(1e-9).margin(1e-15));
    }
  }
}

TEST_CASE("few ranks on fewer nodes: for each objective no placement is better than ours") {
  std::mt19937 random(static_cast<std::uint32_t>(test::random_seed()));
  CAPTURE(test::random_seed());
  for (int turn = 0; turn < test::thinned(6, 2); ++turn)
    for (const char* text : {"nodes:3", "torus:3x2", "dragonfly:2x2x1", "mesh:4"}) {
      const auto topology = Topology::parse(text);
      REQUIRE(topology);
      const std::int32_t ranks = 3 + static_cast<std::int32_t>(random() % 4);
      const Traffic traffic = some_traffic(random, ranks, 2);
      Places capacity(static_cast<std::size_t>(topology->nodes()), 1);
      while (std::accumulate(capacity.begin(), capacity.end(), 0) < ranks) ++capacity[random() % capacity.size()];
      for (const Objective objective : all_objectives) {
        CAPTURE(text, ranks, static_cast<int>(objective));
        MappingProblem problem{traffic, *topology, capacity, {}, objective, 0.1};
        problem.times = some_times(random);
        Places nodes, room = capacity;
        const double least = least_of_all(problem, nodes, room);
        const auto mapping = find_mapping(problem);
        REQUIRE(mapping);
        CHECK(value_of(mapping->after, objective) == Approx(least).epsilon(1e-9).margin(1e-15));
      }
    }
}

TEST_CASE("many ranks: never worse in the objective, the value is right, and nobody else finds less of it") {
  std::mt19937 random(17);  // a heuristic: other numbers may fall short of the last check
  for (const char* text : {"torus:4x4x2", "dragonfly:4x2x4", "fattree:4x4x2", "nodes:8"}) {
    const auto topology = Topology::parse(text);
    REQUIRE(topology);
    const std::int32_t ranks = 40;
    const Traffic traffic = some_traffic(random, ranks, 8);
    const Places capacity(static_cast<std::size_t>(topology->nodes()), topology->nodes() == 8 ? 5 : 2);
    const LinkTimes times = some_times(random);
    std::map<Objective, Mapping> found;
    for (const Objective objective : all_objectives) {
      MappingProblem problem{traffic, *topology, capacity, {}, objective, 0.05};
      problem.times = times;
      auto mapping = find_mapping(problem);
      REQUIRE(mapping);
      CAPTURE(text, static_cast<int>(objective));
      Places used(capacity.size());
      for (const std::int32_t node : mapping->node_of_rank) REQUIRE(++used.at(node) <= capacity[node]);
      CHECK(value_of(mapping->after, objective) <= value_of(mapping->before, objective));
      CHECK(value_of(mapping->after, objective) == Approx(value_by_hand(problem, mapping->node_of_rank)));
      found.emplace(objective, std::move(*mapping));
    }
    // Each is at least nearly as good in its own objective as those that did not look for it.
    for (const Objective objective : all_objectives)
      for (const auto& [other, mapping] : found) {
        CAPTURE(text, static_cast<int>(objective), static_cast<int>(other));
        CHECK(value_of(found.at(objective).after, objective) <= 1.02 * value_of(mapping.after, objective));
      }
  }
}

TEST_CASE("messages that are quicker between nodes go between nodes") {
  const auto topology = Topology::parse("torus:4x2");
  REQUIRE(topology);
  const Traffic traffic{4, {{0, 1, 10, 100}, {2, 3, 10, 100}}};
  for (const double further : {0.0, 1e-6}) {
    MappingProblem problem{traffic, *topology, Places(8, 2), {0, 0, 1, 1}, Objective::time, 1};
    problem.times = {5e-6, 0, 1e-6, further, 0};
    const auto mapping = find_mapping(problem);
    REQUIRE(mapping);
    CHECK(mapping->before.time_s == Approx(20 * 5e-6));
    CHECK(mapping->after.time_s == Approx(20 * 1e-6));
  }
}

TEST_CASE("a ring over links of which one carried it all: the heaviest link of a larger job gets light") {
  // Sixteen ranks of a mesh in a row talk with the one half the row away: in order each message crosses the middle.
  const auto topology = Topology::parse("mesh:16");
  REQUIRE(topology);
  Traffic traffic{16, {}};
  for (std::int32_t r = 0; r < 8; ++r) traffic.flows.push_back({r, r + 8, 1, 1000});
  const auto mapping = find_mapping({traffic, *topology, Places(16, 1), {}, Objective::max_link_load, 0.1});
  REQUIRE(mapping);
  CHECK(mapping->before.max_link_load == 8000);
  CHECK(mapping->after.max_link_load == 1000);  // partners side by side
}

TEST_CASE("a search that is ended soon asks no more, and what it gives is a placement that is no worse") {
  const auto seed = static_cast<std::uint32_t>(test::random_seed());
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto topology = Topology::parse("torus:4x4x4");
  REQUIRE(topology);
  const std::int32_t most = test::under_sanitizer ? 1 : 2;
  for (std::int32_t each = 1; each <= most; ++each)
    for (const Objective objective : all_objectives) {
      const Traffic traffic = some_traffic(random, 64 * each, 16);
      MappingProblem problem{traffic, *topology, Places(64, each), {}, objective, 0.1};
      problem.times = some_times(random);
      CAPTURE(each, static_cast<int>(objective));
      int asked = 0;
      problem.ended = [&] { return ++asked, false; };
      const auto whole = find_mapping(problem);
      REQUIRE(whole);
      const int all = asked;
      CHECK(all > 100);
      MappingProblem unasked = problem;
      unasked.ended = {};
      CHECK(find_mapping(unasked)->node_of_rank == whole->node_of_rank);
      for (const int after : {0, 1, 50, all / 4, all / 2, all - 1}) {
        CAPTURE(after, all);
        asked = 0;
        problem.ended = [&] { return ++asked > after; };
        const auto found = find_mapping(problem);
        REQUIRE(found);
        CHECK(asked - after < 100);  // each part of the search looks once
        Places room(64, each);
        for (const std::int32_t node : found->node_of_rank) CHECK(--room[static_cast<std::size_t>(node)] >= 0);
        CHECK(value_by_hand(problem, found->node_of_rank) <= value_by_hand(problem, found->node_before) * (1 + 1e-9));
        if (after == 0) CHECK(found->node_of_rank == found->node_before);
      }
    }
  // Few ranks are placed by trying all: that ends, too.
  const Traffic few = some_traffic(random, 9, 2);
  MappingProblem problem{few, *topology, Places(64, 1), {}, Objective::hop_bytes, 1};
  int asked = 0;
  problem.ended = [&] { return ++asked > 90; };
  REQUIRE(find_mapping(problem));
  CHECK(asked < 200);
}
