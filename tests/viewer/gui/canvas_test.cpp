#include "viewer/gui/base/canvas.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/viewer/gui/null_frame.hpp"

using namespace pclscope;

TEST_CASE("ticks are round, ascending, inside, and about as many as asked for") {
  for (const double low : {-3.0, 0.0, 17.3, 1e6}) {
    for (const double width : {1e-6, 0.3, 7.0, 1e5}) {
      const auto found = gui::ticks(low, low + width, 6);
      REQUIRE(found.size() >= 2);
      REQUIRE(found.size() <= 8);
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i] >= low - 1e-9 * std::abs(low));
        CHECK(found[i] <= low + width);
        if (i > 0) CHECK(found[i] > found[i - 1]);
      }
    }
  }
}

TEST_CASE("no ticks for nonsense") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const auto& [low, high] :
       std::vector<std::pair<double, double>>{{1, 1}, {2, 1}, {nan, 1}, {0, nan}, {0, inf}, {-inf, inf}})
    CHECK(gui::ticks(low, high, 5).empty());
  CHECK(gui::ticks(0, 1, 0).empty());
}

TEST_CASE("a camera that fits shows all, and takes points there and back") {
  gui::Camera camera;
  const layout::Rect world{{-5, 2}, {15, 42}}, area{{100, 50}, {400, 250}};
  camera.fit(world, area, 10);
  for (const layout::Point p : {world.low, world.high, world.middle()}) {
    CHECK(area.holds(camera.to_screen(p)));
    CHECK(layout::distance(camera.to_world(camera.to_screen(p)), p) < 1e-3f);
  }
}

TEST_CASE("the wheel zooms towards the mouse") {
  test::NullFrame frame;
  gui::Camera camera;
  const layout::Rect area{{0, 0}, {400, 300}};
  camera.fit({{0, 0}, {100, 100}}, area, 0);
  ImGui::GetIO().MousePos = {120, 80};
  const layout::Point under = camera.to_world({120, 80});
  const float zoom = camera.zoom();
  ImGui::GetIO().MouseWheel = 2;
  ImGui::GetIO().DisplaySize = {400, 300};
  ImGui::NewFrame();
  ImGui::GetIO().MouseWheel = 2;
  camera.react(area, true);
  ImGui::EndFrame();
  CHECK(camera.zoom() > zoom * 1.2f);
  CHECK(layout::distance(camera.to_screen(under), {120, 80}) < 0.1f);
}

TEST_CASE("a glide lasts as long in few frames as in many, and slows down at its end") {
  for (const int frames : {3, 30, 300}) {
    gui::Glide glide;
    CHECK(glide.left() == 0);
    glide.start();
    CHECK(glide.left() == 1);
    float before = 1;
    for (int i = 0; i + 1 < frames; ++i) {
      glide.advance(0.3f / static_cast<float>(frames));
      CHECK(glide.left() < before);
      before = glide.left();
    }
    CHECK(glide.active());
    glide.advance(0.31f / static_cast<float>(frames));
    CHECK_FALSE(glide.active());
    CHECK(glide.left() == 0);
  }
}

TEST_CASE("a camera glides to what it is to show, unless the user takes it") {
  test::NullFrame frame;
  const layout::Rect area{{0, 0}, {400, 300}};
  const auto step = [&](gui::Camera& camera, float wheel) {
    ImGui::GetIO().DisplaySize = {400, 300};
    ImGui::GetIO().MousePos = {200, 150};
    ImGui::NewFrame();
    ImGui::GetIO().MouseWheel = wheel;
    camera.advance(1 / 60.f);
    camera.react(area, true);
    ImGui::EndFrame();
  };
  gui::Camera camera;
  camera.fit({{0, 0}, {100, 100}}, area, 0);
  const float zoom = camera.zoom();
  camera.glide();
  camera.fit({{0, 0}, {50, 50}}, area, 0);
  CHECK(camera.zoom() == Approx(zoom));
  CHECK(camera.final_zoom() == Approx(2 * zoom));
  step(camera, 0);
  CHECK(camera.zoom() > zoom);
  CHECK(camera.zoom() < 1.5f * zoom);
  gui::Camera taken = camera;
  step(taken, 1);
  CHECK_FALSE(taken.gliding());
  CHECK(taken.zoom() < 2 * zoom);
  for (int i = 0; i < 30; ++i) step(camera, 0);
  CHECK(camera.zoom() == Approx(2 * zoom));
}
