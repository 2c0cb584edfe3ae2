// The critical path in a dependency graph: where it passes is known on paper, and of random programs it goes from node
// to node as the path goes from rank to rank.
#include "viewer/layout/dag_path.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "analysis/order/dag_builder.hpp"
#include "tests/analysis/delay/programs.hpp"
#include "tests/analysis/delay/random_programs.hpp"

using namespace pclscope;
using namespace pclscope::layout;
using test::K;

namespace {

Dag graph_of(const test::Outcome& outcome, std::vector<std::int32_t> ranks) {
  static const std::vector<std::int32_t> one_node(64);
  DagQuestion question;
  question.ranks = std::move(ranks);
  DagSource source;
  source.messages = outcome.messages;
  source.node_of_rank = one_node;
  return build_dag(question, source);
}

std::vector<std::int32_t> all_ranks(std::int32_t count) {
  std::vector<std::int32_t> ranks;
  for (std::int32_t r = 0; r < count; ++r) ranks.push_back(r);
  return ranks;
}

bool joined(const Dag& dag, std::int32_t from, std::int32_t to) {
  return std::any_of(dag.edges.begin(), dag.edges.end(), [&](const DagEdge& e) {
    return (e.from == from && e.to == to) || (e.from == to && e.to == from);
  });
}

std::vector<std::int32_t> ranks_of(const Dag& dag, const DagPathPiece& piece) {
  std::vector<std::int32_t> ranks;
  for (const std::int32_t i : piece) ranks.push_back(dag.nodes[static_cast<std::size_t>(i)].rank);
  return ranks;
}

}  // namespace

TEST_CASE("a chain of late senders: the path follows it from rank to rank") {
  // 0 computes 1 ms and sends to 1, which soon sends on to 2; 3 sends to 2 early. 2 waits for 1.
  test::Program p(4);
  p.compute(0, 1'000'000);
  p.call(0, K::send, 1, 1);
  p.call(1, K::recv, 2, 0);
  p.compute(1, 1000);
  p.call(1, K::send, 3, 2);
  p.call(3, K::send, 4, 2);
  p.call(2, K::recv, 5, 3);
  p.call(2, K::recv, 6, 1);
  const test::Outcome o = test::simulate(p);
  const CriticalPath path = critical_path(4, o.messages, o.collectives);
  const Dag dag = graph_of(o, all_ranks(4));
  const auto pieces = path_in_dag(dag, path.steps);
  REQUIRE(pieces.size() == 1);
  CHECK(ranks_of(dag, pieces[0]) == std::vector<std::int32_t>{0, 1, 2});
  CHECK(joined(dag, pieces[0][0], pieces[0][1]));
  CHECK(joined(dag, pieces[0][1], pieces[0][2]));
  // Without rank 1 in the graph there is a gap where it was.
  const Dag without = graph_of(o, {0, 2, 3});
  for (const DagPathPiece& piece : path_in_dag(without, path.steps))
    CHECK(std::ranges::count(ranks_of(without, piece), 1) == 0);
}

TEST_CASE("a sender that waits for its receiver: the path comes from there, against the link") {
  test::Program p(2);
  p.call(1, K::send, 9, 0, 7);  // so that rank 1 is known from its begin
  p.compute(1, 1'000'000);
  p.call(1, K::recv, 1, 0);
  p.call(0, K::recv, 8, 1, 7);
  p.call(0, K::ssend, 2, 1);
  p.compute(0, 500'000);
  p.call(0, K::send, 3, 1, 5);
  p.call(1, K::recv, 4, 0, 5);
  const test::Outcome o = test::simulate(p);
  const CriticalPath path = critical_path(2, o.messages, o.collectives);
  const Dag dag = graph_of(o, {0, 1});
  const auto pieces = path_in_dag(dag, path.steps);
  REQUIRE(pieces.size() == 1);
  // 1 computes; 0, which waited for it, computes; 1, which waits for that.
  std::vector<std::int32_t> ranks = ranks_of(dag, pieces[0]);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  CHECK(ranks == std::vector<std::int32_t>{1, 0, 1});
}

TEST_CASE("of random programs the path is without gaps but for collectives, and on the ranks of its steps") {
  std::size_t jumps = 0;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    const test::Program p = test::random_program(seed, {}, [](int, int) { return 1.0; });
    const test::Outcome o = test::simulate(p);
    const CriticalPath path = critical_path(p.ranks(), o.messages, o.collectives);
    const Dag dag = graph_of(o, all_ranks(p.ranks()));
    const auto pieces = path_in_dag(dag, path.steps);
    std::vector<std::int32_t> passed, expected;
    for (const DagPathPiece& piece : pieces) {
      REQUIRE_FALSE(piece.empty());
      for (std::size_t i = 1; i < piece.size(); ++i) {
        const auto rank = [&](std::int32_t node) { return dag.nodes[static_cast<std::size_t>(node)].rank; };
        if (rank(piece[i - 1]) != rank(piece[i])) {
          if (!joined(dag, piece[i - 1], piece[i])) FAIL("not joined");
          ++jumps;
        }
      }
      for (const std::int32_t rank : ranks_of(dag, piece))
        if (passed.empty() || passed.back() != rank) passed.push_back(rank);
    }
    for (const PathStep& step : path.steps)
      if (expected.empty() || expected.back() != step.rank) expected.push_back(step.rank);
    // In the same order; where a stay has no event of a message, the rank is missing.
    std::size_t at = 0;
    for (const std::int32_t rank : passed) {
      while (at < expected.size() && expected[at] != rank) ++at;
      if (at == expected.size()) FAIL("a rank out of order");
    }
    // Every change of ranks by a message is there: those by collectives are fewer than the collectives.
    std::size_t changes = 0;
    for (std::size_t i = 1; i < path.steps.size(); ++i)
      changes += path.steps[i].rank != path.steps[i - 1].rank && path.steps[i].kind != PathKind::collective;
    std::size_t across = 0;
    for (const DagPathPiece& piece : pieces) {
      const auto ranks = ranks_of(dag, piece);
      for (std::size_t i = 1; i < ranks.size(); ++i) across += ranks[i] != ranks[i - 1];
    }
    CHECK(across >= changes);
  }
  CHECK(jumps > 100);
}

TEST_CASE("a graph without nodes, a path without steps, and numbers that are none: nothing, and no harm") {
  CHECK(path_in_dag(Dag{}, {}).empty());
  const std::vector<PathStep> steps{{0, PathKind::computation, 0, 0, 0, 1}, {1, PathKind::transfer, 0, 0, 1, 2}};
  CHECK(path_in_dag(Dag{}, steps).empty());
  Dag odd;
  for (const std::int32_t rank : {0, 1, 0}) odd.nodes.push_back({rank, 0, 0.0, 3.0, {}, {}});
  odd.nodes[0].sent.push_back({7, 1, 0, 8, 1.0, 0.5, 1});  // to a node that is not there
  odd.nodes[0].sent.push_back({1, 1, 0, 8, std::nan(""), std::nan(""), 1});
  CHECK(path_in_dag(odd, {}).empty());
  CHECK_FALSE(path_in_dag(odd, steps).empty());
}
