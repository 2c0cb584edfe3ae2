// The dense layer of the spatial view as an image: links, over them the discs of open regions, over these pairs of
// ranks, and rank dots when there are thousands.
#pragma once

#include <memory>
#include <vector>

#include "viewer/layout/line_image.hpp"
#include "viewer/layout/spatial_layout.hpp"
#include "viewer/layout/spatial_values.hpp"

namespace pclscope::layout {

// From positions of the layout to pixels: turned by `angle` about the origin, enlarged, moved.
struct Placement {
  float zoom = 1;
  float angle = 0;  // radians, clockwise on the screen
  Point offset;     // pixels
  Point turned(Point p) const {
    const float c = std::cos(angle), s = std::sin(angle);
    return {p.x * c - p.y * s, p.x * s + p.y * c};
  }
  Point to_screen(Point p) const { return turned(p) * zoom + offset; }
  Point to_world(Point screen) const {
    const Point q = (screen - offset) * (1 / zoom);
    const float c = std::cos(angle), s = std::sin(angle);
    return {q.x * c + q.y * s, q.y * c - q.x * s};
  }
  bool operator==(const Placement&) const = default;
};

struct SpatialPicture {
  std::shared_ptr<const SpatialLayout> layout;
  std::shared_ptr<const SpatialColours> colours;  // of that layout
  std::shared_ptr<const std::vector<bool>> open;  // by region: its ranks are shown
  Placement placement;
  Rect area;  // pixels of the window that the image covers
  Rgba edge;  // of pairs of ranks
  Rgba background;
  float scale = 1;       // HiDPI
  bool dots = false;     // ranks too
  float dot_radius = 1;  // pixels
  bool operator==(const SpatialPicture&) const = default;
};

struct SpatialImage {
  Image image;          // cut to what is not empty
  Placement placement;  // as of the request
  Rect area;            // of the image, pixels of the window
};

SpatialImage draw_spatial(const SpatialPicture& picture);

// The fill of an open region's disc: its colour, faint.
Rgba open_fill(Rgba region, Rgba background);

// Width in pixels of a link of so many messages, when the strongest has `most`: logarithmic.
float link_width(std::uint64_t messages, std::uint64_t most, float scale);

}  // namespace pclscope::layout
