// viewer_benchmark [FRAMES] [WIDTHxHEIGHT]: milliseconds per frame of the whole viewer, drawn off screen by whatever
// OpenGL is there (here: Mesa's llvmpipe), while a made-up job brings a snapshot every 100 ms and answers for its
// graph; the mouse moves over the views, zooms and selects. The reference of the same run is an empty frame of ImGui.
// And what an hour of such a job takes of memory. Checked: that every view draws something, and that no snapshot is
// lost.
#include <imgui.h>
#include <imgui/backends/imgui_impl_opengl3.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "tests/viewer/fake_run.hpp"
#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/frame/app.hpp"
#include "viewer/gui/frame/offscreen.hpp"
#include "viewer/gui/frame/style.hpp"

using namespace pclscope;
using Clock = std::chrono::steady_clock;

namespace {

struct Size {
  std::int32_t ranks, regions;
};
constexpr Size sizes[] = {{16, 4}, {1152, 36}, {16384, 128}};

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// A job that publishes every 100 ms; its regions' histories go on.
class FakeLive final : public session::Session {
 public:
  explicit FakeLive(Size size)
      : size_(size),
        snapshot_(test::fake_snapshot({.ranks = size.ranks, .regions = size.regions, .slow = 2, .windows = 120})) {}
  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds timeout) override {
    if (Clock::now() < due_) {
      std::this_thread::sleep_for(std::min<Clock::duration>(timeout, due_ - Clock::now()));
      if (Clock::now() < due_) return std::optional<Snapshot>();
    }
    due_ = Clock::now() + std::chrono::milliseconds(100);
    ++snapshot_.live.sequence;
    snapshot_.duration_s += 0.1;
    snapshot_.live.window_end_realtime_ns += 100'000'000;
    for (Region& region : snapshot_.regions) {
      std::rotate(region.history_ratio.begin(), region.history_ratio.begin() + 1, region.history_ratio.end());
      for (Period& period : region.periods) {
        if (period.open) period.end_s = snapshot_.duration_s;
      }
    }
    return std::optional<Snapshot>(snapshot_);
  }
  session::Phase phase() override { return session::Phase::running; }
  bool live() const override { return true; }
  bool complete() const override { return false; }
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
  Result<Dag> dag(const DagQuestion& question) override {
    Dag dag = test::fake_dag(std::min(size_.ranks / size_.regions, 128), 40);
    dag.region = question.region;
    return dag;
  }
  Result<std::vector<PairTraffic>> traffic() override { return std::vector<PairTraffic>(); }

 private:
  Size size_;
  Snapshot snapshot_;
  Clock::time_point due_{};
};

struct Times {
  std::vector<double> ms;
  double at(double share) {
    std::sort(ms.begin(), ms.end());
    return ms.empty() ? 0 : ms[static_cast<std::size_t>(share * static_cast<double>(ms.size() - 1))];
  }
};

double frame(gui::Offscreen& screen, const std::function<void()>& content) {
  const auto began = Clock::now();
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  content();
  ImGui::Render();
  screen.begin_frame(layout::palette(layout::Theme::dark).background);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  screen.finish();
  return ms_since(began);
}

// The mouse goes over all views, zooms a little, and clicks now and then.
void move(int i, float width, float height) {
  ImGuiIO& io = ImGui::GetIO();
  const float t = static_cast<float>(i) * 0.037f;
  io.MousePos = {width * (0.5f + 0.45f * std::sin(t)), height * (0.5f + 0.4f * std::sin(1.7f * t))};
  io.MouseWheel = i % 60 == 20 ? 1.f : i % 60 == 50 ? -1.f : 0.f;
  io.MouseDown[0] = i % 97 == 0;
}

std::size_t resident_kib() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

