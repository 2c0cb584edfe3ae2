#include "viewer/layout/network_shape.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string_view>

#include "analysis/mapping/network.hpp"

namespace pclscope::layout {
namespace {

using session::NetworkCase;

std::vector<std::int32_t> sizes_behind(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto sizes = mapping::parse_sizes(text.substr(colon + 1));
  return sizes ? *sizes : std::vector<std::int32_t>();
}

// Of vertices that all have as many coordinates, more than one: the largest of each, and one.
std::vector<std::int32_t> grid_sizes(const NetworkCase& network) {
  const auto& all = network.routes.coordinates;
  std::vector<std::int32_t> sizes;
  for (const auto& coordinates : all) {
    if (sizes.empty()) sizes.assign(coordinates.size(), 1);
    if (coordinates.size() != sizes.size() || sizes.size() < 2) return {};
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (coordinates[d] < 0 || coordinates[d] >= mapping::most_vertices) return {};
      sizes[d] = std::max(sizes[d], coordinates[d] + 1);
    }
  }
  return sizes;
}

// Where place c of n lies when a ring is folded flat: 0, n-1, 1, n-2, ... so that neighbours are at most two apart.
std::int32_t folded(std::int32_t c, std::int32_t n) { return n <= 2 ? c : c < (n + 1) / 2 ? 2 * c : 2 * (n - c) - 1; }

bool has(Merged merged, std::size_t offer) { return offer < 32 && (merged >> offer & 1) != 0; }

// Whether the topology closes dimension d: only then it is folded.
bool closes(const NetworkCase& network, const std::vector<std::int32_t>& sizes, std::size_t d) {
  if (!network.topology || sizes[d] < 3) return false;
  std::vector<std::int32_t> first(sizes.size(), 0), last = first;
  last[d] = sizes[d] - 1;
  const std::int32_t a = network.topology->vertex_at(first), b = network.topology->vertex_at(last);
  if (a < 0 || b < 0 || !network.topology->text().starts_with("torus:")) return false;
  const auto around = network.topology->neighbours(a);
  return std::find(around.begin(), around.end(), b) != around.end();
}

// Of each dimension the step between its places: the fastest dimension innermost, a little aslant so that lines of
// different dimensions do not lie on each other.
struct GridAxes {
  std::vector<Point> step;
  std::vector<bool> fold;
  float width = 1, height = 1;
};

// `down`: a bit for each dimension that lies along the vertical axis.
GridAxes axes_along(const NetworkShape& shape, Merged merged, std::uint32_t down) {
  GridAxes axes{std::vector<Point>(shape.sizes.size()), std::vector<bool>(shape.sizes.size(), false)};
  float extent[2] = {1, 1};
  int nested[2] = {0, 0};
  for (std::size_t i = shape.sizes.size(); i-- > 0;) {
    if (has(merged, i) || shape.sizes[i] < 2) continue;
    const std::size_t axis = has(down, i) ? 1 : 0;
    const float step = nested[axis] == 0 ? 1 : extent[axis] + 0.6f * static_cast<float>(nested[axis]);
    const float slant = 0.12f * static_cast<float>(nested[axis] + 1) / static_cast<float>(shape.sizes[i]);
    const float aside = slant * std::min(step, 4.f);
    axes.step[i] = axis == 0 ? Point{step, aside} : Point{-aside, step};
    extent[axis] = step * static_cast<float>(shape.sizes[i] - 1) + extent[axis];
    ++nested[axis];
  }
  axes.width = extent[0];
  axes.height = extent[1];
  return axes;
}

// Windows are wider than high: of all ways to lay the dimensions along two axes the one that fits best.
GridAxes grid_axes(const NetworkShape& shape, const NetworkCase& network, Merged merged) {
  constexpr float wanted = 1.7f;  // width over height
  const std::size_t tried = std::min<std::size_t>(shape.sizes.size(), 10);
  GridAxes best;
  float least = 1e30f;
  for (std::uint32_t down = 0; down < (1u << tried); ++down) {
    GridAxes axes = axes_along(shape, merged, down);
    const float off = std::abs(std::log(axes.width / axes.height / wanted));
    if (off >= least) continue;
    least = off;
    best = std::move(axes);
  }
  for (std::size_t i = 0; i < shape.sizes.size(); ++i) best.fold[i] = closes(network, shape.sizes, i);
  return best;
}

Point grid_place(const GridAxes& axes, const NetworkShape& shape, const std::vector<std::int32_t>& coordinates) {
  Point at;
  for (std::size_t d = 0; d < shape.sizes.size(); ++d) {
    const std::int32_t c = axes.fold[d] ? folded(coordinates[d], shape.sizes[d]) : coordinates[d];
    at = at + axes.step[d] * static_cast<float>(c);
  }
  return at;
}

Point on_circle(double share, float radius) {
  const double angle = (share - 0.25) * 2 * std::numbers::pi;
  return {static_cast<float>(std::cos(angle)) * radius, static_cast<float>(std::sin(angle)) * radius};
}

// As wide as that `count` things, each `width` wide, have room on the circle.
float circle_for(std::int32_t count, float width) {
  return count < 2 ? 0 : std::max(width, static_cast<float>(count) * width / (2 * std::numbers::pi_v<float>));
}

// Groups on a circle, in each its routers, around each router its nodes.
VertexPlaces place_dragonfly(const NetworkShape& shape, std::int32_t vertices) {
  const std::int32_t groups = shape.sizes[0], routers = shape.sizes[1], each = shape.sizes[2];
  const std::int32_t nodes = groups * routers * each;
  const float of_nodes = std::max(0.5f, circle_for(each, 0.5f)), of_routers = circle_for(routers, 2 * of_nodes + 0.8f);
  const float of_groups = circle_for(groups, 2 * (of_routers + of_nodes) + 1);
  VertexPlaces places;
  places.at.resize(static_cast<std::size_t>(vertices));
  for (std::int32_t g = 0; g < groups; ++g) {
    const Point group = on_circle(double(g) / groups, of_groups);
    for (std::int32_t r = 0; r < routers; ++r) {
      const Point router = group + on_circle(double(r) / routers, of_routers);
      const std::int32_t number = g * routers + r;
      places.at[static_cast<std::size_t>(nodes + number)] = router;
      for (std::int32_t n = 0; n < each; ++n)
        places.at[static_cast<std::size_t>(number * each + n)] = router + on_circle((n + 0.5) / each, of_nodes);
    }
  }
  return places;
}

// The root in the middle, each level a ring, who hangs at the same switch side by side.
VertexPlaces place_fat_tree(const NetworkShape& shape, std::int32_t vertices) {
  std::int32_t nodes = 1;
  for (const std::int32_t down : shape.sizes) nodes *= down;
  const float outermost = std::max(static_cast<float>(shape.sizes.size()), circle_for(nodes, 1));
  VertexPlaces places;
  places.at.reserve(static_cast<std::size_t>(vertices));
  std::int32_t count = nodes;
  for (std::size_t level = 0; level <= shape.sizes.size(); ++level) {
    const float radius =
        outermost * static_cast<float>(shape.sizes.size() - level) / static_cast<float>(shape.sizes.size());
    for (std::int32_t i = 0; i < count; ++i) places.at.push_back(on_circle((i + 0.5) / count, radius));
    if (level < shape.sizes.size()) count /= shape.sizes[level];
  }
  return places;
}

// Of each vertex the number of what it belongs to at this level (1: leaf switch or router), of routers their own.
std::int64_t dragonfly_group(const NetworkShape& shape, std::int32_t vertex, std::size_t level) {
  const std::int32_t nodes = shape.sizes[0] * shape.sizes[1] * shape.sizes[2];
  const std::int32_t router = vertex < nodes ? vertex / shape.sizes[2] : vertex - nodes;
  return level == 1 ? router : router / shape.sizes[1];
}

// (level, number) of the switch at `level` above the vertex, or the vertex's own where it is higher.
std::int64_t fat_tree_group(const NetworkShape& shape, std::int32_t vertex, std::size_t level) {
  std::int32_t count = 1;
  for (const std::int32_t down : shape.sizes) count *= down;
  std::size_t own = 0;
  while (vertex >= count && own < shape.sizes.size()) {
    vertex -= count;
    count /= shape.sizes[own++];
  }
  for (; own < level; ++own) vertex /= shape.sizes[own];
  return (static_cast<std::int64_t>(own) << 32) + vertex;
}

}  // namespace

