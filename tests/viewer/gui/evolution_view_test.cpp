// The evolution view without a window: what clicks and drags do to the selection.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <iostream>
#include <random>
#include <thread>

#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"

using namespace pclscope;
using gui::Selection;
using test::NullFrame;

namespace {

constexpr layout::Point away{-1000, -1000};

// Frames until the picture is there.
int settle(NullFrame& frame, gui::View& view, const gui::Scene& scene, Selection& selection, float width = 800,
           float height = 500) {
  int vertices = 0;
  const auto draw = [&] { vertices = frame.draw(view, scene, selection, width, height); };
  if (!ImGui::GetIO().MouseDown[0]) test::draw_until_settled(view, draw);
  else
    for (int i = 0; i < 42; ++i) draw();  // a drag never settles
  return vertices;
}

void drag(NullFrame& frame, gui::View& view, const gui::Scene& scene, Selection& selection, layout::Point from,
          layout::Point to, bool right = false) {
  const auto step = [&](layout::Point at, bool down) {
    frame.mouse(at, down && !right, down && right);
    frame.draw(view, scene, selection);
  };
  step(from, false);
  step(from, true);
  step((from + to) * 0.5f, true);
  step(to, true);
  step(to, false);
  frame.mouse(away);
  settle(frame, view, scene, selection);
}

struct Shown {
  explicit Shown(const Snapshot& s = test::fake_snapshot())
      : scene(test::scene_of(s)), view(gui::make_evolution_view()) {
    settle(frame, *view, scene, selection);
  }
  layout::Point at(const std::string& name) const {
    const layout::Point found = test::mark(*view, name);
    REQUIRE(found.x >= 0);
    return found;
  }
  void click(const std::string& name) {
    frame.click(*view, scene, selection, at(name));
    frame.mouse(away);
    settle(frame, *view, scene, selection);
  }
  NullFrame frame;
  gui::Scene scene;
  std::unique_ptr<gui::View> view;
  Selection selection;
};

}  // namespace

TEST_CASE("a click on a region's name selects it, and nothing else") {
  Shown shown;
  shown.click("row 1");
  CHECK(shown.selection.region == 1);
  CHECK_FALSE(shown.selection.period);
}

TEST_CASE("a click on the worst circle of the slow region selects region and period") {
  Shown shown;
  shown.click("circle 2");
  CHECK(shown.selection.region == 2);
  REQUIRE(shown.selection.period);
  const std::vector<Period>& periods = shown.scene.snapshot->regions[2].periods;
  CHECK(std::any_of(periods.begin(), periods.end(), [&](const Period& p) {
    return p.kind != PeriodKind::other && p.begin_s == shown.selection.period->begin_s &&
           p.end_s == shown.selection.period->end_s;
  }));
}

TEST_CASE("a click on a period of the curve selects it") {
  Shown shown;
  shown.click("worst period");
  CHECK(shown.selection.region == 2);
  REQUIRE(shown.selection.period);
  const Period& steady = shown.scene.snapshot->regions[2].periods[2];
  CHECK(*shown.selection.period == gui::SelectedPeriod{steady.begin_s, steady.end_s});
}

TEST_CASE("while a job runs on, the other end of a dragged period stays at its time") {
  Shown shown;
  shown.click("linear");
  shown.selection.period = gui::SelectedPeriod{5, 10};
  settle(shown.frame, *shown.view, shown.scene, shown.selection);
  const layout::Point left = shown.at("slider left");
  shown.frame.mouse(left);
  shown.frame.draw(*shown.view, shown.scene, shown.selection);
  shown.frame.mouse(left, true);
  shown.frame.draw(*shown.view, shown.scene, shown.selection);
  for (int more = 1; more <= 5; ++more) {
    test::FakeRun run;
    run.windows = 200 + 10 * more;
    shown.scene = test::scene_of(test::fake_snapshot(run));
    shown.frame.mouse(left - layout::Point{10.f * static_cast<float>(more), 0}, true);
    settle(shown.frame, *shown.view, shown.scene, shown.selection, 800, 500);
    REQUIRE(shown.selection.period);
    CHECK(shown.selection.period->end_s == 10);
    CHECK(shown.selection.period->begin_s < 5.5);
  }
}

