#include "analysis/order/dag_dot.hpp"

#include <catch2/catch.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "analysis/order/dag_builder.hpp"
#include "random_trace.hpp"

using namespace pclscope;
using namespace pclscope::order_test;

namespace {

const std::string string_pattern = R"("([^"\\]|\\")*")";
const std::string attributes =
    R"(\[[a-z]+=([A-Za-z0-9.#]+|)" + string_pattern + R"()(, [a-z]+=([A-Za-z0-9.#]+|)" + string_pattern + R"())*\])";

// The part of the DOT grammar that is used, line by line.
void check_dot(const std::string& text, std::set<std::string>& nodes, std::size_t& edges) {
  const std::regex settings("  (graph|node|edge) " + attributes + ";"), node("  (n[0-9]+) " + attributes + ";"),
      edge("  (n[0-9]+) -> (n[0-9]+) " + attributes + ";"), layer(R"(  \{ rank=same;( n[0-9]+;)+ \})");
  std::istringstream lines(text);
  std::string line;
  REQUIRE((std::getline(lines, line) && line == "digraph dag {"));
  std::smatch match;
  while (std::getline(lines, line) && line != "}") {
    INFO(line);
    if (std::regex_match(line, match, node)) {
      nodes.insert(match[1]);
    } else if (std::regex_match(line, match, edge)) {
      REQUIRE((nodes.count(match[1]) == 1 && nodes.count(match[2]) == 1));
      ++edges;
    } else {
      REQUIRE((std::regex_match(line, settings) || std::regex_match(line, layer)));
    }
  }
  REQUIRE(line == "}");
  REQUIRE_FALSE(std::getline(lines, line));
}

}  // namespace

TEST_CASE("a graph as DOT text has all nodes and edges, and only the language's syntax") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    const Trace trace = random_trace({6, 60, 0, true}, random);
    const std::vector<std::int32_t> compute_nodes(6, 0);
    const Dag dag =
        build_dag({}, {trace.messages, compute_nodes, [](const Message& m) { return static_cast<double>(m.tag); }, 0});
    std::set<std::string> nodes;
    std::size_t edges = 0;
    check_dot(dag_to_dot(dag), nodes, edges);
    CHECK(nodes.size() == dag.nodes.size());
    CHECK(edges == dag.edges.size());
  }
}

TEST_CASE("text in a graph cannot leave its string") {
  Dag dag;
  dag.partial = true;
  dag.why_partial = "a \"quote\", a \\ and\na line";
  dag.nodes.resize(1);
  dag.nodes[0].begin_s = 1e300;
  std::set<std::string> nodes;
  std::size_t edges = 0;
  const std::string text = dag_to_dot(dag);
  check_dot(text, nodes, edges);
  CHECK(text.find(R"(a \"quote\", a / and a line)") != std::string::npos);
  check_dot(dag_to_dot(Dag{}), nodes, edges);
}
