#include <catch2/catch.hpp>
#include <chrono>
#include <limits>
#include <random>
#include <thread>

#include "tests/thinned.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"
#include "viewer/gui/causes/attribution_words.hpp"

using namespace pclscope;

namespace {

struct Shown {
  explicit Shown(gui::Scene s) : scene(std::move(s)) { draw(); }
  int draw() {
    vertices = frame.draw(*view, scene, selection, width, height);
    return vertices;
  }
  layout::Point at(const std::string& name) const { return test::mark(*view, name); }
  void click(const std::string& name) { frame.click(*view, scene, selection, at(name), width, height); }
  // Until nothing is computed any more, a minute at most.
  bool settle() {
    test::draw_until_settled(*view, [&] { draw(); });
    return !view->unsettled();
  }
  gui::Scene scene;
  gui::Selection selection;
  std::unique_ptr<gui::View> view = gui::make_attribution_view();
  test::NullFrame frame;
  float width = 800, height = 500;
  int vertices = 0;
};

}  // namespace

TEST_CASE("a finding of the network opens the routes with its own lit, others have no such button") {
  Snapshot s = test::fake_snapshot();
  Finding link = s.attribution.findings[1];
  link.cause = Cause::background;
  link.nodes = {0, 1};
  s.attribution.findings.push_back(link);
  Shown w(test::scene_of(s));
  std::string opened;
  w.scene.open_view = [&](std::string name) { opened = name; };
  w.height = 900;
  w.draw();
  CHECK(w.at("links of finding 0").x < 0);
  w.click("finding 1");
  REQUIRE(w.at("links of finding 1").x > 0);
  w.click("links of finding 1");
  CHECK(opened == "routes");
  w.selection.finding.reset();
  opened.clear();
  gui::NetworkState state;
  w.scene.network = &state;
  w.draw();
  w.click("finding 2");
  w.click("links of finding 2");
  CHECK(opened == "routes");
  CHECK(w.selection.finding == 2u);
}

TEST_CASE("a click on a finding selects its region, period, ranks and itself; another takes the finding back") {
  Shown w(test::scene_of(test::fake_snapshot()));
  REQUIRE(w.at("finding 0").x > 0);
  w.click("finding 0");
  CHECK(w.selection.finding == 0u);
  CHECK(w.selection.region == 2);
  CHECK(w.selection.period == gui::SelectedPeriod{10, 20});
  CHECK(w.selection.rank == 9);
  CHECK(w.selection.ranks == std::vector<std::int32_t>{9});
  w.click("finding 1");  // a mapping: of the whole job, it begins nowhere
  CHECK(w.selection.finding == 1u);
  CHECK_FALSE(w.selection.region.has_value());
  CHECK_FALSE(w.selection.rank.has_value());
  CHECK(w.selection.period == gui::SelectedPeriod{0, 20});
  w.click("finding 1");
  CHECK_FALSE(w.selection.finding.has_value());
  CHECK(w.selection.period.has_value());
}

TEST_CASE("dragging in any plot selects the period, either way; a double click lets it go") {
  Shown w(test::scene_of(test::fake_snapshot({64, 4, 2})));
  for (const std::string plot : {"mapping plot", "balance plot", "transfer plot"}) {
    for (const bool backwards : {false, true}) {
      w.selection = {};
      const layout::Point left = w.at(plot + " left"), right = w.at(plot + " right");
      REQUIRE(left.x > 0);
      const layout::Point from = backwards ? right : left, to = backwards ? left : right;
      test::NullFrame::mouse(from);
      w.draw();
      for (const float way : {0.f, 0.5f, 1.f}) {
        test::NullFrame::mouse(from + (to - from) * way, true);
        w.draw();
      }
      CHECK_FALSE(w.selection.period.has_value());  // not before it is let go
      test::NullFrame::mouse(to);
      w.draw();
      CAPTURE(plot, backwards);
      REQUIRE(w.selection.period.has_value());
      CHECK(w.selection.period->begin_s == Approx(5).margin(0.2));
      CHECK(w.selection.period->end_s == Approx(15).margin(0.2));
    }
  }
  w.click("balance plot");
  CHECK(w.selection.period.has_value());  // a click without way is no drag
  ImGui::GetIO().MouseDoubleClickTime = 10;
  w.click("balance plot");
  w.click("balance plot");
  CHECK_FALSE(w.selection.period.has_value());
}

