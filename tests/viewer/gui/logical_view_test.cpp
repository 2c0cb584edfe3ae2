// The views of logical time without a window: what is clicked is what is selected.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/analysis/logical/programs.hpp"
#include "tests/thinned.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"
#include "tests/viewer/memory_session.hpp"

using namespace pclscope;

namespace {

constexpr std::int32_t late_rank = 21;

// An exchange of 64 ranks, five times; a rank is late in the second one.
struct Shown {
  test::NullFrame frame;
  std::shared_ptr<const session::LogicalRun> run;
  gui::LogicalSource source;
  gui::Scene scene;
  gui::Selection selection;
  Shown()
      : run(std::make_shared<const session::LogicalRun>(session::run_of(
            test::logical_time_of(test::exchange(
                {{4, 4, 4}}, 5,
                [](std::int32_t r, int i) { return 1'000'000 + (r == late_rank && i == 1 ? 9'000'000 : 0); })),
            64))),
        source(run),
        scene(test::scene_of(test::fake_snapshot({.ranks = 64, .regions = 4, .slow = 1, .windows = 20}))) {
    scene.logical = &source;
  }
  void settle(gui::View& view, float width = 800, float height = 500) {
    test::draw_until_settled(view, [&] { frame.draw(view, scene, selection, width, height); });
  }
};

std::size_t boxes_of(const gui::View& view) {
  for (const gui::Mark& mark : view.marks())
    if (mark.name.starts_with("logical boxes ")) return std::stoul(mark.name.substr(14));
  return 0;
}

}  // namespace

TEST_CASE("a click on the latest event selects its rank, region, period and message") {
  Shown shown;
  const auto view = gui::make_logical_view();
  shown.settle(*view);
  CHECK(boxes_of(*view) == shown.run->events);
  const layout::Point at = test::mark(*view, "latest event");
  REQUIRE(at.x > 0);
  shown.frame.click(*view, shown.scene, shown.selection, at);
  // The late rank, or one of those that its lateness has reached; all as late.
  REQUIRE(shown.selection.rank);
  CHECK(shown.selection.ranks == std::vector<std::int32_t>{*shown.selection.rank});
  REQUIRE(shown.selection.period);
  CHECK(shown.selection.period->end_s > 0.010);  // 9 ms late behind 1 ms
  REQUIRE(shown.selection.message);
  CHECK((shown.selection.message->source == *shown.selection.rank ||
         shown.selection.message->destination == *shown.selection.rank));
  REQUIRE(shown.selection.region);
  const auto& regions = shown.scene.snapshot->regions;
  const auto region = std::find_if(regions.begin(), regions.end(), [&](const Region& r) {
    return std::find(r.ranks.begin(), r.ranks.end(), *shown.selection.rank) != r.ranks.end();
  });
  CHECK(*shown.selection.region == region->id);
}

TEST_CASE("every metric has a button in the timeline, and all views of logical time show it") {
  Shown shown;
  const auto view = gui::make_logical_view(), overview = gui::make_overview_view(),
             clusters = gui::make_clusters_view();
  for (std::size_t m = 0; m < session::logical_metrics; ++m) {
    const auto metric = static_cast<logical::Metric>(m);
    INFO(gui::name_of(metric));
    shown.settle(*view);
    const layout::Point button = test::mark(*view, std::string("metric ") + gui::name_of(metric));
    REQUIRE(button.x > 0);
    shown.frame.click(*view, shown.scene, shown.selection, button);
    CHECK(shown.source.metric == metric);
    shown.frame.mouse({-1000, -1000});
    for (gui::View* other : {view.get(), overview.get(), clusters.get()}) shown.settle(*other);
    CHECK(boxes_of(*view) == shown.run->events);
    // Nobody is first in bytes.
    CHECK((test::mark(*view, "late first").x > 0) == (metric != logical::Metric::bytes));
  }
  CHECK(gui::value_words(logical::Metric::bytes, 2048) == "2.0 KiB");
  CHECK(gui::value_words(logical::Metric::wait, 0.002) == "2.00 ms");
}

