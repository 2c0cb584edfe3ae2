// What following delays costs per message: the messages of the replay patterns, window by window, each in the order of
// matching, through Delays on one core. Checks that all waiting is accounted for, and that the whole run at once gives
// the same cost of delays. Exit status 1 when not.
//
//   delays_benchmark [--quick]
#include "analysis/delay/delays.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "analysis/pipeline/pipeline.hpp"
#include "benchmarks/replay/patterns.hpp"

using namespace pclscope;
using benchmark::Trace;

namespace {

using Windows = std::vector<std::vector<Message>>;
constexpr std::int64_t window_ns = 100'000'000;

Windows windows_of(Trace& trace, int repeats) {
  Windows windows;
  Application application;
  application.ranks = static_cast<std::int32_t>(trace.events.size());
  PipelineOptions options;
  options.delay_share = 0;
  options.on_messages = [&](std::span<const Message> messages) {
    for (Message m : messages) {  // as if sends and receives of each tag were on lines of their own
      m.send_site = static_cast<std::uint64_t>(1 + (m.tag & 7));
      m.recv_site = static_cast<std::uint64_t>(11 + (m.tag & 7));
      const auto window = static_cast<std::size_t>(m.recv_end / window_ns);
      if (window >= windows.size()) windows.resize(window + 1);
      windows[window].push_back(m);
    }
  };
  Pipeline pipeline(application, options);
  benchmark::analyse(pipeline, trace, repeats);
  return windows;
}

// Of this process: others may be using the core.
double cpu_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

double cost_s(const Delays& delays) {
  double sum = 0;
  for (const DelayOrigin& origin : delays.list(SIZE_MAX)) sum += origin.cost_s;
  return sum;
}

bool run(Trace trace, int repeats) {
  const auto ranks = static_cast<std::int32_t>(trace.events.size());
  const Windows windows = windows_of(trace, repeats);
  std::vector<Message> all;
  for (const auto& window : windows) all.insert(all.end(), window.begin(), window.end());
  Delays delays(ranks);
  double ns = 0;
  for (std::size_t k = 0; k < windows.size(); ++k) {
    const double start = cpu_ns();
    delays.add(windows[k], {}, static_cast<std::int64_t>(k + 1) * window_ns);
    ns += cpu_ns() - start;
  }
  const double start = cpu_ns();
  delays.finish();
  ns += cpu_ns() - start;
  Delays at_once(ranks);
  at_once.add(all, {}, INT64_MAX);
  at_once.finish();
  const DelayTotals& t = delays.totals();
  const auto messages = static_cast<double>(all.size());
  std::printf(
      "%-16s %6.0f CPU ns per message  %5.2f waits per message  (%.1f M messages, %.3f s waited, %.0f %% traced)\n",
      trace.name.c_str(), ns / messages, static_cast<double>(t.waits) / messages, messages * 1e-6, t.waited_s,
      t.waited_s > 0 ? 100 * t.attributed_s / t.waited_s : 0.0);
  const double sum = t.attributed_s + t.inside_mpi_s + t.unknown_s;
  const bool right = std::abs(sum - t.waited_s) <= 1e-6 * t.waited_s &&
                     std::abs(cost_s(delays) - cost_s(at_once)) <= 0.02 * t.waited_s && delays.refused() == 0;
  if (!right)
    std::printf("  WRONG: %g of %g s accounted for; cost %g s, at once %g s\n", sum, t.waited_s, cost_s(delays),
                cost_s(at_once));
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 && !std::strcmp(argv[1], "--quick") ? 30 : 100;
  bool right = run(benchmark::halo(200), repeats);
  right = run(benchmark::master_worker(2000), repeats) && right;
  right = run(benchmark::cg(200), repeats) && right;
  return right ? 0 : 1;
}
