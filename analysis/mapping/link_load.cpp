#include "analysis/mapping/link_load.hpp"

#include <algorithm>
#include <numeric>

#include "analysis/mapping/network.hpp"

namespace pclscope::mapping {

Result<LinkGraph> LinkGraph::of(const Topology& topology) {
  LinkGraph graph;
  graph.start_.push_back(0);
  const auto too_many =
      Error{ErrorCode::bad_argument, "topology '" + topology.text() + "' has more than " + std::to_string(most_edges) +
                                         " links: too many for their loads"};
  for (std::int32_t v = 0; v < topology.vertices(); ++v) {
    // Of a network without structure all lists are equally long: say so before they are made.
    const auto around = topology.neighbours(v);
    if (v == 0 && topology.text().rfind("nodes:", 0) == 0 &&
        around.size() * static_cast<std::size_t>(topology.nodes()) > most_edges)
      return too_many;
    graph.to_.insert(graph.to_.end(), around.begin(), around.end());
    if (graph.to_.size() > 2 * most_edges) return too_many;
    graph.start_.push_back(static_cast<std::int32_t>(graph.to_.size()));
  }
  graph.add_reverse();
  return graph;
}

LinkGraph LinkGraph::of(const RouteSet& set) {
  std::vector<Edge> edges;
  for (const Route& route : set.routes) {
    for (std::size_t i = 1; i < route.path.size(); ++i)
      edges.emplace_back(std::minmax(route.path[i - 1], route.path[i]));
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  const Links links = make_links(set.vertices, edges);
  LinkGraph graph;
  graph.to_ = links.neighbours;
  for (const std::size_t start : links.start) graph.start_.push_back(static_cast<std::int32_t>(start));
  graph.add_reverse();
  return graph;
}

// Going through the vertices in order meets the links into each vertex in the order of their sources, which is the
// order of the links out of it.
void LinkGraph::add_reverse() {
  reverse_.resize(to_.size());
  std::vector<std::int32_t> next(start_.begin(), start_.end() - 1);
  for (std::size_t link = 0; link < to_.size(); ++link) reverse_[link] = next[static_cast<std::size_t>(to_[link])]++;
}

std::int32_t LinkGraph::find(std::int32_t from, std::int32_t to) const {
  const auto begin = to_.begin() + first(from), end = to_.begin() + last(from);
  const auto place = std::lower_bound(begin, end, to);
  return place == end || *place != to ? -1 : static_cast<std::int32_t>(place - to_.begin());
}

LinkLoads link_loads(const LinkGraph& graph, const std::vector<Route>& routes) {
  LinkLoads loads(static_cast<std::size_t>(graph.links()), 0.0);
  for (const Route& route : routes) {
    for (std::size_t i = 1; i < route.path.size(); ++i) {
      const std::int32_t link = graph.find(route.path[i - 1], route.path[i]);
      if (link >= 0) loads[static_cast<std::size_t>(link)] += route.bytes;
    }
  }
  return loads;
}

double heaviest_on(const LinkGraph& graph, const LinkLoads& loads, const std::vector<std::int32_t>& path) {
  double most = 0;
  for (std::size_t i = 1; i < path.size(); ++i) {
    const std::int32_t link = graph.find(path[i - 1], path[i]);
    if (link >= 0) most = std::max(most, loads[static_cast<std::size_t>(link)]);
  }
  return most;
}

std::vector<double> heaviest_of(const LinkGraph& graph, const LinkLoads& loads, const std::vector<Route>& routes) {
  std::vector<double> result;
  result.reserve(routes.size());
  for (const Route& route : routes) result.push_back(heaviest_on(graph, loads, route.path));
  return result;
}

std::vector<LoadedLink> heaviest_links(const LinkGraph& graph, const LinkLoads& loads, std::size_t most,
                                       bool undirected) {
  std::vector<LoadedLink> all;
  for (std::int32_t link = 0; link < graph.links(); ++link) {
    const std::int32_t from = graph.from(link), to = graph.to(link);
    LoadedLink loaded{from, to, loads[static_cast<std::size_t>(link)],
                      loads[static_cast<std::size_t>(graph.reverse(link))]};
    if (undirected) loaded.bytes += loaded.back;
    if (loaded.bytes > 0 && (!undirected || from < to)) all.push_back(loaded);
  }
  const auto heavier = [](const LoadedLink& a, const LoadedLink& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : std::pair(a.from, a.to) < std::pair(b.from, b.to);
  };
  const std::size_t kept = std::min(most, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(), heavier);
  all.resize(kept);
  return all;
}

LoadSummary summarise(const LinkLoads& loads) {
  LoadSummary summary;
  summary.links = loads.size();
  for (const double load : loads) {
    summary.largest = std::max(summary.largest, load);
    summary.total += load;
    summary.used += load > 0;
  }
  if (summary.used > 0) summary.mean = summary.total / static_cast<double>(summary.used);
  return summary;
}

}  // namespace pclscope::mapping
