// The routes view, driven without a window.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

#include "tests/seed.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"
#include "tests/viewer/random_network.hpp"
#include "viewer/gui/base/view.hpp"

using namespace pclscope;

namespace {

struct RoutesStage {
  test::NullFrame frame;
  std::unique_ptr<gui::View> view = gui::make_routes_view();
  session::NetworkCasePtr network;
  gui::NetworkState state;
  gui::Scene scene;
  gui::Selection selection;
  float width = 1100, height = 700;

  explicit RoutesStage(session::NetworkCasePtr n) : network(n), state(n), scene(test::scene_of(Snapshot())) {
    ::setenv("XDG_CACHE_HOME", "/dev/null", 1);  // nothing is kept
    scene.network = &state;
  }
  void draw() { frame.draw(*view, scene, selection, width, height); }
  void settle() {
    test::draw_until_settled(*view, [&] { draw(); });
    REQUIRE_FALSE((view->unsettled() || view->awaits()));
  }
  layout::Point at(const std::string& name) const {
    const layout::Point found = test::mark(*view, name);
    INFO(name);
    REQUIRE(found.x >= 0);
    return found;
  }
  void click(const std::string& name) {
    frame.click(*view, scene, selection, at(name), width, height);
    settle();
  }
  void key(int number, bool shift = false) {
    test::NullFrame::mouse({width / 2, height / 2});
    ImGui::GetIO().KeyShift = shift;
    draw();
    ImGui::GetIO().KeysDown[number] = true;
    draw();
    ImGui::GetIO().KeysDown[number] = false;
    ImGui::GetIO().KeyShift = false;
    settle();
  }
  void lasso(const std::vector<layout::Point>& way) {
    ImGui::GetIO().KeyShift = true;
    test::NullFrame::mouse(way.front());
    draw();
    for (const layout::Point p : way) {
      test::NullFrame::mouse(p, true);
      draw();
    }
    test::NullFrame::mouse(way.back());
    draw();
    ImGui::GetIO().KeyShift = false;
    test::NullFrame::mouse({-1000, -1000});
    settle();
  }
  // What stands behind a mark's name.
  std::int64_t number(const std::string& name) const {
    for (const gui::Mark& m : view->marks())
      if (m.name.starts_with(name + " ")) return std::stoll(m.name.substr(name.size() + 1));
    return -1;
  }
};

session::NetworkCasePtr torus() {
  std::mt19937 random(test::random_seed());
  return test::network_of("torus:4x4x2", random, 150, 2);
}

std::int64_t sum_of(const session::NetworkCase& n) { return std::llround(mapping::sum_hop_bytes(n.routes.routes)); }

}  // namespace

TEST_CASE("routes: all are drawn, and what is drawn adds up") {
  RoutesStage stage(torus());
  stage.settle();
  CHECK(stage.number("routes shown") == static_cast<std::int64_t>(stage.network->routes.routes.size()));
  CHECK(stage.number("routes nodes") == 32);
  CHECK(stage.number("routes bytes") == sum_of(*stage.network));
  stage.click("merge B");
  CHECK(stage.number("routes nodes") == 8);
  CHECK(stage.number("routes bytes") == sum_of(*stage.network));
}

TEST_CASE("routes: a click on a node selects its ranks, on the heaviest link those of its routes") {
  RoutesStage stage(torus());
  stage.settle();
  stage.click("vertex 5");
  CHECK(stage.selection.ranks == std::vector<std::int32_t>{10, 11});
  REQUIRE(stage.state.picked(stage.selection) != nullptr);
  CHECK(stage.state.picked(stage.selection)->from == 5);
  stage.click("heaviest link");
  const auto* picked = stage.state.picked(stage.selection);
  REQUIRE(picked != nullptr);
  const auto routes = session::routes_over(*stage.network, picked->from, picked->to);
  CHECK(stage.selection.ranks == session::ranks_of(*stage.network, routes));
  CHECK(*stage.state.lit(stage.selection) == routes);
  CHECK(stage.network->loads[static_cast<std::size_t>(stage.network->links->find(picked->from, picked->to))] ==
        *std::max_element(stage.network->loads.begin(), stage.network->loads.end()));
  // Ranks that are selected elsewhere light their routes.
  stage.selection.ranks = {3};
  CHECK(stage.state.picked(stage.selection) == nullptr);
  CHECK(*stage.state.lit(stage.selection) == session::routes_of_ranks(*stage.network, {3}));
  stage.settle();
}

