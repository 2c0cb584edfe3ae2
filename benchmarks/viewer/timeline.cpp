// timeline_benchmark [CALLS]: the rank timeline of so many calls (1e7) of 1,152 and of 16,384 ranks, 1600x1000, drawn
// off screen: milliseconds per frame while the wheel zooms and the mouse drags, so that each frame asks for another
// picture; how long a picture takes in its own thread, of all and of a thousandth of the time; memory. Checked: that
// the late rank is seen in every picture of it, however many ranks a pixel row stands for, and that no picture is
// empty.
#include <imgui.h>
#include <imgui/backends/imgui_impl_opengl3.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "benchmarks/viewer/fake_stored.hpp"
#include "tests/viewer/fake_run.hpp"
#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/gui/frame/offscreen.hpp"
#include "viewer/gui/frame/style.hpp"
#include "viewer/layout/timeline_picture.hpp"

using namespace pclscope;
using benchmark::FakeStored;
using Clock = std::chrono::steady_clock;

namespace {

constexpr float width = 1600, height = 1000;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  double total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1048576;
}

double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return of.empty() ? 0 : of[of.size() / 2];
}

bool fail(const char* what) { return std::fprintf(stderr, "timeline_benchmark: %s\n", what), false; }

// The pixel in which the late rank is late: it is that rank's, and has no function.
bool check_late(const session::TimelineRun& run, const FakeStored& job, layout::TimelineSight sight) {
  const auto pixels = layout::timeline_pixels(run, sight);
  const int y = static_cast<int>(sight.y(job.late() + 0.5));
  const int x = static_cast<int>(sight.x(static_cast<double>(job.late_begin() + job.late_end()) / 2));
  const layout::TimelinePixel& pixel =
      pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(sight.width) + static_cast<std::size_t>(x)];
  std::size_t coloured = 0;
  for (const auto& p : pixels) coloured += p.function != layout::TimelinePixel::none;
  if (coloured == 0) return fail("an empty picture");
  return pixel.rank == job.late() || fail("the late rank is not seen");
}

bool measure(gui::Offscreen& screen, std::int32_t ranks, std::uint64_t calls) {
  FakeStored job(ranks, calls);
  Snapshot snapshot = test::fake_snapshot({.ranks = ranks, .regions = 36, .slow = 2, .windows = 20});
  for (RankSummary& rank : snapshot.ranks) rank.call_function = 0;  // all have returned
  auto began = Clock::now();
  const auto read = session::read_timeline(job, snapshot, [](double) { return true; });
  const double read_ms = ms_since(began);
  if (!read || (*read)->calls.size() != job.mpi_call_count().stored) return fail("calls are missing");
  const session::TimelineRun& run = **read;
  // Pictures.
  layout::TimelineImageRequest request;
  request.run = *read;
  request.palette = &layout::palette(layout::Theme::dark);
  request.sight = {0, static_cast<double>(job.end()), 0, static_cast<double>(ranks), 1500, 900};
  bool good = true;
  double all_ms = 0, part_ms = 0;
  for (const bool part : {false, true}) {
    if (part) {
      const auto middle = static_cast<double>(job.late_begin() + job.late_end()) / 2;
      const double length = std::max(static_cast<double>(job.end()) / 1000, 40e6);
      request.sight.time0 = middle - length / 2;
      request.sight.time1 = middle + length / 2;
    }
    std::vector<double> times;
    for (int i = 0; i < 3; ++i) {
      began = Clock::now();
      const auto image = layout::draw_timeline(request, {});
      times.push_back(ms_since(began));
      if (image.coloured == 0) good = fail("an empty picture");
    }
    (part ? part_ms : all_ms) = median(times);
    // The late rank is late for less than a pixel of a long run: there it is one of many.
    const double pixel = (request.sight.time1 - request.sight.time0) / request.sight.width;
    if (pixel < static_cast<double>(job.late_end() - job.late_begin()) / 2)
      good = check_late(run, job, request.sight) && good;
  }
  // Frames.
  const auto view = gui::make_timeline_view();
  gui::TimelineSource source(*read);
  gui::Scene scene;
  scene.calls = &source;
  scene.snapshot = std::make_shared<const Snapshot>(std::move(snapshot));
  scene.palette = request.palette;
  scene.connection.phase = session::Phase::stored;
  gui::Selection selection;
  ImGuiIO& io = ImGui::GetIO();
  std::vector<double> frames;
  for (int i = 0; i < 300; ++i) {
    const float t = static_cast<float>(i) * 0.037f;
    io.MousePos = {width * (0.5f + 0.4f * std::sin(t)), height * (0.5f + 0.35f * std::sin(1.7f * t))};
    io.MouseWheel = i < 10 ? 0 : i % 100 < 50 ? 1.f : -1.f;
    io.MouseDown[1] = i % 20 > 10;
    began = Clock::now();
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({width, height});
    ImGui::Begin("view", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
    view->draw(scene, selection);
    ImGui::End();
    ImGui::Render();
    screen.begin_frame(request.palette->background);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    screen.finish();
    frames.push_back(ms_since(began));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::sort(frames.begin(), frames.end());
  std::printf(
      "%6d ranks, %.1f M calls: frame median %4.1f ms, p95 %4.1f, worst %5.1f; a picture of all %4.0f ms, of a part "
      "%4.0f ms; made ready in %.1f s; resident %.0f MiB\n",
      ranks, static_cast<double>(run.calls.size()) / 1e6, frames[150], frames[285], frames.back(), all_ms, part_ms,
      read_ms / 1000, resident_mib());
  bool coloured = false;
  for (const gui::Mark& mark : view->marks()) coloured = coloured || mark.name.starts_with("timeline coloured ");
  return coloured ? good : fail("no picture in the window");
}

}  // namespace

int main(int argc, char** argv) {
  const auto calls = static_cast<std::uint64_t>(argc > 1 ? std::atof(argv[1]) : 1e7);
  auto screen = gui::Offscreen::open(static_cast<int>(width), static_cast<int>(height));
  if (!screen) return std::fprintf(stderr, "timeline_benchmark: %s\n", screen.error().message.c_str()), 1;
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {width, height};
  io.DeltaTime = 1 / 60.f;
  for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
  gui::load_font(1);
  gui::apply_style(layout::palette(layout::Theme::dark), 1);
  ImGui_ImplOpenGL3_Init("#version 130");
  gui::Texture::allow_uploads(true);
  bool good = true;
  for (const std::int32_t ranks : {1152, 16384}) good = measure(**screen, ranks, calls) && good;
  gui::Texture::allow_uploads(false);
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext();
  return good ? 0 : 1;
}
