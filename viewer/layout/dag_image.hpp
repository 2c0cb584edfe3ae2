// The DAG view's dense layer as an image: all links, and a disc for each glyph, which is all there is of it where
// glyphs are small or many.
#pragma once

#include <functional>
#include <memory>

#include "viewer/layout/dag_picture.hpp"
#include "viewer/layout/line_image.hpp"
#include "viewer/layout/palette.hpp"

namespace pclscope::layout {

struct DagImageRequest {
  std::shared_ptr<const DagPicture> picture;
  Rect part;       // of the layout's plane, becomes the image
  float zoom = 1;  // pixels per unit
  float line = 1;  // pixels of a link's width
  const Palette* palette = nullptr;
  bool operator==(const DagImageRequest&) const = default;
};

struct DagImage {
  DagImageRequest of;
  Image image;     // begins at of.part.low
  float zoom = 1;  // its pixels per unit: half of what was asked for where there are very many links
};
// Worst links on top. When `stopping`, there is no image.
DagImage draw_dag(const DagImageRequest& request, const std::function<bool()>& stopping);

// Of a link: grey where L is about 1, red above; the fewer there are and the later, the clearer.
Rgba link_colour(const Palette& palette, double ratio, std::size_t links);
// Pixels, from the number of messages.
float link_width(std::uint32_t messages, float line);

}  // namespace pclscope::layout
