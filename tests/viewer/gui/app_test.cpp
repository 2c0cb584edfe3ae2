// The window as a whole, without a window: workspaces, their keys and tabs, and that what is hidden costs nothing.
#include "viewer/gui/frame/app.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/patience.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"
#include "tests/viewer/memory_session.hpp"

using namespace pclscope;
using namespace std::chrono_literals;

namespace {

struct Counts {
  int made = 0, drawn = 0, region = -1;
};
Counts counts[3];

// Says what it was asked for.
template <int which>
class Counting final : public gui::View {
 public:
  Counting() { ++counts[which].made; }
  const char* title() const override { return which == 0 ? "A" : which == 1 ? "B" : "C"; }
  void draw(const gui::Scene&, gui::Selection& selection) override {
    ++counts[which].drawn;
    if (selection.region) counts[which].region = *selection.region;
  }
};
template <int which>
std::unique_ptr<gui::View> make() {
  return std::make_unique<Counting<which>>();
}
constexpr gui::ViewEntry letter_views[] = {{"a", gui::WorkspaceKey::latency, make<0>},
                                           {"b", gui::WorkspaceKey::latency, make<1>},
                                           {"c", gui::WorkspaceKey::calls, make<2>}};

class Run final : public session::Session {
 public:
  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds) override {
    if (given_) return std::optional<Snapshot>();
    given_ = true;
    return std::optional<Snapshot>(test::fake_snapshot({.ranks = 8, .regions = 2, .slow = 1, .windows = 20}));
  }
  session::Phase phase() override { return session::Phase::finished; }
  bool live() const override { return false; }
  bool complete() const override { return true; }
  Status messages(const session::TimeSpan&, const std::function<bool(std::span<const Message>)>&) override {
    return {};
  }
  std::uint64_t message_count() const override { return 0; }
  std::uint64_t messages_not_stored() const override { return 0; }
  std::uint64_t collectives_not_stored() const override { return 0; }
  Result<std::vector<Window>> windows() override { return std::vector<Window>(); }
  Status collectives(const session::TimeSpan&, const std::function<bool(std::span<const CollectiveCall>)>&) override {
    return {};
  }
  Result<Dag> dag(const DagQuestion&) override { return Dag{}; }
  Result<std::vector<PairTraffic>> traffic() override { return std::vector<PairTraffic>(); }

 private:
  bool given_ = false;
};

struct Shown {
  test::NullFrame imgui;  // its context
  gui::App app;
  explicit Shown(const gui::ViewOptions& options = {}, std::span<const gui::ViewEntry> entries = letter_views)
      : app((std::fill(std::begin(counts), std::end(counts), Counts{}), options),
            [] { return Result<std::unique_ptr<session::Session>>(std::make_unique<Run>()); }, {}, entries) {
    const auto end = std::chrono::steady_clock::now() + test::patience;
    while (!app.anything_came() && std::chrono::steady_clock::now() < end) {
      frame();
      std::this_thread::sleep_for(1ms);
    }
    REQUIRE(app.anything_came());
    frame();
  }
  void frame() {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {800, 600};
    io.DeltaTime = 1 / 60.f;
    ImGui::NewFrame();
    app.frame(800, 600, 1);
    ImGui::Render();
  }
  nlohmann::json press(char key) {
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(key));
    frame();
    return told();
  }
  nlohmann::json told() const { return nlohmann::json::parse(app.description()); }
  std::vector<std::string> shown() const {
    std::vector<std::string> titles;
    const nlohmann::json json = told();
    for (const auto& [title, view] : json["views"].items()) titles.push_back(title);
    return titles;
  }
};

using Titles = std::vector<std::string>;

}  // namespace

