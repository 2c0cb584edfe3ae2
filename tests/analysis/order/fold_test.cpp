#include "analysis/order/fold.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "analysis/order/dag_builder.hpp"
#include "analysis/order/dag_links.hpp"
#include "random_trace.hpp"

using namespace pclscope;
using namespace pclscope::order_test;

namespace {

Dag random_dag(std::mt19937_64& random, int ranks) {
  const Trace trace = random_trace({ranks, 5 + static_cast<int>(random() % 100), 0, true}, random);
  const std::vector<std::int32_t> nodes(ranks, 0);
  return build_dag({}, {trace.messages, nodes, [](const Message& m) { return 1 + static_cast<double>(m.tag); }, 0});
}

// Nodes reachable from `node`, itself among them.
std::set<std::int32_t> reachable(const Dag& dag, std::int32_t node, std::int32_t without = -1) {
  std::set<std::int32_t> seen = {node};
  for (const DagEdge& e : dag.edges)  // ascending `from`
    if (seen.count(e.from) && e.to != without && e.from != without) seen.insert(e.to);
  return seen;
}

void check_folded(const Dag& original, const FoldedDag& folded) {
  std::vector<int> times(original.nodes.size());
  REQUIRE(folded.stands_for.size() == folded.dag.nodes.size());
  for (std::size_t g = 0; g < folded.stands_for.size(); ++g) {
    const auto& members = folded.stands_for[g];
    REQUIRE_FALSE(members.empty());
    REQUIRE(std::is_sorted(members.begin(), members.end()));
    REQUIRE(folded.dag.nodes[g].rank == original.nodes[members.front()].rank);
    for (const std::int32_t i : members) ++times[i];
  }
  for (const int t : times) REQUIRE(t == 1);
  std::uint64_t in_edges = 0, sent = 0, received = 0;
  for (const DagEdge& e : folded.dag.edges) {
    REQUIRE(e.from < e.to);
    REQUIRE(folded.dag.nodes[e.from].layer < folded.dag.nodes[e.to].layer);
    in_edges += e.messages;
  }
  for (const DagNode& node : folded.dag.nodes) {
    sent += node.sent.size();
    received += node.received.size();
  }
  REQUIRE(sent + folded.inside == original.messages);
  REQUIRE(received + folded.inside == original.messages);
  REQUIRE(in_edges + folded.inside + folded.returning + messages_inside(folded.dag) == original.messages);
}

}  // namespace

TEST_CASE("nothing folded is the same graph") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    const Dag dag = random_dag(random, 1 + static_cast<int>(random() % 10));
    const FoldedDag same = fold(dag, {});
    CHECK(same.dag == dag);
    CHECK((same.inside == 0 && same.returning == 0));
  }
  CHECK(fold(Dag{}, {{0, 5, -1}, {3}, FoldReach::descendants}).dag == Dag{});
}

TEST_CASE("a folded node takes all that depends on it, or only what depends on nothing else") {
  std::mt19937_64 random(2);
  std::size_t taken = 0, alone = 0;
  for (int round = 0; round < 300; ++round) {
    INFO("round " << round);
    const Dag dag = random_dag(random, 2 + static_cast<int>(random() % 12));
    if (dag.nodes.empty()) continue;
    const auto node = static_cast<std::int32_t>(random() % dag.nodes.size());
    const FoldedDag all = fold(dag, {{node}, {}, FoldReach::descendants});
    const FoldedDag only = fold(dag, {{node}, {}, FoldReach::only_through});
    check_folded(dag, all);
    check_folded(dag, only);
    CHECK((all.returning == 0 && only.returning == 0));
    const std::set<std::int32_t> right = reachable(dag, node);
    std::set<std::int32_t> elsewhere;  // what can be reached from a beginning without passing the node
    std::vector<char> has_predecessor(dag.nodes.size());
    for (const DagEdge& e : dag.edges) has_predecessor[e.to] = 1;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(dag.nodes.size()); ++i)
      if (!has_predecessor[i] && i != node) elsewhere.merge(reachable(dag, i, node));
    std::vector<std::int32_t> expected_all(right.begin(), right.end()), expected_only;
    for (const std::int32_t i : right)
      if (i == node || !elsewhere.count(i)) expected_only.push_back(i);
    const auto members = [&](const FoldedDag& f) {
      return *std::find_if(f.stands_for.begin(), f.stands_for.end(), [&](const auto& m) { return m.front() == node; });
    };
    CHECK(members(all) == expected_all);
    CHECK(members(only) == expected_only);
    CHECK(all.dag.nodes.size() == dag.nodes.size() + 1 - expected_all.size());
    taken += expected_all.size();
    alone += expected_only.size();
  }
  CHECK(taken > 1000);
  CHECK(alone > 320);
}

