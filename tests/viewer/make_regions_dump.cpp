// A dump with many regions: REGIONS FILE. For pictures. One region is late from 8 s on, for 9 s; those beside it
// become late a moment later and less so. At 24 s a disturbance of 0.4 s reaches all, and one region is late to the
// end.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "analysis/store/writer.hpp"
#include "tests/viewer/fake_run.hpp"

namespace {

double level_of(std::int32_t region, std::int32_t regions, double second) {
  const std::int32_t first = regions / 3, other = regions * 3 / 4;
  const double away = std::abs(region - first), delay_s = 0.12 * away;
  double level = 1;
  if (second >= 8 + delay_s && second < 17 + delay_s / 2) level += 7 * std::exp(-away / (0.06 * regions));
  if (second >= 24 && second < 24.4) level += 1.5;
  if (region == other && second >= 24.4) level = 5;
  return level;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace pclscope;
  const int regions = argc == 3 ? std::atoi(argv[1]) : 0;
  if (regions < 4) return std::fprintf(stderr, "%s REGIONS FILE\n", argv[0]), 2;
  test::FakeRun run;
  run.regions = regions;
  run.ranks = 16 * regions;
  run.windows = 300;
  run.slow = -1;
  Snapshot s = test::fake_snapshot(run);
  s.job = "regions";
  s.finished = true;
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(1, 0.06);
  std::vector<Window> windows;
  for (std::int32_t w = 0; w < run.windows; ++w) windows.push_back({w * 0.1, 0.1, {}, {}});
  for (Region& region : s.regions) {
    double sum = 0;
    for (Window& window : windows) {
      RegionWindow at;
      at.region = region.id;
      at.messages = 300;
      at.mean_ratio = at.typical_ratio = level_of(region.id, regions, window.begin_s) * std::max(0.5, noise(random));
      at.delayed = at.typical_ratio > 1.5 ? 200 : 20;
      sum += at.typical_ratio;
      window.regions.push_back(at);
    }
    region.mean_latency_ratio = region.typical_ratio = sum / run.windows;
    region.history_ratio.clear();
    region.history_messages.clear();
  }
  auto writer = store::Writer::create(argv[2], {});
  if (!writer) return 1;
  for (const Window& window : windows)
    if (!(*writer)->append(window)) return 1;
  return (*writer)->summarize(s) && (*writer)->flush() && (*writer)->close() ? 0 : 1;
}
