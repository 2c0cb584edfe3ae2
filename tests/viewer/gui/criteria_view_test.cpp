// The plot of criteria, without a window.
#include <catch2/catch.hpp>

#include "tests/viewer/gui/null_frame.hpp"

using namespace pclscope;

TEST_CASE("the plot of criteria says how many points it has, at any size, and that there are none") {
  test::NullFrame frame;
  Snapshot snapshot;
  for (int i = 0; i < 6; ++i) {
    Criterion& c = snapshot.criteria.emplace_back();
    c.inter_node = i % 2 == 1;
    c.bytes_low = std::uint64_t{64} << i;
    c.bytes_high = 2 * c.bytes_low;
    c.count = i == 3 ? 0 : 10;
    c.criterion_s = c.transfer_criterion_s = 1e-6 * (i + 1);
  }
  gui::Scene scene = test::scene_of(snapshot);
  gui::Selection selection;
  const auto view = gui::make_criteria_view();
  frame.draw(*view, scene, selection);
  const layout::Point middle = test::mark(*view, "criteria points 6");
  REQUIRE(middle.x > 0);
  for (const float width : {1.f, 9.f, 120.f, 801.f})
    for (const float height : {1.f, 9.f, 60.f, 500.f}) {
      test::NullFrame::mouse({width / 2, height / 2});
      CHECK(frame.draw(*view, scene, selection, width, height) >= 0);
    }
  for (float x = 0; x < 800; x += 40)  // over points and beside them
    for (float y = 0; y < 500; y += 40) {
      test::NullFrame::mouse({x, y});
      frame.draw(*view, scene, selection);
    }
  scene = test::scene_of(Snapshot());
  frame.draw(*view, scene, selection);
  CHECK(view->marks().empty());
}