TEST_CASE("the wheel zooms the time axis under the mouse") {
  Shown w(test::scene_of(test::fake_snapshot({64, 4, 2})));
  test::NullFrame::mouse(w.at("mapping plot"));
  for (int i = 0; i < 8; ++i) {
    ImGui::GetIO().MouseWheel = 1;
    w.draw();
  }
  w.draw();
  const layout::Point left = w.at("mapping plot left"), right = w.at("mapping plot right");
  for (const layout::Point p : {left, right}) {
    test::NullFrame::mouse(p, true);
    w.draw();
  }
  test::NullFrame::mouse(right);
  w.draw();
  REQUIRE(w.selection.period.has_value());
  CHECK(w.selection.period->end_s - w.selection.period->begin_s ==
        Approx(10 * 0.168).epsilon(0.1));  // 0.8 to the eighth
  CHECK(w.selection.period->begin_s < 10);
  CHECK(w.selection.period->end_s > 10);
}

TEST_CASE("live: the picked finding stays picked when the order changes, and is let go when it is gone") {
  Snapshot snapshot = test::fake_snapshot();
  Shown w(test::scene_of(snapshot));
  w.click("finding 0");
  std::swap(snapshot.attribution.findings[0], snapshot.attribution.findings[1]);
  w.scene.snapshot = std::make_shared<const Snapshot>(snapshot);
  w.draw();
  CHECK(w.selection.finding == 1u);
  snapshot.attribution.findings.pop_back();
  w.scene.snapshot = std::make_shared<const Snapshot>(snapshot);
  w.draw();
  CHECK_FALSE(w.selection.finding.has_value());
  CHECK(w.selection.region == 2);
}

TEST_CASE("before and after of a placement are computed from a dump's traffic") {
  Snapshot snapshot = test::fake_snapshot({16, 4, 2});
  snapshot.attribution.findings.erase(snapshot.attribution.findings.begin());
  for (std::int32_t r = 0; r < 16; ++r)
    snapshot.traffic.push_back({r, (r + 8) % 16, 100, 800});  // every partner is on the other node
  Shown w(test::scene_of(snapshot));
  const int before = w.vertices;
  REQUIRE(w.settle());
  w.draw();
  CHECK(w.vertices > before);  // bars and matrices instead of "looking for"
}

