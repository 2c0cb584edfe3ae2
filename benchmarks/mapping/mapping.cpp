// How much less travels with the mapping that we find, and how long finding it takes: the published patterns, a halo
// for 4,096 ranks, the published 1,024-rank pattern four times. Each result is checked: capacities, cost summed anew,
// never worse. Usage: mapping_benchmark [--quick] [DIRECTORY of the hop-byte files]
#include "analysis/mapping/mapping.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>

#include "analysis/mapping/instance.hpp"
#include "analysis/mapping/scotch.hpp"
#include "analysis/mapping/traffic_file.hpp"

using namespace pclscope::mapping;

namespace {

struct Case {
  std::string name, topology;
  std::int32_t each;
  double floor;  // what Scotch alone reaches by reference §8, percent; 0: not known
  Traffic traffic;
};

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "mapping_benchmark: %s\n", why.c_str());
  std::exit(1);
}

// 16 x 16 x 16 blocks, all 26 neighbours: faces 64, edges 8, corners 1; a tenth of the blocks is refined and sends
// more.
Traffic halo() {
  std::mt19937 random(1);
  Traffic traffic{4096, {}};
  std::vector<double> fine(4096);
  for (double& f : fine) f = random() % 10 == 0 ? 4 : 1;
  for (int rank = 0; rank < 4096; ++rank)
    for (int x = -1; x <= 1; ++x)
      for (int y = -1; y <= 1; ++y)
        for (int z = -1; z <= 1; ++z) {
          const int a = rank / 256 + x, b = rank / 16 % 16 + y, c = rank % 16 + z,
                    far = std::abs(x) + std::abs(y) + std::abs(z);
          if (far == 0 || a < 0 || b < 0 || c < 0 || a > 15 || b > 15 || c > 15) continue;
          const int other = a * 256 + b * 16 + c;
          traffic.flows.push_back({rank, other, 1, 1000 * std::pow(8.0, 3 - far) * std::max(fine[rank], fine[other])});
        }
  return traffic;
}

// Four regions, each with a quarter of its ranks coupled to the next.
Traffic four_times(const Traffic& one) {
  std::mt19937 random(2);
  Traffic traffic{4 * one.ranks, {}};
  double mean = 0;
  for (const Flow& flow : one.flows) mean += flow.bytes / static_cast<double>(one.flows.size());
  for (std::int32_t k = 0; k < 4; ++k) {
    const std::int32_t here = k * one.ranks, next = (k + 1) % 4 * one.ranks;
    for (const Flow& flow : one.flows)
      traffic.flows.push_back({flow.source + here, flow.destination + here, flow.messages, flow.bytes});
    for (std::int32_t rank = 0; rank < one.ranks; ++rank)
      if (random() % 4 == 0) traffic.flows.push_back({rank + here, rank + next, 1, mean});
  }
  return traffic;
}

// Scotch by itself, here and now: its default strategy on the network (of more than 1,024 vertices that are no grid on
// a chain of them), with who is too many on a node moved to the cheapest free place.
double scotch_alone(const Case& c, const Topology& topology, const std::vector<std::int32_t>& capacity) {
  const std::vector<std::int32_t> nobody;
  const Instance instance = make_instance({c.traffic, topology, capacity, nobody, Objective::hop_bytes, 1});
  const auto starts = scotch_starts(instance, topology, 0, 1);
  return starts.empty() ? INFINITY : cost_of(instance, place(instance, starts[0]));
}

