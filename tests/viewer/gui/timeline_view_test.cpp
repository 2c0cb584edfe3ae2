// The rank timeline without a window: what is clicked is what is selected; what is missing is said.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "tests/patience.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"
#include "tests/viewer/memory_session.hpp"
#include "viewer/gui/base/selected_call.hpp"
#include "viewer/gui/base/timeline_source.hpp"
#include "viewer/gui/timeline/timeline_words.hpp"
#include "viewer/text/quantities.hpp"

using namespace pclscope;

namespace {

constexpr std::int32_t ranks = 16;
constexpr std::int64_t ms = 1'000'000;

// Each rank is in MPI_Recv for 60 ms, computes for 30, and sends for 10, ten times; of rank 5 nothing is known between
// its third and fourth round.
std::vector<MpiCall> rounds() {
  std::vector<MpiCall> calls;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    for (std::int64_t i = 0; i < 10; ++i) {
      MpiCall call;
      call.rank = rank;
      call.function = 300;
      call.peer = (rank + 1) % ranks;
      call.begin = i * 100 * ms;
      call.end = call.begin + 60 * ms;
      call.outside = i == 0 || (rank == 5 && i == 3) ? -1 : 0;
      call.bytes = 4096;
      if (rank != 5 || i != 3) calls.push_back(call);
      call.function = 328;
      call.outside = 30 * ms;
      call.begin = i * 100 * ms + 90 * ms;
      call.end = call.begin + 10 * ms;
      if (rank != 5 || i != 3) calls.push_back(call);
    }
  return calls;
}

struct Shown {
  test::NullFrame frame;
  std::shared_ptr<const session::TimelineRun> run = session::timeline_of(ranks, rounds(), {}, {}, false);
  gui::Scene scene = test::scene_of(test::fake_snapshot({.ranks = ranks, .regions = 4, .slow = 1, .windows = 20}));
  gui::TimelineSource source{run};
  gui::Selection selection;
  std::unique_ptr<gui::View> view = gui::make_timeline_view();
  Shown() { scene.calls = &source; }
  void settle() {
    test::draw_until_settled(*view, [&] { frame.draw(*view, scene, selection); });
  }
  // Of the pixels in sight, how many have a function's colour.
  std::size_t coloured() const {
    for (const gui::Mark& mark : view->marks())
      if (mark.name.starts_with("timeline coloured ")) return std::stoul(mark.name.substr(18));
    return 0;
  }
};

}  // namespace

TEST_CASE("a click on a call selects its rank, region and period") {
  Shown shown;
  shown.settle();
  CHECK(shown.coloured() > 800 * 300 / 2);
  const layout::Point at = test::mark(*shown.view, "timeline rank 10");
  REQUIRE(at.x > 0);
  shown.frame.click(*shown.view, shown.scene, shown.selection, at + layout::Point{5, 0});
  CHECK(shown.selection.rank == 10);
  CHECK(shown.selection.ranks == std::vector<std::int32_t>{10});
  REQUIRE(shown.selection.period);
  CHECK(shown.selection.period->begin_s == 0);
  CHECK(shown.selection.period->end_s == Approx(0.06));
  REQUIRE(shown.selection.region);
  const auto& regions = shown.scene.snapshot->regions;
  const auto region = std::find_if(regions.begin(), regions.end(), [&](const Region& r) {
    return std::find(r.ranks.begin(), r.ranks.end(), 10) != r.ranks.end();
  });
  CHECK(*shown.selection.region == region->id);
  REQUIRE(gui::selected_call(shown.selection) != nullptr);
  CHECK(shown.selection.call->function == 300);
  shown.selection.rank = 3;  // another rank: the call is not selected any more
  CHECK(gui::selected_call(shown.selection) == nullptr);
}

TEST_CASE("dragging moves and selects nothing; the wheel zooms, Home shows all again") {
  Shown shown;
  shown.settle();
  const std::size_t all = shown.coloured();
  test::NullFrame::mouse({120, 250});
  ImGui::GetIO().MouseWheel = 20;  // into a call of 60 ms
  shown.settle();
  const std::size_t zoomed = shown.coloured();
  CHECK(zoomed > all);
  for (const float x : {120.f, 160.f, 220.f}) {
    test::NullFrame::mouse({x, 250}, true);
    shown.frame.draw(*shown.view, shown.scene, shown.selection);
  }
  test::NullFrame::mouse({220, 250});
  shown.settle();
  CHECK_FALSE(shown.selection.rank);
  ImGui::GetIO().KeysDown[ImGuiKey_Home] = true;
  shown.frame.draw(*shown.view, shown.scene, shown.selection);
  ImGui::GetIO().KeysDown[ImGuiKey_Home] = false;
  shown.settle();
  CHECK(shown.coloured() == all);
}

