// ImGui without a window: frames that go nowhere, with a mouse that tests move. One at a time.
#pragma once

#include <imgui.h>

#include <chrono>
#include <memory>
#include <thread>

#include "tests/patience.hpp"
#include "viewer/gui/base/view.hpp"

namespace pclscope::test {

class NullFrame {
 public:
  NullFrame() : context_(ImGui::CreateContext()) {
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.MousePos = {-1000, -1000};
    io.Fonts->Build();
    for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
  }
  ~NullFrame() { ImGui::DestroyContext(context_); }
  NullFrame(const NullFrame&) = delete;

  // One frame of one view filling width x height. Returns how many vertices were drawn.
  int draw(gui::View& view, const gui::Scene& scene, gui::Selection& selection, float width = 800, float height = 500) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {width, height};
    io.DeltaTime = 1 / 60.f;
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({width, height});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
    ImGui::Begin("view", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoScrollWithMouse);
    view.draw(scene, selection);
    ImGui::End();
    ImGui::PopStyleVar();
    ImGui::Render();
    io.MouseWheel = 0;
    return ImGui::GetDrawData()->TotalVtxCount;
  }
  static void mouse(layout::Point at, bool left = false, bool right = false) {
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = {at.x, at.y};
    io.MouseDown[0] = left;
    io.MouseDown[1] = right;
  }
  // Moves there, presses and lets go, one frame each.
  void click(gui::View& view, const gui::Scene& scene, gui::Selection& selection, layout::Point at, float width = 800,
             float height = 500) {
    for (const bool down : {false, true, false}) {
      mouse(at, down);
      draw(view, scene, selection, width, height);
    }
    draw(view, scene, selection, width, height);
  }

 private:
  ImGuiContext* context_;
};

inline gui::Scene scene_of(Snapshot snapshot) {
  gui::Scene scene;
  auto history = std::make_shared<session::History>();
  history->add(snapshot);
  scene.now_s = snapshot.duration_s;
  scene.snapshot = std::make_shared<const Snapshot>(std::move(snapshot));
  scene.history = history;
  scene.palette = &layout::palette(layout::Theme::dark);
  scene.connection.name = "test";
  scene.connection.phase = session::Phase::running;
  return scene;
}

// Where a mark lies, by name; (-1, -1) when there is none.
inline layout::Point mark(const gui::View& view, const std::string& name) {
  for (const gui::Mark& m : view.marks()) {
    if (m.name == name) return m.at;
  }
  return {-1, -1};
}

// Draws until it has come, at least once. At most `patience`.
template <class Come, class Draw>
void draw_until(Come come, Draw draw) {
  const auto end = std::chrono::steady_clock::now() + test::patience;
  for (draw(); !come() && std::chrono::steady_clock::now() < end; draw())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Draws until nothing is due in three frames one after another: what is made in steps (compared, then painted) asks for
// the next step in the frame that gets the one before. At most `patience`.
template <class Draw>
void draw_until_settled(const gui::View& view, Draw draw) {
  const auto end = std::chrono::steady_clock::now() + test::patience;
  for (int quiet = 0; quiet < 3 && std::chrono::steady_clock::now() < end;) {
    draw();
    quiet = view.unsettled() || view.awaits() ? 0 : quiet + 1;
    if (quiet == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace pclscope::test
