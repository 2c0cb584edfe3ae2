// Stacked activity and the call view, without a window.
#include <catch2/catch.hpp>
#include <chrono>
#include <limits>
#include <random>
#include <thread>

#include "interpose/record/functions.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"
#include "tests/viewer/layout/paper_calls.hpp"

using namespace pclscope;

namespace {

struct ShownCalls {
  ShownCalls(std::unique_ptr<gui::View> which, Snapshot snapshot)
      : scene(test::scene_of(snapshot)), view(std::move(which)) {
    settle();
  }
  void draw() { vertices = frame.draw(*view, scene, selection, width, height); }
  layout::Point at(const std::string& name) const { return test::mark(*view, name); }
  void click(const std::string& name) { frame.click(*view, scene, selection, at(name), width, height); }
  void drag(layout::Point from, layout::Point to) {
    test::NullFrame::mouse(from);
    draw();
    for (const float way : {0.f, 0.5f, 1.f}) {
      test::NullFrame::mouse(from + (to - from) * way, true);
      draw();
    }
    test::NullFrame::mouse(to);
    draw();
  }
  bool settle() {
    test::draw_until_settled(*view, [&] { draw(); });
    return !view->unsettled();
  }
  gui::Scene scene;
  gui::Selection selection;
  std::unique_ptr<gui::View> view;
  test::NullFrame frame;
  float width = 800, height = 500;
  int vertices = 0;
};

}  // namespace

TEST_CASE("stack: a drag selects the period, a double click lets it go, the legend selects a function") {
  ShownCalls w(gui::make_activity_view(), test::lu_decomposition(16));
  const double duration = w.scene.snapshot->duration_s;
  w.drag(w.at("stack left"), w.at("stack middle"));
  REQUIRE(w.selection.period);
  CHECK(w.selection.period->begin_s == Approx(0).margin(0.01 * duration));
  CHECK(w.selection.period->end_s == Approx(duration / 2).margin(0.01 * duration));
  REQUIRE(w.settle());
  w.click("legend MPI_Recv");
  CHECK(w.selection.function == static_cast<std::uint16_t>(record::Function::Recv));
  w.click("legend MPI_Recv");
  CHECK_FALSE(w.selection.function);
  w.click("fit");
  REQUIRE(w.settle());
  for (int i = 0; i < 3; ++i) w.click("stack middle");  // two within 0.3 s of frames are a double click
  CHECK_FALSE(w.selection.period);
}

TEST_CASE("calls: the axis is the selected period; starts and ends, logarithmic and linear") {
  ShownCalls w(gui::make_calls_view(), test::inversion(64));
  w.selection.period = gui::SelectedPeriod{0.1, 0.3};
  REQUIRE(w.settle());
  for (const char* word : {"ends", "linear", "starts", "log"}) {
    w.click(word);
    CHECK(w.settle());
  }
  w.drag(w.at("calls left"), w.at("calls middle"));
  REQUIRE(w.selection.period);
  CHECK(w.selection.period->begin_s == Approx(0.1).margin(0.002));
  CHECK(w.selection.period->end_s == Approx(0.2).margin(0.002));
  REQUIRE(w.settle());
  w.click("legend MPI_Reduce");
  CHECK(w.selection.function == static_cast<std::uint16_t>(record::Function::Reduce));
  CHECK(w.settle());
}

TEST_CASE(
    "calls: without data, with damaged data, in any size, and with any period: no crash, and never without words") {
  std::vector<Snapshot> some{Snapshot(), test::lu_decomposition(4), test::fake_snapshot({64, 4, 2})};
  some[1].call_density.resize(some[1].call_density.size() / 2);
  for (const auto make : {gui::make_activity_view, gui::make_calls_view}) {
    for (const Snapshot& snapshot : some) {
      ShownCalls w(make(), snapshot);
      CHECK(w.vertices > 0);
      const double odd[] = {
          -1, 0, 1e-12, 1, 1e300, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()};
      std::mt19937 random(3);
      for (int i = 0; i < 60; ++i) {
        w.selection.period = gui::SelectedPeriod{odd[random() % std::size(odd)], odd[random() % std::size(odd)]};
        w.selection.region = static_cast<std::int32_t>(random() % 5);
        w.selection.function = static_cast<std::uint16_t>(random() % 2000);
        w.width = static_cast<float>(1 + random() % 900), w.height = static_cast<float>(1 + random() % 600);
        test::NullFrame::mouse({static_cast<float>(random() % 900), static_cast<float>(random() % 600)},
                               random() % 3 == 0, random() % 5 == 0);
        ImGui::GetIO().MouseWheel = static_cast<float>(static_cast<int>(random() % 3) - 1);
        w.draw();
      }
      CHECK(w.settle());
    }
  }
}
