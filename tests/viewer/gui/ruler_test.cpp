// The ruler across views, and what is selected as a line of text.
#include "viewer/gui/frame/ruler.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "interpose/record/functions.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"
#include "viewer/gui/frame/selection_words.hpp"

using namespace pclscope;
using namespace pclscope::gui;

namespace {

// From `low` to `high` over the rectangle's width.
ViewAxis axis(AxisKind kind, layout::Rect area, double low, double high) {
  const double per_pixel = (high - low) / static_cast<double>(area.width());
  return {kind, area, [=](float x) { return low + static_cast<double>(x - area.low.x) * per_pixel; },
          [=](double at) { return area.low.x + static_cast<float>((at - low) / per_pixel); }, true};
}

struct Shown {
  test::NullFrame imgui;
  Scene scene = test::scene_of(test::fake_snapshot({.ranks = 8, .regions = 2}));
  Ruler ruler;
  // Two views over the same 10 s, one of which shows a part; one of steps; one in which shift and drag lassos.
  std::vector<ViewAxis> axes{axis(AxisKind::time, {{0, 0}, {100, 50}}, 0, 10),
                             axis(AxisKind::time, {{0, 60}, {400, 100}}, 2, 4),
                             axis(AxisKind::steps, {{200, 0}, {300, 50}}, 0, 100)};
  bool seen = false;  // by the views: the left button

  void frame(layout::Point mouse, bool shift, bool left) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {400, 100};
    io.DeltaTime = 1 / 60.f;
    io.KeyShift = shift;
    io.KeyMods = shift ? ImGuiKeyModFlags_Shift : ImGuiKeyModFlags_None;
    test::NullFrame::mouse(mouse, left);
    ImGui::NewFrame();
    ruler.begin(axes);
    seen = io.MouseDown[0] || ImGui::IsMouseClicked(0) || ImGui::IsMouseReleased(0);
    ruler.draw(scene, axes);
    CHECK(io.MouseDown[0] == left);  // whoever comes later has it again
    ImGui::Render();
  }
};

}  // namespace

TEST_CASE("the ruler lies in all views of the axis under the mouse, while shift is down") {
  Shown shown;
  shown.frame({30, 10}, false, false);
  CHECK_FALSE(shown.ruler.reading());
  shown.frame({30, 10}, true, false);
  REQUIRE(shown.ruler.reading());
  CHECK(shown.ruler.reading()->kind == AxisKind::time);
  CHECK(shown.ruler.reading()->at == Approx(3));
  CHECK(shown.ruler.reading()->lines == 2);
  CHECK_FALSE(shown.ruler.reading()->from);
  shown.frame({80, 10}, true, false);  // 8 s: beyond what the other one shows
  CHECK(shown.ruler.reading()->lines == 1);
  shown.frame({250, 10}, true, false);
  CHECK(shown.ruler.reading()->kind == AxisKind::steps);
  CHECK(shown.ruler.reading()->at == Approx(50));
  CHECK(shown.ruler.reading()->lines == 1);
  shown.frame({150, 10}, true, false);  // no axis there
  CHECK_FALSE(shown.ruler.reading());
}

TEST_CASE("an axis that ends before the moment has no line, also when it maps what lies beyond to its end") {
  Shown shown;
  ViewAxis& short_one = shown.axes[1];  // 2 s to 4 s
  const auto x = short_one.x;
  const auto moment = short_one.moment;
  short_one.x = [x](double at) { return x(std::clamp(at, 2.0, 4.0)); };
  short_one.moment = [moment](float at) { return std::clamp(moment(at), 2.0, 4.0); };
  shown.frame({39, 10}, true, false);
  CHECK(shown.ruler.reading()->lines == 2);
  shown.frame({60, 10}, true, false);
  CHECK(shown.ruler.reading()->lines == 1);
  shown.frame({10, 10}, true, false);
  CHECK(shown.ruler.reading()->lines == 1);
}

