// edges:FILE. One pass over the lines; names become numbers; nodes come first.
#include <fstream>
#include <sstream>

#include "analysis/mapping/input_checks.hpp"
#include "analysis/mapping/named_graph.hpp"

namespace pclscope::mapping {
namespace {

// Empty when the line was understood.
std::string take_edge(const std::string& line, NamedGraph& graph) {
  std::istringstream words(line.substr(0, line.find('#')));
  std::string first, second, third;
  if (!(words >> first)) return "";
  if (!(words >> second) || words >> third) return "two names are expected: a link 'a b', or 'node a'";
  if (first == "node") {
    graph.runs_ranks(graph.of(second));
    return "";
  }
  if (first == second) return "a link from '" + first + "' to itself";
  const std::int32_t a = graph.of(first), b = graph.of(second);  // in this order: names are numbered as they appear
  graph.link(a, b);
  return graph.too_large();
}

}  // namespace

Result<Network> read_edge_list(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{ErrorCode::not_found, "cannot read " + path};
  NamedGraph graph;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.size() > longest_line)
      return at_line(path, number, "longer than " + std::to_string(longest_line) + " characters: not an edge list");
    if (const std::string wrong = take_edge(line, graph); !wrong.empty()) return at_line(path, number, wrong);
  }
  if (file.bad() || (number == 0 && !file.eof())) return Error{ErrorCode::io, "cannot read " + path};
  return graph.build(path);
}

}  // namespace pclscope::mapping
