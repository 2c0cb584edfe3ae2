// Dense layers drawn once, off the UI thread: many anti-aliased curves become one image, which a view shows as a
// texture.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "viewer/layout/geometry.hpp"

namespace pclscope::layout {

struct Stroke {
  std::vector<Point>
      points;  // a polyline, in pixels of the image; strokes with a point that is not finite are left out
  float width = 1;
  Rgba from;  // colour at the first point
  Rgba to;    // at the last
};

struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgba;  // straight alpha, rows from the top, width * height * 4 bytes
};

// Strokes in order, the last on top; clipped to the image. Sides of 1 to 8192 pixels, else an empty image.
Image draw_strokes(int width, int height, std::span<const Stroke> strokes);

// As a PNG without transparency. What went wrong, empty when nothing did.
std::string save_png(const Image& image, const std::string& path);

}  // namespace pclscope::layout
