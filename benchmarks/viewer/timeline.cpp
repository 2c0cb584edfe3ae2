// timeline_benchmark [CALLS]: the rank timeline of so many calls (1e7) of 1,152 and of 16,384 ranks, 1600x1000, drawn
// off screen: milliseconds per frame while the wheel zooms and the mouse drags, so that each frame asks for another
// picture; how long a picture takes in its own thread, of all and of a thousandth of the time; memory. Checked: that
// the late rank is seen in every picture of it, however many ranks a pixel row stands for, and that no picture is
// empty.
#include <imgui.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "benchmarks/viewer/fake_stored.hpp"
#include "benchmarks/viewer/frames.hpp"
#include "tests/viewer/fake_run.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/layout/timeline_picture.hpp"

using namespace pclscope;
using benchmark::clock_ms;
using benchmark::FakeStored;

namespace {

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

bool measure(benchmark::Screen& screen, std::int32_t ranks, std::uint64_t calls) {
  FakeStored job(ranks, calls);
  Snapshot snapshot = test::fake_snapshot({.ranks = ranks, .regions = 36, .slow = 2, .windows = 20});
  for (RankSummary& rank : snapshot.ranks) rank.call_function = 0;  // all have returned
  double began = clock_ms();
  const auto read = session::read_timeline(job, snapshot, [](double) { return true; });
  const double read_ms = clock_ms() - began;
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
    benchmark::Times times;
    for (int i = 0; i < 3; ++i) {
      began = clock_ms();
      const auto image = layout::draw_timeline(request, {});
      times.ms.push_back(clock_ms() - began);
      if (image.coloured == 0) good = fail("an empty picture");
    }
    (part ? part_ms : all_ms) = times.at(0.5);
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
  benchmark::FrameTimes frame_times;
  for (int i = 0; i < 300; ++i) {
    benchmark::hover(screen, i, {0.5f, 0.5f}, {0.4f, 0.35f});
    io.MouseWheel = i < 10 ? 0 : i % 100 < 50 ? 1.f : -1.f;
    io.MouseDown[1] = i % 20 > 10;
    screen.frame(*view, scene, selection, &frame_times);
    benchmark::wait_for_next_frame();
  }
  const benchmark::Times& frames = frame_times.clock;
  std::printf(
      "%6d ranks, %.1f M calls: frame median %4.1f ms, p95 %4.1f, worst %5.1f; a picture of all %4.0f ms, of a part "
      "%4.0f ms; made ready in %.1f s; resident %zu MiB\n",
      ranks, static_cast<double>(run.calls.size()) / 1e6, frames.at(0.5), frames.at(0.95), frames.at(1), all_ms,
      part_ms, read_ms / 1000, benchmark::resident_mib());
  bool coloured = false;
  for (const gui::Mark& mark : view->marks()) coloured = coloured || mark.name.starts_with("timeline coloured ");
  return coloured ? good : fail("no picture in the window");
}

}  // namespace

int main(int argc, char** argv) {
  const auto calls = static_cast<std::uint64_t>(argc > 1 ? std::atof(argv[1]) : 1e7);
  auto screen = benchmark::Screen::open();
  if (!screen) return std::fprintf(stderr, "timeline_benchmark: %s\n", screen.error().message.c_str()), 1;
  bool good = true;
  for (const std::int32_t ranks : {1152, 16384}) good = measure(**screen, ranks, calls) && good;
  return good ? 0 : 1;
}
