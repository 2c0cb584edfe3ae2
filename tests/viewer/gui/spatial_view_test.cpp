#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <limits>
#include <random>
#include <thread>

#include "tests/thinned.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"
#include "viewer/gui/base/view.hpp"

using namespace pclscope;

namespace {

struct Stage {
  test::NullFrame frame;
  std::unique_ptr<gui::View> view = gui::make_spatial_view();
  gui::Scene scene;
  gui::Selection selection;
  float width = 800, height = 500;

  explicit Stage(Snapshot s) : scene(test::scene_of(std::move(s))) {}
  int draw() { return frame.draw(*view, scene, selection, width, height); }
  int settle() {
    int vertices = 0;
    test::draw_until_settled(*view, [&] { vertices = draw(); });
    REQUIRE_FALSE(view->unsettled());
    return vertices;
  }
  void click(const std::string& name) {
    const layout::Point at = test::mark(*view, name);
    REQUIRE(at.x >= 0);
    frame.click(*view, scene, selection, at, width, height);
    settle();
  }
  void key(int number) {
    ImGui::GetIO().KeysDown[number] = true;
    draw();
    ImGui::GetIO().KeysDown[number] = false;
    draw();
  }
  // Press at the first point, through all, let go at the last.
  void drag(const std::vector<layout::Point>& way) {
    test::NullFrame::mouse(way.front());
    draw();
    for (const layout::Point p : way) {
      test::NullFrame::mouse(p, true);
      draw();
    }
    test::NullFrame::mouse(way.back());
    draw();
    test::NullFrame::mouse({-1000, -1000});
    settle();
  }
};

Snapshot fake(std::int32_t ranks, std::int32_t regions, std::int32_t slow = 2) {
  test::FakeRun run;
  run.ranks = ranks;
  run.regions = regions;
  run.slow = slow;
  run.windows = 20;
  return test::fake_snapshot(run);
}

}  // namespace

TEST_CASE("spatial: a click on a region's mark picks it, on a rank's mark the rank too, Escape nothing") {
  Stage stage(fake(16, 4));
  stage.settle();
  for (const std::int32_t region : {2, 0, 3}) {
    stage.click(std::string("region ").append(std::to_string(region)));
    CHECK(stage.selection.region == region);
    CHECK_FALSE(stage.selection.rank);
  }
  stage.click("rank 9");
  CHECK(stage.selection.region == 2);
  CHECK(stage.selection.rank == 9);
  stage.key(ImGuiKey_Escape);
  CHECK(stage.selection == gui::Selection{});
}

TEST_CASE("spatial: the head line picks the worst region, in the selected period when there is one") {
  Snapshot s = fake(16, 4);
  Region& other = s.regions[1];  // bad in the first half, but not on the whole
  for (std::size_t i = 0; i < 5; ++i) other.history_ratio[i] = 6;
  Stage stage(s);
  stage.settle();
  stage.click("worst region");
  CHECK(stage.selection.region == 2);
  stage.selection.period = gui::SelectedPeriod{0.05, 0.4};
  stage.settle();
  stage.click("worst region");
  CHECK(stage.selection.region == 1);
}

TEST_CASE("spatial: once a cause is found the head line picks who delays others most; nobody when all are alike") {
  Snapshot s = fake(16, 4);
  for (RankSummary& r : s.ranks) r.delay_caused_s = r.rank == 5 ? s.duration_s : 0.01 * s.duration_s;
  Stage stage(s);
  stage.settle();
  stage.click("worst region");
  CHECK(stage.selection.region == 1);  // region 2 is latest
  stage.click("latency mode");
  stage.click("worst region");
  CHECK(stage.selection.region == 2);
  const auto other_colours = [&] {
    test::NullFrame::mouse({400, 300});
    stage.draw();
    stage.key('L');
    stage.settle();
  };
  other_colours();  // region mode: the same head line
  stage.click("worst region");
  CHECK(stage.selection.region == 2);
  other_colours();
  stage.click("worst region");
  CHECK(stage.selection.region == 1);
  for (RankSummary& r : s.ranks) r.delay_caused_s = 0.01 * s.duration_s;
  Stage alike(s);
  alike.settle();
  CHECK(test::mark(*alike.view, "worst region").x < 0);
  CHECK(test::mark(*alike.view, "delay mode").x >= 0);
}

