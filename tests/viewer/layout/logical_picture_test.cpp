// Pixels of the logical timeline mean what they should.
#include "viewer/layout/logical_picture.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/analysis/logical/programs.hpp"
#include "tests/analysis/logical/random_records.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::test;
using layout::LogicalSight;

namespace {

using Run = std::shared_ptr<const session::LogicalRun>;

Run run_of(const logical::LogicalTime& time, std::int32_t ranks) {
  return std::make_shared<const session::LogicalRun>(session::run_of(time, ranks));
}

// Of each pixel the largest value of all boxes that begin in it or cover it, one after the other.
std::vector<float> slowly(const logical::LogicalTime& time, const LogicalSight& s) {
  std::vector<float> largest(static_cast<std::size_t>(s.width * s.height), -1);
  const auto pixels = [](double begin, double size) {
    double end = std::floor(begin + size + 1e-6);
    if (size >= 5) end -= 1;  // the gap
    return std::pair(std::floor(begin + 1e-6), std::max({end, std::floor(begin + 1e-6) + 1, 1.0}));
  };
  for (const logical::Phase& phase : time.phases)
    for (const logical::Part& part : time.parts_of(phase))
      for (std::uint32_t i = part.first; i < part.end; ++i) {
        const logical::Event& e = time.events[i];
        if (e.step + 1 <= s.step0 || e.step >= s.step1 || part.rank + 1 <= s.rank0 || part.rank >= s.rank1) continue;
        const auto [x0, x1] = pixels((e.step - s.step0) * s.step_width(), s.step_width());
        const auto [y0, y1] = pixels((part.rank - s.rank0) * s.rank_height(), s.rank_height());
        for (int y = 0; y < s.height; ++y)
          for (int x = 0; x < s.width; ++x)
            if (x >= x0 && x < x1 && y >= y0 && y < y1) {
              float& pixel = largest[static_cast<std::size_t>(y * s.width + x)];
              pixel = std::max(pixel, static_cast<float>(time.lateness(phase, e)));
            }
      }
  return largest;
}

layout::Rgba pixel(const layout::Image& image, int x, int y) {
  const std::uint8_t* at = &image.rgba[4 * static_cast<std::size_t>(y * image.width + x)];
  return {at[0], at[1], at[2], at[3]};
}

std::size_t painted(const layout::Image& image) {
  std::size_t count = 0;
  for (std::size_t i = 3; i < image.rgba.size(); i += 4) count += image.rgba[i] != 0;
  return count;
}

// Where lateness begins, by its definition.
void check_first(const session::LogicalRun& run, const LogicalSight& sight, const layout::LogicalPixels& pixels) {
  std::uint32_t least = logical::none;
  float largest = 0;
  for (const auto& phase : run.phases)
    for (std::uint32_t b = 0; b < phase->boxes.size(); ++b) {
      const session::LogicalBox& box = phase->boxes[b];
      const std::int32_t rank = phase->rank_of(b);
      if (box.step + 1.0 <= sight.step0 || box.step >= sight.step1 || rank + 1 <= sight.rank0 || rank >= sight.rank1)
        continue;
      if (box.lateness_ns < pixels.most / 2) continue;
      if (box.step < least) least = box.step, largest = box.lateness_ns;
      if (box.step == least) largest = std::max(largest, box.lateness_ns);
    }
  if (!(pixels.most > 0)) {
    CHECK(pixels.first_phase == logical::none);
    return;
  }
  REQUIRE(pixels.first_phase != logical::none);
  const session::LogicalBox& first = run.phases[pixels.first_phase]->boxes[pixels.first_box];
  CHECK(first.step == least);
  CHECK(first.lateness_ns == largest);
}

}  // namespace

