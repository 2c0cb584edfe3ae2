// The logical timeline with two runs, or two periods of one, below each other.
#include <catch2/catch.hpp>

#include "tests/analysis/logical/programs.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"
#include "viewer/gui/logical/compared_strip.hpp"

using namespace pclscope;

namespace {

constexpr std::int32_t slow_rank = 13;

std::shared_ptr<const session::LogicalRun> exchange_run(int slow_from, int iterations = 6) {
  const test::Program program = test::exchange({{4, 4, 2}}, iterations, [=](std::int32_t r, int i) {
    return 100'000 + (r * 13 + i * 7) % 5 * 1'000 + (r == slow_rank && i >= slow_from ? 50'000 : 0);
  });
  return std::make_shared<const session::LogicalRun>(session::run_of(test::logical_time_of(program), program.ranks()));
}

struct Both {
  test::NullFrame frame;
  std::shared_ptr<const session::LogicalRun> first, second;
  gui::LogicalSource first_source, second_source;
  gui::Scene scene, other;
  gui::Selection selection;
  std::unique_ptr<gui::View> view = gui::make_logical_view();

  explicit Both(std::shared_ptr<const session::LogicalRun> below)
      : first(exchange_run(100)),
        second(std::move(below)),
        first_source(first),
        second_source(second),
        scene(test::scene_of(test::fake_snapshot({.ranks = 32, .regions = 4, .slow = 1, .windows = 20}))),
        other(scene) {
    scene.logical = &first_source;
    other.logical = &second_source;
    scene.connection.name = "runs/before.h5";
    other.connection.name = "after.h5";
    scene.compared = &other;
  }
  void settle(float width = 900, float height = 700) {
    test::draw_until_settled(*view, [&] { frame.draw(*view, scene, selection, width, height); });
  }
  std::size_t number(const std::string& begin) const {
    for (const gui::Mark& mark : view->marks())
      if (mark.name.starts_with(begin)) return std::stoul(mark.name.substr(begin.size()));
    return 999'999;
  }
};

}  // namespace

TEST_CASE("a run below itself differs nowhere, below a healthy one a slower one does") {
  Both same(exchange_run(100));
  same.settle();
  CHECK(same.number("logical boxes ") == same.first->events);
  CHECK(same.number("below logical boxes ") == same.first->events);
  CHECK(same.number("differing steps ") == 0);
  Both slower(exchange_run(3));
  slower.settle();
  const std::size_t before = slower.first->phases[3]->first_step;
  const std::size_t differ = slower.number("differing steps ");
  CHECK(differ > 0);
  CHECK(differ <= slower.first->steps - before);
}

TEST_CASE("both are zoomed together, other views keep their steps") {
  Both shown(exchange_run(3));
  shown.settle();
  const std::size_t all = shown.number("logical boxes ");
  test::NullFrame::mouse(test::mark(*shown.view, "below logical boxes " + std::to_string(all)));
  shown.frame.draw(*shown.view, shown.scene, shown.selection, 900, 700);
  ImGui::GetIO().MouseWheel = 5;
  shown.frame.draw(*shown.view, shown.scene, shown.selection, 900, 700);
  test::NullFrame::mouse({-100, -100});
  shown.settle();
  CHECK(shown.number("logical boxes ") < all);
  CHECK(shown.number("logical boxes ") > 0);
  CHECK(shown.number("logical boxes ") == shown.number("below logical boxes "));  // alike
  CHECK_FALSE(shown.selection.steps);
}

TEST_CASE("a click in the other run selects its rank alone, in this one the event") {
  Both shown(exchange_run(3));
  shown.settle();
  const layout::Point below = test::mark(*shown.view, "below latest event"),
                      above = test::mark(*shown.view, "latest event");
  REQUIRE(below.x > 0);
  REQUIRE(above.x > 0);
  CHECK(below.y > above.y);
  shown.frame.click(*shown.view, shown.scene, shown.selection, below, 900, 700);
  CHECK(shown.selection.rank);
  CHECK_FALSE(shown.selection.period);
  shown.frame.click(*shown.view, shown.scene, shown.selection, above, 900, 700);
  CHECK(shown.selection.period);
}

TEST_CASE("a pinned period stands above the one that is selected next") {
  Both shown(exchange_run(3));
  shown.scene.compared = nullptr;
  shown.scene.logical = &shown.second_source;
  const auto begin_of = [&](std::size_t phase) {
    std::int64_t begin = INT64_MAX;
    for (const session::LogicalBox& box : shown.second->phases[phase]->boxes)
      begin = std::min(begin, shown.second->phases[phase]->begin_ns(box));
    return static_cast<double>(begin) * 1e-9;
  };
  shown.selection.period = gui::SelectedPeriod{begin_of(0), begin_of(2)};
  shown.settle();
  shown.frame.click(*shown.view, shown.scene, shown.selection, test::mark(*shown.view, "pin period"), 900, 700);
  CHECK(shown.selection.pinned == shown.selection.period);
  CHECK(shown.number("logical boxes ") == shown.second->events);  // one period: the whole run
  shown.selection.period = gui::SelectedPeriod{begin_of(4), 10};
  test::NullFrame::mouse({-100, -100});
  shown.settle();
  const std::size_t two = shown.second->phases[0]->boxes.size() + shown.second->phases[1]->boxes.size();
  CHECK(shown.number("logical boxes ") == two);
  CHECK(shown.number("below logical boxes ") == two);
  // A click keeps both.
  const gui::Selection before = shown.selection;
  shown.frame.click(*shown.view, shown.scene, shown.selection, test::mark(*shown.view, "below latest event"), 900, 700);
  CHECK(shown.selection.rank);
  CHECK(shown.selection.period == before.period);
  shown.frame.click(*shown.view, shown.scene, shown.selection, test::mark(*shown.view, "pin period"), 900, 700);
  CHECK_FALSE(shown.selection.pinned);
  shown.settle();
  CHECK(shown.number("logical boxes ") == shown.second->events);
}

TEST_CASE("two runs are drawn at any size, and what is missing of the second is said") {
  Both shown(exchange_run(3, 4));
  for (const float width : {1.f, 30.f, 301.f, 2000.f})
    for (const float height : {1.f, 20.f, 90.f, 130.f, 600.f}) {
      test::NullFrame::mouse({width / 2, height / 2});
      shown.settle(width, height);
    }
  for (float y = 0; y < 700; y += 23) {  // over both, and what is between them
    test::NullFrame::mouse({450, y});
    shown.frame.draw(*shown.view, shown.scene, shown.selection, 900, 700);
  }
  gui::LogicalSource none;
  shown.other.logical = &none;
  shown.settle();
  CHECK(shown.number("logical boxes ") == shown.first->events);
  CHECK(shown.number("below logical boxes ") == 999'999);
}

TEST_CASE("the line above two runs names them, how they stand beside each other, and what the phases took") {
  const auto healthy = exchange_run(100);
  const layout::ComparedRuns same = layout::compare_runs({healthy, healthy, {}, {}}),
                             slower = layout::compare_runs({healthy, exchange_run(3), {}, {}}),
                             shorter = layout::compare_runs({healthy, exchange_run(100, 4), {}, {}});
  const gui::ComparedNames names{"a.h5", "b.h5"};
  const layout::LogicalSight all{0, static_cast<double>(healthy->steps), 0, 32, 100, 100};
  const std::string words = gui::compared_words(same, names, all);
  CHECK(words.starts_with("above a.h5, below b.h5, phase by phase; phases in sight: "));
  CHECK(words.ends_with(": the same"));
  CHECK(gui::compared_words(slower, names, all).find(" more; most in phase ") != std::string::npos);
  CHECK(gui::compared_words(shorter, names, all).find("from step 0 on (their phases differ)") != std::string::npos);
  const layout::LogicalSight late{healthy->steps - 2.0, static_cast<double>(healthy->steps), 0, 32, 100, 100};
  CHECK(gui::compared_words(shorter, names, late).find("phases in sight") == std::string::npos);
  CHECK(gui::more_or_less(0) == "the same");
  CHECK(gui::more_or_less(-2e-6) == "2.00 us less");
}
