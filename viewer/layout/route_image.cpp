// The routes view's image (route_picture.hpp).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "viewer/layout/route_picture.hpp"

namespace pclscope::layout {
namespace {

constexpr std::size_t most_idle = 30'000;  // links without bytes that are drawn
constexpr float faint = 0.12f;             // what is not lit

Stroke stroke_of(const RoutePicture& picture, std::vector<Point> line, float width, Rgba colour) {
  for (Point& p : line) p = p - picture.area.low;
  return {std::move(line), width, colour, colour};
}

Stroke disc_of(const RoutePicture& picture, Point at, float radius, Rgba colour) {
  const Point p = at - picture.area.low;
  return {{p, {p.x + 0.01f, p.y}}, 2 * radius, colour, colour};
}

bool in_sight(const RoutePicture& picture, const GraphLink& link) {
  const Point a = picture.to_screen((*picture.places)[static_cast<std::size_t>(link.from)]),
              b = picture.to_screen((*picture.places)[static_cast<std::size_t>(link.to)]);
  const float around = 0.2f * distance(a, b) + 50 * picture.scale + 0.1f * picture.zoom;
  return std::max(a.x, b.x) + around >= picture.area.low.x && std::min(a.x, b.x) - around <= picture.area.high.x &&
         std::max(a.y, b.y) + around >= picture.area.low.y && std::min(a.y, b.y) - around <= picture.area.high.y;
}

void add_idle(const RoutePicture& picture, std::vector<Stroke>& strokes) {
  const NetworkGraph& graph = *picture.graph;
  if (graph.links.size() - graph.used > most_idle) return;
  const Rgba colour = picture.palette->edge.with_alpha(graph.links.size() > 4000 ? 0.2f : 0.4f);
  for (const GraphLink& link : graph.links) {
    if (link.bytes > 0 || link.from > link.to || !in_sight(picture, link)) continue;
    const std::int32_t back = graph.find(link.to, link.from);
    if (back >= 0 && graph.links[static_cast<std::size_t>(back)].bytes > 0) continue;
    strokes.push_back(stroke_of(picture, link_line(picture, link, 0), 0.7f * picture.scale, colour));
  }
}

// The heavy ones on top.
void add_links(const RoutePicture& picture, const std::vector<bool>& lit_routes, const std::vector<double>& lit_bytes,
               std::vector<Stroke>& strokes, std::size_t& single) {
  const NetworkGraph& graph = *picture.graph;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < graph.links.size(); ++i)
    if (graph.links[i].bytes > 0 && in_sight(picture, graph.links[i])) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(graph.links[a].bytes, b) < std::pair(graph.links[b].bytes, a);
  });
  const bool any_lit = !lit_bytes.empty();
  // Among many lines only the heavy ones are clear.
  const float least = order.size() > 5000 ? 0.12f : order.size() > 1000 ? 0.35f : 0.8f;
  const auto clear = [&](double value, double most) {
    const double share = most > 0 ? std::clamp(value / most, 0.0, 1.0) : 0;
    return least + (0.95f - least) * static_cast<float>(std::sqrt(share));
  };
  const auto& all = graph.shown->network->routes.routes;
  double most_of_routes = 0;
  for (const std::uint32_t number : graph.shown->routes) {
    const mapping::Route& route = all[number];
    most_of_routes = std::max(most_of_routes, picture.colour == LinkColour::bytes  ? route.bytes
                                              : picture.colour == LinkColour::hops ? route.length()
                                                                                   : route.hop_bytes());
  }
  for (const std::size_t i : order) {
    const GraphLink& link = graph.links[i];
    const auto strips = strips_of(picture, i);
    const bool apart = strips.size() > 1;
    single += apart ? strips.size() : 0;
    for (const Strip& strip : strips) {
      const double most = apart ? most_of_routes : graph.most(picture.colour);
      const Rgba colour = value_colour(picture, strip.value, most);
      const bool bright = !any_lit || (apart ? lit_routes[static_cast<std::size_t>(strip.route)] : false);
      strokes.push_back(stroke_of(picture, strip_line(picture, strip),
                                  apart ? std::max(0.3f, strip.width - 0.5f * picture.scale) : strip.width,
                                  colour.with_alpha(bright ? clear(strip.value, most) : faint * least)));
    }
    if (!any_lit || apart || !(lit_bytes[i] > 0)) continue;
    const float width =
        link_width(picture, lit_bytes[i]);  // of the link's width the part that is lit, nearest the middle
    strokes.push_back(stroke_of(picture, link_line(picture, link, width), width,
                                value_colour(picture, link.value(picture.colour), graph.most(picture.colour))));
  }
}

void add_nodes(const RoutePicture& picture, const std::vector<double>& lit_bytes, std::vector<Stroke>& strokes) {
  const NetworkGraph& graph = *picture.graph;
  std::vector<bool> bright(graph.nodes.size(), lit_bytes.empty());
  for (std::size_t i = 0; i < lit_bytes.size(); ++i) {
    if (!(lit_bytes[i] > 0)) continue;
    bright[static_cast<std::size_t>(graph.links[i].from)] = bright[static_cast<std::size_t>(graph.links[i].to)] = true;
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    const Point at = picture.to_screen((*picture.places)[i]);
    const float radius = node_radius(picture, node), ring = ring_radius(picture, node);
    if (at.x + ring + radius < picture.area.low.x || at.x - ring - radius > picture.area.high.x ||
        at.y + ring + radius < picture.area.low.y || at.y - ring - radius > picture.area.high.y)
      continue;
    const float alpha = bright[i] ? 1 : 0.3f;
    if (ring > 0) {  // its colour as a link's of so many bytes
      const Rgba colour = value_colour(picture, node.inside, graph.most_inside);
      strokes.push_back(disc_of(picture, at, ring + 1.5f * picture.scale, colour.with_alpha(alpha)));
      strokes.push_back(disc_of(picture, at, ring, picture.palette->background));
    } else {  // a rim, so that circles that overlap are seen as several
      strokes.push_back(disc_of(picture, at, radius + 0.8f * picture.scale, picture.palette->background));
    }
    strokes.push_back(
        disc_of(picture, at, radius, mix(picture.palette->background, node_colour(picture, node), alpha)));
  }
}

}  // namespace

RouteImage draw_routes(const RoutePicture& picture) {
  RouteImage made{{}, picture, 0};
  if (!picture.graph || !picture.places || picture.palette == nullptr) return made;
  const auto side = [](float pixels) {
    return std::isfinite(pixels) ? static_cast<int>(std::clamp(pixels, 0.f, 8192.f)) : 0;
  };
  std::vector<bool> lit_routes;
  std::vector<double> lit_bytes;
  if (picture.lit && !picture.lit->empty()) {
    lit_routes.assign(picture.graph->shown->network->routes.routes.size(), false);
    std::vector<std::uint32_t> both;  // lit and shown
    std::set_intersection(picture.lit->begin(), picture.lit->end(), picture.graph->shown->routes.begin(),
                          picture.graph->shown->routes.end(), std::back_inserter(both));
    for (const std::uint32_t route : both) lit_routes[route] = true;
    lit_bytes = bytes_of(*picture.graph, both);
  }
  std::vector<Stroke> strokes;
  add_idle(picture, strokes);
  add_links(picture, lit_routes, lit_bytes, strokes, made.strips);
  add_nodes(picture, lit_bytes, strokes);
  made.image = draw_strokes(side(picture.area.width()), side(picture.area.height()), strokes);
  return made;
}

}  // namespace pclscope::layout