TEST_CASE("dragging with shift measures from one view to another, and views do not see the button") {
  Shown shown;
  shown.frame({30, 10}, true, false);
  CHECK_FALSE(shown.seen);
  shown.frame({30, 10}, true, true);
  CHECK_FALSE(shown.seen);
  shown.frame({200, 80}, true, true);
  CHECK_FALSE(shown.seen);
  REQUIRE(shown.ruler.reading());
  CHECK(shown.ruler.reading()->at == Approx(3));
  CHECK(*shown.ruler.reading()->from == Approx(3));
  shown.frame({300, 80}, true, true);
  CHECK(shown.ruler.reading()->at - *shown.ruler.reading()->from == Approx(0.5));
  shown.frame({250, 10}, true, true);  // of steps: nothing to compare
  CHECK_FALSE(shown.ruler.reading());
  shown.frame({300, 80}, false, true);  // still the ruler's button
  CHECK_FALSE(shown.seen);
  shown.frame({300, 80}, true, false);
  CHECK_FALSE(shown.seen);  // its release
  shown.frame({300, 80}, true, false);
  CHECK_FALSE(shown.ruler.reading()->from);
}

TEST_CASE("a button that went down before shift, or where a view has another use for it, is the view's") {
  Shown shown;
  shown.frame({30, 10}, false, true);
  CHECK(shown.seen);
  shown.frame({40, 10}, true, true);
  CHECK(shown.seen);
  CHECK_FALSE(shown.ruler.reading()->from);
  shown.frame({40, 10}, true, false);
  CHECK(shown.seen);
  shown.axes[0].measures = false;
  shown.frame({40, 10}, true, false);
  shown.frame({40, 10}, true, true);
  CHECK(shown.seen);
  CHECK_FALSE(shown.ruler.reading()->from);
}

TEST_CASE("what the ruler says") {
  CHECK(ruler_words(AxisKind::time, 1.25, {}) == "1.250000 s");
  CHECK(ruler_words(AxisKind::time, 1.25, 1.2) == "1.250000 s, 50.0 ms later");
  CHECK(ruler_words(AxisKind::time, 1.2, 1.25) == "1.200000 s, 50.0 ms earlier");
  CHECK(ruler_words(AxisKind::steps, 12.9, {}) == "step 12");
  CHECK(ruler_words(AxisKind::steps, 12.9, 8.5) == "step 12, 4 steps later");
  CHECK(ruler_words(AxisKind::steps, 8.5, 9.1) == "step 8, 1 step earlier");
  CHECK(ruler_words(AxisKind::time, NAN, 1) == "-");
}

TEST_CASE("what is selected, as a line of text") {
  Scene scene = test::scene_of(test::fake_snapshot({.ranks = 8, .regions = 2}));
  Snapshot snapshot = *scene.snapshot;
  CallSite line;
  line.id = 77;
  line.file = "/src/halo.c";
  line.line = 42;
  line.mpi_function = static_cast<std::uint16_t>(record::Function::Isend);
  snapshot.sites.push_back(line);
  scene.snapshot = std::make_shared<const Snapshot>(snapshot);
  Selection selection;
  CHECK(selection_line(scene, selection).empty());
  selection.region = 1;
  CHECK(selection_line(scene, selection) == "test: region 1 (ranks 4-7)");
  selection.rank = 5;
  selection.ranks = {5};
  selection.period = SelectedPeriod{1.5, 1.75};
  selection.site = SelectedSite{5, 77};
  selection.message = SelectedMessage{5, 6, 1.6};
  selection.phase = 3;
  selection.steps = SelectedSteps{10.5, 20};
  CHECK(selection_line(scene, selection) ==
        "test: rank 5, region 1 (ranks 4-7), 1.500000 s to 1.750000 s (250 ms), MPI_Isend at halo.c:42, "
        "message 5 -> 6 sent at 1.600000 s, phase 3, steps 10-19");
  CHECK(selected_site(selection) == 77);
  selection.rank = 4;  // the call was another rank's
  CHECK_FALSE(selected_site(selection));
  CHECK(selection_line(scene, selection).find("halo.c") == std::string::npos);
  selection = {};
  selection.ranks = {1, 2, 3};
  selection.function = static_cast<std::uint16_t>(record::Function::Isend);
  CHECK(selection_line(scene, selection) == "test: ranks 1-3, MPI_Isend");
  selection = {};
  selection.finding = 0;
  CHECK(selection_line(scene, selection).starts_with("test: finding: "));
}
