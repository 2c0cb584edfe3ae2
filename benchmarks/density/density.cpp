// The density of calls: what a call costs, and what 16,384 ranks with 10^9 calls come to.
// 1. Processor time per call: the same calls with and without the density, in turn.
// 2. Calls of 16,384 ranks for 600 s of their time, read ring by ring as an aggregator does: memory after the first
//    halving and at the end; packed size; a dump with it, and how long it takes to open; how long the two pictures
//    take.
// The sum of all bins must be the number of calls, and the area the time inside. Exit status 1 when it is not.
//
//   density_benchmark [--quick | --calls N]
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "analysis/density/coarser.hpp"
#include "analysis/density/packing.hpp"
#include "analysis/density/shown.hpp"
#include "analysis/store/reader.hpp"
#include "analysis/store/writer.hpp"
#include "viewer/layout/call_painter.hpp"

using namespace pclscope;

namespace {

double seconds(clockid_t clock) {
  timespec time;
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
double processor_s() { return seconds(CLOCK_THREAD_CPUTIME_ID); }
double wall_s() { return seconds(CLOCK_MONOTONIC); }
double resident_mib() {
  long pages = 0, all = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  return static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// Functions and durations of a halo exchange with reduces, a long wait now and then.
struct Shape {
  std::uint16_t function;
  std::int64_t length;
};
std::vector<Shape> shapes() {
  constexpr std::uint16_t functions[] = {246, 246, 255, 255, 412, 246, 255, 412, 15, 300, 328, 302};
  std::vector<Shape> made(4096);
  std::uint64_t state = 7;
  for (std::size_t i = 0; i < made.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::uint16_t f = functions[i % std::size(functions)];
    const double octave = (f == 246 || f == 255   ? 8
                           : f == 412 || f == 300 ? 13
                                                  : 15) +
                          static_cast<double>(state >> 40) / (1 << 24) * 3;
    made[i] = {f, static_cast<std::int64_t>(std::exp2(octave))};
  }
  return made;
}

std::vector<std::uint16_t> places_in(density::Pyramid& pyramid) {
  std::vector<std::uint16_t> places(512);
  for (const Shape& s : shapes()) places[s.function] = pyramid.place(s.function);
  return places;
}

struct Sums {
  std::uint64_t calls = 0, ns = 0;
};

// `ranks` have one ring each; a visit to a ring takes 256 calls. `time_s` of the ranks' time.
template <class Take>
Sums run(std::uint64_t calls, std::int32_t ranks, double time_s, Take&& take) {
  static const std::vector<Shape> some = shapes();
  constexpr std::uint64_t at_once = 256;
  const std::uint64_t visits = std::max<std::uint64_t>(calls / at_once / static_cast<std::uint64_t>(ranks), 1);
  const double per_visit_ns = time_s * 1e9 / static_cast<double>(visits);
  Sums sums;
  std::size_t shape = 0;
  for (std::uint64_t visit = 0; visit < visits; ++visit) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      double at = static_cast<double>(visit) * per_visit_ns;
      for (std::uint64_t i = 0; i < at_once; ++i, at += per_visit_ns / at_once) {
        const Shape& s = some[shape++ & 4095];
        const auto begin = static_cast<std::int64_t>(at);
        take(s.function, rank, begin, begin + s.length);
        ++sums.calls;
        sums.ns += static_cast<std::uint64_t>(s.length);
      }
    }
  }
  return sums;
}

bool check(const CallDensity& d, const Sums& expected, const char* what) {
  Sums starts, ends;
  for (const auto& i : d.inside) starts.ns += i.ns;
  for (const auto& c : d.calls) starts.calls += c.starts, ends.calls += c.ends;
  const bool good = starts.ns == expected.ns && starts.calls == expected.calls && ends.calls == expected.calls;
  if (!good) std::printf("WRONG: sums of %s\n", what);
  return good;
}

bool cost(std::uint64_t calls) {
  std::vector<double> without, with;
  bool good = true;
  volatile std::uint64_t kept = 0;
  for (int turn = 0; turn < 7; ++turn) {
    double begin = processor_s();
    std::uint64_t sum = 0;
    Sums sums = run(calls, 64, 10, [&](std::uint16_t f, std::int32_t rank, std::int64_t from, std::int64_t to) {
      sum += static_cast<std::uint64_t>(from ^ to) + f + static_cast<std::uint64_t>(rank);
    });
    kept = kept + sum;
    without.push_back(processor_s() - begin);
    density::Pyramid pyramid;
    const auto places = places_in(pyramid);
    begin = processor_s();
    sums = run(calls, 64, 10, [&](std::uint16_t f, std::int32_t rank, std::int64_t from, std::int64_t to) {
      pyramid.call_inside(places[f], rank, from, to);
    });
    with.push_back(processor_s() - begin);
    good = check(pyramid.value(), sums, "the calls") && good;
  }
  std::sort(with.begin(), with.end());
  std::sort(without.begin(), without.end());
  std::printf("cost: %.2f ns per call (median of 7; best %.2f)\n",
              (with[3] - without[3]) * 1e9 / static_cast<double>(calls),
              (with[0] - without[0]) * 1e9 / static_cast<double>(calls));
  return good;
}

bool large(std::uint64_t calls) {
  constexpr std::int32_t ranks = 16384;
  constexpr double time_s = 600;
  density::Pyramid pyramid;
  std::vector<std::int32_t> regions;
  for (std::int32_t r = 0; r < ranks; ++r) regions.push_back(r / 1024);
  pyramid.set_regions(regions);
  const auto places = places_in(pyramid);
  std::size_t at_halving = 0;
  unsigned shift = pyramid.calls_shift();
  const Sums sums =
      run(calls, ranks, time_s, [&](std::uint16_t f, std::int32_t rank, std::int64_t from, std::int64_t to) {
        pyramid.call_inside(places[f], rank, from, to);
        if (pyramid.calls_shift() == shift) return;
        shift = pyramid.calls_shift();
        if (at_halving == 0) at_halving = pyramid.bytes();
      });
  const CallDensity whole = pyramid.value();
  bool good = check(whole, sums, "16,384 ranks");
  double begin = wall_s();
  density::Shown shown;
  Snapshot snapshot;
  snapshot.application.ranks = ranks;
  snapshot.application.node_of_rank.assign(ranks, -1);
  snapshot.duration_s = time_s;
  snapshot.finished = true;
  snapshot.call_density = shown.of(pyramid, {}, true);
  const double pack_s = wall_s() - begin;
  begin = wall_s();
  density::Shown live;
  const std::size_t live_bytes = live.of(pyramid, {}, false).size();
  const double live_s = wall_s() - begin;
  std::printf(
      "16,384 ranks, %.3g calls in %.0f s: %.1f MiB after the first halving, %.1f MiB at the end; slices of %.3g and "
      "%.3g s\n",
      static_cast<double>(sums.calls), time_s, static_cast<double>(at_halving) / (1 << 20),
      static_cast<double>(pyramid.bytes()) / (1 << 20), std::ldexp(1e-9, static_cast<int>(pyramid.inside_shift())),
      std::ldexp(1e-9, static_cast<int>(pyramid.calls_shift())));
  std::printf("packed: %zu bytes in %.1f ms; live %zu bytes in %.1f ms\n", snapshot.call_density.size(), pack_s * 1e3,
              live_bytes, live_s * 1e3);
  good = check(*density::unpack(snapshot.call_density), sums, "the packed one") && good;

  const std::string path = "/tmp/pclscope-density-" + std::to_string(::getpid()) + ".h5";
  {
    auto writer = store::Writer::create(path, {});
    if (!writer || !(*writer)->summarize(snapshot) || !(*writer)->flush() || !(*writer)->close()) return false;
  }
  struct stat file {};
  ::stat(path.c_str(), &file);
  begin = wall_s();
  auto reader = store::Reader::open(path);
  const bool opened = bool(reader);
  ::unlink(path.c_str());
  if (!opened) return false;
  auto read = std::make_shared<Snapshot>((*reader)->summary());
  layout::CallPainter painter;
  layout::CallRequest request;
  request.snapshot = read;
  request.range = {0, time_s};
  request.width = 1600, request.height = 450;
  const layout::CallPicture first = painter(request);
  const double open_s = wall_s() - begin;
  begin = wall_s();
  double worst = 0;
  for (int frame = 0; frame < 20; ++frame) {  // zooming in
    const double before = wall_s();
    request.range.end_s *= 0.8;
    request.stack = frame % 2 == 0;
    painter(request);
    worst = std::max(worst, wall_s() - before);
  }
  const double frame_s = (wall_s() - begin) / 20;
  std::printf(
      "dump: %.2f MB; opened with its first picture in %.0f ms; another picture of 1600x450 in %.1f ms (worst %.1f); "
      "%.0f MiB resident\n",
      static_cast<double>(file.st_size) / 1e6, open_s * 1e3, frame_s * 1e3, worst * 1e3, resident_mib());
  return good && check(*first.density, sums, "the dump");
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t calls = 1'000'000'000;
  const bool quick = argc == 2 && std::strcmp(argv[1], "--quick") == 0;
  if (quick) calls = 20'000'000;
  else if (argc == 3 && std::strcmp(argv[1], "--calls") == 0) calls = std::strtoull(argv[2], nullptr, 10);
  else if (argc != 1) return std::fprintf(stderr, "usage: density_benchmark [--quick | --calls N]\n"), 2;
  const bool good = cost(quick ? 2'000'000 : 20'000'000);
  return large(calls) && good ? 0 : 1;
}
