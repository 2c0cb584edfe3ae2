// How long does it take from message counts to regions, and how much memory? On patterns whose regions, or whose best
// modularity, are known. Also: linkage alone, on distances written to a file for another program (run.py).
//
//   regions_benchmark [--quick]           all patterns; status 1 when a result is wrong (never for being slow)
//   regions_benchmark --linkage N FILE    distances of an irregular graph of N ranks to FILE (N x N doubles), then
//   prints
//                                         "seconds S" of linkage on them (best of 3) and the heights
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analysis/region/find_regions.hpp"
#include "analysis/region/free_energy.hpp"
#include "analysis/region/linkage.hpp"
#include "analysis/region/modularity.hpp"
#include "tests/analysis/region/patterns.hpp"

using namespace pclscope;

namespace {

// Processor time: everything here is one thread, and the machine may be busy otherwise.
double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

struct TestPattern {
  std::string name;
  std::int32_t ranks;
  std::vector<Link> links;
  std::vector<std::int32_t> expected;  // regions, or those of a partition that must not be better; may be empty
  bool exactly = false;
  double limit_s = 0;
};

TestPattern cg(int rows, int columns, double limit_s) {
  TestPattern p{"CG " + std::to_string(rows) + "x" + std::to_string(columns),
                rows * columns,
                test::cg_links(rows, columns),
                {},
                true,
                limit_s};
  for (int rank = 0; rank < p.ranks; ++rank) p.expected.push_back(rank / columns);
  return p;
}

// Blocks of b^3 ranks are a good partition of a halo exchange: what is found must be as good.
TestPattern halo(int x, int y, int z, int b, double limit_s) {
  TestPattern p{"halo " + std::to_string(x) + "x" + std::to_string(y) + "x" + std::to_string(z),
                x * y * z,
                test::halo_links(x, y, z, true),
                {},
                false,
                limit_s};
  for (int rank = 0; rank < p.ranks; ++rank) {
    const int i = rank % x, j = rank / x % y, k = rank / x / y;
    p.expected.push_back(((k / b) * (y / b + 1) + j / b) * (x / b + 1) + i / b);
  }
  return p;
}

// Groups of unequal size and random counts, each rank with about `inside` partners in its group and `outside` others.
TestPattern irregular(int ranks, int groups, int inside, int outside, double limit_s) {
  std::mt19937_64 random(7);
  TestPattern p{"irregular, " + std::to_string(inside + outside) + " partners", ranks, {}, {}, false, limit_s};
  std::vector<std::int32_t> first(static_cast<std::size_t>(groups) + 1, 0);
  for (int g = 1; g < groups; ++g)
    first[g] = ranks / groups * g + static_cast<int>(random() % static_cast<unsigned>(ranks / groups / 2));
  first[groups] = ranks;
  for (int g = 0; g < groups; ++g)
    p.expected.insert(p.expected.end(), static_cast<std::size_t>(first[g + 1] - first[g]), g);
  const auto draw = [&](int from, int to) {
    return from + static_cast<int>(random() % static_cast<unsigned>(to - from));
  };
  for (int rank = 0; rank < ranks; ++rank) {
    const int g = p.expected[rank];
    for (int k = 0; k < inside / 2; ++k) p.links.push_back({rank, draw(first[g], first[g + 1]), 1.0 + draw(0, 1000)});
    for (int k = 0; k < outside / 2; ++k) p.links.push_back({rank, draw(0, ranks), 1.0 + draw(0, 1000)});
  }
  return p;
}

bool right(const TestPattern& p, const CommunicationGraph& graph, const Partition& found) {
  if (p.exactly) return found.region_of_rank == p.expected;
  return found.modularity >= modularity(graph, p.expected) - 1e-9;
}

bool run(const TestPattern& p, RegionMethod method, int repeats) {
  std::vector<double> seconds;
  RegionOptions options;
  options.method = method;
  bool ok = true;
  Partition found;
  for (int i = 0; i < repeats; ++i) {
    const double start = now();
    const CommunicationGraph graph(p.ranks, p.links);
    Dendrogram dendrogram;
    found = find_regions(graph, options, &dendrogram);
    seconds.push_back(now() - start);
    if (method == RegionMethod::free_energy) ok = ok && right(p, graph, found);
  }
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  std::printf("%-26s %6d ranks %8zu links %-12s %9.1f ms  (limit %5.0f: %s)  %4d regions, Q %.4f  %s, peak %.0f MiB\n",
              p.name.c_str(), p.ranks, p.links.size(), std::string(name_of(method)).c_str(), median * 1e3,
              p.limit_s * 1e3, median <= p.limit_s ? "kept" : "MISSED", found.regions, found.modularity,
              ok ? "right" : "WRONG", peak_mib());
  std::fflush(stdout);
  return ok;
}

int linkage(int ranks, const char* path) {
  const TestPattern p = irregular(ranks, 24, 24, 8, 0);
  const Eigen::MatrixXd distance = free_energy_distances(CommunicationGraph(ranks, p.links), 1.0);
  std::FILE* file = std::fopen(path, "wb");
  const auto count = static_cast<std::size_t>(distance.size());
  if (file == nullptr || std::fwrite(distance.data(), sizeof(double), count, file) != count || std::fclose(file) != 0) {
    std::fprintf(stderr, "regions_benchmark: cannot write %s\n", path);
    return 1;
  }
  double seconds = 1e300;
  std::vector<Merge> merges;
  for (int i = 0; i < 3; ++i) {
    const double start = now();
    merges = average_linkage(distance);
    seconds = std::min(seconds, now() - start);
  }
  std::printf("seconds %.6f\n", seconds);
  for (const Merge& m : merges) std::printf("%.12g\n", m.height);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--linkage") == 0) return linkage(std::atoi(argv[2]), argv[3]);
  const bool quick = argc == 2 && std::strcmp(argv[1], "--quick") == 0;
  if (argc != 1 && !quick) {
    std::fprintf(stderr, "usage: regions_benchmark [--quick] | --linkage RANKS FILE\n");
    return 2;
  }
  bool ok = true;
  const int repeats = quick ? 1 : 7;
  // 1,152 ranks: halo of 8 x 12 x 12, CG of 32 x 32 (1,024) and 32 x 64.
  for (const TestPattern& p : {halo(8, 12, 12, 4, 0.1), cg(32, 32, 0.1), cg(32, 64, 0.1),
                               irregular(1152, 16, 24, 8, 0.1), irregular(1152, 16, 400, 200, 0.1)}) {
    ok = run(p, RegionMethod::free_energy, repeats) && ok;
    if (quick) break;
  }
  for (const RegionMethod method : {RegionMethod::paper, RegionMethod::correlation})
    ok = run(quick ? cg(8, 16, 5) : irregular(1024, 16, 400, 200, 5), method, quick ? 1 : 3) && ok;
  if (quick) return ok ? 0 : 1;
  for (const TestPattern& p :
       {halo(16, 32, 32, 4, 5), cg(128, 128, 5), irregular(16384, 64, 48, 16, 5), irregular(16384, 64, 192, 64, 5)})
    ok = run(p, RegionMethod::free_energy, 3) && ok;
  for (const RegionMethod method : {RegionMethod::paper, RegionMethod::correlation})
    ok = run(halo(16, 32, 32, 4, 5), method, 1) && ok;
  return ok ? 0 : 1;
}
