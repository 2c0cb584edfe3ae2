// The list of jobs to choose from, without a window.
#include "viewer/gui/frame/job_chooser.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/patience.hpp"
#include "tests/viewer/gui/null_frame.hpp"

using namespace pclscope;
using namespace std::chrono_literals;

namespace {

discovery::Job job(const std::string& name, std::int64_t started_s) {
  discovery::Job made;
  made.name = name;
  made.node = "node1";
  made.ranks = 4;
  made.started_realtime_ns = started_s * 1'000'000'000;
  return made;
}

struct Shown {
  test::NullFrame imgui;
  std::atomic<int> listed = 0;
  gui::JobChooser chooser;
  explicit Shown(std::vector<discovery::Job> first, std::vector<discovery::Job> later = {})
      : chooser(std::move(first),
                [this, later] {
                  ++listed;
                  return later;
                },
                {}) {
    frame();
    frame();
  }
  void frame() {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {800, 400};
    io.DeltaTime = 1 / 60.f;
    ImGui::NewFrame();
    chooser.frame(800, 400, 1, 100'000'000'000);
    ImGui::Render();
  }
  void key(ImGuiKey which) {
    for (const bool down : {true, false}) {
      ImGui::GetIO().KeysDown[which] = down;
      frame();
    }
  }
  nlohmann::json told() const { return nlohmann::json::parse(chooser.description()); }
};

}  // namespace

TEST_CASE("the newest job is marked first; arrows and Enter choose") {
  Shown shown({job("old", 10), job("new", 90), job("middle", 50)});
  CHECK(shown.told()["jobs"].size() == 3);
  CHECK(shown.told()["marked"] == "new");
  shown.key(ImGuiKey_DownArrow);
  CHECK(shown.told()["marked"] == "middle");
  for (int i = 0; i < 5; ++i) shown.key(ImGuiKey_DownArrow);
  CHECK(shown.told()["marked"] == "old");
  shown.key(ImGuiKey_UpArrow);
  CHECK_FALSE(shown.chooser.chosen());
  shown.key(ImGuiKey_Enter);
  REQUIRE(shown.chooser.chosen());
  CHECK(shown.chooser.chosen()->name == "middle");
}

TEST_CASE("a click chooses, q leaves") {
  Shown shown({job("old", 10), job("new", 90)});
  const nlohmann::json at = shown.told()["jobs"]["old"];
  for (const bool down : {false, true, false}) {
    test::NullFrame::mouse({at[0].get<float>(), at[1].get<float>()}, down);
    shown.frame();
  }
  REQUIRE(shown.chooser.chosen());
  CHECK(shown.chooser.chosen()->name == "old");
  Shown other({job("old", 10), job("new", 90)});
  ImGui::GetIO().AddInputCharacter('q');
  other.frame();
  CHECK(other.chooser.wants_to_close());
}

TEST_CASE("jobs that begin and end while one chooses: the marked one stays marked") {
  Shown shown({job("old", 10), job("middle", 50), job("new", 90)}, {job("newest", 95), job("middle", 50)});
  shown.key(ImGuiKey_DownArrow);
  CHECK(shown.told()["marked"] == "middle");
  const auto end = std::chrono::steady_clock::now() + test::patience;
  while (!shown.told()["jobs"].contains("newest") && std::chrono::steady_clock::now() < end) {
    shown.frame();
    std::this_thread::sleep_for(5ms);
  }
  CHECK(shown.listed > 0);
  CHECK(shown.told()["jobs"].size() == 2);
  CHECK(shown.told()["marked"] == "middle");
}

TEST_CASE("no job, a job with a strange name, a window of no size") {
  Shown none({});
  none.key(ImGuiKey_Enter);
  CHECK_FALSE(none.chooser.chosen());
  Shown strange({job("a\x1b[2J", 10), job(std::string(3000, 'x'), 20)});
  CHECK(strange.told()["jobs"].size() == 2);
  ImGui::NewFrame();
  strange.chooser.frame(1, 1, 1, 0);
  ImGui::Render();
}
