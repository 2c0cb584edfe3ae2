// views_benchmark [FRAMES] [FOLDER] [VIEW]: one table of all views (views.def), each alone as --only shows it,
// 1600x1000, off screen, at 1,152 and at 16,384 ranks: what a frame takes while the mouse hovers, zooms and drags, how
// soon the first picture is there, memory, and what is drawn. Each in a process of its own. Fed by made-up runs: a job
// that publishes every 100 ms, a dump of an exchange, a dump of ten million calls. Checked ten times: that the view
// shows what contents.hpp says. Exit status 1: a view is empty, nobody has said what it shows, or its median frame
// takes more than 50 ms of processor time. FOLDER: the first whole pictures are left there. VIEW: that one alone.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "benchmarks/viewer/contents.hpp"
#include "benchmarks/viewer/fake_stored.hpp"
#include "benchmarks/viewer/frames.hpp"
#include "benchmarks/viewer/sources.hpp"
#include "viewer/gui/frame/app.hpp"
#include "viewer/gui/frame/registry.hpp"

using namespace pclscope;
using benchmark::clock_ms;

namespace {

constexpr double most_ms = 50;               // of processors, the median frame
constexpr double patience_ms = 300'000;      // for the first picture
constexpr std::uint64_t calls = 10'000'000;  // of a dump
constexpr int fewest_frames = 10;            // one for each check

struct Size {
  benchmark::Size live;
  std::array<std::int32_t, 3> extent;  // of the exchange
  int exchanges;
  const char* topology;  // a rank on each node
};
constexpr Size sizes[] = {{{1152, 36}, {8, 12, 12}, 100, "torus:8x12x12"},
                          {{16384, 128}, {32, 32, 16}, 167, "torus:16x16x16x4"}};

// What the view is fed with. What a run is made of is made here, before the clock runs, but for messages and calls.
session::Feed::Open source_of(const gui::ViewEntry& view, const Size& size) {
  using Opened = Result<std::unique_ptr<session::Session>>;
  const std::int32_t ranks = size.live.ranks;
  if (view.workspace == gui::WorkspaceKey::calls || std::string_view(view.name) == "timeline") {
    benchmark::FakeStored job(ranks, calls);
    const auto summary =
        std::make_shared<const Snapshot>(benchmark::snapshot_of(job, ranks, benchmark::density_of(job)));
    return [=] { return Opened(std::make_unique<benchmark::FakeCallsDump>(ranks, calls, summary)); };
  }
  if (view.workspace == gui::WorkspaceKey::time)
    return [size] { return Opened(std::make_unique<benchmark::FakeDump>(size.extent, size.exchanges)); };
  return [size] { return Opened(std::make_unique<benchmark::FakeLive>(size.live)); };
}

benchmark::Shown shown_by(const gui::App& app, const layout::Image* picture) {
  const nlohmann::json views = nlohmann::json::parse(app.description())["views"];
  if (views.size() != 1) return {"", 0, std::to_string(views.size()) + " views instead of one"};
  return benchmark::shown(views.begin().key(), views.begin().value(), picture);
}

// In a process of its own. True: all is well.
bool measure(const gui::ViewEntry& view, const Size& size, int frames, const std::string& folder) {
  auto screen = benchmark::Screen::open();
  if (!screen) return std::fprintf(stderr, "views_benchmark: %s\n", screen.error().message.c_str()), false;
  const session::Feed::Open open = source_of(view, size);
  gui::ViewOptions options;
  options.target = "fake-1";
  options.only = view.name;
  options.network.topology = size.topology;
  options.network.ranks_per_node = 1;
  const double began = clock_ms();
  gui::App app(options, open, {});
  const auto draw = [&](benchmark::FrameTimes* times) {
    (*screen)->frame([&] { app.frame((*screen)->width(), (*screen)->height(), 1); }, times);
  };
  double first_ms = -1;
  std::string problem;
  while (problem.empty() && clock_ms() - began < patience_ms) {
    draw(nullptr);
    if (first_ms < 0 && shown_by(app, nullptr).problem.empty()) first_ms = clock_ms() - began;
    if (app.complete(problem) && first_ms >= 0) break;  // a running job is complete when its parts have come
    benchmark::wait_for_next_frame();
  }
  const layout::Image picture = (*screen)->pixels();
  const benchmark::Shown whole = shown_by(app, &picture);
  if (problem.empty()) problem = whole.problem;
  const std::string name = view.name, ranks = std::to_string(size.live.ranks);
  if (!folder.empty()) {
    const Status written = gui::write_png(picture, folder + "/view-" + name + "-" + ranks + ".png");
    if (!written) problem = written.error().message;
  }
  benchmark::FrameTimes times;
  for (int i = 0; i < frames; ++i) {
    benchmark::hover_zoom_and_drag(**screen, i);
    draw(&times);
    if (problem.empty() && i % std::max(1, frames / 10) == 0) {
      const layout::Image now = (*screen)->pixels();
      problem = shown_by(app, &now).problem;
      if (!problem.empty()) problem += " (in frame " + std::to_string(i) + ")";
    }
    benchmark::wait_for_next_frame();
  }
  const double median = times.processors.at(0.5);
  if (problem.empty() && median > most_ms) problem = "more than 50 ms of processor time";
  std::printf("| `%s` | %s | %.1f | %.1f | %.1f | %.1f | %.1f s | %zu MiB | %s | %.0f %% |%s%s\n", name.c_str(),
              ranks.c_str(), median, times.processors.at(0.95), times.processors.at(1), times.clock.at(0.5),
              first_ms / 1000, benchmark::resident_mib(), whole.marks.c_str(), 100 * whole.share,
              problem.empty() ? "" : " WRONG: ", problem.c_str());
  return problem.empty();
}

}  // namespace

int main(int argc, char** argv) {
  const int frames = argc > 1 ? std::atoi(argv[1]) : 180;
  const std::string folder = argc > 2 ? argv[2] : "";
  const std::string only = argc > 3 ? argv[3] : "";
  if (argc > 4 || frames < fewest_frames)
    return std::fprintf(stderr, "usage: views_benchmark [FRAMES (10 or more)] [FOLDER] [VIEW]\n"), 2;
  std::printf(
      "| view | ranks | median, ms of processors | p95 | worst | median, ms that went by | first picture | "
      "memory | drawn | pixels |\n|---|---|---|---|---|---|---|---|---|---|\n");
  bool good = true;
  for (const gui::ViewEntry& view : gui::all_views())
    for (const Size& size : sizes) {
      if (!only.empty() && only != view.name) continue;
      std::fflush(stdout);
      const pid_t child = ::fork();
      if (child == 0) {
        const bool well = measure(view, size, frames, folder);
        std::fflush(stdout);
        std::_Exit(well ? 0 : 1);
      }
      int status = -1;
      if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status))
        std::printf("| `%s` | %d | WRONG: it crashed\n", view.name, size.live.ranks);
      good = status == 0 && good;
    }
  return good ? 0 : 1;
}
