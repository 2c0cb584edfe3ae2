#include "analysis/mapping/network.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "analysis/mapping/input_checks.hpp"

namespace pclscope::mapping {
namespace {

constexpr std::size_t most_dimensions = 32;

// The product, or an error when there are too many.
Result<std::int32_t> product(const std::vector<std::int32_t>& sizes) {
  std::int64_t all = 1;
  for (const std::int32_t size : sizes) {
    all *= size;
    if (all > most_vertices) return bad("more than " + std::to_string(most_vertices) + " nodes");
  }
  return static_cast<std::int32_t>(all);
}

// "CAB": dimension C first, then A, then B; each once.
Result<std::vector<std::size_t>> parse_order(std::string_view letters, std::size_t dimensions) {
  std::vector<std::size_t> order;
  for (const char letter : letters) {
    const auto d = static_cast<std::size_t>(letter - 'A');
    if (letter < 'A' || d >= dimensions || std::find(order.begin(), order.end(), d) != order.end()) break;
    order.push_back(d);
  }
  if (order.size() != dimensions || letters.size() != dimensions)
    return bad("behind the @ each dimension's letter (A is the first) is expected once");
  return order;
}

}  // namespace

Links make_links(std::int32_t vertices, const std::vector<Edge>& edges) {
  Links links;
  std::vector<std::size_t> end(static_cast<std::size_t>(vertices) + 1, 0);
  for (const auto& [a, b] : edges) ++end[static_cast<std::size_t>(a)], ++end[static_cast<std::size_t>(b)];
  std::exclusive_scan(end.begin(), end.end(), end.begin(), std::size_t{0});
  const std::vector<std::size_t> begin = end;
  std::vector<std::int32_t> all(2 * edges.size());
  for (const auto& [a, b] : edges) {
    all[end[static_cast<std::size_t>(a)]++] = b;
    all[end[static_cast<std::size_t>(b)]++] = a;
  }
  links.start.push_back(0);
  for (std::size_t v = 0; v + 1 < begin.size(); ++v) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin[v]),
               last = all.begin() + static_cast<std::ptrdiff_t>(end[v]);
    std::sort(first, last);
    links.neighbours.insert(links.neighbours.end(), first, std::unique(first, last));
    links.start.push_back(links.neighbours.size());
  }
  return links;
}

Result<std::vector<std::int32_t>> parse_sizes(std::string_view text, std::vector<bool>* marked) {
  std::vector<std::int32_t> sizes;
  while (true) {
    std::int32_t size = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() && error != std::errc::result_out_of_range)
      return bad("a number is missing where it says '" + std::string(text.substr(0, 20)) + "'");
    if (error == std::errc::result_out_of_range || size > most_vertices)
      return bad("more than " + std::to_string(most_vertices) + " nodes");
    if (size < 1) return bad("a size below 1");
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    sizes.push_back(size);
    const bool mark = !text.empty() && text[0] == 'm';
    if (mark && !marked) return bad("an 'm' that only a torus can have");
    if (marked) marked->push_back(mark);
    if (mark) text.remove_prefix(1);
    if (text.empty()) break;
    if (text[0] != 'x') return bad("unexpected '" + std::string(text.substr(0, 20)) + "' (sizes are written 4x4x2)");
    text.remove_prefix(1);
    if (sizes.size() == most_dimensions) return bad("more than " + std::to_string(most_dimensions) + " sizes");
  }
  return sizes;
}

Result<Network> parse_nodes(std::string_view text) {
  const auto sizes = parse_sizes(text);
  if (!sizes) return sizes.error();
  if (sizes->size() != 1) return bad("one number is expected");
  Network network;
  network.kind = NetworkKind::complete;
  network.nodes = network.vertices = sizes->front();
  return network;
}

