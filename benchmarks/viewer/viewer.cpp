// viewer_benchmark [FRAMES] [WIDTHxHEIGHT] [FOLDER|-] [WORKSPACE]: milliseconds per frame of the whole viewer, drawn
// off screen by whatever OpenGL is there (here: Mesa's llvmpipe). Latency: a made-up job brings a snapshot every 100 ms
// and answers for its graph. Time: a made-up dump of an exchange, which is read as a dump is. The mouse moves over the
// views, zooms and selects. The reference of the same run is an empty frame of ImGui. And what an hour of such a job
// takes of memory. Checked, ten times in each measurement: that each view shows what it should inside its own
// rectangle; and that no snapshot is lost. FOLDER: the last pictures are left there.
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "benchmarks/viewer/contents.hpp"
#include "benchmarks/viewer/frames.hpp"
#include "benchmarks/viewer/sources.hpp"
#include "tests/viewer/fake_run.hpp"
#include "viewer/gui/frame/app.hpp"
#include "viewer/gui/frame/registry.hpp"

using namespace pclscope;
using benchmark::clock_ms;
using benchmark::processor_ms;

namespace {

using benchmark::FakeDump;
using benchmark::FakeLive;
using benchmark::Size;

constexpr Size sizes[] = {{16, 4}, {1152, 36}, {16384, 128}};
struct DumpSize {
  std::array<std::int32_t, 3> extent;
  int exchanges;
};
constexpr DumpSize dump_sizes[] = {{{8, 12, 12}, 100}, {{32, 32, 16}, 167}};

// The mouse goes over all views, zooms a little, and clicks on a region now and then.
void move(const benchmark::Screen& screen, int i, const std::string& description) {
  ImGuiIO& io = ImGui::GetIO();
  benchmark::hover(screen, i);
  io.MouseWheel = i % 60 == 20 ? 1.f : i % 60 == 50 ? -1.f : 0.f;
  io.MouseDown[0] = false;
  if (i % 97 != 0) return;
  const nlohmann::json views = nlohmann::json::parse(description)["views"];
  for (const auto& [title, view] : views.items())
    for (const auto& [name, at] : view["marks"].items())
      if (name.starts_with("region ") && title.starts_with("where:")) {
        io.MousePos = {at[0].get<float>(), at[1].get<float>()};
        io.MouseDown[0] = true;
        return;
      }
}

struct Case {
  std::string name;  // of the line, and of the picture
  std::string workspace;
  std::size_t views;
  session::Feed::Open open;
};

bool measure(benchmark::Screen& screen, const Case& of, int frames, double empty_ms, const std::string& folder) {
  gui::ViewOptions options;
  options.target = "fake-1";
  options.workspace = of.workspace;
  gui::App app(options, of.open, {});
  const auto draw = [&](benchmark::FrameTimes* times = nullptr) {
    screen.frame([&] { app.frame(screen.width(), screen.height(), 1); }, times);
  };
  const double began = clock_ms();
  std::string problem;
  double first = 0;
  for (int warm = 0; warm < 100 || clock_ms() - began < 4000 || (first == 0 && clock_ms() - began < 300'000); ++warm) {
    draw();
    if (first == 0 && app.complete(problem)) first = clock_ms() - began;
    benchmark::wait_for_next_frame();
  }
  benchmark::FrameTimes frame_times;
  bool good = true;
  const double measured = clock_ms();
  for (int i = 0; i < frames; ++i) {
    move(screen, i, i % 97 == 0 ? app.description() : "");
    draw(&frame_times);
    if (good && i % std::max(1, frames / 10) == 0)
      good = benchmark::all_views_show_something(app.description(), screen.pixels(), of.views);
    benchmark::wait_for_next_frame();
  }
  const double rate = frames / (clock_ms() - measured) * 1000;
  const benchmark::Times& times = frame_times.clock;
  benchmark::take_mouse_away();
  for (int i = 0; i < 2000 && app.unsettled(); ++i) {
    draw();
    benchmark::wait_for_next_frame();
  }
  // Processor time, which others on the machine do not lengthen much; of all threads, llvmpipe's too.
  constexpr int still = 40;
  const double before = processor_ms();
  for (int i = 0; i < still; ++i) draw();
  const double still_ms = (processor_ms() - before) / still;
  std::printf(
      "%-8s %s: median %5.1f ms  p95 %5.1f  worst %6.1f  (%.1f times an empty frame)  %4.1f frames/s  still: "
      "%.1f ms of processors  complete after %.1f s  %zu MiB  %s\n",
      of.workspace.c_str(), of.name.c_str(), times.at(0.5), times.at(0.95), times.at(1), times.at(0.5) / empty_ms, rate,
      still_ms, first / 1000, benchmark::resident_mib(), good ? "" : "WRONG");
  std::fflush(stdout);
  if (!folder.empty()) {
    const Status written = gui::write_png(screen.pixels(), folder + "/" + of.workspace + "-" + of.name + ".png");
    if (!written) std::fprintf(stderr, "viewer_benchmark: %s\n", written.error().message.c_str());
  }
  return good;
}

// An hour of windows of 100 ms, 600 to a snapshot, a snapshot a second.
bool remember_an_hour(std::int32_t regions) {
  session::History history;
  Snapshot snapshot = test::fake_snapshot({.ranks = regions * 4, .regions = regions, .slow = 2, .windows = 600});
  benchmark::Times times;
  const std::size_t before = benchmark::resident_mib();
  for (int second = 0; second < 3600; ++second) {
    snapshot.live.sequence += 10;
    snapshot.duration_s += 1;
    snapshot.live.window_end_realtime_ns += 1'000'000'000;
    const double began = clock_ms();
    history.add(snapshot);
    const session::History copy = history;
    times.ms.push_back(clock_ms() - began);
    if (copy.bytes() > (std::size_t{64} << 20))
      return std::fprintf(stderr, "viewer_benchmark: the history is beyond its budget\n"), false;
  }
  std::printf(
      "an hour of %d regions: %.1f MiB by its own count, resident %+.0f MiB; adding and sharing a snapshot: median "
      "%.2f ms, worst %.2f\n",
      regions, static_cast<double>(history.bytes()) / 1048576.0,
      static_cast<double>(benchmark::resident_mib()) - static_cast<double>(before), times.at(0.5), times.at(1));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int frames = argc > 1 ? std::atoi(argv[1]) : 300;
  int width = 1600, height = 1000;
  if (argc > 2 && std::sscanf(argv[2], "%dx%d", &width, &height) != 2) return 2;
  auto screen = benchmark::Screen::open(width, height);
  if (!screen) return std::fprintf(stderr, "viewer_benchmark: %s\n", screen.error().message.c_str()), 1;
  benchmark::FrameTimes empty_frames;
  for (int i = 0; i < 60; ++i) (*screen)->frame([] {}, &empty_frames);
  const benchmark::Times& empty = empty_frames.clock;
  std::printf("%dx%d, an empty frame: median %.1f ms\n", width, height, empty.at(0.5));
  const std::string folder = argc > 3 && std::string(argv[3]) != "-" ? argv[3] : "";
  bool good = true;
  const auto run = [&](const Case& of) {
    if (argc > 4 && of.workspace != argv[4]) return;
    good = measure(**screen, of, frames, empty.at(0.5), folder) && good;
  };
  const auto views_of = [](gui::WorkspaceKey key) {
    return static_cast<std::size_t>(
        std::ranges::count_if(gui::all_views(), [&](const gui::ViewEntry& view) { return view.workspace == key; }));
  };
  for (const Size size : sizes)
    run({std::to_string(size.ranks) + " ranks", "latency", views_of(gui::WorkspaceKey::latency),
         [size] { return Result<std::unique_ptr<session::Session>>(std::make_unique<FakeLive>(size)); }});
  for (const DumpSize& size : dump_sizes) {
    const auto dump = [size] { return std::make_unique<FakeDump>(size.extent, size.exchanges); };
    const std::string name = std::to_string(dump()->ranks()) + " ranks, " + std::to_string(12 * size.exchanges) +
                             " steps, " + std::to_string(dump()->message_count()) + " messages";
    run({name, "time", views_of(gui::WorkspaceKey::time),
         [dump] { return Result<std::unique_ptr<session::Session>>(dump()); }});
  }
  for (const int regions : {16, 64}) good = remember_an_hour(regions) && good;
  return good ? 0 : 1;
}