TEST_CASE("dragging a handle of the slider sets the period exactly") {
  Shown shown;
  shown.click("linear");
  const layout::Point left = shown.at("slider left"), right = shown.at("slider right");
  const double seconds_per_pixel = 20.0 / static_cast<double>(right.x - left.x);
  drag(shown.frame, *shown.view, shown.scene, shown.selection, left, left + layout::Point{150, 0});
  REQUIRE(shown.selection.period);
  CHECK(shown.selection.period->begin_s == Approx(150 * seconds_per_pixel).margin(1e-4));
  CHECK(shown.selection.period->end_s == Approx(20));
  CHECK(shown.at("slider left").x == Approx(left.x + 150).margin(0.01));
  // Caught beside its middle the handle does not jump.
  drag(shown.frame, *shown.view, shown.scene, shown.selection, right + layout::Point{-3, 0},
       right + layout::Point{-103, 0});
  CHECK(shown.selection.period->begin_s == Approx(150 * seconds_per_pixel).margin(1e-4));
  CHECK(shown.selection.period->end_s == Approx(20 - 100 * seconds_per_pixel).margin(1e-4));
  const gui::SelectedPeriod before = *shown.selection.period;
  drag(shown.frame, *shown.view, shown.scene, shown.selection, shown.at("slider middle"),
       shown.at("slider middle") + layout::Point{40, 5});
  CHECK(shown.selection.period->begin_s == Approx(before.begin_s + 40 * seconds_per_pixel).margin(1e-4));
  CHECK(shown.selection.period->end_s == Approx(before.end_s + 40 * seconds_per_pixel).margin(1e-4));
  drag(shown.frame, *shown.view, shown.scene, shown.selection, shown.at("slider middle"),
       shown.at("slider middle") + layout::Point{5000, 0});
  CHECK(shown.selection.period->end_s == Approx(20));  // stops at the end, as long as it was
  CHECK(shown.selection.period->end_s - shown.selection.period->begin_s ==
        Approx(before.end_s - before.begin_s).margin(1e-4));
}

TEST_CASE("a handle does not pass the other one") {
  Shown shown;
  drag(shown.frame, *shown.view, shown.scene, shown.selection, shown.at("slider right"),
       shown.at("slider left") + layout::Point{-50, 0});
  REQUIRE(shown.selection.period);
  CHECK(shown.selection.period->begin_s < shown.selection.period->end_s);
}

TEST_CASE("dragging over an empty part of the slider makes a period, a click does not, a double click clears it") {
  Shown shown;
  shown.click("linear");
  const layout::Point left = shown.at("slider left"), right = shown.at("slider right"),
                      third{std::floor(left.x + (right.x - left.x) / 3), left.y},
                      half{std::floor((left.x + right.x) / 2), left.y};
  const double scale = 20.0 / static_cast<double>(right.x - left.x);  // mice move by whole pixels
  shown.frame.click(*shown.view, shown.scene, shown.selection, third);
  CHECK_FALSE(shown.selection.period);
  drag(shown.frame, *shown.view, shown.scene, shown.selection, half, third);
  REQUIRE(shown.selection.period);
  CHECK(shown.selection.period->begin_s == Approx(static_cast<double>(third.x - left.x) * scale).margin(1e-4));
  CHECK(shown.selection.period->end_s == Approx(static_cast<double>(half.x - left.x) * scale).margin(1e-4));
  for (int i = 0; i < 40; ++i)
    shown.frame.draw(*shown.view, shown.scene, shown.selection);  // long after the last click
  for (int i = 0; i < 2; ++i) shown.frame.click(*shown.view, shown.scene, shown.selection, third);
  CHECK_FALSE(shown.selection.period);
}