TEST_CASE("a call that is selected elsewhere comes into sight, one that is in sight moves nothing") {
  Shown shown;
  shown.settle();
  const layout::Point row = test::mark(*shown.view, "timeline rank 10");
  test::NullFrame::mouse({120, 250});
  ImGui::GetIO().MouseWheel = 20;  // into the second round
  shown.settle();
  const std::size_t zoomed = shown.coloured();
  gui::SelectedCall call{10, 0, 300, 0, 100 * ms, 160 * ms};
  gui::select_call(call, *shown.scene.snapshot, shown.selection);
  shown.settle();
  CHECK(shown.coloured() == zoomed);
  call.begin_ns = 800 * ms;
  call.end_ns = 860 * ms;
  gui::select_call(call, *shown.scene.snapshot, shown.selection);
  shown.settle();
  shown.selection = {};
  shown.frame.click(*shown.view, shown.scene, shown.selection, {420, row.y});
  REQUIRE(gui::selected_call(shown.selection) != nullptr);
  CHECK(shown.selection.call->begin_ns == call.begin_ns);
  CHECK(shown.selection.call->rank == 10);
}

TEST_CASE("a place is a call, the time before one, or nothing that is known") {
  const auto run = session::timeline_of(ranks, rounds(), {}, {}, false);
  const gui::TimelinePlace recv = gui::place_at(*run, 5, 30 * ms, 0);
  REQUIRE(recv.rank == 5);
  CHECK_FALSE(recv.outside);
  CHECK(run->calls[recv.call].function == 300);
  const std::string text = gui::call_words(*run, recv, {});
  CHECK(text.find("rank 5: MPI_Recv") == 0);
  CHECK(text.find("partner: rank 6, " + text::format_bytes(4096)) != std::string::npos);
  const gui::TimelinePlace before = gui::place_at(*run, 5, 75 * ms, 0);
  REQUIRE(before.rank == 5);
  CHECK(before.outside);
  CHECK(run->calls[before.call].begin == 90 * ms);
  CHECK(gui::call_words(*run, before, {}).find("outside MPI for 30.0 ms") != std::string::npos);
  CHECK(gui::place_at(*run, 5, 330 * ms, 0).rank == -1);      // was not kept
  CHECK(gui::place_at(*run, 5, 302 * ms, 3 * ms).rank == 5);  // the call that ended 2 ms before
  CHECK(gui::place_at(*run, ranks, 30 * ms, 0).rank == -1);
}

TEST_CASE("where there are no calls it is said why, and what to do") {
  gui::Scene scene = test::scene_of(test::fake_snapshot({.ranks = ranks, .regions = 4, .slow = 1, .windows = 20}));
  gui::TimelineSource live;
  CHECK(live.run(scene) == nullptr);
  CHECK(live.words(scene).find("asking the job") != std::string::npos);
  scene.connection.phase = session::Phase::stored;
  const auto words_of = [&](session::CallCount count) {
    auto run = std::make_shared<session::TimelineRun>();
    run->count = count;
    return gui::TimelineSource(run).words(scene);
  };
  CHECK(words_of({}).find("earlier version") != std::string::npos);
  CHECK(words_of({true, 0, 0, 0}).find("--keep all") != std::string::npos);
  // Asked, and read in the thread that has the run.
  session::Feed::Work work;
  scene.ask = [&](session::Feed::Work asked) { work = std::move(asked); };
  gui::TimelineSource source;
  CHECK(source.run(scene) == nullptr);
  CHECK(source.reading());
  REQUIRE(work);
  test::MemorySession session({});
  work(&session, [] { return false; });
  CHECK_FALSE(source.reading());
  REQUIRE(source.run(scene) != nullptr);
  CHECK(source.words(scene).find("earlier version") != std::string::npos);
}
