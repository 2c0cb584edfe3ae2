#include "viewer/layout/spatial_image.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pclscope::layout {
namespace {

std::vector<Point> on_image(const std::vector<Point>& line, const SpatialPicture& picture) {
  std::vector<Point> made;
  made.reserve(line.size());
  for (const Point p : line) made.push_back(picture.placement.to_screen(p) - picture.area.low);
  return made;
}

void add_pairs(const SpatialPicture& picture, std::vector<Stroke>& strokes) {
  const SpatialLayout& layout = *picture.layout;
  std::size_t shown = 0;
  const auto visible = [&](const PlacedPair& pair) {
    return (*picture.open)[pair.a.region] && (*picture.open)[pair.b.region];
  };
  for (const PlacedPair& pair : layout.pairs) shown += visible(pair) ? 1 : 0;
  const float faint = shown > 1000 ? 0.25f : shown > 200 ? 0.4f : 0.6f;
  for (const PlacedPair& pair : layout.pairs) {
    if (!visible(pair)) continue;
    const Rgba colour = picture.edge.with_alpha(faint);
    strokes.push_back({on_image(pair.line, picture), picture.scale, colour, colour});
  }
}

// Those that are late on top of the others.
void add_links(const SpatialPicture& picture, std::vector<Stroke>& strokes) {
  const SpatialLayout& layout = *picture.layout;
  const std::vector<RegionLink>& links = layout.snapshot->links;
  std::uint64_t most = 1;
  for (const PlacedLink& link : layout.links) most = std::max(most, links[link.index].messages);
  std::vector<std::size_t> order(layout.links.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto ratio = [&](std::size_t i) {
    const double value = links[layout.links[i].index].level();
    return value > 0 ? value : 0;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ratio(a) < ratio(b); });
  const float calm = layout.links.size() > 300 ? 0.25f : layout.links.size() > 60 ? 0.4f : 0.8f;
  const double top = picture.colours->top;
  for (const std::size_t i : order) {
    const PlacedLink& link = layout.links[i];
    const double late = std::clamp(std::log(std::max(ratio(i), 1.0)) / std::log(top) * 3, 0.0, 1.0);
    const Rgba colour = picture.colours->links[i].with_alpha(calm + (0.95f - calm) * static_cast<float>(late));
    strokes.push_back(
        {on_image(link.line, picture), link_width(links[link.index].messages, most, picture.scale), colour, colour});
  }
}

void add_open_discs(const SpatialPicture& picture, std::vector<Stroke>& strokes) {
  const SpatialLayout& layout = *picture.layout;
  for (std::size_t r = 0; r < layout.regions.size(); ++r) {
    if (!(*picture.open)[r]) continue;
    const Point at = picture.placement.to_screen(layout.regions[r].at) - picture.area.low;
    const Rgba colour = open_fill(picture.colours->regions[r], picture.background);
    strokes.push_back(
        {{at, {at.x + 0.01f, at.y}}, 2 * layout.regions[r].radius * picture.placement.zoom, colour, colour});
  }
}

// Most of the picture is empty, and each pixel shown costs time in every frame.
void cut_empty(SpatialImage& made) {
  Image& image = made.image;
  int left = image.width, right = -1, top = image.height, bottom = -1;
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* row = &image.rgba[static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) * 4];
    int first = 0, last = image.width - 1;
    while (first <= last && row[first * 4 + 3] == 0) ++first;
    while (last >= first && row[last * 4 + 3] == 0) --last;
    if (first > last) continue;
    left = std::min(left, first);
    right = std::max(right, last);
    top = std::min(top, y);
    bottom = y;
  }
  if (right < left) {
    image = {};
    return;
  }
  Image cut{right - left + 1, bottom - top + 1, {}};
  for (int y = top; y <= bottom; ++y) {
    const auto row = image.rgba.begin() + (static_cast<std::ptrdiff_t>(y) * image.width + left) * 4;
    cut.rgba.insert(cut.rgba.end(), row, row + std::ptrdiff_t{cut.width} * 4);
  }
  made.area.low = made.area.low + Point{static_cast<float>(left), static_cast<float>(top)};
  made.area.high = made.area.low + Point{static_cast<float>(cut.width), static_cast<float>(cut.height)};
  image = std::move(cut);
}

void add_dots(const SpatialPicture& picture, std::vector<Stroke>& strokes) {
  const SpatialLayout& layout = *picture.layout;
  for (std::size_t r = 0; r < layout.regions.size(); ++r) {
    if (!(*picture.open)[r]) continue;
    const PlacedRegion& region = layout.regions[r];
    for (std::size_t k = 0; k < region.ranks.size(); ++k) {
      const Point at = picture.placement.to_screen(region.at + region.ranks[k].offset) - picture.area.low;
      const Rgba colour = picture.colours->ranks[r][k];
      strokes.push_back({{at, {at.x + 0.01f, at.y}}, 2 * picture.dot_radius, colour, colour});
    }
  }
}

}  // namespace

Rgba open_fill(Rgba region, Rgba background) { return mix(background, region, 0.2f); }

float link_width(std::uint64_t messages, std::uint64_t most, float scale) {
  const double share =
      std::log1p(static_cast<double>(messages)) / std::log1p(static_cast<double>(std::max<std::uint64_t>(most, 1)));
  return scale * static_cast<float>(0.8 + 4.2 * std::pow(std::clamp(share, 0.0, 1.0), 4));
}

SpatialImage draw_spatial(const SpatialPicture& picture) {
  const auto side = [](float pixels) {
    return std::isfinite(pixels) ? static_cast<int>(std::clamp(pixels, 0.f, 8192.f)) : 0;
  };
  SpatialImage made{{}, picture.placement, picture.area};
  if (!picture.layout || !picture.colours || !picture.open) return made;
  std::vector<Stroke> strokes;
  add_links(picture, strokes);
  add_open_discs(picture, strokes);
  add_pairs(picture, strokes);
  if (picture.dots) add_dots(picture, strokes);
  made.image = draw_strokes(side(picture.area.width()), side(picture.area.height()), strokes);
  made.area.high = made.area.low + Point{static_cast<float>(made.image.width), static_cast<float>(made.image.height)};
  cut_empty(made);
  return made;
}

}  // namespace pclscope::layout