TEST_CASE("who looks back is offered a way to follow again") {
  Shown shown;
  CHECK(test::mark(*shown.view, "follow").x < 0);
  const layout::Point worst = shown.at("circle 0");
  shown.frame.mouse({250, worst.y});
  ImGui::GetIO().MouseWheel = 5;
  shown.frame.draw(*shown.view, shown.scene, shown.selection);
  shown.frame.mouse(away);
  settle(shown.frame, *shown.view, shown.scene, shown.selection);
  shown.click("follow");
  CHECK(test::mark(*shown.view, "follow").x < 0);
  CHECK(test::mark(*shown.view, "all").x > 0);
  // Back to the past with the right button.
  const layout::Point middle{450, worst.y};
  drag(shown.frame, *shown.view, shown.scene, shown.selection, middle, middle + layout::Point{200, 0}, true);
  CHECK(test::mark(*shown.view, "follow").x > 0);
  shown.click("all");
  CHECK(test::mark(*shown.view, "follow").x < 0);
  CHECK(shown.selection == Selection{});
}

TEST_CASE("the selection of another view is shown: its row comes into sight") {
  test::FakeRun run;
  run.regions = 200;
  run.ranks = 2000;
  Shown shown(test::fake_snapshot(run));
  shown.click("rows");
  std::int32_t hidden = -1;
  for (std::int32_t id = 0; id < 200 && hidden < 0; ++id) {
    if (test::mark(*shown.view, "row " + std::to_string(id)).x < 0) hidden = id;
  }
  REQUIRE(hidden >= 0);
  shown.selection.region = hidden;
  settle(shown.frame, *shown.view, shown.scene, shown.selection);
  settle(shown.frame, *shown.view, shown.scene, shown.selection);
  CHECK(test::mark(*shown.view, "row " + std::to_string(hidden)).x > 0);
}

TEST_CASE("more regions than rows are a map: all of them, hovered and clicked as rows are") {
  test::FakeRun run;
  run.regions = 200;
  run.ranks = 2000;
  run.slow = 170;
  Shown shown(test::fake_snapshot(run));
  const auto drawn = [&] {
    for (const gui::Mark& m : shown.view->marks())
      if (m.name.starts_with("heat ")) return std::stoi(m.name.substr(5));
    return 0;
  };
  // Every region has messages in every window: no pixel is clear.
  const layout::Point worst = shown.at("worst cell");
  CHECK(drawn() > 200 * 100);
  CHECK(test::mark(*shown.view, "circle 170").x < 0);
  shown.click("worst cell");
  CHECK(shown.selection.region == 170);
  REQUIRE(shown.selection.period);
  const std::vector<Period>& periods = shown.scene.snapshot->regions[170].periods;
  CHECK(std::any_of(periods.begin(), periods.end(), [&](const Period& p) {
    return p.kind != PeriodKind::other && p.begin_s == shown.selection.period->begin_s &&
           p.end_s == shown.selection.period->end_s;
  }));
  // The worst is on top, a click on a name selects that region alone.
  CHECK(shown.at("row 170").y <= worst.y + 1);
  shown.selection = {};
  settle(shown.frame, *shown.view, shown.scene, shown.selection);
  shown.click("row 170");
  CHECK(shown.selection.region == 170);
  CHECK_FALSE(shown.selection.period);
  // Where a region is calm, its windows at that pixel.
  shown.selection = {};
  shown.frame.click(*shown.view, shown.scene, shown.selection, {worst.x, worst.y + 60});
  REQUIRE(shown.selection.region);
  CHECK(shown.selection.region != 170);
  REQUIRE(shown.selection.period);
  const double length = shown.selection.period->end_s - shown.selection.period->begin_s;
  CHECK(std::fmod(length + 0.05, 0.1) == Approx(0.05).margin(1e-6));  // whole windows of 100 ms
  CHECK(length > 0.05);
}

