// density_live_benchmark [--quick] [FOLDER]: the density of calls of a running job of 1,152 and of 16,384 ranks on
// three simulated nodes, in a viewer over the real wire.
//
// One process is the job: three nodes::Node with a third of the ranks each feed made-up calls into pyramids, send what
// is new up as the aggregator does, and the root publishes snapshots and answers questions. The ranks' first minute is
// fed at once, then ten seconds (quick: two) as time goes by. The other process is the viewer: the whole window, drawn
// off screen, with stacked activity and the call view. Figures: bytes between nodes and to the viewer, processor time
// of the root's own work, frames and memory of the viewer. Checked: what a viewer gets adds up to what was fed, in the
// full form and in the coarse one; both views have a picture. Exit status 1 when not. FOLDER: the last pictures.
#include <fcntl.h>
#include <imgui.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "analysis/density/packing.hpp"
#include "benchmarks/density/live_job.hpp"
#include "benchmarks/viewer/contents.hpp"
#include "benchmarks/viewer/frames.hpp"
#include "viewer/gui/frame/app.hpp"
#include "viewer/gui/frame/offscreen.hpp"

using namespace pclscope;
using Clock = std::chrono::steady_clock;

namespace {

using benchmark::Fed;
using benchmark::JobFigures;
using benchmark::ms_since;
using benchmark::run_job;
using benchmark::sums_of;

// The mouse goes over both views; now and then it zooms.
void move(const benchmark::Screen& screen, int i) {
  benchmark::hover(screen, i, {0.4f, 0.55f}, {0.3f, 0.35f});
  ImGui::GetIO().MouseWheel = i % 40 == 20 ? 1.f : i % 40 == 35 ? -1.f : 0.f;
}

// What somebody gets who asks: the full form, and the snapshot's.
bool check(const session::Feed::Open& open, const Fed& fed, double until_s) {
  auto session = open();
  if (!session) return std::printf("WRONG: the job is gone\n"), false;
  Result<std::optional<Snapshot>> snapshot = std::optional<Snapshot>();
  for (int i = 0; i < 100 && snapshot && !*snapshot; ++i) snapshot = (*session)->newer(std::chrono::milliseconds(100));
  if (!snapshot || !*snapshot) return std::printf("WRONG: no snapshot\n"), false;
  session::LiveDensity live;
  const Status asked = live.refresh([&](const DensityQuestion& q) { return (*session)->density(q); },
                                    static_cast<std::int64_t>(until_s * 1e9), [] { return false; });
  if (!asked) return std::printf("WRONG: %s\n", asked.error().message.c_str()), false;
  const auto coarse = density::unpack((**snapshot).call_density);
  const bool full = sums_of(live.density()) == fed, rough = coarse && sums_of(*coarse) == fed;
  const auto tell = [&](const char* what, const Fed& got) {
    std::printf("WRONG: the sums of %s: %llu calls, %llu ns; fed: %llu, %llu\n", what,
                static_cast<unsigned long long>(got.calls), static_cast<unsigned long long>(got.ns),
                static_cast<unsigned long long>(fed.calls), static_cast<unsigned long long>(fed.ns));
  };
  if (!full) tell("all parts", sums_of(live.density()));
  if (!rough) tell("the snapshot's form", coarse ? sums_of(*coarse) : Fed{});
  return full && rough;
}

// Before there is any thread here.
struct Started {
  std::int32_t ranks = 0;
  std::string endpoint;
  pid_t pid = -1;
  int told = -1, over = -1;  // its figures; a byte: begin, and another one: end
  explicit Started(std::int32_t of, double live_s) : ranks(of) {
    endpoint = "ipc:///tmp/pclscope-density-live-" + std::to_string(::getpid()) + "-" + std::to_string(ranks);
    int from[2], to[2];
    if (::pipe2(from, O_CLOEXEC) != 0 || ::pipe2(to, O_CLOEXEC) != 0) std::exit(1);
    pid = ::fork();
    if (pid == 0) {
      ::close(from[0]);
      ::close(to[1]);
      run_job(ranks, endpoint, live_s, from[1], to[0]);
    }
    ::close(from[1]);
    ::close(to[0]);
    told = from[0];
    over = to[1];
  }
  bool say() const { return ::write(over, "x", 1) == 1; }
};

bool measure(benchmark::Screen& screen, const Started& job, double live_s, const std::string& folder) {
  if (!job.say()) return false;
  const std::int32_t ranks = job.ranks;
  const session::Feed::Open open = [endpoint = job.endpoint] {
    session::LiveSource source;
    source.name = "density-live";
    source.endpoint = endpoint;
    return session::open_live(source);
  };
  bool good = true;
  benchmark::FrameTimes frame_times;
  JobFigures figures;
  {
    gui::ViewOptions options;
    options.target = "density-live";
    options.workspace = "calls";
    gui::App app(options, open, {});
    const auto draw = [&](benchmark::FrameTimes* times = nullptr) {
      screen.frame([&] { app.frame(screen.width(), screen.height(), 1); }, times);
    };
    const auto began = Clock::now();
    while (!app.anything_came() && ms_since(began) < 120'000) {
      draw();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const auto measured = Clock::now();
    for (int i = 0; ms_since(measured) < live_s * 0.8e3; ++i) {
      move(screen, i);
      draw(&frame_times);
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
    }
    benchmark::take_mouse_away();
    good = ::read(job.told, &figures, sizeof figures) == sizeof figures;
    for (int i = 0; i < 200; ++i) {
      draw();
      benchmark::wait_for_next_frame();
    }
    const layout::Image picture = screen.pixels();
    good = benchmark::all_views_show_something(app.description(), picture, 2) && good;
    if (!folder.empty()) (void)gui::write_png(picture, folder + "/density-live-" + std::to_string(ranks) + ".png");
  }
  const std::size_t resident = benchmark::resident_mib();
  good = good && check(open, figures.fed, 1e5);
  if (!job.say()) ::kill(job.pid, SIGKILL);
  ::close(job.over);
  ::close(job.told);
  ::waitpid(job.pid, nullptr, 0);
  for (const char* suffix : {".pub", ".ask"}) ::unlink((job.endpoint.substr(6) + suffix).c_str());
  const benchmark::Times& frames = frame_times.clock;
  if (frames.ms.empty()) return false;
  const auto per_s = [&](double sum) { return sum / std::max(figures.live_s, 1e-9); };
  std::printf(
      "%6d ranks, %.3g calls: between nodes %.1f KB/s, %.1f of that density; to the viewer %.1f snapshots/s, %.0f "
      "KB/s, and %.1f parts/s, "
      "%.0f KB/s; "
      "root: taking in reports %.1f ms/s, parts %.1f ms/s, worst %.2f ms; viewer: frame median %.1f ms, p95 %.1f, "
      "worst %.1f, %zu MiB  %s\n",
      ranks, static_cast<double>(figures.fed.calls), per_s(static_cast<double>(figures.between_nodes)) / 1e3,
      per_s(static_cast<double>(figures.density_between_nodes)) / 1e3, per_s(static_cast<double>(figures.snapshots)),
      per_s(static_cast<double>(figures.snapshot_bytes)) / 1e3, per_s(static_cast<double>(figures.parts)),
      per_s(static_cast<double>(figures.part_bytes)) / 1e3, per_s(figures.root_s) * 1e3, per_s(figures.parts_s) * 1e3,
      figures.worst_part_s * 1e3, frames.at(0.5), frames.at(0.95), frames.at(1), resident, good ? "" : "WRONG");
  std::fflush(stdout);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const std::string folder = argc > 1 + quick ? argv[1 + quick] : "";
  const double live_s = quick ? 2 : 10;
  const Started jobs[] = {Started(1152, live_s), Started(16384, live_s)};
  auto screen = benchmark::Screen::open();
  if (!screen) return std::fprintf(stderr, "density_live_benchmark: %s\n", screen.error().message.c_str()), 1;
  bool good = true;
  for (const Started& job : jobs) good = measure(**screen, job, live_s, folder) && good;
  return good ? 0 : 1;
}
