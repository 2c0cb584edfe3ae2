// The routes view's picture: circles for nodes, lines for links on the right of their direction, the routes of a link
// side by side where there is room. Plain values; draw_routes() alone needs cairo.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "viewer/layout/line_image.hpp"
#include "viewer/layout/network_graph.hpp"
#include "viewer/layout/palette.hpp"

namespace pclscope::layout {

struct RoutePicture {
  std::shared_ptr<const NetworkGraph> graph;
  std::shared_ptr<const std::vector<Point>> places;       // of its nodes
  std::shared_ptr<const std::vector<std::uint32_t>> lit;  // routes: all else is faint; empty or null: nothing is
  LinkColour colour = LinkColour::bytes;
  float zoom = 1;  // pixels per unit of places
  Point offset;    // pixels of the window
  Rect area;       // that the image covers
  const Palette* palette = nullptr;
  float scale = 1;  // HiDPI
  Point to_screen(Point place) const { return place * zoom + offset; }
  bool operator==(const RoutePicture&) const = default;
};

// Pixels.
float node_radius(const RoutePicture& picture, const GraphNode& node);  // its area is proportional to in + out
float ring_radius(const RoutePicture& picture, const GraphNode& node);  // around those with bytes inside; else 0
float link_width(const RoutePicture& picture, double bytes);            // proportional to bytes
// Blue: all goes out, grey: as much in as out, red: all comes in.
Rgba node_colour(const RoutePicture& picture, const GraphNode& node);
Rgba value_colour(const RoutePicture& picture, double value, double most);

// The middle line of a link that is so wide, in pixels of the window: on the right of its direction, beside the other
// direction's; long ones bend aside, so that they do not lie on what is between.
std::vector<Point> link_line(const RoutePicture& picture, const GraphLink& link, float width);

// A link's routes side by side, or one strip that stands for all of them.
struct Strip {
  std::int32_t link = 0;
  std::int32_t route = -1;    // -1: all
  float from = 0, width = 0;  // pixels to the right of the middle between both directions
  double value = 0;           // for its colour
};
// Strips of a link, the largest value nearest to the middle; one for all when they would be too thin to be told apart.
std::vector<Strip> strips_of(const RoutePicture& picture, std::size_t link);
std::vector<Point> strip_line(const RoutePicture& picture, const Strip& strip);

// What is under a point of the window.
struct RouteHit {
  std::int32_t node = -1;
  std::int32_t link = -1;   // where no node is
  std::int32_t route = -1;  // on that link, where its routes are drawn one by one
  bool any() const { return node >= 0 || link >= 0; }
  bool operator==(const RouteHit&) const = default;
};
RouteHit hit_routes(const RoutePicture& picture, Point at, float reach);

struct RouteImage {
  Image image;
  RoutePicture picture;    // as it was asked for
  std::size_t strips = 0;  // of single routes
};
RouteImage draw_routes(const RoutePicture& picture);

}  // namespace pclscope::layout
