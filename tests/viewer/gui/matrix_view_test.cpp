// The matrix view without a window: cells, folding, lens; other routes tried, applied and undone.
#include "tests/seed.hpp"
#include "tests/viewer/gui/network_shown.hpp"

using namespace pclscope;

namespace {

struct Shown : test::NetworkShown {
  explicit Shown(session::NetworkCasePtr with) : NetworkShown(gui::make_matrix_view(), std::move(with)) {}
};

// 0 - 1 - 2 - ...  On a square grid of 16; two routes share 0>1, and one of them could go down first.
session::NetworkCasePtr grid() {
  const auto made = test::network_case("mesh:4x4", {16, {{0, 1, 1, 100}, {0, 5, 1, 40}, {14, 15, 1, 7}}});
  std::vector<mapping::Route> routes = made->routes.routes;
  routes[1].path = {0, 1, 5};
  return session::with_routes(*made, std::move(routes), "");
}

}  // namespace

TEST_CASE("the matrix has a cell for each link, coloured where a shown route goes") {
  Shown shown(grid());
  shown.settle();
  CHECK(shown.number("matrix cells ") == 48);  // 24 links of a 4 x 4 mesh, both ways
  CHECK(shown.number("matrix loaded ") == 3);  // 0>1, 1>5, 14>15
  CHECK(shown.number("matrix lines ") == 16);
  shown.network.set_brush(session::NetworkBrush{session::NetworkMetric::route_bytes, 2, 3});  // 14>15
  shown.settle();
  CHECK(shown.number("matrix loaded ") == 1);
  // Folded by vertices, pairs, rows, pairs of rows, all: what is left, and a line for the rest.
  shown.press("matrix fold");
  CHECK(shown.number("matrix lines ") == 3);
  for (const std::size_t lines : {3u, 5u, 9u, 16u, 16u}) {
    shown.press("matrix +");
    CHECK(shown.number("matrix lines ") == lines);
  }
  shown.press("matrix -");
  CHECK(shown.number("matrix lines ") == 9);
  CHECK(shown.number("matrix loaded ") == 1);
  shown.press("matrix fold");
  CHECK(shown.number("matrix lines ") == 16);
  shown.press("matrix number");
  CHECK(shown.number("matrix cells ") == 48);
}

TEST_CASE("a click on a cell selects its link with the ranks of its routes, on the diagonal the vertex") {
  Shown shown(grid());
  shown.press("matrix heaviest");
  const gui::NetworkPick* picked = shown.network.picked(shown.selection);
  REQUIRE(picked);
  CHECK(picked->kind == gui::NetworkPick::Kind::link);
  CHECK(picked->from == 0);
  CHECK(picked->to == 1);
  CHECK(shown.selection.ranks == std::vector<std::int32_t>{0, 1, 5});
  shown.press("matrix first");
  REQUIRE(shown.network.picked(shown.selection));
  CHECK(shown.network.picked(shown.selection)->kind == gui::NetworkPick::Kind::vertex);
  CHECK(shown.selection.ranks == std::vector<std::int32_t>{0});
}

TEST_CASE("another route for the selected one: looked at, applied, undone, done again") {
  Shown shown(grid());
  shown.settle();
  shown.network.pick_route(1, shown.selection);
  shown.press("reroute other route");
  const auto proposal = shown.network.proposal();
  REQUIRE(proposal);
  REQUIRE(proposal->changes.size() == 1);
  CHECK(proposal->changes[0].path == std::vector<std::int32_t>{0, 4, 5});
  CHECK(shown.current()->routes.routes[1].path == std::vector<std::int32_t>{0, 1, 5});  // only looked at
  const auto before = shown.current();
  shown.press("reroute apply");
  const auto after = shown.current();
  CHECK(after->routes.routes[1].path == std::vector<std::int32_t>{0, 4, 5});
  CHECK(after->heaviest[0] == 100);
  CHECK(after->heaviest[1] == 40);
  CHECK_FALSE(shown.network.proposal());
  CHECK(shown.number("matrix loaded ") == 4);  // 0>1, 0>4, 4>5, 14>15
  shown.press("reroute undo");
  CHECK(shown.current() == before);
  CHECK(shown.number("matrix loaded ") == 3);
  shown.press("reroute redo");
  CHECK(shown.current() == after);
  shown.press("reroute other route");  // nothing better is left
  REQUIRE(shown.network.proposal());
  CHECK(shown.network.proposal()->changes.empty());
  CHECK_FALSE(shown.has("reroute apply"));
  shown.press("reroute drop");
  CHECK_FALSE(shown.network.proposal());
}

TEST_CASE("other routes for all that the brush shows are what the route command would find") {
  const std::uint64_t seed = test::random_seed() + 41;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  Shown shown(test::network_case("torus:4x4", test::random_traffic(random, 16, 90)));
  shown.network.set_brush(session::NetworkBrush{session::NetworkMetric::route_load, 0, 20});
  shown.press("reroute other route");
  const auto proposal = shown.network.proposal();
  REQUIRE(proposal);
  CHECK(proposal->chosen == shown.network.shown(shown.scene)->routes);
  std::vector<mapping::Route> routes = shown.current()->routes.routes;
  mapping::reroute(*shown.current()->links, routes, {proposal->chosen.begin(), proposal->chosen.end()},
                   {mapping::Criterion::load, 0, 5});
  if (proposal->changes.empty()) return;
  shown.press("reroute apply");
  for (std::size_t i = 0; i < routes.size(); ++i) CHECK(shown.current()->routes.routes[i].path == routes[i].path);
}

TEST_CASE("the matrix is drawn at any size and zoom, with a lens, and without routes") {
  std::mt19937_64 random(7);
  for (const std::size_t flows : {std::size_t{0}, std::size_t{300}})
    for (const char* topology : {"torus:4x4", "dragonfly:9x4x2", "nodes:16"}) {
      Shown shown(test::network_case(topology, test::random_traffic(random, 16, flows)));
      test::draw_everywhere(shown);
      shown.press("matrix lens");
      test::draw_everywhere(shown);
      test::NullFrame::mouse({300, 300});
      shown.settle();
      CHECK(shown.number("matrix lens cells ") <= shown.number("matrix cells "));
      for (const float wheel : {20.f, -50.f, 3.f, 3.f}) {
        ImGui::GetIO().MouseWheel = wheel;
        shown.settle();
      }
      for (const float x : {-3000.f, 5000.f}) {
        test::NullFrame::mouse({300, 300}, false, true);
        shown.draw();
        test::NullFrame::mouse({300 + x, 300 + x}, false, true);
        shown.draw();
        test::NullFrame::mouse({300, 300});
        shown.settle();
      }
      shown.press("matrix number");
    }
}
