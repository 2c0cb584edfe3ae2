// edges:FILE. One pass over the lines; names become numbers; nodes come first.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <numeric>
#include <sstream>
#include <unordered_map>

#include "analysis/mapping/input_checks.hpp"
#include "analysis/mapping/network.hpp"

namespace pclscope::mapping {
namespace {

struct Raw {
  std::unordered_map<std::string, std::int32_t> number;
  std::vector<std::string> names;
  std::vector<Edge> edges;
  std::vector<std::int32_t> nodes;  // of the lines "node a", in their order
  std::int32_t of(const std::string& name) {
    const auto [place, added] = number.try_emplace(name, static_cast<std::int32_t>(names.size()));
    if (added) names.push_back(name);
    return place->second;
  }
};

Error at_line(const std::string& path, std::size_t line, const std::string& what) {
  return {ErrorCode::damaged, path + " line " + std::to_string(line) + ": " + what};
}

// Empty when the line was understood.
std::string take_line(const std::string& line, Raw& raw) {
  std::istringstream words(line.substr(0, line.find('#')));
  std::string first, second, third;
  if (!(words >> first)) return "";
  if (!(words >> second) || words >> third) return "two names are expected: a link 'a b', or 'node a'";
  if (first == "node") {
    raw.nodes.push_back(raw.of(second));
    return "";
  }
  if (first == second) return "a link from '" + first + "' to itself";
  const std::int32_t a = raw.of(first), b = raw.of(second);  // in this order: names are numbered as they appear
  raw.edges.emplace_back(a, b);
  if (raw.names.size() > static_cast<std::size_t>(most_vertices))
    return "more than " + std::to_string(most_vertices) + " vertices";
  if (raw.edges.size() > most_edges) return "more than " + std::to_string(most_edges) + " links";
  return "";
}

bool whole_number(const std::string& name, std::int64_t& value) {
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  return error == std::errc() && end == name.data() + name.size() && value >= 0;
}

// The nodes in the order of their lines; without such lines all vertices; by number where all of those are numbers.
std::vector<std::int32_t> order_nodes(const Raw& raw) {
  std::vector<std::int32_t> nodes = raw.nodes;
  if (!nodes.empty()) return nodes;
  nodes.resize(raw.names.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  std::vector<std::int64_t> values(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!whole_number(raw.names[i], values[i])) return nodes;
  }
  std::stable_sort(nodes.begin(), nodes.end(), [&](std::int32_t a, std::int32_t b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
  return nodes;
}

// A vertex that vertex 0 does not reach, or -1.
std::int32_t find_unreached(const Network& network) {
  std::vector<bool> seen(static_cast<std::size_t>(network.vertices));
  std::vector<std::int32_t> stack{0};
  seen[0] = true;
  while (!stack.empty()) {
    const std::int32_t v = stack.back();
    stack.pop_back();
    for (const std::int32_t next : network.links.of(v)) {
      if (seen[static_cast<std::size_t>(next)]) continue;
      seen[static_cast<std::size_t>(next)] = true;
      stack.push_back(next);
    }
  }
  const auto missing = std::find(seen.begin(), seen.end(), false);
  return missing == seen.end() ? -1 : static_cast<std::int32_t>(missing - seen.begin());
}

Result<Network> build(const std::string& path, const Raw& raw) {
  Network network;
  network.vertices = static_cast<std::int32_t>(raw.names.size());
  std::vector<std::int32_t> place(raw.names.size(), -1);
  std::int32_t next = 0;
  for (const std::int32_t node : order_nodes(raw)) {
    std::int32_t& there = place[static_cast<std::size_t>(node)];
    if (there < 0) there = next++;  // a node named twice counts once
  }
  network.nodes = next;
  for (auto& there : place) there = there < 0 ? next++ : there;
  network.names.resize(raw.names.size());
  for (std::size_t i = 0; i < raw.names.size(); ++i) network.names[static_cast<std::size_t>(place[i])] = raw.names[i];
  std::vector<Edge> edges;
  edges.reserve(raw.edges.size());
  for (const auto& [a, b] : raw.edges)
    edges.emplace_back(place[static_cast<std::size_t>(a)], place[static_cast<std::size_t>(b)]);
  network.links = make_links(network.vertices, edges);
  if (const std::int32_t missing = find_unreached(network); missing >= 0) {
    return Error{ErrorCode::bad_argument, path + ": not connected: no way from '" + network.names[0] + "' to '" +
                                              network.names[static_cast<std::size_t>(missing)] + "'"};
  }
  return network;
}

}  // namespace

Result<Network> read_edge_list(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{ErrorCode::not_found, "cannot read " + path};
  Raw raw;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.size() > longest_line)
      return at_line(path, number, "longer than " + std::to_string(longest_line) + " characters: not an edge list");
    if (const std::string wrong = take_line(line, raw); !wrong.empty()) return at_line(path, number, wrong);
  }
  if (file.bad() || (number == 0 && !file.eof())) return Error{ErrorCode::io, "cannot read " + path};
  if (raw.names.empty()) return Error{ErrorCode::damaged, path + ": no links in it"};
  return build(path, raw);
}

}  // namespace pclscope::mapping
