// Ranks inside their nodes: by hand, and against all placements of small machines.
#include "analysis/mapping/inside_node.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "analysis/machine/read_machine.hpp"
#include "analysis/mapping/launch_files.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::mapping;
using machine::Place;

namespace {

Machine synthetic(const std::string& text) {
  auto made = machine::read_machine("synthetic:" + text);
  REQUIRE(made);
  return *made;
}

std::vector<Place> bound_to(const Machine& machine, const std::vector<std::vector<std::int32_t>>& threads,
                            const std::vector<std::int32_t>& nodes) {
  Application application;
  application.ranks = static_cast<std::int32_t>(threads.size());
  application.node_of_rank = nodes;
  FoundMachines found;
  found.machines = {machine};
  found.of_node.assign(static_cast<std::size_t>(*std::max_element(nodes.begin(), nodes.end()) + 1), 0);
  for (std::size_t rank = 0; rank < threads.size(); ++rank)
    found.bindings.push_back({static_cast<std::int32_t>(rank), ranges_of(threads[rank]), 0});
  return machine::places_of(application, found);
}

// Levels that two hardware threads are apart: as the tree has it, counted another way.
std::int32_t apart(const HardwareThread& a, const HardwareThread& b, const Machine& machine) {
  if (a.core == b.core) return 0;
  std::set<std::int32_t> cores;
  for (const HardwareThread& t : machine.threads) cores.insert(t.core);
  std::int32_t hops = 2;
  std::size_t above = 1;
  std::set<std::vector<std::int32_t>> groups;
  for (int level = 0; level < 4; ++level) {
    groups.clear();
    const auto key = [&](const HardwareThread& t) {
      std::vector<std::int32_t> all = {t.package, t.numa, t.l3, t.l2};
      all.resize(static_cast<std::size_t>(level) + 1);
      return all;
    };
    for (const HardwareThread& t : machine.threads) groups.insert(key(t));
    if (groups.size() <= above || groups.size() >= cores.size()) continue;
    above = groups.size();
    if (key(a) != key(b)) hops += 2;
  }
  return hops;
}

double cost(const Traffic& traffic, const Machine& machine, const std::vector<Slot>& slots) {
  double sum = 0;
  for (const Flow& f : traffic.flows)
    sum += f.bytes *
           apart(machine.threads[static_cast<std::size_t>(slots[static_cast<std::size_t>(f.source)].thread)],
                 machine.threads[static_cast<std::size_t>(slots[static_cast<std::size_t>(f.destination)].thread)],
                 machine);
  return sum;
}

}  // namespace

TEST_CASE("two groups of chatty ranks, interleaved over two packages, are separated") {
  const Machine machine = synthetic("pack:2 numa:1 l3:1 core:4 pu:2");
  Traffic traffic;
  traffic.ranks = 8;
  for (std::int32_t a = 0; a < 8; ++a)
    for (std::int32_t b = 0; b < 8; ++b)
      if (a != b && a % 2 == b % 2) traffic.flows.push_back({a, b, 10, 1000});
  std::vector<std::vector<std::int32_t>> now;  // in order: even and odd ranks on both packages
  for (std::int32_t rank = 0; rank < 8; ++rank) now.push_back({2 * rank, 2 * rank + 1});
  const std::vector<std::int32_t> nodes(8, 0);
  const auto placed = place_inside({traffic, nodes, {&machine}, bound_to(machine, now, nodes)}, {"a"});
  REQUIRE(placed);
  CHECK(placed->bound_now);
  // 24 pairs. Before: 8 in one package (2 hops), 16 across (4 hops). After: all in one.
  CHECK(placed->before == 1000 * (8 * 2 + 16 * 4));
  CHECK(placed->after == 1000 * 24 * 2);
  for (std::int32_t rank = 0; rank < 8; ++rank) {
    const auto package = [&](std::int32_t r) {
      return machine.threads[static_cast<std::size_t>(placed->slot_of_rank[static_cast<std::size_t>(r)].thread)]
          .package;
    };
    CHECK(package(rank) == package(rank % 2));
    CHECK(placed->slot_of_rank[static_cast<std::size_t>(rank)].alone);
  }
  const auto file = launch_file(LaunchFormat::openmpi_rankfile, nodes, {"a"}, placed->slot_of_rank);
  REQUIRE(file);
  std::set<std::int32_t> even;
  for (std::int32_t rank = 0; rank < 8; ++rank) {
    const std::int32_t core = placed->slot_of_rank[static_cast<std::size_t>(rank)].core;
    CHECK(file->find("rank " + std::to_string(rank) + "=a slot=" + std::to_string(core) + "\n") != file->npos);
    if (rank % 2 == 0) even.insert(core / 4);
  }
  CHECK(even.size() == 1);
}