NetworkShape shape_of(const NetworkCase& network) {
  const std::string_view text = network.topology ? std::string_view(network.topology->text()) : std::string_view();
  NetworkShape shape;
  const auto take = [&](NetworkKind kind, std::size_t least) {
    shape.sizes = sizes_behind(text);
    if (shape.sizes.size() >= least) shape.kind = kind;
  };
  if (text.starts_with("dragonfly:")) take(NetworkKind::dragonfly, 3);
  else if (text.starts_with("fattree:")) take(NetworkKind::fat_tree, 1);
  else if (shape.sizes = grid_sizes(network); !shape.sizes.empty()) shape.kind = NetworkKind::grid;
  else if (text.starts_with("torus:") || text.starts_with("mesh:") || text.starts_with("hyperx:")) {
    shape.kind = NetworkKind::grid;  // of one dimension
    shape.sizes = {network.vertices()};
  }
  return shape;
}

std::vector<MergeOffer> merge_offers(const NetworkShape& shape) {
  std::vector<MergeOffer> offers;
  if (shape.kind == NetworkKind::grid && shape.sizes.size() > 1) {
    for (std::size_t d = 0; d < std::min<std::size_t>(shape.sizes.size(), 26); ++d) {
      const std::string name(1, static_cast<char>('A' + d));
      offers.push_back(
          {name, "nodes that differ in " + name + " alone (" + std::to_string(shape.sizes[d]) + " places) become one"});
    }
  } else if (shape.kind == NetworkKind::dragonfly) {
    offers = {{"routers", "each router and its nodes become one"}, {"groups", "each group of routers becomes one"}};
  } else if (shape.kind == NetworkKind::fat_tree) {
    for (std::size_t level = 1; level < std::min<std::size_t>(shape.sizes.size(), 16); ++level)
      offers.push_back({level == 1 ? "leaf switches" : "level " + std::to_string(level),
                        "each switch of level " + std::to_string(level) + " and all below it become one"});
    if (shape.sizes.size() == 1) offers.clear();
  }
  return offers;
}