TEST_CASE("routes: a lasso shows what lies within, or crosses; a button shows all again") {
  RoutesStage stage(torus());
  stage.settle();
  const layout::Point at = stage.at("vertex 0");
  stage.lasso({at + layout::Point{-14, -14}, at + layout::Point{14, -14}, at + layout::Point{14, 14},
               at + layout::Point{-14, 14}});
  REQUIRE(stage.state.filter().lasso);
  CHECK(stage.state.filter().lasso->vertices == std::vector<std::int32_t>{0});
  const auto within = session::filter_routes(stage.network, stage.state.filter());
  CHECK(stage.number("routes shown") == static_cast<std::int64_t>(within.routes.size()));
  stage.key('X');
  const auto crossing = session::filter_routes(stage.network, stage.state.filter());
  CHECK(crossing.routes == session::routes_through(*stage.network, 0));
  CHECK(stage.number("routes shown") == static_cast<std::int64_t>(crossing.routes.size()));
  stage.click("show all routes");
  CHECK_FALSE(stage.state.filter().any());
  CHECK(stage.number("routes shown") == static_cast<std::int64_t>(stage.network->routes.routes.size()));
}

TEST_CASE("routes: merged by keys, opened by the lasso, closed again") {
  RoutesStage stage(torus());
  stage.settle();
  stage.key('M');
  CHECK(stage.number("routes nodes") == 16);
  stage.key('M');
  CHECK(stage.number("routes nodes") == 4);
  stage.key('M', true);
  CHECK(stage.number("routes nodes") == 16);
  const layout::Point at = stage.at("vertex 0");
  stage.lasso({at + layout::Point{-14, -14}, at + layout::Point{14, -14}, at + layout::Point{14, 14},
               at + layout::Point{-14, 14}});
  stage.key('O');
  CHECK(stage.number("routes nodes") == 17);
  stage.state.set_lasso({});
  stage.key('O');
  CHECK(stage.number("routes nodes") == 16);
  CHECK(stage.number("routes bytes") == sum_of(*stage.network));
}

TEST_CASE("routes: colours and places have keys and buttons; places by forces come in the background") {
  RoutesStage stage(torus());
  stage.settle();
  const layout::Point before = stage.at("vertex 31");
  stage.key('K');
  stage.key('K');
  stage.click("colour size");
  stage.key('L');
  stage.settle();
  CHECK(test::mark(*stage.view, "routes lie by coordinates").x < 0);
  CHECK(distance(stage.at("vertex 31"), before) > 1);
  stage.click("places by coordinates");
  CHECK(test::mark(*stage.view, "routes lie by coordinates").x >= 0);
  CHECK(distance(stage.at("vertex 31"), before) < 1);
}

TEST_CASE("routes: what is applied is shown, taken back, and done again") {
  RoutesStage stage(torus());
  stage.settle();
  std::vector<std::int32_t> other = stage.network->node_of_rank;
  std::reverse(other.begin(), other.end());
  std::swap(other[0], other[9]);
  const auto moved = session::with_placement(*stage.network, other, "ranks moved");
  REQUIRE(moved);
  stage.state.apply(*moved);
  stage.settle();
  CHECK(stage.number("routes bytes") == sum_of(**moved));
  stage.key('U');
  CHECK(stage.number("routes bytes") == sum_of(*stage.network));
  stage.key('U', true);
  CHECK(stage.number("routes bytes") == sum_of(**moved));
  stage.click("undo");
  CHECK_FALSE(stage.state.can_undo());
}

TEST_CASE("routes: without a network, without messages, on one node, and very small something is said") {
  {
    RoutesStage stage(torus());
    stage.scene.network = nullptr;
    stage.draw();
  }
  std::mt19937 random(test::random_seed());
  for (const char* spec : {"torus:2x2", "nodes:1", "nodes:5", "dragonfly:2x2x1"}) {
    RoutesStage stage(test::network_of(spec, random, 0, 3));
    stage.settle();
    RoutesStage busy(test::network_of(spec, random, 30, 3));
    busy.settle();
    for (const float side : {1.f, 40.f, 130.f}) {
      busy.width = busy.height = side;
      busy.settle();
    }
  }
}