TEST_CASE("a folded rank is one node, left of what its first node was left of") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    INFO("round " << round);
    const int ranks = 2 + static_cast<int>(random() % 10);
    const Dag dag = random_dag(random, ranks);
    Folds folds;
    for (int i = 0; i < ranks; ++i)
      if (random() % 2) folds.ranks.push_back(i);
    for (int i = static_cast<int>(random() % 4); i > 0; --i)
      folds.nodes.push_back(static_cast<int>(random() % 300) - 5);
    folds.reach = random() % 2 ? FoldReach::descendants : FoldReach::only_through;
    const FoldedDag folded = fold(dag, folds);
    check_folded(dag, folded);
    for (const std::int32_t rank : folds.ranks)
      CHECK(std::count_if(folded.dag.nodes.begin(), folded.dag.nodes.end(),
                          [&](const DagNode& n) { return n.rank == rank; }) <= 1);
    CHECK(folded.dag.ranks == dag.ranks);
  }
}

TEST_CASE("two ranks that exchange messages fold into two nodes, and the way back has no edge") {
  std::vector<Message> messages(3);
  messages[0].destination = messages[2].destination = 1;
  messages[1].source = 1;
  for (int i = 0; i < 3; ++i) {
    messages[i].send_begin = 10 * i;
    messages[i].recv_end = 10 * i + 5;
  }
  const std::vector<std::int32_t> nodes = {0, 0};
  const Dag dag = build_dag({}, {messages, nodes, {}, 0});
  REQUIRE(dag.nodes.size() == 4);
  const FoldedDag folded = fold(dag, {{}, {0, 1}, FoldReach::descendants});
  REQUIRE(folded.dag.nodes.size() == 2);
  CHECK(folded.dag.nodes[0].rank == 0);
  CHECK(folded.dag.nodes[0].sent.size() == 2);
  CHECK(folded.dag.nodes[0].received.size() == 1);
  CHECK(folded.returning == 1);
  REQUIRE(folded.dag.edges.size() == 1);
  CHECK(folded.dag.edges[0].messages == 2);
}

TEST_CASE("a graph that contradicts itself is folded without harm") {
  std::mt19937_64 random(4);
  for (int round = 0; round < 300; ++round) {
    Dag dag;
    dag.nodes.resize(random() % 20);
    const auto any = [&] { return static_cast<std::int32_t>(random() % 30) - 5; };
    for (DagNode& node : dag.nodes) {
      node.rank = any();
      for (int i = 0; i < 3; ++i) {
        node.sent.push_back({any(), any(), 0, random(), 0, 0, 1});
        node.received.push_back({any(), any(), 0, random(), 0, 0, 1});
      }
    }
    for (int i = 0; i < 30; ++i) dag.edges.push_back({any(), any(), 1, 1, 1});
    const FoldedDag folded = fold(
        dag, {{any(), any(), any()}, {any(), any()}, random() % 2 ? FoldReach::descendants : FoldReach::only_through});
    std::size_t members = 0;
    for (const auto& m : folded.stands_for) members += m.size();
    CHECK(members == dag.nodes.size());
    for (const DagEdge& e : folded.dag.edges) CHECK(e.from < e.to);
  }
}
