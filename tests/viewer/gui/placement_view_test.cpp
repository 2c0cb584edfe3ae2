// The placement view without a window: found, applied, undone, written.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/patience.hpp"
#include "tests/viewer/gui/network_shown.hpp"
#include "tests/viewer/placed_run.hpp"
#include "viewer/session/placement_gain.hpp"
#include "viewer/session/placement_proposal.hpp"

using namespace pclscope;

namespace {

struct Shown : test::NetworkShown {
  explicit Shown(session::NetworkCasePtr with) : NetworkShown(gui::make_placement_view(), std::move(with)) {}
};

// 0 talks with 2, 1 with 3, and they are on the wrong nodes.
session::NetworkCasePtr crossed() {
  return test::network_case("nodes:2", {4, {{0, 2, 9, 500}, {1, 3, 9, 500}, {2, 0, 9, 500}, {3, 1, 9, 500}}}, 2);
}

}  // namespace

TEST_CASE("a placement is found, applied to all views, undone and done again") {
  Shown shown(crossed());
  shown.settle();
  CHECK(shown.number("placement links before ") == 2);
  const auto before = shown.current();
  shown.press("placement inter-messages");
  shown.press("placement find");
  CHECK(shown.number("placement links after ") == 0);
  CHECK(shown.number("placement moved ") == 2);
  CHECK(shown.current() == before);  // only looked at
  shown.press("placement apply");
  const auto after = shown.current();
  CHECK(after->node_of_rank[0] == after->node_of_rank[2]);
  CHECK(after->node_of_rank[1] == after->node_of_rank[3]);
  CHECK(shown.number("placement links before ") == 2);
  CHECK(shown.number("placement links after ") == 0);
  shown.press("placement undo");
  CHECK(shown.current() == before);
  shown.press("placement redo");
  CHECK(shown.current() == after);
  shown.press("placement find");
  CHECK_FALSE(shown.has("placement apply"));
}

TEST_CASE("a search is ended, and what it has found so far is offered") {
  std::mt19937_64 random(11);
  Shown shown(test::network_case("torus:16x16x8", test::random_traffic(random, 2048, 60000)));  // half a minute
  shown.settle();
  const auto click = [&](const char* name) {
    shown.frame.click(*shown.view, shown.scene, shown.selection, test::mark(*shown.view, name));
  };
  click("placement find");
  REQUIRE(shown.has("placement end"));
  CHECK_FALSE(shown.has("placement find"));
  click("placement end");
  shown.settle();
  CHECK(shown.has("placement find"));
  CHECK(shown.has("placement was ended"));
}

TEST_CASE("time needs a run that tells what messages take") {
  Shown shown(crossed());
  shown.press("placement time");
  shown.press("placement find");
  CHECK_FALSE(shown.has("placement apply"));
  for (const char* objective : {"hop-bytes", "inter-bytes", "max-link-load"}) {
    shown.press(std::string("placement ") + objective);
    shown.press("placement find");
    CHECK(shown.number("placement moved ") == 2);
  }
}

TEST_CASE("of a dump it is told what a placement would bring, in the time of the run") {
  test::PlacedRun run({0, 0, 1, 1});
  auto facts = test::network_facts("nodes:2", {4, {{0, 2, 40, 9000}, {1, 3, 40, 9000}, {0, 1, 4, 900}}}, 2);
  facts.of_run = facts.as_run = true;
  const auto network = session::make_network_case(facts);
  REQUIRE(network);
  Shown shown(*network);
  shown.scene.snapshot = std::make_shared<const Snapshot>(run.snapshot);
  shown.press("placement find");  // of a running job its calls are not known
  CHECK(shown.number("placement moved ") == 2);
  const auto marks = shown.view->marks();
  CHECK(std::none_of(marks.begin(), marks.end(), [](const auto& m) { return m.name.starts_with("placement gain"); }));
  shown.scene.connection.phase = session::Phase::stored;
  shown.scene.ask = [&](const session::Feed::Work& work) { work(&run.session, [] { return false; }); };
  shown.press("placement time");
  shown.press("placement find");
  CHECK(shown.number("placement moved ") == 2);
  const auto calls = session::RecordedCalls::read(run.session, run.snapshot);
  REQUIRE(calls);
  const auto told = calls->gain({0, 1, 0, 1}, {}, {});
  const auto us = static_cast<std::size_t>(std::llround(1e6 * told.what_if.gain_s()));
  CHECK(us > 20'000);
  CHECK(shown.number("placement gain us ") == us);
  shown.press("placement apply");  // against the run as it was
  CHECK(shown.number("placement gain us ") == us);
  shown.press("placement undo");
  test::draw_everywhere(shown);
}

TEST_CASE("a rank that would move is selected by a click") {
  Shown shown(crossed());
  shown.press("placement inter-messages");
  shown.press("placement find");
  std::int32_t rank = -1;
  for (std::int32_t r = 0; r < 4 && rank < 0; ++r)
    if (shown.has("moved rank " + std::to_string(r))) rank = r;
  REQUIRE(rank >= 0);
  shown.press("moved rank " + std::to_string(rank));
  CHECK(shown.selection.rank == rank);
}

TEST_CASE("the proposed placement is written for the launcher, and never over another file") {
  const auto folder = std::filesystem::temp_directory_path() / ("placement-view-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const auto was = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  {
    Shown shown(crossed());
    shown.press("placement find");
    shown.press("placement apply");
    shown.press("placement write");
    const auto end = std::chrono::steady_clock::now() + test::patience;
    while (!shown.has("placement written") && std::chrono::steady_clock::now() < end) shown.settle();
    CHECK(shown.has("placement written"));
    std::ostringstream written;
    written << std::ifstream(folder / "ranks.txt").rdbuf();
    const auto wanted = session::placement_file(*shown.current(), mapping::LaunchFormat::plain);
    REQUIRE(wanted);
    CHECK(written.str() == *wanted);
  }
  std::filesystem::current_path(was);
  std::filesystem::remove_all(folder);
}

TEST_CASE("the placement view is drawn at any size, without routes, and when nothing can be placed") {
  std::mt19937_64 random(7);
  for (const std::size_t flows : {std::size_t{0}, std::size_t{200}})
    for (const char* topology : {"torus:4x4", "nodes:16"}) {
      Shown shown(test::network_case(topology, test::random_traffic(random, 16, flows)));
      test::draw_everywhere(shown);
      shown.press("placement find");
      test::draw_everywhere(shown);
    }
  Shown one(test::network_case("nodes:1", {2, {{0, 1, 1, 5}}}, 2));
  one.press("placement find");
  CHECK_FALSE(one.has("placement apply"));
}