Grouping group_vertices(const NetworkCase& network, const NetworkShape& shape, Merged merged) {
  Grouping grouping;
  const auto vertices = static_cast<std::size_t>(network.vertices());
  grouping.group.resize(vertices);
  std::size_t level = 0;
  for (std::size_t offer = 0; offer < 32; ++offer)
    if (has(merged, offer)) level = offer + 1;
  const bool grid = shape.kind == NetworkKind::grid && shape.sizes.size() > 1;
  std::map<std::vector<std::int32_t>, std::int32_t> by_coordinates;
  std::map<std::int64_t, std::int32_t> by_number;
  for (std::size_t v = 0; v < vertices; ++v) {
    const auto vertex = static_cast<std::int32_t>(v);
    if (level == 0 || shape.kind == NetworkKind::other || (shape.kind == NetworkKind::grid && !grid)) {
      grouping.group[v] = grouping.groups++;
      continue;
    }
    bool fresh = false;
    if (grid) {
      std::vector<std::int32_t> key = network.routes.coordinates[v];
      for (std::size_t d = 0; d < key.size(); ++d)
        if (has(merged, d)) key[d] = 0;
      const auto [at, is_new] = by_coordinates.try_emplace(std::move(key), grouping.groups);
      grouping.group[v] = at->second;
      fresh = is_new;
    } else {
      const std::int64_t key = shape.kind == NetworkKind::dragonfly ? dragonfly_group(shape, vertex, level)
                                                                    : fat_tree_group(shape, vertex, level);
      const auto [at, is_new] = by_number.try_emplace(key, grouping.groups);
      grouping.group[v] = at->second;
      fresh = is_new;
    }
    grouping.groups += fresh ? 1 : 0;
  }
  return grouping;
}

VertexPlaces place_by_shape(const NetworkShape& shape, const NetworkCase& network, Merged without) {
  if (shape.kind == NetworkKind::dragonfly) return place_dragonfly(shape, network.vertices());
  if (shape.kind == NetworkKind::fat_tree) return place_fat_tree(shape, network.vertices());
  VertexPlaces places;
  const GridAxes axes = grid_axes(shape, network, without);
  for (std::int32_t v = 0; v < network.vertices(); ++v) {
    const auto& coordinates = network.routes.coordinates[static_cast<std::size_t>(v)];
    places.at.push_back(coordinates.size() == shape.sizes.size() ? grid_place(axes, shape, coordinates)
                                                                 : Point{static_cast<float>(v), 0});
  }
  return places;
}

std::vector<Point> place_groups_by_shape(const NetworkShape& shape, const NetworkCase& network, Merged merged,
                                         const Grouping& grouping) {
  std::vector<Point> places(static_cast<std::size_t>(grouping.groups));
  std::vector<int> members(places.size(), 0);
  const bool grid = shape.kind == NetworkKind::grid && shape.sizes.size() > 1;
  const GridAxes axes = grid ? grid_axes(shape, network, merged) : GridAxes{};
  const VertexPlaces all = grid ? VertexPlaces{} : place_by_shape(shape, network);
  for (std::size_t v = 0; v < grouping.group.size(); ++v) {
    const auto group = static_cast<std::size_t>(grouping.group[v]);
    const Point at = grid ? grid_place(axes, shape, network.routes.coordinates[v]) : all.at[v];
    places[group] = places[group] + at;
    ++members[group];
  }
  for (std::size_t g = 0; g < places.size(); ++g) places[g] = places[g] * (1.f / static_cast<float>(members[g]));
  return places;
}

void normalise(VertexPlaces& places, const mapping::LinkGraph& graph) {
  std::vector<float> lengths;
  for (std::int32_t link = 0; link < graph.links(); ++link) {
    const float far = distance(places.at[static_cast<std::size_t>(graph.from(link))],
                               places.at[static_cast<std::size_t>(graph.to(link))]);
    if (far > 0 && std::isfinite(far)) lengths.push_back(far);
  }
  Point low{1e30f, 1e30f}, high{-1e30f, -1e30f};
  for (const Point at : places.at) {
    low = {std::min(low.x, at.x), std::min(low.y, at.y)};
    high = {std::max(high.x, at.x), std::max(high.y, at.y)};
  }
  if (places.at.empty()) return;
  float unit = 1;
  if (!lengths.empty()) {
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    unit = *middle;
  }
  const Point centre = (low + high) * 0.5f;
  for (Point& at : places.at) at = (at - centre) * (1 / unit);
}

}  // namespace pclscope::layout
