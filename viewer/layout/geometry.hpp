// Points, rectangles and colours of pictures. Pixels unless a name says otherwise; y grows downwards.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace pclscope::layout {

struct Point {
  float x = 0;
  float y = 0;
  bool operator==(const Point&) const = default;
};
inline Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
inline Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
inline Point operator*(Point a, float f) { return {a.x * f, a.y * f}; }
inline float length(Point a) { return std::hypot(a.x, a.y); }
inline float distance(Point a, Point b) { return length(a - b); }

struct Rect {
  Point low;   // left, top
  Point high;  // right, bottom
  float width() const { return high.x - low.x; }
  float height() const { return high.y - low.y; }
  Point middle() const { return (low + high) * 0.5f; }
  bool holds(Point p) const { return p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y; }
  bool operator==(const Rect&) const = default;
};

struct Rgba {
  std::uint8_t red = 0, green = 0, blue = 0, alpha = 255;
  bool operator==(const Rgba&) const = default;
  Rgba with_alpha(float share) const {
    return {red, green, blue, static_cast<std::uint8_t>(std::lround(std::clamp(share, 0.f, 1.f) * 255))};
  }
};
inline Rgba mix(Rgba a, Rgba b, float share) {
  const auto one = [&](std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>(std::lround(
        static_cast<float>(x) + (static_cast<float>(y) - static_cast<float>(x)) * std::clamp(share, 0.f, 1.f)));
  };
  return {one(a.red, b.red), one(a.green, b.green), one(a.blue, b.blue), one(a.alpha, b.alpha)};
}

}  // namespace pclscope::layout
