#include "viewer/layout/spatial_values.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/viewer/fake_run.hpp"
#include "viewer/layout/spatial_image.hpp"

using namespace pclscope;
using namespace pclscope::layout;

namespace {

std::shared_ptr<Snapshot> fake() {
  test::FakeRun run;
  run.windows = 20;  // 2 s; region 2 is at 4 from 1 s on
  return std::make_shared<Snapshot>(test::fake_snapshot(run));
}

}  // namespace

TEST_CASE("values of the whole run are the regions' own; of a period those of its windows") {
  const auto snapshot = fake();
  const SpatialLayout placed = spatial_layout(snapshot);
  session::History history;
  history.add(*snapshot);
  const auto whole = region_values(placed, &history, {});
  REQUIRE(whole.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(whole[i].ratio == snapshot->regions[i].mean_latency_ratio);
  const auto calm = region_values(placed, &history, TimeRange{0.01, 0.89}),
             late = region_values(placed, &history, TimeRange{1.11, 1.89});
  CHECK(calm[2].ratio == Approx(1).margin(0.2));
  CHECK(late[2].ratio == Approx(4).margin(0.5));
  CHECK(late[1].ratio == Approx(1).margin(0.2));
  CHECK(late[2].messages > 0);
  for (const RegionValue& value : region_values(placed, &history, TimeRange{50, 60}))
    CHECK((value.ratio == 0 && value.messages == 0));
  for (const RegionValue& value : region_values(placed, nullptr, TimeRange{0, 1})) CHECK(value.ratio == 0);
}

TEST_CASE("the worst region has the highest ratio, few messages count only when there is nothing else") {
  CHECK_FALSE(worst_region({}));
  CHECK_FALSE(worst_region({{3, 0}, {std::nan(""), 100}}));
  CHECK(worst_region({{2, 100}, {50, 3}, {4, 10}}) == 2u);
  CHECK(worst_region({{2, 1}, {50, 3}}) == 1u);
}

TEST_CASE("the scale ends at 8, or above the worst") {
  CHECK(latency_top({}) == 8);
  CHECK(latency_top({{7.9, 100}}) == 8);
  CHECK(latency_top({{8.1, 100}}) == 10);
  CHECK(latency_top({{19.6, 100}}) == 20);
  CHECK(latency_top({{430, 100}}) == 500);
  CHECK(latency_top({{701, 100}}) == 1000);
  const double inf = latency_top({{std::numeric_limits<double>::infinity(), 100}});
  CHECK((std::isfinite(inf) && inf > 8));
}

TEST_CASE("a region in a line") {
  const SpatialLayout placed = spatial_layout(fake());
  CHECK(region_line(placed.regions[2], {4.1, 100}, 24) == "region 2 (ranks 8-11): 4.1x");
  CHECK(region_line(placed.regions[2], {}, 24) == "region 2 (ranks 8-11): no messages inside");
}

TEST_CASE(
    "colours: by latency the late region is red, by region its own; ranks have their own latency, in a period their "
    "region's") {
  const auto snapshot = fake();
  snapshot->ranks[1].mean_latency_ratio = 8;
  snapshot->ranks[2].receives = 0;
  snapshot->ranks[3].rank = INT32_MAX;
  const SpatialLayout placed = spatial_layout(snapshot);
  const auto values = region_values(placed, nullptr, {});
  const Palette& dark = palette(Theme::dark);
  const auto latency = spatial_colours(placed, values, false, SpatialColouring::latency, dark);
  CHECK(latency.regions[2] == dark.latency(values[2].ratio));
  CHECK(latency.ranks[0][1] == dark.latency(8));
  CHECK(latency.ranks[0][2] == dark.latency(0));
  CHECK(latency.ranks[0][3] == dark.latency(0));
  CHECK(latency.links.size() == placed.links.size());
  const auto period = spatial_colours(placed, values, true, SpatialColouring::latency, dark);
  for (const Rgba colour : period.ranks[2]) CHECK(colour == period.regions[2]);
  const auto regions = spatial_colours(placed, values, false, SpatialColouring::regions, dark);
  for (std::size_t i = 0; i < 4; ++i) CHECK(regions.regions[i] == dark.region(static_cast<std::int32_t>(i)));
}

TEST_CASE("colours by harm: who delays others is red, once a cause is found; who does little is grey") {
  const auto snapshot = fake();
  CHECK(colouring_of(*snapshot) == SpatialColouring::latency);  // a finding, but no delays
  for (RankSummary& r : snapshot->ranks) r.delay_caused_s = 0.001 * snapshot->duration_s;
  snapshot->ranks[9].delay_caused_s = 2 * snapshot->duration_s;
  CHECK(colouring_of(*snapshot) == SpatialColouring::harm);
  const SpatialLayout placed = spatial_layout(snapshot);
  CHECK(region_harms(placed)[2] == Approx(2.003));
  const Palette& dark = palette(Theme::dark);
  for (const bool of_period : {false, true}) {
    const auto harm =
        spatial_colours(placed, region_values(placed, nullptr, {}), of_period, SpatialColouring::harm, dark);
    CHECK(harm.harm_top == Approx(2.003));
    CHECK(harm.regions[2] == dark.harm(1));
    CHECK(harm.ranks[2][1] == dark.harm(1));
    CHECK(harm.ranks[2][0] == dark.harm(0.0005));
    CHECK(harm.regions[0] == dark.harm(0.004 / 2.003));
    for (const Rgba colour : harm.links) CHECK(colour == dark.edge);
  }
  snapshot->attribution.findings.clear();
  CHECK(colouring_of(*snapshot) == SpatialColouring::latency);
}

TEST_CASE("a healthy job is not red all over, even where a weak cause was found") {
  const auto snapshot = fake();
  for (RankSummary& r : snapshot->ranks) r.delay_caused_s = (0.1 + 0.001 * r.rank) * snapshot->duration_s;
  const SpatialLayout placed = spatial_layout(snapshot);
  const Palette& dark = palette(Theme::dark);
  const auto harm = spatial_colours(placed, region_values(placed, nullptr, {}), false, SpatialColouring::harm, dark);
  for (const auto& ranks : harm.ranks)
    for (const Rgba colour : ranks) CHECK(colour.green > 0.75 * dark.harm(0).green);
  CHECK_FALSE(latencies_alike({{1, 10}}));
  CHECK(latencies_alike({{1, 10}, {1.04, 10}, {0, 0}}));
  CHECK_FALSE(latencies_alike({{1, 10}, {1.06, 10}}));
}

TEST_CASE("a placement goes there and back") {
  const Placement place{3.5f, 0.7f, {120, -40}};
  for (const Point p : {Point{0, 0}, Point{5, -9}, Point{-300, 2}})
    CHECK(distance(place.to_world(place.to_screen(p)), p) < 1e-3f);
}

TEST_CASE("the image shows links where they lie, and is cut to what is not empty") {
  SpatialPicture picture;
  const auto placed = std::make_shared<const SpatialLayout>(spatial_layout(fake()));
  picture.layout = placed;
  picture.colours = std::make_shared<const SpatialColours>(spatial_colours(
      *placed, region_values(*placed, nullptr, {}), false, SpatialColouring::latency, palette(Theme::dark)));
  picture.open = std::make_shared<const std::vector<bool>>(4, false);
  picture.placement = {4, 0.3f, {400, 300}};
  picture.area = {{10, 20}, {810, 620}};
  const SpatialImage made = draw_spatial(picture);
  REQUIRE(made.image.width > 0);
  CHECK(made.image.width < 790);
  const auto alpha_at = [&](Point screen) {
    const Point p = screen - made.area.low;
    const auto x = static_cast<int>(p.x), y = static_cast<int>(p.y);
    if (x < 0 || y < 0 || x >= made.image.width || y >= made.image.height) return 0;
    const auto pixel =
        static_cast<std::size_t>(y) * static_cast<std::size_t>(made.image.width) + static_cast<std::size_t>(x);
    return static_cast<int>(made.image.rgba[pixel * 4 + 3]);
  };
  for (const PlacedLink& link : placed->links) {
    const Point p = link.line[link.line.size() / 2], q = link.line[(link.line.size() - 1) / 2];
    CHECK(alpha_at(picture.placement.to_screen((p + q) * 0.5f)) > 100);
  }
  CHECK(alpha_at({405, 25}) == 0);
  picture.area = {{0, 0}, {0, 0}};
  CHECK(draw_spatial(picture).image.width == 0);
  CHECK(draw_spatial({}).image.width == 0);
}
