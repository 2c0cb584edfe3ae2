#include "viewer/layout/route_picture.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::layout {
namespace {

constexpr float least_link = 0.6f, least_circle = 1.3f;       // points
constexpr float widest_link = 0.16f, largest_circle = 0.26f;  // of the distance of neighbours
constexpr float most_link = 40, most_circle = 60;             // points
constexpr float gap = 0.5f;                                   // points between the two directions
constexpr float told_apart = 1.5f;  // points: the mean width of a link's routes from which they are drawn one by one
constexpr std::size_t most_strips = 200;           // on a link
constexpr int least_pieces = 6, most_pieces = 32;  // of a line that bends

// From the line a-b, to the right of its direction on a screen whose y grows downwards.
Point right_of(Point a, Point b) {
  const Point d = b - a;
  const float l = length(d);
  return l > 0 ? Point{-d.y / l, d.x / l} : Point{};
}

float distance_to(Point p, Point a, Point b) {
  const Point d = b - a;
  const float l = d.x * d.x + d.y * d.y;
  const float t = l > 0 ? std::clamp(((p.x - a.x) * d.x + (p.y - a.y) * d.y) / l, 0.f, 1.f) : 0;
  return distance(p, a + d * t);
}

float distance_to(Point p, const std::vector<Point>& line) {
  float nearest = 1e30f;
  for (std::size_t i = 1; i < line.size(); ++i) nearest = std::min(nearest, distance_to(p, line[i - 1], line[i]));
  return nearest;
}

// `aside`: pixels to the right of the straight line between both ends.
std::vector<Point> line_beside(const RoutePicture& picture, const GraphLink& link, float aside) {
  const Point a = picture.to_screen((*picture.places)[static_cast<std::size_t>(link.from)]),
              b = picture.to_screen((*picture.places)[static_cast<std::size_t>(link.to)]);
  const Point right = right_of(a, b);
  const float far = distance(a, b), longer = far - 1.3f * picture.zoom;
  if (longer <= 0) return {a + right * aside, b + right * aside};
  const float bend = std::min(0.12f * longer, 0.8f * picture.zoom + 0.04f * longer) + 0.1f * picture.zoom;
  std::vector<Point> line;
  const int pieces = std::clamp(static_cast<int>(far / (24 * picture.scale)), least_pieces, most_pieces);
  line.reserve(static_cast<std::size_t>(pieces) + 1);
  for (int i = 0; i <= pieces; ++i) {
    const float t = static_cast<float>(i) / static_cast<float>(pieces);
    line.push_back(a + (b - a) * t + right * (aside + 4 * t * (1 - t) * bend));
  }
  return line;
}

}  // namespace

float link_width(const RoutePicture& picture, double bytes) {
  const double most = picture.graph->most_bytes;
  const float widest = std::clamp(widest_link * picture.zoom, 2.5f * picture.scale, most_link * picture.scale);
  const auto share = static_cast<float>(most > 0 ? std::clamp(bytes / most, 0.0, 1.0) : 0);
  return std::max(least_link * picture.scale, widest * share);
}

float node_radius(const RoutePicture& picture, const GraphNode& node) {
  const double most = picture.graph->most_degree;
  const float largest = std::clamp(largest_circle * picture.zoom, 2.5f * picture.scale, most_circle * picture.scale);
  const auto share = static_cast<float>(most > 0 ? std::clamp((node.in + node.out) / most, 0.0, 1.0) : 0);
  return std::max(least_circle * picture.scale, largest * std::sqrt(share));
}

float ring_radius(const RoutePicture& picture, const GraphNode& node) {
  return node.inside > 0 ? node_radius(picture, node) + 3 * picture.scale : 0;
}

Rgba node_colour(const RoutePicture& picture, const GraphNode& node) {
  const double all = node.in + node.out;
  if (!(all > 0)) return picture.palette->edge;
  return picture.palette->latency(std::pow(4.0, 2 * node.in / all - 1), 4);
}