TEST_CASE("as good as the best of all placements on the same cores, and never worse than now") {
  std::uint64_t random = test::random_seed();
  const auto below = [&random](std::uint64_t most) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int32_t>((random >> 33) % most);
  };
  const char* machines[] = {"pack:2 core:3 pu:1", "pack:2 numa:2 core:2 pu:1", "pack:1 l3:2 l2:2 core:2 pu:2",
                            "pack:3 l3:1 core:2 pu:2", "numa:1 core:6 pu:1"};
  for (int round = 0; round < 40; ++round) {
    const Machine machine = synthetic(machines[round % 5]);
    std::vector<std::int32_t> first_of_core;
    for (std::size_t t = 0; t < machine.threads.size(); ++t)
      if (t == 0 || machine.threads[t].core != machine.threads[t - 1].core)
        first_of_core.push_back(static_cast<std::int32_t>(t));
    Traffic traffic;
    traffic.ranks = 2 + below(5);
    for (std::int32_t a = 0; a < traffic.ranks; ++a)
      for (std::int32_t b = 0; b < traffic.ranks; ++b)
        if (a != b && below(2) == 0) traffic.flows.push_back({a, b, 1, 1.0 + below(1000)});
    std::vector<std::int32_t> cores(first_of_core.size());
    std::iota(cores.begin(), cores.end(), 0);
    for (std::size_t i = cores.size(); i > 1; --i) std::swap(cores[i - 1], cores[static_cast<std::size_t>(below(i))]);
    cores.resize(static_cast<std::size_t>(traffic.ranks));
    std::vector<std::vector<std::int32_t>> now;
    for (const std::int32_t core : cores) now.push_back({first_of_core[static_cast<std::size_t>(core)]});
    const std::vector<std::int32_t> nodes(cores.size(), 0);
    const auto placed = place_inside({traffic, nodes, {&machine}, bound_to(machine, now, nodes)}, {"a"});
    REQUIRE(placed);
    std::vector<Slot> slots(cores.size());
    double best = std::numeric_limits<double>::max();
    const auto of = [&](const std::vector<std::int32_t>& where) {
      for (std::size_t r = 0; r < where.size(); ++r)
        slots[r].thread = first_of_core[static_cast<std::size_t>(where[r])];
      return cost(traffic, machine, slots);
    };
    CHECK(placed->before == Approx(of(cores)));
    std::sort(cores.begin(), cores.end());
    const std::set<std::int32_t> in_use(cores.begin(), cores.end());
    do best = std::min(best, of(cores));
    while (std::next_permutation(cores.begin(), cores.end()));
    CHECK(placed->after == Approx(best));
    CHECK(placed->after == Approx(cost(traffic, machine, placed->slot_of_rank)));
    CHECK(placed->after <= placed->before);
    std::set<std::int32_t> used;
    for (const Slot& slot : placed->slot_of_rank) used.insert(slot.core);
    CHECK(used == in_use);  // the cores of now, each once
  }
}

TEST_CASE("ranks that are not bound, or crowd cores while others are free, are spread evenly") {
  const Machine machine = synthetic("pack:2 numa:1 l3:1 core:4 pu:2");
  std::vector<std::int32_t> all(16);
  std::iota(all.begin(), all.end(), 0);
  for (const std::int32_t ranks : {1, 2, 3, 5, 8, 11, 16}) {
    for (const bool bound : {false, true}) {
      if (bound && ranks < 3) continue;  // two hardware threads are room for them
      Traffic traffic;
      traffic.ranks = ranks;
      for (std::int32_t r = 1; r < ranks; ++r) traffic.flows.push_back({0, r, 1, 10});
      const std::vector<std::int32_t> nodes(static_cast<std::size_t>(ranks), 0);
      const std::vector<std::vector<std::int32_t>> now(static_cast<std::size_t>(ranks),
                                                       bound ? std::vector<std::int32_t>{0} : all);
      const auto placed = place_inside({traffic, nodes, {&machine}, bound_to(machine, now, nodes)}, {"a"});
      REQUIRE(placed);
      CHECK_FALSE(placed->bound_now);
      std::map<std::int32_t, std::int32_t> on_package, on_core, on_thread;
      for (const Slot& slot : placed->slot_of_rank) {
        const HardwareThread& thread = machine.threads[static_cast<std::size_t>(slot.thread)];
        CHECK((thread.os == slot.os && thread.core == slot.core));
        ++on_package[thread.package], ++on_core[thread.core], ++on_thread[thread.os];
      }
      CHECK(std::abs(on_package[0] - on_package[1]) <= 1);
      for (const auto& [core, count] : on_core) CHECK((count <= (ranks + 7) / 8 && count >= ranks / 8));
      for (const auto& [thread, count] : on_thread) CHECK(count == 1);
    }
  }
}