TEST_CASE("each pixel shows the largest lateness of the boxes that it stands for") {
  const std::uint64_t seed = random_seed() + 77;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 60; ++round) {
    const RandomRecords records = random_records(random, 250, round % 2 == 0);
    const logical::LogicalTime time = logical_time_of(records.ranks, records.messages, records.collectives);
    const Run run = run_of(time, records.ranks);
    LogicalSight sight{0,
                       static_cast<double>(run->steps),
                       0,
                       static_cast<double>(records.ranks),
                       1 + static_cast<int>(random() % 120),
                       1 + static_cast<int>(random() % 60)};
    if (round % 3 == 0) {  // a part, cut anywhere
      sight.step0 = static_cast<double>(random() % 1000) / 1000 * run->steps / 2;
      sight.step1 = sight.step0 + 1 + static_cast<double>(random() % 1000) / 1000 * run->steps / 2;
      sight.rank0 = static_cast<double>(random() % 1000) / 1000;
      sight.rank1 = sight.rank0 + 1;
    }
    const layout::LogicalPixels pixels = layout::logical_pixels(*run, sight, logical::Metric::lateness);
    REQUIRE(pixels.largest == slowly(time, sight));
    if (pixels.boxes == 0) continue;
    const session::LogicalPhase& phase = *run->phases[pixels.phase];
    CHECK(phase.value(phase.boxes[pixels.box], logical::Metric::lateness) == pixels.most);
    check_first(*run, sight, pixels);
  }
}

TEST_CASE("one late rank of 1,024 is seen in 50 pixel rows, where it is") {
  const Grid grid{{8, 8, 16}};
  constexpr std::int32_t late = 3 + 8 * 3 + 64 * 7;
  const logical::LogicalTime time = logical_time_of(
      exchange(grid, 4, [](std::int32_t r, int i) { return 1'000'000 + (r == late && i == 2 ? 20'000'000 : 0); }));
  const Run run = run_of(time, grid.size());
  REQUIRE(run->steps == 48);
  const LogicalSight sight{0, 48, 0, 1024, 48, 50};
  const auto image =
      layout::draw_logical({run, sight, logical::Metric::lateness, false, &layout::palette(layout::Theme::dark)}, {});
  const layout::Rgba red = layout::palette(layout::Theme::dark).harm(1);
  const int row = static_cast<int>(late * 50.0 / 1024);
  for (int y = 0; y < 50; ++y) CHECK((pixel(image.image, 24, y) == red) == (y == row));  // its first send
  for (int x = 0; x < 24; ++x)
    for (int y = 0; y < 50; ++y) CHECK(pixel(image.image, x, y) != red);
  CHECK(image.pixels.boxes == run->events);
}

TEST_CASE("lateness of a merge tree ends at its root, and the picture shows that") {
  std::vector<std::int64_t> compute(16, 1'000'000);
  compute[6] = 50'000'000;
  const logical::LogicalTime time = logical_time_of(merge_tree(16, 4, true, compute));
  const Run run = run_of(time, 16);
  const LogicalSight sight{0, static_cast<double>(run->steps), 0, 16, static_cast<int>(run->steps) * 10, 160};
  const auto image =
      layout::draw_logical({run, sight, logical::Metric::lateness, false, &layout::palette(layout::Theme::dark)}, {});
  const layout::Palette& p = layout::palette(layout::Theme::dark);
  const auto colour = [&](int rank, int step) { return pixel(image.image, 10 * step + 4, 10 * rank + 4); };
  CHECK(colour(6, 0) == p.harm(1));  // the leaf
  CHECK(run->phases[image.pixels.first_phase]->rank_of(image.pixels.first_box) == 6);
  CHECK(colour(5, 0) == p.harm(0));                                      // its neighbour
  CHECK(colour(4, 2) != p.harm(0));                                      // its parent's receive
  for (const int step : {5, 6, 7}) CHECK(colour(0, step) == p.harm(0));  // the root, which all wait for
  CHECK(pixel(image.image, 10 * 5 + 4, 10 * 6 + 4).alpha == 0);          // who has no event there
  CHECK(pixel(image.image, 9, 10 * 6 + 4).alpha == 0);                   // gaps
  CHECK(pixel(image.image, 4, 10 * 6 + 9).alpha == 0);
}