Rgba value_colour(const RoutePicture& picture, double value, double most) {
  return picture.palette->share(most > 0 ? value / most : 0);
}

std::vector<Point> link_line(const RoutePicture& picture, const GraphLink& link, float width) {
  return line_beside(picture, link, (width + gap * picture.scale) / 2);
}

std::vector<Strip> strips_of(const RoutePicture& picture, std::size_t number) {
  const GraphLink& link = picture.graph->links[number];
  const float width = link_width(picture, link.bytes), begin = gap * picture.scale / 2;
  const auto routes = picture.graph->routes_on(number);
  const auto own = static_cast<std::int32_t>(number);
  const bool apart = routes.size() > 1 && routes.size() <= most_strips && link.bytes > 0 &&
                     width >= told_apart * picture.scale * static_cast<float>(routes.size());
  if (!apart) {
    const std::int32_t route = routes.size() == 1 ? static_cast<std::int32_t>(routes[0].route) : -1;
    return {{own, route, begin, width, link.value(picture.colour)}};
  }
  std::vector<Strip> strips;
  const auto& all = picture.graph->shown->network->routes.routes;
  for (const RouteOnLink& on : routes) {
    const mapping::Route& route = all[on.route];
    const double value = picture.colour == LinkColour::bytes  ? route.bytes
                         : picture.colour == LinkColour::hops ? route.length()
                                                              : route.hop_bytes();
    const auto share = static_cast<float>(on.bytes / link.bytes);
    strips.push_back({own, static_cast<std::int32_t>(on.route), 0, width * share, value});
  }
  std::stable_sort(strips.begin(), strips.end(), [](const Strip& a, const Strip& b) { return a.value > b.value; });
  float at = begin;
  for (Strip& strip : strips) {
    strip.from = at;
    at += strip.width;
  }
  return strips;
}

std::vector<Point> strip_line(const RoutePicture& picture, const Strip& strip) {
  return line_beside(picture, picture.graph->links[static_cast<std::size_t>(strip.link)], strip.from + strip.width / 2);
}

RouteHit hit_routes(const RoutePicture& picture, Point at, float reach) {
  RouteHit hit;
  const NetworkGraph& graph = *picture.graph;
  float nearest = 1;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const float radius = std::max(node_radius(picture, graph.nodes[i]), ring_radius(picture, graph.nodes[i])) + reach;
    const float far = distance(picture.to_screen((*picture.places)[i]), at) / radius;
    if (far >= nearest) continue;
    nearest = far;
    hit.node = static_cast<std::int32_t>(i);
  }
  if (hit.node >= 0) return hit;
  float best = reach;
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const GraphLink& link = graph.links[i];
    if (!(link.bytes > 0)) continue;
    const Point a = picture.to_screen((*picture.places)[static_cast<std::size_t>(link.from)]),
                b = picture.to_screen((*picture.places)[static_cast<std::size_t>(link.to)]);
    const float around = 0.2f * distance(a, b) + 50 * picture.scale + 0.1f * picture.zoom;
    if (at.x < std::min(a.x, b.x) - around || at.x > std::max(a.x, b.x) + around ||
        at.y < std::min(a.y, b.y) - around || at.y > std::max(a.y, b.y) + around)
      continue;
    const float width = link_width(picture, link.bytes);
    const float far = std::max(0.f, distance_to(at, link_line(picture, link, width)) - width / 2);
    if (far >= best) continue;
    best = far;
    hit.link = static_cast<std::int32_t>(i);
  }
  if (hit.link < 0) return hit;
  float thinnest = 1e30f;
  const auto strips = strips_of(picture, static_cast<std::size_t>(hit.link));
  for (const Strip& strip : strips) {
    const float far = std::max(0.f, distance_to(at, strip_line(picture, strip)) - strip.width / 2);
    if (far >= thinnest) continue;
    thinnest = far;
    hit.route = strip.route;
  }
  return hit;
}

}  // namespace pclscope::layout
