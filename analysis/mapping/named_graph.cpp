#include "analysis/mapping/named_graph.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <numeric>
#include <sstream>

#include "analysis/mapping/input_checks.hpp"

namespace pclscope::mapping {
namespace {

constexpr std::size_t most_text = std::size_t{256} << 20;

bool whole_number(const std::string& name, std::int64_t& value) {
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  return error == std::errc() && end == name.data() + name.size() && value >= 0;
}

// All vertices; by number where all of their names are numbers.
std::vector<std::int32_t> all_of(const std::vector<std::string>& names) {
  std::vector<std::int32_t> nodes(names.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  std::vector<std::int64_t> values(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!whole_number(names[i], values[i])) return nodes;
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

}  // namespace

std::int32_t NamedGraph::of(const std::string& key, const std::string& name) {
  const auto [place, added] = number_.try_emplace(key, static_cast<std::int32_t>(names_.size()));
  if (added) names_.push_back(name.empty() ? key : name);
  return place->second;
}

std::string NamedGraph::too_large() const {
  if (names_.size() > static_cast<std::size_t>(most_vertices))
    return "more than " + std::to_string(most_vertices) + " vertices";
  if (edges_.size() > most_edges) return "more than " + std::to_string(most_edges) + " links";
  return "";
}

Result<Network> NamedGraph::build(const std::string& path) const {
  if (names_.empty()) return Error{ErrorCode::damaged, path + ": no links in it"};
  if (const std::string wrong = too_large(); !wrong.empty()) return bad(path + ": " + wrong);
  Network network;
  network.vertices = static_cast<std::int32_t>(names_.size());
  std::vector<std::int32_t> place(names_.size(), -1);
  std::int32_t next = 0;
  for (const std::int32_t node : nodes_.empty() ? all_of(names_) : nodes_) {
    std::int32_t& there = place[static_cast<std::size_t>(node)];
    if (there < 0) there = next++;
  }
  network.nodes = next;
  for (auto& there : place) there = there < 0 ? next++ : there;
  network.names.resize(names_.size());
  for (std::size_t i = 0; i < names_.size(); ++i) network.names[static_cast<std::size_t>(place[i])] = names_[i];
  std::vector<Edge> edges;
  edges.reserve(edges_.size());
  for (const auto& [a, b] : edges_)
    edges.emplace_back(place[static_cast<std::size_t>(a)], place[static_cast<std::size_t>(b)]);
  network.links = make_links(network.vertices, edges);
  if (const std::int32_t missing = find_unreached(network); missing >= 0) {
    return Error{ErrorCode::bad_argument, path + ": not connected: no way from '" + network.names[0] + "' to '" +
                                              network.names[static_cast<std::size_t>(missing)] + "'"};
  }
  return network;
}

Error at_line(const std::string& path, std::size_t line, const std::string& what) {
  return {ErrorCode::damaged, path + " line " + std::to_string(line) + ": " + what};
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  for (char part[65536]; file.read(part, sizeof part) || file.gcount() > 0;) {
    text.append(part, static_cast<std::size_t>(file.gcount()));
    if (text.size() > most_text) return bad(path + " is longer than 256 MiB: not a file of this kind");
  }
  if (text.empty() && !file.eof()) return Error{ErrorCode::not_found, "cannot read " + path};
  if (file.bad()) return Error{ErrorCode::io, "cannot read " + path};
  return text;
}

}  // namespace pclscope::mapping