TEST_CASE("a key shows a workspace, and views of the others are neither made nor drawn") {
  Shown window;
  CHECK(window.shown() == Titles{"A", "B"});
  CHECK(counts[2].made == 0);
  CHECK(window.press('3')["workspace"] == "calls");
  CHECK(window.shown() == Titles{"C"});
  CHECK(counts[2].made == 1);
  const int drawn = counts[0].drawn;
  window.frame();
  CHECK(counts[0].drawn == drawn);
  CHECK(window.press('2')["workspace"] == "calls");  // no view there, no tab
  CHECK(window.press('1')["workspace"] == "latency");
  CHECK(counts[0].made == 1);  // once
}

TEST_CASE("tabs are clicked, and what is selected is selected in all workspaces") {
  gui::ViewOptions options;
  options.selection.region = 1;
  options.selected = true;
  Shown window(options);
  const nlohmann::json tabs = window.told()["workspaces"];
  REQUIRE(tabs.size() == 2);  // of those with views
  for (const bool down : {false, true, false}) {
    test::NullFrame::mouse({tabs["calls"][0].get<float>(), tabs["calls"][1].get<float>()}, down);
    window.frame();
  }
  window.frame();
  CHECK(window.shown() == Titles{"C"});
  CHECK(counts[2].region == 1);
}

TEST_CASE("each view fills its workspace in turn") {
  Shown window;
  window.press('v');
  CHECK(window.shown() == Titles{"A"});
  window.press('v');
  CHECK(window.shown() == Titles{"B"});
  window.press('v');
  CHECK(window.shown() == Titles{"A", "B"});
  window.press('V');
  CHECK(window.shown() == Titles{"B"});
  window.press('3');
  window.press('1');
  CHECK(window.shown() == Titles{"B"});  // as it was left
  window.press('0');
  CHECK(window.shown() == Titles{"A", "B"});
}

TEST_CASE("options choose the workspace, and the view that is alone") {
  gui::ViewOptions options;
  options.workspace = "calls";
  CHECK(Shown(options).shown() == Titles{"C"});
  options = {};
  options.only = "b";
  CHECK(Shown(options).shown() == Titles{"B"});
  options.only = "c";
  CHECK(Shown(options).told()["workspace"] == "calls");
}

TEST_CASE("one workspace alone needs no tabs") {
  Shown window({}, std::span(letter_views, 2));
  CHECK(window.told()["workspaces"].empty());
  CHECK(window.press('3')["workspace"] == "latency");
}

TEST_CASE("a search selects what was found, Alt and the left arrow go back") {
  Shown window;
  const auto selected = [&] { return window.told()["selection"]["rank"]; };
  const auto before = selected();
  window.press('/');
  window.frame();
  for (const char c : std::string("rank 5")) window.press(c);
  window.frame();
  CHECK(window.told()["search"].size() == 1);
  ImGuiIO& io = ImGui::GetIO();
  const auto key = [&](ImGuiKey which, bool alt) {
    for (const bool down : {true, false}) {
      io.KeyAlt = alt;
      io.KeysDown[which] = down;
      window.frame();
    }
    io.KeyAlt = false;
    window.frame();
  };
  key(ImGuiKey_Enter, false);
  CHECK(selected() == 5);
  CHECK(window.told()["search"].is_null());
  key(ImGuiKey_LeftArrow, true);
  CHECK(selected() == before);
  key(ImGuiKey_RightArrow, true);
  CHECK(selected() == 5);
  window.press('/');
  window.app.escape();
  window.frame();
  CHECK(window.told()["search"].is_null());
  CHECK(selected() == 5);  // Esc closed the search, nothing else
}

TEST_CASE("what is selected is copied as text") {
  gui::ViewOptions options;
  options.target = "run.h5";
  options.selection.region = 1;
  options.selected = true;
  Shown window(options);
  static std::string clipboard;
  clipboard.clear();
  ImGui::GetIO().SetClipboardTextFn = [](void*, const char* text) { clipboard = text; };
  const auto copy = [&] {
    window.app.copy();
    window.frame();
  };
  copy();
  CHECK(clipboard == "run.h5: region 1 (ranks 4-7)");
  window.app.escape();  // nothing is selected
  clipboard.clear();
  copy();
  CHECK(clipboard.empty());
}
