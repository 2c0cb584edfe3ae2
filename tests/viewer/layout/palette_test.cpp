#include "viewer/layout/palette.hpp"

#include <catch2/catch.hpp>
#include <limits>

using namespace pclscope::layout;

namespace {

// Relative luminance (WCAG 2.1).
double luminance(Rgba c) {
  const auto linear = [](std::uint8_t v) {
    const double s = v / 255.0;
    return s <= 0.03928 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
}
double contrast(Rgba a, Rgba b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

}  // namespace

TEST_CASE("late is red, fast is blue, and what is known of nothing is neither") {
  for (const Theme theme : {Theme::dark, Theme::light}) {
    const Palette& p = palette(theme);
    CHECK(p.latency(8).red > 2 * p.latency(8).blue);
    CHECK(p.latency(0.25).blue > 2 * p.latency(0.25).red);
    CHECK(p.latency(1) == p.latency(0));
    CHECK(p.latency(std::numeric_limits<double>::quiet_NaN()) == p.latency(1));
    CHECK(p.latency(std::numeric_limits<double>::infinity()) == p.latency(1e300));
    CHECK(p.latency(-3) == p.latency(1));
  }
}

TEST_CASE("redness rises with the ratio") {
  const Palette& p = palette(Theme::dark);
  double before = -1;
  for (double ratio = 0.2; ratio < 10; ratio *= 1.1) {
    const Rgba c = p.latency(ratio);
    const double redness = static_cast<double>(c.red - c.blue) / (c.red + c.green + c.blue);
    CHECK(redness >= before - 0.01);  // colours are whole numbers
    before = redness;
  }
}

TEST_CASE("text can be read in both themes") {
  for (const Theme theme : {Theme::dark, Theme::light}) {
    const Palette& p = palette(theme);
    CHECK(contrast(p.text, p.background) > 7);
    CHECK(contrast(p.faint_text, p.panel) > 4.5);
    for (const Rgba status : {p.good, p.warning, p.bad}) CHECK(contrast(status, p.background) > 3);
  }
}