void run(const Case& c) {
  auto topology = Topology::parse(c.topology);
  if (!topology) give_up(topology.error().message);
  const std::vector<std::int32_t> capacity(static_cast<std::size_t>(topology->nodes()), c.each);
  const auto wall = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  const auto mapping = find_mapping({c.traffic, *topology, capacity, {}, Objective::hop_bytes, 1});
  const double cpu_s = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
  if (!mapping) give_up(mapping.error().message);
  std::vector<std::int32_t> used(capacity.size(), 0);
  for (const std::int32_t node : mapping->node_of_rank)
    if (++used.at(static_cast<std::size_t>(node)) > c.each) give_up(c.name + ": too many ranks on a node");
  double sum = 0;
  for (const Flow& flow : c.traffic.flows)
    sum += flow.bytes * topology->hops(mapping->node_of_rank[flow.source], mapping->node_of_rank[flow.destination]);
  if (std::abs(sum - mapping->after.hop_bytes) > 1e-9 * sum || sum > mapping->before.hop_bytes)
    give_up(c.name + ": the cost is wrong");
  double least = 0;  // every byte that leaves a rank's node goes one hop: only a bound where nodes take one rank
  for (const Flow& flow : c.traffic.flows) least += flow.source != flow.destination ? flow.bytes : 0;
  const double before = mapping->before.hop_bytes, link = mapping->before.max_link_load;
  const double scotch = scotch_alone(c, *topology, capacity);
  if (sum > scotch * (1 + 1e-9)) give_up(c.name + ": Scotch alone is better");
  char alone[16] = "-", now[16] = "-", most[16] = "-";
  if (c.floor > 0) std::snprintf(alone, sizeof alone, "-%.1f %%", c.floor);
  if (std::isfinite(scotch)) std::snprintf(now, sizeof now, "%+.1f %%", 100 * (scotch / before - 1));
  if (c.each == 1) std::snprintf(most, sizeof most, "-%.2f %%", 100 * (1 - least / before));
  std::printf("%-24s %5d  %-18s %2d  %10.4g %10.4g  -%5.2f %%  %7s  %7s  %8s  %+5.1f %%  %6.2f %6.2f\n", c.name.c_str(),
              c.traffic.ranks, c.topology.c_str(), c.each, before, sum, 100 * (1 - sum / before), alone, now, most,
              link > 0 ? 100 * (mapping->after.max_link_load / link - 1) : 0, cpu_s, wall_s);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::string directory = PCLSCOPE_TEST_DATA "/par-comm/hopbyte";
  bool quick = false;
  for (int k = 1; k < argc; ++k) std::string(argv[k]) == "--quick" ? void(quick = true) : void(directory = argv[k]);
  std::printf("%-24s %5s  %-18s %2s  %10s %10s  %8s  %7s  %7s  %8s  %7s  %6s %6s\n", "case", "ranks", "topology", "c",
              "hop-bytes", "after", "change", "alone", "Scotch", "at most", "link", "cpu s", "wall s");
  const auto published = [&](const std::string& name, const std::string& topology, std::int32_t each, double floor) {
    auto file = read_traffic(directory + "/" + name + "_hopbyte.txt");
    if (!file) return std::printf("%-24s not in %s\n", name.c_str(), directory.c_str()), Traffic{};
    run({name, topology, each, floor, file->traffic});
    return file->traffic;
  };
  published("MiniAMR_Vesta_n128_c1_s1", "torus:2x2x4x4x2", 1, 31.5);
  published("IMB-MPI1_Vesta_n32_c16", "torus:2x2x2x2x2", 16, 22.8);
  if (quick) return 0;
  published("MiniMD_Theta_n64_c1_w", "torus:4x4x4", 1, 0);
  published("MiniMD_Mira_n1024_c1_w", "torus:4x4x4x8x2", 1, 31.9);
  published("MiniMD_Mira_n1024_c1_w", "torus:4x4x4x8mx2", 1, 0);
  const Traffic amr = published("MiniAMR_Mira_n1024_c1_w", "torus:4x4x4x8x2", 1, 35.9);
  published("MiniAMR_Mira_n1024_c1_w", "torus:4x4x4x8mx2", 1, 0);
  if (amr.ranks > 0) run({"MiniAMR, four times", "torus:4x4x4x16x2", 2, 0, four_times(amr)});
  for (const char* topology : {"torus:4x4x4x16x2", "dragonfly:32x8x8", "fattree:16x16x8"})
    run({"halo of 26, refined", topology, 2, 0, halo()});
}