TEST_CASE("the map gives way to rows by a button, or when all fit") {
  test::FakeRun run;
  run.regions = 24;
  run.ranks = 240;
  Shown shown(test::fake_snapshot(run));
  CHECK(test::mark(*shown.view, "worst cell").x > 0);
  CHECK(test::mark(*shown.view, "circle 2").x < 0);
  shown.click("rows");
  CHECK(test::mark(*shown.view, "worst cell").x < 0);
  CHECK(test::mark(*shown.view, "circle 2").x > 0);
  shown.click("map");
  CHECK(test::mark(*shown.view, "worst cell").x > 0);
  settle(shown.frame, *shown.view, shown.scene, shown.selection, 800, 1000);
  CHECK(test::mark(*shown.view, "worst cell").x < 0);
  CHECK(test::mark(*shown.view, "rows").x < 0);
  CHECK(test::mark(*shown.view, "circle 2").x > 0);
  // Zoomed in, the map is made of what is in sight.
  settle(shown.frame, *shown.view, shown.scene, shown.selection);
  const layout::Point before = shown.at("worst cell");
  shown.frame.mouse(before);
  ImGui::GetIO().MouseWheel = 8;
  shown.frame.draw(*shown.view, shown.scene, shown.selection);
  shown.frame.mouse(away);
  settle(shown.frame, *shown.view, shown.scene, shown.selection);
  CHECK(shown.at("worst cell").x > 0);
}

TEST_CASE("large runs stay within a few ten thousand vertices and a few milliseconds") {
  for (const std::int32_t regions : {4, 64, 1024}) {
    test::FakeRun run;
    run.ranks = 16'384;
    run.regions = regions;
    run.windows = 600;
    const gui::Scene scene = test::scene_of(test::fake_snapshot(run));
    NullFrame frame;
    const auto view = gui::make_evolution_view();
    Selection selection;
    const int vertices = settle(frame, *view, scene, selection, 1600, 1000);
    CHECK(vertices < 60'000);
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    for (int i = 0; i < 20; ++i) frame.draw(*view, scene, selection, 1600, 1000);
    std::cout << "evolution view, " << regions << " regions, 1600x1000: " << vertices << " vertices, "
              << std::chrono::duration<double>(Clock::now() - begin).count() * 1e3 / 20
              << " ms per frame without a renderer\n";
  }
}

TEST_CASE("empty, tiny and broken: no crash") {
  NullFrame frame;
  const auto view = gui::make_evolution_view();
  Selection selection;
  gui::Scene nothing;
  nothing.palette = &layout::palette(layout::Theme::light);
  CHECK(settle(frame, *view, nothing, selection) > 0);  // says that it waits
  settle(frame, *view, test::scene_of(Snapshot{}), selection);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto number = [&]() -> double {
      const double odd[] = {std::nan(""), INFINITY, -INFINITY, 1e300, -1e300, 0, -1, 1e-300, 0.1, 1, 5};
      return odd[random() % 11];
    };
    test::FakeRun run;
    run.regions = static_cast<std::int32_t>(random() % 6);
    run.windows = static_cast<std::int32_t>(random() % 60);
    Snapshot s = test::fake_snapshot(run);
    for (Region& r : s.regions) {
      if (random() % 3 == 0) r.id = static_cast<std::int32_t>(random() % 3) - 1;
      r.mean_latency_ratio = number();
      for (float& ratio : r.history_ratio)
        if (random() % 3 == 0) ratio = static_cast<float>(number());
      for (Period& p : r.periods) {
        if (random() % 2 == 0) (random() % 2 == 0 ? p.begin_s : p.end_s) = number();
        p.mean_ratio = number();
        p.end_ratio = number();
      }
    }
    if (random() % 2 == 0) s.time_origin_realtime_ns = static_cast<std::int64_t>(random());
    gui::Scene scene = test::scene_of(s);
    scene.now_s = number();
    scene.paused = random() % 2 == 0;
    if (random() % 2 == 0) selection.period = gui::SelectedPeriod{number(), number()};
    if (random() % 2 == 0) selection.region = static_cast<std::int32_t>(random() % 8) - 2;
    const float sizes[] = {1, 2, 9, 50, 300, 800};
    const float width = sizes[random() % 6], height = sizes[random() % 6];
    for (int i = 0; i < 12; ++i) {
      frame.mouse({static_cast<float>(random() % 800), static_cast<float>(random() % 500)}, random() % 2 == 0,
                  random() % 4 == 0);
      if (random() % 3 == 0) ImGui::GetIO().MouseWheel = static_cast<float>(random() % 9) - 4;
      CHECK(frame.draw(*view, scene, selection, width, height) < 60'000);
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    for (const gui::Mark& mark : view->marks()) CHECK((std::isfinite(mark.at.x) && std::isfinite(mark.at.y)));
  }
}