TEST_CASE("spatial: a lasso picks exactly the ranks inside") {
  Stage stage(fake(64, 8));
  stage.settle();
  std::mt19937_64 random(3);
  for (int turn = 0; turn < 5; ++turn) {
    const float left = static_cast<float>(100 + random() % 200), top = static_cast<float>(80 + random() % 100);
    const float right = left + 150 + static_cast<float>(random() % 200),
                bottom = top + 100 + static_cast<float>(random() % 150);
    std::vector<std::int32_t> expected;
    const auto marks = stage.view->marks();
    for (const gui::Mark& mark : marks) {
      if (mark.name.starts_with("rank ") && mark.at.x > left && mark.at.x < right && mark.at.y > top &&
          mark.at.y < bottom)
        expected.push_back(std::stoi(mark.name.substr(5)));
    }
    std::sort(expected.begin(), expected.end());
    ImGui::GetIO().KeyShift = true;
    stage.drag({{left, top}, {right, top}, {right, bottom}, {left, bottom}, {left, top + 5}});
    ImGui::GetIO().KeyShift = false;
    CHECK(stage.selection.ranks == expected);
  }
}

TEST_CASE("spatial: a dragged region stays under the mouse, and where it was put when the next window comes") {
  Stage stage(fake(16, 4));
  stage.settle();
  const layout::Point from = test::mark(*stage.view, "region 1"), to{from.x + 90, from.y + 40};
  stage.drag({from, {from.x + 30, from.y + 20}, to});
  CHECK(layout::distance(test::mark(*stage.view, "region 1"), to) < 2);
  CHECK_FALSE(stage.selection.region);
  const auto before = stage.view->marks();
  Snapshot next = *stage.scene.snapshot;
  for (Region& region : next.regions) region.messages += 100, region.mean_latency_ratio += 0.5;
  for (RegionLink& link : next.links) link.messages += link.messages / 5;
  stage.scene.snapshot = std::make_shared<const Snapshot>(next);
  stage.settle();
  for (const gui::Mark& mark : before) CHECK(layout::distance(test::mark(*stage.view, mark.name), mark.at) < 0.01f);
}

