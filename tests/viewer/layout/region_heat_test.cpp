// The map of regions over time, pixel by pixel against sums over all windows of all regions.
#include "viewer/layout/region_heat.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace pclscope;
using namespace pclscope::layout;
using session::History;

namespace {

std::shared_ptr<const History> heat_history(const std::vector<Window>& windows) {
  auto history = std::make_shared<History>();
  history->add(windows);
  return history;
}

RegionWindow messages_of(std::int32_t region, std::uint64_t count, double ratio) {
  RegionWindow made;
  made.region = region;
  made.messages = count;
  made.mean_ratio = ratio;
  return made;
}

// The mean L of a region's messages between two moments, as the header of region_heat has it; 0: no messages.
double mean_between(const History& history, std::int32_t region, double begin_s, double end_s) {
  const auto found = history.regions().find(region);
  if (found == history.regions().end()) return 0;
  double messages = 0, weighted = 0;
  for (const auto& p : found->second.points) {
    const double low = std::max(begin_s, p.begin_s), high = std::min(end_s, p.end_s());
    if (!(high > low)) continue;
    const double part = p.messages * (high - low) / static_cast<double>(p.length_s);
    messages += part;
    weighted += part * static_cast<double>(p.ratio);
  }
  return messages > 0 ? weighted / messages : 0;
}

Rgba pixel_of_map(const Image& image, int x, int y) {
  const std::size_t at =
      4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x));
  return {image.rgba[at], image.rgba[at + 1], image.rgba[at + 2], image.rgba[at + 3]};
}

bool alike(Rgba a, Rgba b) {  // to a rounding
  const auto near = [](int x, int y) { return std::abs(x - y) <= 1; };
  return near(a.red, b.red) && near(a.green, b.green) && near(a.blue, b.blue) && near(a.alpha, b.alpha);
}

}  // namespace

TEST_CASE("two regions, two windows, four pixels: by hand") {
  // Region 7: 1x, then 8x. Region 3: silent, then 2x with half of the window's time in each of two pixels.
  const auto history =
      heat_history({{0, 1, {messages_of(7, 10, 1)}, {}}, {1, 1, {messages_of(7, 10, 8), messages_of(3, 4, 2)}, {}}});
  const Palette& colours = palette(Theme::dark);
  const RegionHeat heat = region_heat({history, {7, 3}, TimeAxis(0, 2), 0, 1, 4, 2}, colours);
  REQUIRE(heat.image.rgba.size() == 4u * 4 * 2);
  for (const int x : {0, 1}) {
    CHECK(pixel_of_map(heat.image, x, 0) == colours.latency(1));
    CHECK(pixel_of_map(heat.image, x, 1).alpha == 0);
  }
  for (const int x : {2, 3}) {
    CHECK(pixel_of_map(heat.image, x, 0) == colours.latency(8));
    CHECK(pixel_of_map(heat.image, x, 1) == colours.latency(2));
  }
  CHECK(heat.coloured == 6);
  CHECK(heat.worst_x == 2);
  CHECK(heat.worst_y == 0);
  const HeatCell cell = heat_cell(heat.sheet, 3, 1);
  CHECK(cell.index == 1);
  CHECK(cell.ratio == 2);
  CHECK(cell.messages == Approx(2));
  CHECK(cell.begin_s == 1);
  CHECK(cell.end_s == 2);
  // A pixel over both windows: 10 messages of 1x and 10 of 8x. One row for both regions: the larger one.
  const RegionHeat one = region_heat({history, {7, 3}, TimeAxis(0, 2), 0, 1, 1, 1}, colours);
  CHECK(pixel_of_map(one.image, 0, 0) == colours.latency(4.5));
  const RegionHeat other = region_heat({history, {3}, TimeAxis(0, 2), 0, 1, 1, 1}, colours);
  CHECK(pixel_of_map(other.image, 0, 0) == colours.latency(2));
}

TEST_CASE("every pixel row has its regions, every region its rows, and these agree") {
  for (const std::size_t regions : {1u, 2u, 7u, 100u, 101u, 399u, 400u, 401u, 1024u, 5000u}) {
    for (const int height : {1, 2, 3, 99, 100, 400, 1001}) {
      HeatSheet sheet;
      sheet.order.resize(regions);
      sheet.height = height;
      std::vector<int> shown(regions);
      for (int y = 0; y < height; ++y) {
        const HeatPart part = regions_of_row(sheet, y);
        REQUIRE(part.first < part.end);
        REQUIRE(part.end <= regions);
        for (std::size_t index = part.first; index < part.end; ++index) {
          const HeatPart rows = rows_of_region(sheet, index);
          REQUIRE(rows.first <= static_cast<std::size_t>(y));
          REQUIRE(static_cast<std::size_t>(y) < rows.end);
          ++shown[index];
        }
      }
      for (std::size_t index = 0; index < regions; ++index) {
        const HeatPart rows = rows_of_region(sheet, index);
        REQUIRE(static_cast<std::size_t>(shown[index]) == rows.end - rows.first);
      }
    }
  }
}

