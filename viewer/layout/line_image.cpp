#include "viewer/layout/line_image.hpp"

#include <cairo.h>

#include <algorithm>
#include <memory>

namespace pclscope::layout {
namespace {

constexpr int most_pixels = 8192;

struct Destroy {
  void operator()(cairo_surface_t* s) const { cairo_surface_destroy(s); }
  void operator()(cairo_t* c) const { cairo_destroy(c); }
  void operator()(cairo_pattern_t* p) const { cairo_pattern_destroy(p); }
};

bool finite(const Stroke& stroke) {
  return std::all_of(stroke.points.begin(), stroke.points.end(),
                     [](Point p) { return std::isfinite(p.x) && std::isfinite(p.y); });
}

bool outside(const Stroke& stroke, int width, int height) {
  const auto all = [&](auto is) { return std::all_of(stroke.points.begin(), stroke.points.end(), is); };
  const float w = static_cast<float>(width) + stroke.width, h = static_cast<float>(height) + stroke.width;
  return all([&](Point p) { return p.x < -stroke.width; }) || all([&](Point p) { return p.x > w; }) ||
         all([&](Point p) { return p.y < -stroke.width; }) || all([&](Point p) { return p.y > h; });
}

void set_source(cairo_t* cairo, const Stroke& stroke) {
  const auto part = [](std::uint8_t v) { return v / 255.0; };
  const Rgba a = stroke.from, b = stroke.to;
  if (a == b) return cairo_set_source_rgba(cairo, part(a.red), part(a.green), part(a.blue), part(a.alpha));
  const Point first = stroke.points.front(), last = stroke.points.back();
  const std::unique_ptr<cairo_pattern_t, Destroy> blend(cairo_pattern_create_linear(first.x, first.y, last.x, last.y));
  cairo_pattern_add_color_stop_rgba(blend.get(), 0, part(a.red), part(a.green), part(a.blue), part(a.alpha));
  cairo_pattern_add_color_stop_rgba(blend.get(), 1, part(b.red), part(b.green), part(b.blue), part(b.alpha));
  cairo_set_source(cairo, blend.get());
}

// Cairo's pixels are native 32-bit words ARGB, colours multiplied by alpha; ours are not multiplied.
void copy_out(cairo_surface_t* surface, Image& image) {
  cairo_surface_flush(surface);
  const unsigned char* rows = cairo_image_surface_get_data(surface);
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(surface));
  for (int y = 0; y < image.height; ++y) {
    const auto* row = reinterpret_cast<const std::uint32_t*>(rows + stride * static_cast<std::size_t>(y));
    std::uint8_t* out = &image.rgba[static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) * 4];
    for (int x = 0; x < image.width; ++x, out += 4) {
      const std::uint32_t pixel = row[x], alpha = pixel >> 24;
      if (alpha == 0) continue;
      for (int part = 0; part < 3; ++part) {
        out[part] = static_cast<std::uint8_t>(std::min(255u, ((pixel >> (16 - 8 * part)) & 255) * 255 / alpha));
      }
      out[3] = static_cast<std::uint8_t>(alpha);
    }
  }
}

}  // namespace

Image draw_strokes(int width, int height, std::span<const Stroke> strokes) {
  if (width < 1 || height < 1 || width > most_pixels || height > most_pixels) return {};
  const std::unique_ptr<cairo_surface_t, Destroy> surface(
      cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height));
  const std::unique_ptr<cairo_t, Destroy> cairo(cairo_create(surface.get()));
  cairo_set_line_cap(cairo.get(), CAIRO_LINE_CAP_ROUND);
  cairo_set_line_join(cairo.get(), CAIRO_LINE_JOIN_ROUND);
  for (const Stroke& stroke : strokes) {
    if (stroke.points.size() < 2 || !(stroke.width > 0) || !finite(stroke) || outside(stroke, width, height)) continue;
    cairo_move_to(cairo.get(), stroke.points[0].x, stroke.points[0].y);
    for (std::size_t i = 1; i < stroke.points.size(); ++i)
      cairo_line_to(cairo.get(), stroke.points[i].x, stroke.points[i].y);
    cairo_set_line_width(cairo.get(), stroke.width);
    set_source(cairo.get(), stroke);
    cairo_stroke(cairo.get());
  }
  if (cairo_status(cairo.get()) != CAIRO_STATUS_SUCCESS) return {};
  Image image{width, height,
              std::vector<std::uint8_t>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4)};
  copy_out(surface.get(), image);
  return image;
}

std::string save_png(const Image& image, const std::string& path) {
  const std::unique_ptr<cairo_surface_t, Destroy> surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, image.width, image.height));
  if (cairo_surface_status(surface.get()) != CAIRO_STATUS_SUCCESS)
    return cairo_status_to_string(cairo_surface_status(surface.get()));
  unsigned char* rows = cairo_image_surface_get_data(surface.get());
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(surface.get()));
  for (int y = 0; y < image.height; ++y) {
    auto* row = reinterpret_cast<std::uint32_t*>(rows + stride * static_cast<std::size_t>(y));
    const std::uint8_t* in = &image.rgba[static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) * 4];
    for (int x = 0; x < image.width; ++x, in += 4)
      row[x] = static_cast<std::uint32_t>(in[0]) << 16 | static_cast<std::uint32_t>(in[1]) << 8 | in[2];
  }
  cairo_surface_mark_dirty(surface.get());
  const cairo_status_t status = cairo_surface_write_to_png(surface.get(), path.c_str());
  return status == CAIRO_STATUS_SUCCESS ? "" : cairo_status_to_string(status);
}

}  // namespace pclscope::layout