TEST_CASE("a mouse, which stands on whole pixels, finds the events that are marked, at the edges too") {
  Shown shown;
  const auto view = gui::make_logical_view();
  constexpr float wide = 1200, high = 300.4f;
  int seen = 0, same = 0;
  // What a click on the mark selects: nothing where there is no such mark.
  const auto selected = [&](std::uint32_t end, float width, const char* name) {
    shown.selection = {};
    shown.selection.steps = gui::SelectedSteps{0, static_cast<double>(end)};
    shown.settle(*view, width, high);
    const layout::Point at = test::mark(*view, name);
    CAPTURE(end, width, name, at.x, at.y);
    if (!(at.x > 0)) return gui::Selection{};
    ++seen;
    CHECK(std::round(at.x) == at.x);
    CHECK(std::round(at.y) == at.y);
    shown.frame.click(*view, shown.scene, shown.selection, at, width, high);
    CHECK(shown.selection.rank);
    CHECK(shown.selection.phase);
    test::NullFrame::mouse({-1000, -1000});
    return shown.selection;
  };
  for (std::uint32_t end = 1; end <= shown.run->steps; end += test::under_sanitizer ? 4 : 1)
    for (const char* name : {"latest event", "late first"}) {
      const gui::Selection whole = selected(end, wide, name);
      for (const float width : {40.f, 66.f, 78.6f, 110.3f}) {
        CAPTURE(end, width, name);
        const gui::Selection here = selected(end, width, name);
        if (width < 40 + static_cast<float>(end) || std::string(name) != "late first") continue;
        ++same;  // boxes of a pixel or more are found each by itself; of the latest events several may be as late
        CHECK(here.rank == whole.rank);
        CHECK(here.period == whole.period);
      }
    }
  CHECK(seen > test::thinned(40, 10));
  CHECK(same > test::thinned(40, 10));
}

TEST_CASE("the wheel zooms into steps, Home shows all of them again") {
  Shown shown;
  const auto view = gui::make_logical_view();
  shown.settle(*view);
  test::NullFrame::mouse({400, 250});
  ImGui::GetIO().MouseWheel = 5;
  shown.frame.draw(*view, shown.scene, shown.selection);
  REQUIRE(shown.selection.steps);
  CHECK(shown.selection.steps->end - shown.selection.steps->first < 0.5 * shown.run->steps);
  shown.settle(*view);
  const std::size_t part = boxes_of(*view);
  CHECK(part > 0);
  CHECK(part < shown.run->events);
  ImGui::GetIO().KeysDown[ImGuiKey_Home] = true;
  shown.frame.draw(*view, shown.scene, shown.selection);
  ImGui::GetIO().KeysDown[ImGuiKey_Home] = false;
  CHECK(!shown.selection.steps);
}

TEST_CASE("the brush of the overview is the range of the timeline") {
  Shown shown;
  const auto view = gui::make_overview_view();
  const auto timeline = gui::make_logical_view();
  shown.settle(*view);
  const layout::Point left = test::mark(*view, "overview left"), right = test::mark(*view, "overview right");
  const float third = (right.x - left.x) / 3;
  test::NullFrame::mouse({left.x + third, left.y});
  shown.frame.draw(*view, shown.scene, shown.selection);
  for (const float x : {left.x + third, left.x + 1.5f * third, left.x + 2 * third}) {
    test::NullFrame::mouse({x, left.y}, true);
    shown.frame.draw(*view, shown.scene, shown.selection);
  }
  test::NullFrame::mouse({left.x + 2 * third, left.y});
  shown.frame.draw(*view, shown.scene, shown.selection);
  REQUIRE(shown.selection.steps);
  CHECK(shown.selection.steps->first == Approx(20).margin(1.5));
  CHECK(shown.selection.steps->end == Approx(40).margin(1.5));
  shown.settle(*timeline);
  std::size_t inside = 0;
  for (const auto& phase : shown.run->phases)
    for (const session::LogicalBox& box : phase->boxes)
      inside += box.step + 1 > shown.selection.steps->first && box.step < shown.selection.steps->end;
  CHECK(boxes_of(*timeline) == inside);
}

TEST_CASE("views of logical time draw at any size, and with nothing to draw say why") {
  Shown shown;
  for (const auto make : {gui::make_logical_view, gui::make_overview_view}) {
    const auto view = make();
    for (const float width : {1.f, 30.f, 301.f, 2000.f})
      for (const float height : {1.f, 20.f, 600.f}) {
        test::NullFrame::mouse({width / 2, height / 2});
        shown.settle(*view, width, height);
      }
  }
  gui::LogicalSource none;
  CHECK(none.words(shown.scene).find("open the dump") != std::string::npos);  // it runs
  shown.scene.logical = &none;
  CHECK(shown.frame.draw(*gui::make_logical_view(), shown.scene, shown.selection) > 0);
  shown.scene.logical = nullptr;
  shown.frame.draw(*gui::make_overview_view(), shown.scene, shown.selection);
}

