// Vector clocks without a window: what lights up is what happened before.
#include <catch2/catch.hpp>

#include "tests/analysis/logical/programs.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"

using namespace pclscope;

namespace {

// A merge tree of 16 ranks: 1, 2 and 3 send to 0, which answers; then the same of 0, 4, 8 and 12.
struct Clocks {
  test::NullFrame frame;
  std::shared_ptr<const session::LogicalRun> run = std::make_shared<const session::LogicalRun>(
      session::run_of(test::logical_time_of(test::merge_tree(16, 4, false)), 16));
  gui::LogicalSource source{run};
  gui::Scene scene = test::scene_of(test::fake_snapshot({.ranks = 16, .regions = 4, .slow = 1, .windows = 20}));
  gui::Selection selection;
  std::unique_ptr<gui::View> view = gui::make_clocks_view();
  Clocks() { scene.logical = &source; }
  void settle(float width = 1200, float height = 600) {
    test::draw_until_settled(*view, [&] { frame.draw(*view, scene, selection, width, height); });
  }
  bool says(const std::string& name) const { return test::mark(*view, name).x >= 0; }
};

}  // namespace

TEST_CASE("an event under the mouse lights up what happened before it, a click selects it and keeps the rows") {
  Clocks shown;
  shown.selection.ranks = {0, 1, 2, 3};
  shown.settle();
  std::size_t events = 0;
  for (const auto& phase : shown.run->phases)
    for (std::uint32_t b = 0; b < phase->boxes.size(); ++b) events += phase->rank_of(b) < 4;
  CHECK(shown.says("clock events " + std::to_string(events)));
  // The third receive of rank 0: the sends of 1, 2 and 3 and its own receives were before it, all else was after it.
  const layout::Point third = test::mark(*shown.view, "clock of rank 0 step 3");
  REQUIRE(third.x > 0);
  test::NullFrame::mouse(third);
  shown.frame.draw(*shown.view, shown.scene, shown.selection, 1200, 600);
  shown.frame.draw(*shown.view, shown.scene, shown.selection, 1200, 600);
  CHECK(shown.says("before 5 after " + std::to_string(events - 6) + " concurrent 0"));
  shown.frame.click(*shown.view, shown.scene, shown.selection, third, 1200, 600);
  CHECK(shown.selection.rank == 0);
  CHECK(shown.selection.ranks == std::vector<std::int32_t>{0, 1, 2, 3});
  REQUIRE(shown.selection.message);
  CHECK(shown.selection.message->source == 3);
  test::NullFrame::mouse({-100, -100});
  shown.settle();
  CHECK(shown.says("before 5 after " + std::to_string(events - 6) + " concurrent 0"));  // it stays lit
}

TEST_CASE("a region has its ranks as rows, a rank itself and its neighbours") {
  Clocks shown;
  shown.selection.region = shown.scene.snapshot->regions[1].id;
  shown.settle();
  const std::int32_t rank = shown.scene.snapshot->regions[1].ranks[0];
  bool found = false;
  for (const gui::Mark& mark : shown.view->marks())
    found = found || mark.name.starts_with("clock of rank " + std::to_string(rank) + " ");
  CHECK(found);
  shown.selection.rank = 5;  // exchanges messages with 4 alone
  shown.settle();
  for (const gui::Mark& mark : shown.view->marks()) {
    if (!mark.name.starts_with("clock of rank ")) continue;
    CHECK((mark.name.starts_with("clock of rank 4 ") || mark.name.starts_with("clock of rank 5 ")));
  }
}

TEST_CASE("clocks are drawn at any size, wheel and arrows move them, and with nothing to draw it is said why") {
  Clocks shown;
  for (const float width : {1.f, 30.f, 301.f, 2000.f})
    for (const float height : {1.f, 20.f, 90.f, 600.f}) {
      test::NullFrame::mouse({width / 2, height / 2});
      shown.settle(width, height);
    }
  shown.selection.ranks = {0, 1, 2, 3};
  shown.settle(400, 400);
  const layout::Point before = test::mark(*shown.view, "clock of rank 0 step 1");
  REQUIRE(before.x > 0);
  test::NullFrame::mouse({200, 200});
  shown.frame.draw(*shown.view, shown.scene, shown.selection, 400, 400);
  ImGui::GetIO().MouseWheel = -3;
  shown.frame.draw(*shown.view, shown.scene, shown.selection, 400, 400);
  CHECK_FALSE(test::mark(*shown.view, "clock of rank 0 step 1").x == before.x);
  ImGui::GetIO().KeysDown[ImGuiKey_Home] = true;
  shown.frame.draw(*shown.view, shown.scene, shown.selection, 400, 400);
  ImGui::GetIO().KeysDown[ImGuiKey_Home] = false;
  shown.frame.draw(*shown.view, shown.scene, shown.selection, 400, 400);
  CHECK(test::mark(*shown.view, "clock of rank 0 step 1").x == before.x);
  gui::LogicalSource none;
  shown.scene.logical = &none;
  CHECK(shown.frame.draw(*gui::make_clocks_view(), shown.scene, shown.selection) > 0);
}
