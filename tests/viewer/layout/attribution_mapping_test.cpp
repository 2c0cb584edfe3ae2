#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "viewer/layout/mapping_preview.hpp"

using namespace pclscope;

namespace {

Snapshot on_nodes(std::vector<std::int32_t> node_of_rank, std::int32_t nodes) {
  Snapshot s;
  s.application.ranks = static_cast<std::int32_t>(node_of_rank.size());
  s.application.node_of_rank = std::move(node_of_rank);
  for (std::int32_t n = 0; n < nodes; ++n) s.application.nodes.push_back(std::string("n").append(std::to_string(n)));
  return s;
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

}  // namespace

TEST_CASE("two couples torn apart are put together") {
  Snapshot s = on_nodes({0, 1, 0, 1}, 2);  // 0 talks with 1, 2 with 3; a little between 1 and 2
  s.traffic = {{0, 1, 100, 800}, {1, 0, 100, 800}, {1, 2, 3, 24}, {2, 3, 100, 800}, {3, 2, 100, 800}};
  const auto p = layout::preview_mapping(s);
  CHECK(p.problem.empty());
  CHECK(p.before.inter == 403);
  CHECK(p.before.intra == 0);
  CHECK(p.after.inter == 3);
  CHECK(p.after.intra == 400);
  CHECK(p.moved == 2);
  REQUIRE(p.groups == 2);
  CHECK(p.before.matrix[0] + p.before.matrix[3] == 0);
  CHECK(p.after.matrix[0] == 200);
  CHECK(p.after.matrix[3] == 200);
}

TEST_CASE("no message is lost between before and after, and it never becomes worse") {
  const unsigned seed = 9;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 20; ++round) {
    const std::int32_t nodes = 2 + static_cast<std::int32_t>(random() % 60),
                       ranks = nodes + static_cast<std::int32_t>(random() % 80);
    std::vector<std::int32_t> node_of_rank;
    for (std::int32_t r = 0; r < ranks; ++r)
      node_of_rank.push_back(r < nodes ? r : static_cast<std::int32_t>(random() % static_cast<unsigned>(nodes)));
    Snapshot s = on_nodes(node_of_rank, nodes);
    std::uint64_t all = 0;
    for (int i = 0; i < 200; ++i) {
      const PairTraffic pair{static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks)),
                             static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks)), random() % 100, 10};
      const bool twice = std::any_of(s.traffic.begin(), s.traffic.end(), [&](const PairTraffic& o) {
        return o.source == pair.source && o.destination == pair.destination;
      });
      s.traffic.push_back(pair);  // of doubled pairs the first counts
      if (!twice) all += pair.messages;
    }
    s.traffic.push_back({-1, 2, 5, 5});
    s.traffic.push_back({0, ranks, 5, 5});
    const auto p = layout::preview_mapping(s);
    REQUIRE(p.problem.empty());
    CHECK(p.before.intra + p.before.inter == all);
    CHECK(p.after.intra + p.after.inter == all);
    CHECK(p.after.inter <= p.before.inter);
    CHECK(p.groups <= 24);
    CHECK(p.groups * p.nodes_per_group >= nodes);
    CHECK(sum(p.before.matrix) == all);
    CHECK(sum(p.after.matrix) == all);
    std::uint64_t diagonal = 0;
    for (std::int32_t g = 0; g < p.groups; ++g) diagonal += p.after.matrix[static_cast<std::size_t>(g * p.groups + g)];
    CHECK(diagonal >= p.after.intra);
    if (p.nodes_per_group == 1) CHECK(diagonal == p.after.intra);
  }
}

TEST_CASE("why there is no preview") {
  CHECK(layout::preview_mapping({}).problem == "all ranks are on one node: there is nothing to place");
  Snapshot s = on_nodes({0, 1}, 2);
  CHECK(layout::preview_mapping(s).problem == "who sends how much to whom is in the dump only");
  s.traffic = {{0, 1, 1, 1}};
  s.application.node_of_rank = {0, -1};
  CHECK(layout::preview_mapping(s).problem == "the nodes of some ranks are not known");
  s.application.node_of_rank = {0, 5};
  CHECK(layout::preview_mapping(s).problem == "the nodes of some ranks are not known");
  s.application.node_of_rank = {};
  CHECK(layout::preview_mapping(s).problem == "the nodes of some ranks are not known");
}

TEST_CASE("live, the numbers come from the finding's own sentence") {
  Finding f;
  f.cause = Cause::mapping;
  f.ranks = {1, 2, 3};
  Attribution a;
  a.slices.resize(2);
  a.slices[0].intra_messages = 1000;
  a.slices[0].inter_messages = a.slices[1].inter_messages = 700'000;
  f.evidence = {"99 % of all messages are between nodes",
                "a better placement was found: 1385144 to 1159653 messages between nodes (-16 "
                "%), bytes -10 %"};
  const auto p = layout::told_mapping(f, a);
  REQUIRE(p.has_value());
  CHECK(p->before.inter == 1385144);
  CHECK(p->after.inter == 1159653);
  CHECK(p->before.intra == 1'401'000 - 1385144);
  CHECK(p->after.intra == 1'401'000 - 1159653);
  CHECK(p->moved == 3);
  CHECK(p->groups == 0);
  for (const char* other : {"", "placement was found: ", "a better placement was found: x to 3 messages between nodes",
                            "a better placement was found: 12 to", "a better placement was found: 12 to 3 bytes"}) {
    f.evidence = {other};
    CHECK_FALSE(layout::told_mapping(f, a).has_value());
  }
}
