// The ranking view without a window: a brush says which routes are shown, a click selects.
#include "tests/viewer/gui/network_shown.hpp"

using namespace pclscope;

namespace {

struct Shown : test::NetworkShown {
  explicit Shown(session::NetworkCasePtr with) : NetworkShown(gui::make_ranking_view(), std::move(with)) {}
};

// 0 - 1 - ... - 7: loads of the links up are 40 (0>1), 30, 20, 0, 5; down 7 (1>0).
session::NetworkCasePtr line() {
  return test::network_case("mesh:8", {8, {{0, 1, 1, 10}, {0, 3, 1, 20}, {0, 2, 1, 10}, {1, 0, 1, 7}, {4, 5, 1, 5}}});
}

}  // namespace

TEST_CASE("a ranking says how many there are of what, and its rows are the worst first") {
  Shown shown(line());
  shown.settle();
  CHECK(shown.has("ranking bars 5"));
  CHECK(shown.has("ranking rows 5"));
  // All routes from 0 cross 0>1; the first of these in the case is the first row.
  const layout::Point first = test::mark(*shown.view, "route 0-1"), last = test::mark(*shown.view, "route 4-5");
  CHECK(first.y < last.y);
  shown.press("ranking length");
  CHECK(test::mark(*shown.view, "route 0-3").y < test::mark(*shown.view, "route 0-1").y);
  shown.press("ranking links");
  CHECK(shown.has("ranking bars 5"));  // 0>1, 1>2, 2>3, 1>0, 4>5
  shown.press("ranking in");
  CHECK(shown.has("ranking bars 5"));  // into 0, 1, 2, 3, 5
  shown.press("ranking out");
  CHECK(shown.has("ranking bars 4"));  // out of 0, 1, 2, 4
}

TEST_CASE("a brush by mouse or in percent shows its routes alone; double click: all") {
  Shown shown(line());
  shown.settle();
  CHECK(shown.shown() == 5);
  const layout::Point first = test::mark(*shown.view, "ranking first"), last = test::mark(*shown.view, "ranking last");
  // The first two of five.
  test::NullFrame::mouse(first);
  shown.frame.draw(*shown.view, shown.scene, shown.selection);
  const layout::Point to = first + (last - first) * 0.39f;
  for (const layout::Point at : {first, (first + to) * 0.5f, to}) {
    test::NullFrame::mouse(at, true);
    shown.frame.draw(*shown.view, shown.scene, shown.selection);
  }
  test::NullFrame::mouse(to, false);
  shown.settle();
  REQUIRE(shown.network.filter().brush);
  CHECK(shown.network.filter().brush->first == 0);
  CHECK(shown.network.filter().brush->end == 2);
  CHECK(shown.shown() == 2);
  CHECK(shown.has("ranking rows 2"));
  CHECK(shown.selection.ranks.empty());  // a brush selects nothing
  shown.press("ranking top");            // 5 % of five is one
  CHECK(shown.shown() == 1);
  shown.press("ranking all");
  CHECK(shown.shown() == 5);
  CHECK_FALSE(shown.network.filter().brush);
}

TEST_CASE("a row, or a place in the plot, selects the route and its ranks") {
  Shown shown(line());
  shown.settle();
  shown.press("route 0-3");
  CHECK(shown.selection.ranks == std::vector<std::int32_t>{0, 3});
  REQUIRE(shown.network.picked(shown.selection));
  CHECK(shown.network.picked(shown.selection)->kind == gui::NetworkPick::Kind::route);
  shown.press("ranking last");
  CHECK(shown.selection.ranks == std::vector<std::int32_t>{4, 5});
  shown.press("ranking links");
  shown.press("ranking first");  // 0>1: all three routes from 0
  CHECK(shown.selection.ranks == std::vector<std::int32_t>{0, 1, 2, 3});
}

TEST_CASE("the ranking is drawn at any size, over any place, and without routes") {
  std::mt19937_64 random(7);
  for (const std::size_t flows : {std::size_t{0}, std::size_t{300}}) {
    Shown shown(test::network_case("torus:4x4", test::random_traffic(random, 16, flows)));
    test::draw_everywhere(shown);
  }
}