TEST_CASE("several nodes: each for itself; too many ranks for one are left alone") {
  const Machine machine = synthetic("pack:2 core:2 pu:1"), small = synthetic("core:1 pu:2");
  Traffic traffic;
  traffic.ranks = 11;
  for (std::int32_t r = 0; r < 8; r += 2) traffic.flows.push_back({r, (r + 2) % 8, 1, 10});
  const std::vector<std::int32_t> nodes = {0, 1, 0, 1, 0, 1, 0, 1, 2, 2, 2};
  const auto placed = place_inside({traffic, nodes, {&machine, &machine, &small, nullptr}, {}}, {"a", "b", "c", "d"});
  REQUIRE(placed);
  REQUIRE(placed->slot_of_rank.size() == 11);
  for (std::size_t r = 0; r < 8; ++r) CHECK(placed->slot_of_rank[r].thread >= 0);
  for (std::size_t r = 8; r < 11; ++r) CHECK(placed->slot_of_rank[r].thread == -1);
  REQUIRE(placed->notes.size() == 1);
  CHECK(placed->notes[0].find("c has 2 hardware threads for 3 ranks") == 0);
  const auto nothing = place_inside({traffic, nodes, {nullptr, nullptr, nullptr}, {}}, {"a", "b", "c"});
  REQUIRE(nothing);
  CHECK(nothing->slot_of_rank.empty());
}

TEST_CASE("bindings in the words of each launcher") {
  const std::vector<Slot> slots = {{5, 12, 2, true}, {0, 0, 0, true}, {2, 3, 1, false}};
  const std::vector<std::string> names = {"a", "b"};
  const auto text = [&](LaunchFormat format, const std::vector<std::int32_t>& nodes, const std::vector<Slot>& s) {
    const auto file = launch_file(format, nodes, names, s);
    return file ? *file : file.error().message;
  };
  CHECK(text(LaunchFormat::hydra_binding, {0, 0, 0}, slots) == "-bind-to user:12,0,3\n");
  CHECK(text(LaunchFormat::slurm_binding, {0, 0, 0}, slots) == "--cpu-bind=map_cpu:12,0,3\n");
  CHECK(text(LaunchFormat::openmpi_rankfile, {0, 0, 0}, slots) ==
        "# slots are hardware threads: mpirun --use-hwthread-cpus --rankfile ...\n"
        "rank 0=a slot=5\nrank 1=a slot=0\nrank 2=a slot=2\n");
  CHECK(text(LaunchFormat::wrapper, {0, 1, 0}, slots).find("  1) exec taskset -c 0 \"$@\" ;;\n") != std::string::npos);
  CHECK(text(LaunchFormat::hydra_binding, {0, 1, 1}, slots).find("b needs another one than a") != std::string::npos);
  CHECK(text(LaunchFormat::hydra_binding, {1, 0, 1}, {slots[0], slots[0], slots[0]}).find("needs") !=
        std::string::npos);
  CHECK(text(LaunchFormat::slurm_binding, {1, 0}, {slots[0], slots[0]}) == "--cpu-bind=map_cpu:12\n");
  for (const auto format : {LaunchFormat::hydra_binding, LaunchFormat::slurm_binding, LaunchFormat::wrapper})
    CHECK_FALSE(launch_file(format, {0, 0}, names, {}));
  CHECK(text(LaunchFormat::openmpi_rankfile, {0, 0}, {}) == "rank 0=a slot=0\nrank 1=a slot=1\n");
}