TEST_CASE("spatial: a line between two regions answers to the mouse, and a click picks the ranks of both") {
  Snapshot s = fake(16, 4);
  s.links = {{0, 1, 500, 1 << 20, 100, 1.1, 1, 0.1, 0, 0.1}, {2, 3, 1000, 1 << 20, 100, 2.5, 1, 0.1, 0, 0.1}};
  Stage stage(s);
  const int without = stage.settle();
  const layout::Point line = test::mark(*stage.view, "link 2-3");
  REQUIRE(line.x >= 0);
  test::NullFrame::mouse(line);
  stage.draw();
  CHECK(stage.draw() > without);  // marked, and explained
  stage.selection.region = 3;
  stage.click("link 2-3");
  CHECK(stage.selection.ranks == std::vector<std::int32_t>{8, 9, 10, 11, 12, 13, 14, 15});
  CHECK(stage.selection.region == 3);  // an end of it
  stage.click("link 0-1");
  CHECK(stage.selection.ranks == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  REQUIRE(stage.selection.region);
  CHECK(*stage.selection.region <= 1);
  stage.drag({line, {line.x + 60, line.y + 40}});  // moves the picture, picks nothing
  CHECK(stage.selection.ranks.front() == 0);
}

TEST_CASE("spatial: a click on the line between two ranks picks both; inside a region it picks the region as ever") {
  Snapshot s = fake(16, 4);
  s.links.clear();
  s.traffic = {{0, 15, 100, 1000}, {8, 9, 100, 1000}};
  Stage stage(s);
  stage.settle();
  const auto between = [&](const char* a, const char* b, float share) {
    const layout::Point from = test::mark(*stage.view, a), to = test::mark(*stage.view, b);
    return from * (1 - share) + to * share;
  };
  const auto click = [&](layout::Point at) {
    stage.frame.click(*stage.view, stage.scene, stage.selection, at, stage.width, stage.height);
    stage.settle();
  };
  for (float share = 0.2f; share < 0.8f && stage.selection.ranks.empty();
       share += 0.05f) {  // not where another region lies
    click(between("rank 0", "rank 15", share));
  }
  CHECK(stage.selection.ranks == std::vector<std::int32_t>{0, 15});
  click(between("rank 8", "rank 9", 0.5f));
  CHECK(stage.selection.region == 2);
}

TEST_CASE(
    "spatial: what a new layout puts elsewhere glides there, in time and not in frames; where nobody watches it is "
    "there at once") {
  const Snapshot before = fake(16, 4);
  Snapshot after = before;  // region 1 falls into two
  after.regions.push_back(after.regions[1]);
  after.regions[1].ranks = {4, 5};
  after.regions.back().id = 9;
  after.regions.back().ranks = {6, 7};
  std::optional<layout::Point> where;
  for (const bool glides : {false, true}) {
    Stage stage(before);
    stage.scene.glides = glides;
    stage.settle();
    std::vector<layout::Point> way{test::mark(*stage.view, "rank 6")};
    stage.scene.snapshot = std::make_shared<const Snapshot>(after);
    test::draw_until_settled(*stage.view, [&] {
      stage.draw();
      if (const layout::Point at = test::mark(*stage.view, "rank 6"); at != way.back()) way.push_back(at);
    });
    REQUIRE_FALSE(stage.view->unsettled());
    REQUIRE(way.size() > 1);
    if (!where) where = way.back();
    CHECK(layout::distance(way.back(), *where) < 0.1f);
    if (!glides) {
      CHECK(way.size() == 2);
      continue;
    }
    const float all = layout::distance(way.front(), way.back());
    CHECK(way.size() > 10);
    for (std::size_t i = 1; i < way.size(); ++i) CHECK(layout::distance(way[i - 1], way[i]) < all / 4);
  }
}

TEST_CASE("spatial: a double click opens a large region and closes it again") {
  Stage stage(fake(1024, 8));
  stage.settle();
  const auto shows_ranks = [&] { return test::mark(*stage.view, "rank 384").x >= 0; };
  CHECK_FALSE(shows_ranks());
  const auto twice = [&] {
    ImGui::GetIO().MouseDoubleClickTime = 1e6f;
    stage.click("region 3");
    stage.click("region 3");
    ImGui::GetIO().MouseDoubleClickTime = 0.3f;
    ImGui::GetIO().DeltaTime = 1;
  };
  twice();
  CHECK(shows_ranks());
  CHECK(stage.selection.region == 3);
  test::NullFrame::mouse(test::mark(*stage.view, "region 3"));
  stage.draw();
  stage.key('O');
  stage.draw();
  CHECK_FALSE(shows_ranks());
}

TEST_CASE("spatial: turning keeps distances, Home brings all back") {
  Stage stage(fake(64, 8));
  stage.settle();
  const auto marks = [&] {
    return std::pair(test::mark(*stage.view, "region 1"), test::mark(*stage.view, "region 6"));
  };
  const auto before = marks();
  test::NullFrame::mouse({400, 300});
  stage.draw();
  ImGui::GetIO().MouseWheel = 1;
  stage.draw();
  stage.draw();
  const auto zoomed = marks();
  CHECK(layout::distance(zoomed.first, zoomed.second) > 1.1f * layout::distance(before.first, before.second));
  stage.key('R');
  stage.draw();
  const auto turned = marks();
  CHECK(layout::distance(turned.first, turned.second) ==
        Approx(layout::distance(zoomed.first, zoomed.second)).epsilon(0.01));
  CHECK(layout::distance(turned.first, zoomed.first) > 5);
  stage.key(ImGuiKey_Home);
  stage.draw();
  stage.draw();
  CHECK(layout::distance(marks().first, before.first) < 1);
}

TEST_CASE("spatial: from one rank to 16,384, few enough vertices, all regions marked") {
  struct Case {
    std::int32_t ranks, regions;
  };
  const std::int32_t many = test::thinned(10000, 1000);
  for (const Case c : {Case{1, 1}, {4, 1}, {1152, 32}, {16384, 128}, {many, many}}) {
    Stage stage(fake(c.ranks, c.regions));
    const auto begin = std::chrono::steady_clock::now();
    const int vertices = stage.settle();
    const auto settled = std::chrono::steady_clock::now();
    for (int i = 0; i < 10; ++i) stage.draw();
    const std::chrono::duration<double, std::milli> first = settled - begin,
                                                    frame = std::chrono::steady_clock::now() - settled;
    std::cout << c.ranks << " ranks, " << c.regions << " regions: settled after " << first.count() << " ms, ";
    std::cout << frame.count() / 10 << " ms a frame, " << vertices << " vertices\n";
    CHECK(vertices < 60'000);
    CHECK(test::mark(*stage.view, "region 0").x >= 0);
  }
}

TEST_CASE("spatial: empty states, one region without ranks, a window of one pixel") {
  for (const bool with_ranks : {false, true}) {
    Snapshot s;
    if (with_ranks) s.regions.resize(1);
    Stage stage(s);
    stage.settle();
    for (const float side : {1.f, 3.f, 40.f, 2000.f}) {
      stage.width = stage.height = side;
      stage.settle();
    }
  }
  Stage nothing{Snapshot{}};
  nothing.scene.snapshot = nullptr;
  nothing.scene.history = nullptr;
  nothing.settle();
  CHECK(nothing.view->marks().empty());
}

TEST_CASE("spatial: broken snapshots, changing under the mouse") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const std::vector<double> odd{nan, inf, -inf, -1, 0, 1e300, 1e-300, 2};
  Stage stage(fake(8, 2));
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto any = [&] { return odd[random() % odd.size()]; };
    Snapshot s = fake(static_cast<std::int32_t>(1 + random() % 50), static_cast<std::int32_t>(1 + random() % 5));
    for (Region& region : s.regions) {
      region.mean_latency_ratio = any();
      region.delayed_share = any();
      region.late_sender_s = any();
      if (random() % 3 == 0) region.id = static_cast<std::int32_t>(random() % 3) - 1;
      if (random() % 4 == 0) region.ranks = {-3, 7, INT32_MAX, 7};
      if (random() % 4 == 0) region.messages = UINT64_MAX;
    }
    for (RegionLink& link : s.links)
      link.mean_latency_ratio = any(), link.b = static_cast<std::int32_t>(random() % 9) - 2;
    for (RankSummary& rank : s.ranks) {
      rank.mean_latency_ratio = any();
      rank.rank = random() % 5 == 0 ? INT32_MAX : rank.rank;
      rank.node = static_cast<std::int32_t>(random() % 100) - 50;
    }
    stage.scene.snapshot = std::make_shared<const Snapshot>(std::move(s));
    stage.selection.region = static_cast<std::int32_t>(random() % 6) - 1;
    if (random() % 2 == 0) stage.selection.period = gui::SelectedPeriod{any(), any()};
    stage.selection.ranks = {-5, 3, INT32_MAX};
    for (int i = 0; i < 4; ++i) {
      test::NullFrame::mouse({static_cast<float>(random() % 800), static_cast<float>(random() % 500)},
                             random() % 2 == 0);
      ImGui::GetIO().MouseWheel = static_cast<float>(random() % 7) - 3;
      stage.draw();
    }
    if (seed % 10 == 0) stage.settle();
    const ImDrawData* drawn = ImGui::GetDrawData();
    std::size_t bad = 0;
    for (int l = 0; l < drawn->CmdListsCount; ++l) {
      for (const ImDrawVert& v : drawn->CmdLists[l]->VtxBuffer)
        bad += std::isfinite(v.pos.x) && std::isfinite(v.pos.y) ? 0 : 1;
    }
    CHECK(bad == 0);
  }
}