TEST_CASE("a running job is asked for its newest messages, one question at a time and never while paused") {
  class Job final : public test::MemorySession {
   public:
    Job() : MemorySession({}) {}
    Result<Dag> dag(const DagQuestion& question) override {
      asked = question;
      return test::fake_dag(8, 6);
    }
    DagQuestion asked;
  };
  Shown shown;
  gui::LogicalSource source;
  std::vector<session::Feed::Work> works;
  shown.scene.ask = [&](session::Feed::Work work) { works.push_back(std::move(work)); };
  shown.scene.now_s = 100;
  shown.scene.paused = true;
  CHECK(source.run(shown.scene) == nullptr);
  CHECK(works.empty());
  shown.scene.paused = false;
  for (int i = 0; i < 3; ++i) CHECK(source.run(shown.scene) == nullptr);
  REQUIRE(works.size() == 1);
  CHECK(source.words(shown.scene).find("asking") != std::string::npos);
  Job job;
  works[0](&job, [] { return false; });
  CHECK(job.asked.region == -1);
  CHECK(job.asked.ranks.empty());
  CHECK(job.asked.to_ns == 100'000'000'000);
  CHECK(job.asked.from_ns < job.asked.to_ns);
  const auto run = source.run(shown.scene);
  REQUIRE(run);
  CHECK(run->events > 0);
  CHECK_FALSE(source.reading());
  CHECK(source.words(shown.scene).find("newest") != std::string::npos);
  // Who is gone takes nothing away.
  shown.scene.connection.phase = session::Phase::finished;
  CHECK(source.run(shown.scene) == run);
  CHECK(source.words(shown.scene).find("the job is over") != std::string::npos);
}

TEST_CASE("a cluster's node closes and opens its rows, a click on a row selects its ranks") {
  Shown shown;
  const auto view = gui::make_clusters_view();
  shown.settle(*view);
  const auto rows = [&] {
    for (const gui::Mark& mark : view->marks())
      if (mark.name.starts_with("cluster rows ")) return std::stoul(mark.name.substr(13));
    return 0UL;
  };
  const auto nodes = [&] {
    std::vector<gui::Mark> found;
    for (const gui::Mark& mark : view->marks())
      if (mark.name.starts_with("cluster node ")) found.push_back(mark);
    return found;
  };
  const std::size_t before = rows();
  REQUIRE(before > 1);
  // The root is the leftmost.
  const auto leftmost = [&] {
    const auto all = nodes();
    return std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.at.x < b.at.x; })->at;
  };
  REQUIRE(!nodes().empty());
  shown.frame.click(*view, shown.scene, shown.selection, leftmost());
  shown.settle(*view);
  CHECK(rows() == 1);
  test::NullFrame::mouse({-1, -1});
  shown.settle(*view);
  shown.frame.click(*view, shown.scene, shown.selection, leftmost());
  shown.settle(*view);
  CHECK(rows() > 1);
  shown.frame.click(*view, shown.scene, shown.selection, test::mark(*view, "cluster row 0"));
  CHECK(!shown.selection.ranks.empty());
  CHECK(shown.selection.ranks.size() < 64);
  CHECK(shown.selection.ranks.front() == 0);  // rows are in the order of their least rank
}

TEST_CASE("the clustered timeline shows the selected phase, or the one with most lateness") {
  Shown shown;
  const auto view = gui::make_clusters_view();
  shown.settle(*view);
  shown.frame.click(*view, shown.scene, shown.selection, test::mark(*view, "phase behind"));
  REQUIRE(shown.selection.phase);
  const auto most = std::max_element(shown.run->phases.begin(), shown.run->phases.end(),
                                     [](const auto& a, const auto& b) { return a->sums[0] < b->sums[0]; });
  CHECK(*shown.selection.phase == most - shown.run->phases.begin() + 1);
  for (const float width : {1.f, 30.f, 301.f, 2000.f})
    for (const float height : {1.f, 20.f, 90.f, 600.f}) {
      test::NullFrame::mouse({width / 2, height / 2});
      shown.settle(*view, width, height);
    }
}