TEST_CASE("scrolling ten thousand findings draws only those that are seen") {
  Snapshot snapshot = test::fake_snapshot();
  const Finding one = snapshot.attribution.findings[0];
  snapshot.attribution.findings.assign(10'000, one);
  Shown w(test::scene_of(snapshot));
  w.draw();
  CHECK(w.vertices < 40'000);
  CHECK(w.view->marks().size() < 130);
  test::NullFrame::mouse(w.at("finding 1"));
  for (int i = 0; i < 50; ++i) {
    ImGui::GetIO().MouseWheel = -1000;
    w.draw();
  }
  CHECK(w.vertices < 40'000);
  CHECK(w.at("finding 9999").x > 0);
}

TEST_CASE("vertices stay few at any number of ranks") {
  for (const std::int32_t ranks : {1, 16, 1152, 16384}) {
    Shown w(test::scene_of(test::fake_snapshot({ranks, std::max(1, ranks / 24), 0, 50})));
    w.width = 1600;
    w.height = 1000;
    w.settle();
    CHECK(w.vertices > 500);
    CHECK(w.vertices < 30'000);
  }
}

TEST_CASE("sizes from nothing to the whole screen") {
  Shown w(test::scene_of(test::fake_snapshot({64, 4, 2})));
  w.selection.finding = 0;
  for (const float width : {1.f, 2.f, 17.f, 120.f, 333.f, 601.f, 1600.f}) {
    for (const float height : {1.f, 9.f, 40.f, 77.f, 160.f, 1000.f}) {
      for (const float scale : {0.5f, 1.f, 3.f}) {
        w.scene.scale = scale;
        w.width = width;
        w.height = height;
        CHECK(w.draw() >= 0);
      }
    }
  }
}

TEST_CASE("whatever a snapshot says, the view draws and reacts") {
  const unsigned seed = 21;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const double odd[] = {
      std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1, 1e300, -1e300, 0};
  const auto value = [&] { return random() % 2 == 0 ? odd[random() % 6] : static_cast<double>(random() % 100); };
  const std::string texts[] = {"", "\x1b[2J\n\t%s%n", std::string(5000, 'x'), "\xff\xfe", "caf\xc3\xa9"};
  for (int round = 0; round < test::thinned(60, 20); ++round) {
    Snapshot s = test::fake_snapshot({static_cast<std::int32_t>(random() % 40), 4, 2, 20});
    for (AttributionSlice& slice : s.attribution.slices)
      slice = {value(), value(), random(), random(), value(), value(), value(), value(), value(), value()};
    for (TransferLine& line : s.attribution.transfer_lines) {
      line.normalised.resize(random() % 100);
      for (float& v : line.normalised) v = static_cast<float>(value());
      line.bytes_high = random() % 2 == 0 ? UINT64_MAX : 0;
    }
    for (Finding& f : s.attribution.findings) {
      f = {static_cast<Cause>(random() % 12),
           static_cast<std::int32_t>(random() % 8) - 2,
           {-5, static_cast<std::int32_t>(random()), 3},
           static_cast<std::uint32_t>(random() % 3),
           {-1, 99, 7},
           value(),
           value(),
           std::vector<FindingPeriod>(random() % 3, {value(), value(), value()}),
           random() % 2 == 0,
           value(),
           value(),
           value(),
           value(),
           texts[random() % 5],
           {texts[random() % 5], texts[random() % 5]},
           texts[random() % 5]};
    }
    s.sites[0].file = texts[random() % 5];
    if (random() % 3 == 0) s.application.nodes.clear();
    if (random() % 3 == 0) s.regions.clear();
    if (random() % 3 == 0) s.traffic = {{-1, 5, 1, 1}, {1, 2, UINT64_MAX, UINT64_MAX}, {1, 2, 5, 5}};
    Shown w(test::scene_of(s));
    w.selection.finding = random() % 4;
    w.selection.period = gui::SelectedPeriod{value(), value()};
    w.draw();
    for (const gui::Mark& mark : w.view->marks()) {
      CHECK(std::isfinite(mark.at.x));
      CHECK(std::isfinite(mark.at.y));
    }
    for (const char* name : {"finding 0", "mapping plot", "balance plot", "transfer plot"})
      if (w.at(name).x > 0) w.click(name);
    if (w.selection.period) CHECK_FALSE(w.selection.rank.value_or(0) < 0);
    CHECK(w.settle());
  }
}

TEST_CASE("nothing yet: it says so and draws no plots") {
  gui::Scene scene = test::scene_of({});
  scene.snapshot = nullptr;
  scene.history = nullptr;
  Shown w(scene);
  CHECK(w.vertices > 0);
  CHECK(w.view->marks().empty());
  w.scene = test::scene_of({});
  w.draw();
  CHECK(w.view->marks().empty());
}

TEST_CASE("a finding in words") {
  const Snapshot s = test::fake_snapshot();
  const views::Sites sites(s.sites);
  const Finding& f = s.attribution.findings[0];
  CHECK(gui::finding_title(f) == "late-sender (computation)");
  CHECK(gui::finding_place(f, 2, s, sites) == "region 2, rank 9, solver.f90:812");
  CHECK(gui::finding_time(f) == "since 10.0 s, cost 12.5 s (31% of ranks' time)");
  CHECK(gui::finding_site(f, sites) == "call site: solver.f90:812 in exchange_halo");
  Finding link;
  link.cause = Cause::background;
  link.nodes = {0, 1, 1, 0, 5, 6};
  link.begin_s = 1;
  link.end_s = 2.5;
  CHECK(gui::finding_place(link, -1, s, sites) == "all over the job, from n0 to n1, from n1 to n0 and others");
  CHECK(gui::finding_time(link) == "1.0 s to 2.5 s");
  for (int cause = 0; cause < 12; ++cause)
    CHECK(std::string(gui::cause_meaning(static_cast<Cause>(cause))).size() > 20);
}
