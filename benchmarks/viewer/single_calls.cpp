// single_calls_benchmark [CALLS]: the call view of a dump with so many single calls (1e7) of 1,152 and of 16,384 ranks,
// all of them lit, 1600x1000, drawn off screen: how long the dump takes to be read; how long a new picture of all of
// them as points takes in its own thread, the same of a thousandth of the time, a list of all calls and of those near
// the mouse; milliseconds per frame while the wheel zooms and the mouse moves, so that each frame asks for other
// pictures and other calls; memory. Checked: each picture has every call of its time, the list has as many as were
// counted, and the worst of it waited for the late rank.
#include <imgui.h>
#include <imgui/backends/imgui_impl_opengl3.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "analysis/density/packing.hpp"
#include "analysis/density/pyramid.hpp"
#include "analysis/store/writer.hpp"
#include "benchmarks/viewer/fake_stored.hpp"
#include "tests/viewer/fake_run.hpp"
#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/gui/frame/offscreen.hpp"
#include "viewer/gui/frame/style.hpp"
#include "viewer/layout/call_part.hpp"
#include "viewer/layout/lit_calls.hpp"

using namespace pclscope;
using benchmark::FakeStored;
using Clock = std::chrono::steady_clock;

namespace {

constexpr float width = 1600, height = 1000;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Of a processor: others may work beside us.
double cpu_ms(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  double total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1048576;
}

bool fail(const char* what) { return std::fprintf(stderr, "single_calls_benchmark: %s\n", what), false; }

// Processor time of this thread, the best of three; and the last answer.
template <class Work>
auto timed(double& ms, Work&& work) {
  ms = 1e9;
  for (int i = 0;; ++i) {
    const double began = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
    auto answer = work();
    ms = std::min(ms, cpu_ms(CLOCK_THREAD_CPUTIME_ID) - began);
    if (i == 2) return answer;
  }
}

CallDensity density_of(FakeStored& job) {
  density::Pyramid pyramid;
  (void)job.mpi_calls({}, [&](std::span<const MpiCall> batch) {
    for (const MpiCall& c : batch) pyramid.call_inside(pyramid.place(c.function), c.rank, c.begin, c.end);
    return true;
  });
  return pyramid.value();
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
  std::vector<double> ms;  // ascending
  double cpu_ms = 0;       // of all threads, mean
  double at(double part) const { return ms[static_cast<std::size_t>(part * static_cast<double>(ms.size() - 1))]; }
};

Frames draw_frames(gui::Offscreen& screen, gui::View& view, const gui::Scene& scene, gui::Selection& selection,
                   bool moves) {
  ImGuiIO& io = ImGui::GetIO();
  Frames frames;
  const double cpu = cpu_ms(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < 300; ++i) {
    const float t = static_cast<float>(i) * 0.037f;
    if (moves) {
      io.MousePos = {width * (0.4f + 0.3f * std::sin(t)), height * (0.5f + 0.35f * std::sin(1.7f * t))};
      io.MouseWheel = i < 10 ? 0 : i % 100 < 50 ? 1.f : -1.f;
    } else {
      io.MousePos = {-1, -1};
      io.MouseWheel = 0;
    }
    const auto began = Clock::now();
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({width, height});
    ImGui::Begin("view", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
    view.draw(scene, selection);
    ImGui::End();
    ImGui::Render();
    screen.begin_frame(scene.palette->background);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    screen.finish();
    frames.ms.push_back(ms_since(began));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  frames.cpu_ms = (cpu_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu) / static_cast<double>(frames.ms.size());
  std::sort(frames.ms.begin(), frames.ms.end());
  return frames;
}

bool measure(gui::Offscreen& screen, std::int32_t ranks, std::uint64_t calls) {
  FakeStored job(ranks, calls);
  Snapshot snapshot = test::fake_snapshot({.ranks = ranks, .regions = 36, .slow = 2, .windows = 20});
  for (RankSummary& rank : snapshot.ranks) rank.call_function = 0;  // all have returned
  const CallDensity density = density_of(job);
  snapshot.call_density = density::pack(density);
  snapshot.duration_s = static_cast<double>(job.end()) * 1e-9;
  Dump dump;
  if (!dump.write(job, snapshot)) return fail("no dump");
  auto stored = session::open_stored(dump.path());
  if (!stored) return fail(stored.error().message.c_str());
  double read_ms = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
  const auto read = session::read_timeline(**stored, snapshot, [](double) { return true; });
  read_ms = cpu_ms(CLOCK_THREAD_CPUTIME_ID) - read_ms;
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
  const auto deadline = Clock::now() + std::chrono::seconds(60);
  while (view->unsettled() && Clock::now() < deadline) draw_frames(screen, *view, scene, selection, false);
  const Frames still = draw_frames(screen, *view, scene, selection, false);
  if (view->unsettled()) good = fail("a view that never comes to rest");
  std::printf(
      "%6d ranks, %.1f M calls: a new picture of all as points %3.0f ms, of a part %3.0f ms; a list of all %3.0f ms, "
      "of "
      "those near the mouse %.1f ms; frame while it moves median %4.1f ms, p95 %4.1f, worst %5.1f, afterwards %4.1f, "
      "%4.1f, %5.1f (%.1f ms of processors); read in %.1f s; resident %.0f MiB\n",
      ranks, static_cast<double>((*read)->calls.size()) / 1e6, all_ms, part_ms, list_ms, near_ms, moving.at(0.5),
      moving.at(0.95), moving.at(1), still.at(0.5), still.at(0.95), still.at(1), still.cpu_ms, read_ms / 1000,
      resident_mib());
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const auto calls = static_cast<std::uint64_t>(argc > 1 ? std::atof(argv[1]) : 1e7);
  auto screen = gui::Offscreen::open(static_cast<int>(width), static_cast<int>(height));
  if (!screen) return std::fprintf(stderr, "single_calls_benchmark: %s\n", screen.error().message.c_str()), 1;
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