bool measure(gui::Offscreen& screen, Size size, int frames, float width, float height, double empty_ms) {
  gui::ViewOptions options;
  options.target = "fake-1";
  gui::App app(options, [size] { return Result<std::unique_ptr<session::Session>>(std::make_unique<FakeLive>(size)); },
               {});
  const auto draw = [&] { return frame(screen, [&] { app.frame(width, height, 1); }); };
  const auto began = Clock::now();
  std::string problem;
  double first = 0;
  for (int warm = 0; warm < 100 || (ms_since(began) < 4000); ++warm) {
    draw();
    if (first == 0 && app.complete(problem)) first = ms_since(began);
  }
  Times times;
  const auto measured = Clock::now();
  for (int i = 0; i < frames; ++i) {
    move(i, width, height);
    times.ms.push_back(draw());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // as a window waits for its screen
  }
  const double rate = frames / ms_since(measured) * 1000;
  std::printf(
      "%6d ranks %4d regions: median %5.1f ms  p95 %5.1f  worst %6.1f  (%.1f times an empty frame)  %4.1f frames/s  "
      "%zu MiB\n",
      size.ranks, size.regions, times.at(0.5), times.at(0.95), times.at(1), times.at(0.5) / empty_ms, rate,
      resident_kib() / 1024);
  const layout::Image picture = screen.pixels();
  std::vector<std::uint32_t> seen;
  for (std::size_t i = 0; i < picture.rgba.size(); i += 4)
    seen.push_back(picture.rgba[i] | picture.rgba[i + 1] << 8 | picture.rgba[i + 2] << 16);
  std::sort(seen.begin(), seen.end());
  const auto colours = std::unique(seen.begin(), seen.end()) - seen.begin();
  if (colours > 100) return true;
  std::fprintf(stderr, "viewer_benchmark: the picture has %td colours only: nothing was drawn\n", colours);
  return false;
}

// An hour of windows of 100 ms, 600 to a snapshot, a snapshot a second.
bool remember_an_hour(std::int32_t regions) {
  session::History history;
  Snapshot snapshot = test::fake_snapshot({.ranks = regions * 4, .regions = regions, .slow = 2, .windows = 600});
  Times times;
  const std::size_t before = resident_kib();
  for (int second = 0; second < 3600; ++second) {
    snapshot.live.sequence += 10;
    snapshot.duration_s += 1;
    snapshot.live.window_end_realtime_ns += 1'000'000'000;
    const auto began = Clock::now();
    history.add(snapshot);
    const session::History copy = history;
    times.ms.push_back(ms_since(began));
    if (copy.bytes() > (std::size_t{64} << 20))
      return std::fprintf(stderr, "viewer_benchmark: the history is beyond its budget\n"), false;
  }
  std::printf(
      "an hour of %d regions: %.1f MiB by its own count, resident %+.1f MiB; adding and sharing a snapshot: median "
      "%.2f ms, worst %.2f\n",
      regions, static_cast<double>(history.bytes()) / 1048576.0,
      (static_cast<double>(resident_kib()) - static_cast<double>(before)) / 1024, times.at(0.5), times.at(1));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int frames = argc > 1 ? std::atoi(argv[1]) : 300;
  int width = 1600, height = 1000;
  if (argc > 2 && std::sscanf(argv[2], "%dx%d", &width, &height) != 2) return 2;
  auto screen = gui::Offscreen::open(width, height);
  if (!screen) return std::fprintf(stderr, "viewer_benchmark: %s\n", screen.error().message.c_str()), 1;
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
  io.DeltaTime = 1 / 60.f;
  for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
  gui::load_font(1);
  gui::apply_style(layout::palette(layout::Theme::dark), 1);
  ImGui_ImplOpenGL3_Init("#version 130");
  gui::Texture::allow_uploads(true);
  Times empty;
  for (int i = 0; i < 60; ++i) empty.ms.push_back(frame(**screen, [] {}));
  std::printf("%dx%d, an empty frame: median %.1f ms\n", width, height, empty.at(0.5));
  bool good = true;
  for (const Size size : sizes)
    good = measure(**screen, size, frames, io.DisplaySize.x, io.DisplaySize.y, empty.at(0.5)) && good;
  for (const int regions : {16, 64}) good = remember_an_hour(regions) && good;
  gui::Texture::allow_uploads(false);
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext();
  return good ? 0 : 1;
}
