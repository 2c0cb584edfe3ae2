#include "viewer/layout/line_image.hpp"

#include <catch2/catch.hpp>
#include <limits>

using namespace pclscope::layout;

namespace {

Rgba at(const Image& image, int x, int y) {
  const std::uint8_t* p =
      &image.rgba[(static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x)) *
                  4];
  return {p[0], p[1], p[2], p[3]};
}

}  // namespace

TEST_CASE("a thick line has its colour inside and nothing beside it") {
  const Rgba red{200, 10, 20, 255};
  const Image image = draw_strokes(40, 20, std::vector<Stroke>{{{{0, 10}, {40, 10}}, 6, red, red}});
  CHECK(at(image, 20, 10) == red);
  CHECK(at(image, 20, 2).alpha == 0);
  CHECK(at(image, 20, 17).alpha == 0);
}

TEST_CASE("half transparent colours keep their hue") {
  const Rgba faint{200, 100, 40, 128};
  const Image image = draw_strokes(40, 20, std::vector<Stroke>{{{{0, 10}, {40, 10}}, 8, faint, faint}});
  const Rgba seen = at(image, 20, 10);
  CHECK(std::abs(seen.red - faint.red) <= 2);
  CHECK(std::abs(seen.green - faint.green) <= 2);
  CHECK(seen.alpha == 128);
}

TEST_CASE("a stroke may change its colour on the way") {
  const Image image =
      draw_strokes(100, 10, std::vector<Stroke>{{{{0, 5}, {100, 5}}, 6, {255, 0, 0, 255}, {0, 0, 255, 255}}});
  CHECK(at(image, 5, 5).red > 200);
  CHECK(at(image, 95, 5).blue > 200);
}

TEST_CASE("nonsense draws nothing") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const Rgba red{255, 0, 0, 255};
  const std::vector<Stroke> strokes{{{}, 1, red, red},
                                    {{{1, 1}}, 1, red, red},
                                    {{{nan, 1}, {5, 5}}, 1, red, red},
                                    {{{1, 1}, {inf, 5}}, 1, red, red},
                                    {{{1, 1}, {5, 5}}, -1, red, red},
                                    {{{1, 1}, {5, 5}}, nan, red, red},
                                    {{{1e9f, 1e9f}, {2e9f, 2e9f}}, 1, red, red}};
  const Image image = draw_strokes(10, 10, strokes);
  CHECK(image.rgba == std::vector<std::uint8_t>(400, 0));
  CHECK(draw_strokes(0, 10, strokes).rgba.empty());
  CHECK(draw_strokes(100000, 10, strokes).rgba.empty());
}
