// single_calls_benchmark [CALLS]: the call view of a dump with so many single calls (1e7) of 1,152 and of 16,384 ranks,
// all of them lit, 1600x1000, drawn off screen: how long the dump takes to be read; how long a new picture of all of
// them as points takes in its own thread, the same of a thousandth of the time, a list of all calls and of those near
// the mouse; milliseconds per frame while the wheel zooms and the mouse moves, so that each frame asks for other
// pictures and other calls; memory. Checked: each picture has every call of its time, the list has as many as were
// counted, and the worst of it waited for the late rank.
#include <imgui.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "analysis/store/writer.hpp"
#include "benchmarks/viewer/fake_stored.hpp"
#include "benchmarks/viewer/frames.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/layout/call_part.hpp"
#include "viewer/layout/lit_calls.hpp"

using namespace pclscope;
using benchmark::clock_ms;
using benchmark::FakeStored;
using benchmark::processor_ms;
using benchmark::thread_ms;

namespace {

bool fail(const char* what) { return std::fprintf(stderr, "single_calls_benchmark: %s\n", what), false; }

// Processor time of this thread, the best of three; and the last answer.
template <class Work>
auto timed(double& ms, Work&& work) {
  ms = 1e9;
  for (int i = 0;; ++i) {
    const double began = thread_ms();
    auto answer = work();
    ms = std::min(ms, thread_ms() - began);
    if (i == 2) return answer;
  }
}

// A dump of the job, gone when this is.
class Dump {
 public:
  Dump()
      : path_(std::filesystem::temp_directory_path() /
              ("pclscope-single-calls-" + std::to_string(::getpid()) + ".h5")) {}
  ~Dump() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  Dump(const Dump&) = delete;
  bool write(FakeStored& job, const Snapshot& snapshot) const {
    auto writer = store::Writer::create(path_, {});
    if (!writer) return false;
    Status status;
    (void)job.mpi_calls({}, [&](std::span<const MpiCall> batch) { return bool(status = (*writer)->append(batch)); });
    if (status)
      (void)job.messages({}, [&](std::span<const Message> batch) { return bool(status = (*writer)->append(batch)); });
    return status && (*writer)->summarize(snapshot) && (*writer)->close();
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Frames {
  benchmark::Times ms;
  double cpu_ms = 0;  // of all threads, between frames as well; mean
  double at(double part) const { return ms.at(part); }
};

Frames draw_frames(benchmark::Screen& screen, gui::View& view, const gui::Scene& scene, gui::Selection& selection,
                   bool moves) {
  constexpr int count = 300;
  benchmark::FrameTimes times;
  const double cpu = processor_ms();
  benchmark::take_mouse_away();
  for (int i = 0; i < count; ++i) {
    if (moves) {
      benchmark::hover(screen, i, {0.4f, 0.5f}, {0.3f, 0.35f});
      ImGui::GetIO().MouseWheel = i < 10 ? 0 : i % 100 < 50 ? 1.f : -1.f;
    }
    screen.frame(view, scene, selection, &times);
    benchmark::wait_for_next_frame();
  }
  return {times.clock, (processor_ms() - cpu) / count};
}

bool measure(benchmark::Screen& screen, std::int32_t ranks, std::uint64_t calls) {
  FakeStored job(ranks, calls);
  const CallDensity density = benchmark::density_of(job);
  Snapshot snapshot = benchmark::snapshot_of(job, ranks, density);
  Dump dump;
  if (!dump.write(job, snapshot)) return fail("no dump");
  auto stored = session::open_stored(dump.path());
  if (!stored) return fail(stored.error().message.c_str());
  double read_ms = thread_ms();
  const auto read = session::read_timeline(**stored, snapshot, [](double) { return true; });
  read_ms = thread_ms() - read_ms;
  if (!read || (*read)->calls.size() != job.mpi_call_count().stored) return fail("calls are missing");
  bool good = true;
  layout::LitRequest request;
  request.run = *read;
  request.ranks.resize(static_cast<std::size_t>(ranks));
  std::iota(request.ranks.begin(), request.ranks.end(), 0);
  request.durations = layout::durations_of(density);
  request.width = 1350;
  request.height = 900;
  const std::vector<std::uint16_t> functions = density::functions_by_time(density);
  request.colours = layout::FunctionColours(functions);
  double all_ms = 0, part_ms = 0, list_ms = 0, near_ms = 0;
  request.range = {0, snapshot.duration_s};
  if (timed(all_ms, [&] { return layout::light_calls(request); }).calls != (*read)->calls.size())
    good = fail("a picture without some calls");
  const double middle_s = static_cast<double>(job.late_begin()) * 1e-9;
  const double part_s = std::max(snapshot.duration_s / 1000, 2e-3);
  request.range = {middle_s - part_s, middle_s};
  if (timed(part_ms, [&] { return layout::light_calls(request); }).calls == 0) good = fail("an empty picture");
  const layout::CallBox all{{0, snapshot.duration_s}, {0, 60}};
  const auto part = layout::part_of(density, layout::CallEdge::start, all, {});
  const auto found = timed(list_ms, [&] { return session::find_calls(**read, part, 64); });
  if (found.stored != layout::counted_in(density, part)) good = fail("other calls than were counted");
  if (found.longest.empty() || session::duration_of(found.longest[0].call) < 20'000'000 ||
      found.longest[0].rank == job.late())
    good = fail("the worst is not one that waited for the late rank");
  const layout::CallBox box{{middle_s, middle_s + part_s / 200}, {24, 25}};
  const auto near = layout::part_of(density, layout::CallEdge::start, box, {});
  timed(near_ms, [&] {
    return session::find_calls(**read, near, 6, session::CallPoint{middle_s * 1e9, 24, 1e5, 0.05});
  });

  gui::TimelineSource source(*read);
  gui::Scene scene;
  scene.snapshot = std::make_shared<const Snapshot>(std::move(snapshot));
  scene.palette = &layout::palette(layout::Theme::dark);
  scene.connection.phase = session::Phase::stored;
  scene.calls = &source;
  gui::Selection selection;
  selection.ranks = request.ranks;
  const auto view = gui::make_calls_view();
  const Frames moving = draw_frames(screen, *view, scene, selection, true);
  const double deadline = clock_ms() + 60'000;
  while (view->unsettled() && clock_ms() < deadline) draw_frames(screen, *view, scene, selection, false);
  const Frames still = draw_frames(screen, *view, scene, selection, false);
  if (view->unsettled()) good = fail("a view that never comes to rest");
  std::printf(
      "%6d ranks, %.1f M calls: a new picture of all as points %3.0f ms, of a part %3.0f ms; a list of all %3.0f ms, "
      "of "
      "those near the mouse %.1f ms; frame while it moves median %4.1f ms, p95 %4.1f, worst %5.1f, afterwards %4.1f, "
      "%4.1f, %5.1f (%.1f ms of processors); read in %.1f s; resident %zu MiB\n",
      ranks, static_cast<double>((*read)->calls.size()) / 1e6, all_ms, part_ms, list_ms, near_ms, moving.at(0.5),
      moving.at(0.95), moving.at(1), still.at(0.5), still.at(0.95), still.at(1), still.cpu_ms, read_ms / 1000,
      benchmark::resident_mib());
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const auto calls = static_cast<std::uint64_t>(argc > 1 ? std::atof(argv[1]) : 1e7);
  auto screen = benchmark::Screen::open();
  if (!screen) return std::fprintf(stderr, "single_calls_benchmark: %s\n", screen.error().message.c_str()), 1;
  bool good = true;
  for (const std::int32_t ranks : {1152, 16384}) good = measure(**screen, ranks, calls) && good;
  return good ? 0 : 1;
}
