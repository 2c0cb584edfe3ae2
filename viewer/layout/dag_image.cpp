#include "viewer/layout/dag_image.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::layout {
namespace {

constexpr float disc_radius = 0.92f;  // by the ring's: hidden where a glyph is drawn over it
constexpr std::size_t most_sharp_links =
    4000;  // beyond, nobody can tell them apart, and half the pixels take half the time

bool may_show(const std::vector<Point>& knots, const Rect& part) {
  if (knots.front().x > part.high.x || knots.back().x < part.low.x) return false;
  const auto [low, high] = std::minmax_element(knots.begin(), knots.end(), [](Point a, Point b) { return a.y < b.y; });
  return low->y <= part.high.y && high->y >= part.low.y;
}

std::vector<std::size_t> shown_routes(const DagImageRequest& request) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < request.picture->routes.size(); ++i)
    if (may_show(request.picture->routes[i].knots, request.part)) shown.push_back(i);
  return shown;
}

void add_links(std::vector<Stroke>& strokes, const DagImageRequest& request, std::vector<std::size_t> shown) {
  const DagPicture& picture = *request.picture;
  const auto edge = [&](std::size_t route) -> const DagEdge& {
    return picture.dag.edges[static_cast<std::size_t>(picture.routes[route].edge)];
  };
  const auto ratio = [&](std::size_t route) { return std::isfinite(edge(route).ratio) ? edge(route).ratio : 0; };
  std::stable_sort(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) { return ratio(a) < ratio(b); });
  for (const std::size_t route : shown) {
    Stroke stroke;
    sample_route(picture.routes[route].knots, request.zoom, stroke.points);
    for (Point& p : stroke.points) p = (p - request.part.low) * request.zoom;
    stroke.width = link_width(edge(route).messages, request.line);
    stroke.from = stroke.to = link_colour(*request.palette, edge(route).ratio, shown.size());
    strokes.push_back(std::move(stroke));
  }
}

// A stroke of no length is drawn as a disc, for its ends are round.
void add_discs(std::vector<Stroke>& strokes, const DagImageRequest& request) {
  const DagPicture& picture = *request.picture;
  for (std::size_t i = 0; i < picture.layout.at.size(); ++i) {
    const Point at = picture.layout.at[i];
    if (at.x < request.part.low.x - 1 || at.x > request.part.high.x + 1 || at.y < request.part.low.y - 1 ||
        at.y > request.part.high.y + 1)
      continue;
    const Point middle = (at - request.part.low) * request.zoom;
    const Rgba colour = request.palette->latency(ellipse_ratio(picture, i));
    const float width = std::max(2 * disc_radius * request.zoom, 2 * request.line);
    if (picture.is_fold(i) && request.zoom > 3) {  // a rim
      strokes.push_back(
          {{middle, middle + Point{0.01f, 0}}, width * 1.4f, request.palette->faint_text, request.palette->faint_text});
      strokes.push_back(
          {{middle, middle + Point{0.01f, 0}}, width * 1.2f, request.palette->background, request.palette->background});
    }
    strokes.push_back({{middle, middle + Point{0.01f, 0}}, width, colour, colour});
  }
}

}  // namespace

Rgba link_colour(const Palette& palette, double ratio, std::size_t links) {
  const float few = std::clamp(160.f / static_cast<float>(std::max<std::size_t>(links, 1)), 0.f, 1.f);
  const float calm = 0.16f + 0.44f * std::sqrt(few);
  const float late = ratio > 1 ? std::min(1.f, static_cast<float>(std::log2(std::min(ratio, 1e6))) / 3) : 0;
  const Rgba colour = late > 0.05f || (ratio > 0 && ratio < 0.9) ? palette.latency(ratio) : palette.edge;
  return colour.with_alpha(calm + (0.95f - calm) * late * (0.3f + 0.7f * few));
}

float link_width(std::uint32_t messages, float line) {
  return line * (1 + 0.35f * std::min(8.f, std::log2(static_cast<float>(std::max(messages, 1u)))));
}

DagImage draw_dag(const DagImageRequest& request, const std::function<bool()>& stopping) {
  DagImage made{request, {}, request.zoom};
  if (!request.picture || !request.palette || stopping()) return made;
  std::vector<std::size_t> shown = shown_routes(request);
  DagImageRequest coarse = request;
  if (shown.size() > most_sharp_links) coarse.zoom *= 0.5f, coarse.line *= 0.5f;
  made.zoom = coarse.zoom;
  std::vector<Stroke> strokes;
  add_links(strokes, coarse, std::move(shown));
  add_discs(strokes, coarse);
  const auto pixels = [&](float units) {
    return static_cast<int>(std::clamp(std::ceil(units * made.zoom), 1.f, 8192.f));
  };
  if (!stopping()) made.image = draw_strokes(pixels(request.part.width()), pixels(request.part.height()), strokes);
  return made;
}

}  // namespace pclscope::layout