TEST_CASE("no picture is empty while there are events, at whatever zoom") {
  const std::uint64_t seed = random_seed() + 78;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const logical::LogicalTime time = logical_time_of(merge_tree(512, 8, false));
  const Run run = run_of(time, 512);
  for (const logical::Metric metric : {logical::Metric::lateness, logical::Metric::entry_lateness,
                                       logical::Metric::duration, logical::Metric::wait, logical::Metric::bytes})
    for (int round = 0; round < 100; ++round) {
      const auto any = [&](double most) { return static_cast<double>(random() % 100'000) / 100'000 * most; };
      const double step = any(run->steps), rank = any(512);
      const LogicalSight sight{step,
                               step + 1 + any(40),
                               rank,
                               rank + 1 + any(60),
                               1 + static_cast<int>(random() % 300),
                               1 + static_cast<int>(random() % 200)};
      const auto image = layout::draw_logical({run, sight, metric, true, &layout::palette(layout::Theme::light)}, {});
      if (image.pixels.boxes > 0) CHECK(painted(image.image) > 0);
    }
}

TEST_CASE("lines are drawn while they can be told apart") {
  const logical::LogicalTime few = logical_time_of(merge_tree(16, 4, false));
  const Run tree = run_of(few, 16);
  const auto draw = [](const Run& run, int width, int height) {
    return layout::draw_logical(
        {run,
         {0, static_cast<double>(run->steps), 0, static_cast<double>(run->ranks), width, height},
         logical::Metric::lateness,
         true,
         &layout::palette(layout::Theme::dark)},
        {});
  };
  std::size_t messages = 0;
  for (const logical::Event& e : few.events) messages += e.kind == logical::Kind::send;
  CHECK(draw(tree, 400, 300).lines == messages);
  CHECK(draw(tree, 400, 300).lines_left_out == 0);
  CHECK(draw(tree, 20, 300).lines_left_out == messages);  // a step is less than a pixel
  const Grid grid{{8, 8, 8}};
  const Run many = run_of(logical_time_of(exchange(grid, 2, [](auto, int) { return 1000; })), grid.size());
  const auto dense = draw(many, 800, 200);
  CHECK(dense.lines_left_out > 1000);
  CHECK(dense.lines == 0);
  CHECK(painted(dense.image) > 0);
}

TEST_CASE("bars of the overview are sums of steps, the largest of several") {
  const Grid grid{{4, 4, 4}};
  const logical::LogicalTime time =
      logical_time_of(exchange(grid, 6, [](std::int32_t r, int i) { return 1000 + (r == 9 && i == 3 ? 90'000 : 0); }));
  const Run run = run_of(time, grid.size());
  const std::vector<float> all =
      layout::overview_bars(*run, logical::Metric::lateness, 0, run->steps, static_cast<int>(run->steps));
  REQUIRE(all.size() == run->steps);
  for (std::size_t step = 0; step < all.size(); ++step) CHECK(all[step] == run->sums[step][0]);
  CHECK(std::max_element(all.begin(), all.end()) - all.begin() >= 36);  // not before it is late
  const std::vector<float> few = layout::overview_bars(*run, logical::Metric::lateness, 0, run->steps, 8);
  for (std::size_t bar = 0; bar < 8; ++bar) {
    float most = 0;
    for (std::size_t step = bar * run->steps / 8; step < (bar + 1) * run->steps / 8; ++step)
      most = std::max(most, all[step]);
    CHECK(few[bar] == most);
  }
}

TEST_CASE("nonsense has no picture, and nothing breaks") {
  const Run run = run_of(logical_time_of(merge_tree(16, 4, true)), 16);
  for (const LogicalSight sight : {LogicalSight{0, 0, 0, 16, 10, 10}, LogicalSight{5, 1, 0, 16, 10, 10},
                                   LogicalSight{0, 10, 0, 16, 0, 10}, LogicalSight{0, NAN, 0, 16, 10, 10},
                                   LogicalSight{0, 1e-310, 0, 16, 100, 10}, LogicalSight{0, 1, 0, 1, 100'000, 10}})
    CHECK(layout::draw_logical({run, sight, logical::Metric::lateness, true, &layout::palette(layout::Theme::dark)}, {})
              .image.rgba.empty());
  const auto beyond = layout::draw_logical(
      {run, {1e9, 1e9 + 5, 0, 16, 10, 10}, logical::Metric::lateness, true, &layout::palette(layout::Theme::dark)}, {});
  CHECK(beyond.pixels.boxes == 0);
  CHECK(painted(beyond.image) == 0);
}