Result<Network> parse_torus(std::string_view text, Wiring wiring) {
  const std::size_t mark = text.find('@');
  std::vector<bool> lines;
  const auto sizes = parse_sizes(text.substr(0, mark), wiring == Wiring::all ? nullptr : &lines);
  if (!sizes) return sizes.error();
  const auto nodes = product(*sizes);
  if (!nodes) return nodes.error();
  std::vector<std::size_t> order;
  if (mark != text.npos) {
    auto given = parse_order(text.substr(mark + 1), sizes->size());
    if (!given) return given.error();
    order = std::move(*given);
  }
  std::vector<Dimension> dimensions;
  std::int64_t around = 0;
  for (std::size_t d = 0; d < sizes->size(); ++d) {
    dimensions.push_back({(*sizes)[d], !lines.empty() && lines[d] ? Wiring::line : wiring});
    around += wiring == Wiring::all ? (*sizes)[d] - 1 : std::min(2, (*sizes)[d] - 1);
  }
  if (around * *nodes / 2 > std::int64_t{most_edges}) return bad("more than " + std::to_string(most_edges) + " links");
  Network network;
  network.kind = NetworkKind::torus;
  network.torus = Torus(std::move(dimensions), std::move(order));
  network.nodes = network.vertices = *nodes;
  network.links.start.push_back(0);
  for (std::int32_t v = 0; v < *nodes; ++v) {
    const auto links = network.torus.neighbours(v);
    network.links.neighbours.insert(network.links.neighbours.end(), links.begin(), links.end());
    network.links.start.push_back(network.links.neighbours.size());
  }
  return network;
}

// Routers of a group all know each other. Each pair of groups shares one link: that from group g to g + k (mod G)
// leaves from router (k - 1) / h, where h = ceil((G - 1) / R) is the number of such links at a router.
Result<Network> parse_dragonfly(std::string_view text) {
  const auto sizes = parse_sizes(text);
  if (!sizes) return sizes.error();
  if (sizes->size() != 3) return bad("GROUPSxROUTERSxNODES is expected");
  const auto nodes = product(*sizes);
  if (!nodes) return nodes.error();
  const std::int32_t groups = (*sizes)[0], routers = (*sizes)[1], per_router = (*sizes)[2];
  if (std::int64_t{groups} * routers * (routers - 1) / 2 + std::int64_t{groups} * (groups - 1) / 2 >
      std::int64_t{most_edges})
    return bad("more than " + std::to_string(most_edges) + " links");
  Network network;
  network.dragonfly = *sizes;
  network.nodes = *nodes;
  network.vertices = *nodes + groups * routers;
  const auto router = [&](std::int32_t group, std::int32_t place) { return *nodes + group * routers + place; };
  const std::int32_t links_each = (groups - 1 + routers - 1) / routers;
  std::vector<Edge> edges;
  for (std::int32_t node = 0; node < *nodes; ++node) edges.emplace_back(node, *nodes + node / per_router);
  for (std::int32_t g = 0; g < groups; ++g) {
    for (std::int32_t a = 0; a < routers; ++a) {
      for (std::int32_t b = a + 1; b < routers; ++b) edges.emplace_back(router(g, a), router(g, b));
    }
    for (std::int32_t other = g + 1; other < groups; ++other) {
      const std::int32_t there = other - g - 1, back = g - other + groups - 1;
      edges.emplace_back(router(g, there / links_each), router(other, back / links_each));
    }
  }
  network.links = make_links(network.vertices, edges);
  return network;
}

// One switch for each subtree: a real fat tree's parallel switches are one vertex with fat links.
Result<Network> parse_fat_tree(std::string_view text) {
  const auto sizes = parse_sizes(text);
  if (!sizes) return sizes.error();
  const auto nodes = product(*sizes);
  if (!nodes) return nodes.error();
  Network network;
  network.fat_tree = *sizes;
  network.nodes = *nodes;
  std::vector<Edge> edges;
  std::int32_t below = 0, count = *nodes, next = *nodes;  // first vertex and number of those below; first of this level
  for (const std::int32_t down : *sizes) {
    for (std::int32_t i = 0; i < count; ++i) edges.emplace_back(below + i, next + i / down);
    below = next;
    count /= down;
    next += count;
  }
  network.vertices = next;
  network.links = make_links(network.vertices, edges);
  return network;
}

}  // namespace pclscope::mapping