TEST_CASE("pixels of random runs are the largest mean of their regions, whatever the axis") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return static_cast<std::int32_t>(random() % n); };
    const std::int32_t regions = 1 + below(40);
    std::vector<Window> windows;
    double at = 0;
    for (int w = 1 + below(60); w > 0; --w) {
      const double length = 0.1 * (1 + below(3));
      windows.push_back({at, length, {}, {}});
      at += length + (below(5) == 0 ? 0.35 : 0);
      for (std::int32_t id = 0; id < regions; ++id) {
        if (below(3) > 0)
          windows.back().regions.push_back(
              messages_of(id, static_cast<std::uint64_t>(1 + below(50)), 0.1 + static_cast<double>(below(1000)) / 100));
      }
    }
    HeatSheet sheet;
    sheet.history = heat_history(windows);
    for (std::int32_t id = regions; id-- > 0;) sheet.order.push_back(id);
    sheet.order.push_back(1000);  // one that has no history
    const std::vector<TimeRange> full{{0.2 * at, 0.3 * at}, {0.6 * at, 0.8 * at}};
    sheet.axis = below(2) == 0 ? TimeAxis(0, at) : TimeAxis::compressed(0, at, full, 0.05);
    if (below(2) == 0) sheet.low = 0.3, sheet.high = 0.3 + 0.01 * (1 + below(60));
    sheet.width = 1 + below(90);
    sheet.height = 1 + below(60);
    const Palette& colours = palette(below(2) == 0 ? Theme::dark : Theme::light);
    const RegionHeat heat = region_heat(sheet, colours);
    REQUIRE(heat.image.width == sheet.width);
    REQUIRE(heat.image.height == sheet.height);
    std::size_t coloured = 0;
    double worst = 0;
    for (int y = 0; y < sheet.height; ++y) {
      for (int x = 0; x < sheet.width; ++x) {
        const auto moment = [&](int pixel) {
          return sheet.axis.second(sheet.low + (sheet.high - sheet.low) * pixel / sheet.width);
        };
        double largest = 0;
        const HeatPart part = regions_of_row(sheet, y);
        for (std::size_t index = part.first; index < part.end; ++index)
          largest = std::max(largest, mean_between(*sheet.history, sheet.order[index], moment(x), moment(x + 1)));
        const HeatCell cell = heat_cell(sheet, x, y);
        if (std::fabs(cell.ratio - largest) > 1e-9 * (1 + largest)) FAIL("cell " << x << ' ' << y);
        if (!alike(pixel_of_map(heat.image, x, y), largest > 0 ? colours.latency(largest) : Rgba{0, 0, 0, 0}))
          FAIL("pixel " << x << ' ' << y << ": " << largest);
        coloured += largest > 0;
        worst = std::max(worst, largest);
      }
    }
    CHECK(heat.coloured == coloured);
    CHECK(heat_cell(sheet, heat.worst_x, heat.worst_y).ratio == Approx(worst));
  }
}

TEST_CASE("nothing to show is an empty map") {
  const auto history = heat_history({{0, 1, {messages_of(0, 10, 1)}, {}}});
  const Palette& colours = palette(Theme::light);
  CHECK(region_heat({nullptr, {0}, TimeAxis(0, 1), 0, 1, 10, 10}, colours).image.rgba.empty());
  CHECK(region_heat({history, {}, TimeAxis(0, 1), 0, 1, 10, 10}, colours).image.rgba.empty());
  CHECK(region_heat({history, {0}, TimeAxis(0, 1), 0, 1, 0, 10}, colours).image.rgba.empty());
  CHECK(region_heat({history, {0}, TimeAxis(0, 1), 0, 1, 10, 9000}, colours).image.rgba.empty());
  CHECK(region_heat({history, {0}, TimeAxis(0, 1), std::nan(""), 1, 10, 10}, colours).image.rgba.empty());
  CHECK(heat_cell({history, {}, TimeAxis(0, 1), 0, 1, 10, 10}, 3, 3).ratio == 0);
}
