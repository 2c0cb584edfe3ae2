#include "benchmarks/viewer/frames.hpp"

#include <imgui.h>
#include <imgui/backends/imgui_impl_opengl3.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <thread>

#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/frame/style.hpp"
#include "viewer/layout/palette.hpp"

namespace pclscope::benchmark {
namespace {

double ms_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

}  // namespace

double clock_ms() { return ms_of(CLOCK_MONOTONIC); }
double processor_ms() { return ms_of(CLOCK_PROCESS_CPUTIME_ID); }
double thread_ms() { return ms_of(CLOCK_THREAD_CPUTIME_ID); }

std::size_t resident_mib() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) >> 20;
}

double Times::at(double share) const {
  if (ms.empty()) return 0;
  std::vector<double> sorted = ms;
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

Result<std::unique_ptr<Screen>> Screen::open(int width, int height) {
  auto offscreen = gui::Offscreen::open(width, height);
  if (!offscreen) return offscreen.error();
  return std::unique_ptr<Screen>(new Screen(std::move(*offscreen), width, height));
}

Screen::Screen(std::unique_ptr<gui::Offscreen> offscreen, int width, int height)
    : offscreen_(std::move(offscreen)), width_(static_cast<float>(width)), height_(static_cast<float>(height)) {
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {width_, height_};
  io.DeltaTime = 1 / 60.f;
  for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
  gui::load_font(1);
  gui::apply_style(layout::palette(layout::Theme::dark), 1);
  ImGui_ImplOpenGL3_Init("#version 130");
  gui::Texture::allow_uploads(true);
  take_mouse_away();
}

Screen::~Screen() {
  gui::Texture::allow_uploads(false);
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext();
}

void Screen::frame(const std::function<void()>& content, FrameTimes* times) {
  const double clock = clock_ms(), processors = processor_ms();
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  content();
  ImGui::Render();
  offscreen_->begin_frame(layout::palette(layout::Theme::dark).background);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  offscreen_->finish();
  if (times == nullptr) return;
  times->processors.ms.push_back(processor_ms() - processors);
  times->clock.ms.push_back(clock_ms() - clock);
}

void Screen::frame(gui::View& view, const gui::Scene& scene, gui::Selection& selection, FrameTimes* times) {
  frame(
      [&] {
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize({width_, height_});
        ImGui::Begin("view", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
        view.draw(scene, selection);
        ImGui::End();
      },
      times);
}

void hover(const Screen& screen, int i, layout::Point middle, layout::Point reach) {
  const float t = static_cast<float>(i) * 0.037f;
  ImGui::GetIO().MousePos = {screen.width() * (middle.x + reach.x * std::sin(t)),
                             screen.height() * (middle.y + reach.y * std::sin(1.7f * t))};
}

void hover_zoom_and_drag(const Screen& screen, int i) {
  constexpr int turn = 60, drag_begin = 25, drag_frames = 20;
  ImGuiIO& io = ImGui::GetIO();
  const int at = i % turn;
  io.MouseWheel = at == 21 || at == 22 ? 1.f : at == 50 || at == 51 ? -1.f : 0.f;
  io.MouseDown[1] = at >= drag_begin && at < drag_begin + drag_frames;
  if (at < 20) return hover(screen, i);
  const float x = 0.35f + 0.15f * static_cast<float>(i / turn % 3);
  io.MousePos = {screen.width() * x, screen.height() * 0.55f};
  if (!io.MouseDown[1]) return;
  const float part = std::sin(std::numbers::pi_v<float> * static_cast<float>(at - drag_begin) / drag_frames);
  io.MousePos.x += 0.1f * screen.width() * part * part;
  io.MousePos.y += 0.05f * screen.height() * part * part;
}

void take_mouse_away() {
  ImGuiIO& io = ImGui::GetIO();
  io.MousePos = {-1e6f, -1e6f};
  io.MouseWheel = 0;
  for (bool& down : io.MouseDown) down = false;
}

void wait_for_next_frame() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

}  // namespace pclscope::benchmark
