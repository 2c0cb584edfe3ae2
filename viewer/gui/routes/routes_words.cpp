#include "viewer/gui/routes/routes_words.hpp"

#include <algorithm>

#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::gui {
namespace {

using layout::GraphNode;
using layout::NetworkGraph;
using session::NetworkCase;

constexpr std::size_t most_ranks_named = 24;

std::string count_words(std::size_t count, const char* one, const char* several) {
  return text::format_count(count) + (count == 1 ? one : several);
}

std::string ranks_words(const NetworkCase& network, const std::vector<std::int32_t>& ranks) {
  if (ranks.empty()) return "no rank";
  std::string words = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(ranks.size(), most_ranks_named); ++i)
    words += (i == 0 ? "" : ", ") + session::rank_name(network, ranks[i]);
  if (ranks.size() > most_ranks_named) words += " and " + std::to_string(ranks.size() - most_ranks_named) + " more";
  return words;
}

}  // namespace

std::string node_name(const NetworkGraph& graph, std::int32_t node) {
  const NetworkCase& network = *graph.shown->network;
  const auto& vertices = graph.nodes[static_cast<std::size_t>(node)].vertices;
  if (vertices.size() == 1) return session::vertex_name(network, vertices[0]);
  return std::to_string(vertices.size()) + " merged: " + session::vertex_name(network, vertices.front()) + " .. " +
         session::vertex_name(network, vertices.back());
}

std::string merged_label(const NetworkCase& network, const std::vector<std::int32_t>& vertices) {
  const std::int32_t nodes = network.topology ? network.topology->nodes() : network.vertices();
  const auto count = std::count_if(vertices.begin(), vertices.end(), [&](std::int32_t v) { return v < nodes; });
  return std::to_string(count) + (count == 1 ? " node" : " nodes");
}

std::string node_words(const NetworkGraph& graph, std::int32_t number) {
  const NetworkCase& network = *graph.shown->network;
  const GraphNode& node = graph.nodes[static_cast<std::size_t>(number)];
  std::vector<std::int32_t> ranks;
  for (const std::int32_t v : node.vertices) {
    const auto& here = network.ranks_at[static_cast<std::size_t>(v)];
    ranks.insert(ranks.end(), here.begin(), here.end());
  }
  std::sort(ranks.begin(), ranks.end());
  std::string words = node_name(graph, number) + "\n" + ranks_words(network, ranks);
  words += "\nin: " + text::format_bytes(node.in) + ", out: " + text::format_bytes(node.out);
  if (node.inside > 0) words += "\nbetween the merged ones: " + text::format_bytes(node.inside) + " over their links";
  if (node.vertices.size() > 1) words += "\n\ndouble click: shows them one by one";
  return words;
}

std::string link_words(const NetworkGraph& graph, std::int32_t number) {
  const NetworkCase& network = *graph.shown->network;
  const auto& link = graph.links[static_cast<std::size_t>(number)];
  const auto routes = graph.routes_on(static_cast<std::size_t>(number));
  const std::int32_t back = graph.find(link.to, link.from);
  std::string words = node_name(graph, link.from) + " -> " + node_name(graph, link.to) + "\n" +
                      text::format_bytes(link.bytes) + " by " + count_words(routes.size(), " route", " routes");
  words += "\nback: " + text::format_bytes(back < 0 ? 0 : graph.links[static_cast<std::size_t>(back)].bytes);
  if (back >= 0) {
    const std::size_t count = graph.routes_on(static_cast<std::size_t>(back)).size();
    words += " by " + count_words(count, " route", " routes");
  }
  if (!routes.empty()) {
    const auto& heaviest = network.routes.routes[routes[0].route];
    words += "\nthe heaviest: rank " + session::rank_name(network, heaviest.source) + " to " +
             session::rank_name(network, heaviest.destination) + ", " + text::format_bytes(routes[0].bytes);
  }
  return words + "\n\nclick: selects the ranks of these routes";
}

std::string route_words(const NetworkGraph& graph, std::uint32_t number) {
  const NetworkCase& network = *graph.shown->network;
  const mapping::Route& route = network.routes.routes[number];
  return "rank " + session::rank_name(network, route.source) + " to rank " +
         session::rank_name(network, route.destination) + ": " + text::format_bytes(route.bytes) + " over " +
         count_words(static_cast<std::size_t>(route.length()), " link", " links") + "\nits heaviest link carries " +
         text::format_bytes(network.heaviest[number]);
}

const char* name_of(layout::LinkColour colour) {
  return colour == layout::LinkColour::bytes ? "size" : colour == layout::LinkColour::hops ? "hops" : "hop-bytes";
}

const char* meaning_of(layout::LinkColour colour) {
  switch (colour) {
    case layout::LinkColour::bytes: return "colour of a line: its bytes (key K: the next)";
    case layout::LinkColour::hops:
      return "colour of a line: how many links its routes have; of several routes the mean, by bytes (key K: the next)";
    case layout::LinkColour::hop_bytes: break;
  }
  return "colour of a line: bytes x links of its routes, added up (key K: the next)";
}

std::string routes_help() {
  return "A circle is a node or router: its area says how many bytes come in and go out over links, its colour which "
         "of "
         "both (blue: out, red: in). A line is a link, on the right of its direction; its width says its bytes. A "
         "ring: "
         "bytes between merged nodes.\n\n"
         "wheel, right button, arrows: zoom and move; Home: all\n"
         "click: selects a node's ranks, or those of a link's routes\n"
         "shift and drag: a lasso; X: what lies within, or also what crosses it; Escape: no lasso\n"
         "double click, O: opens merged nodes (those in the lasso)\n"
         "M, shift M: merges more, less\n"
         "K: what colours say; L: places by coordinates or by forces\n"
         "W: of a running job all traffic, or the newest\n"
         "U, shift U: takes back what was applied, does it again";
}

}  // namespace pclscope::gui
