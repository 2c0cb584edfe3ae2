// What the nodes of a run are made of inside, and where on them ranks may run (analysis/machine/). Plain values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pclscope {

inline constexpr std::int32_t most_hardware_threads = 1 << 16;  // of a node, as the kernel numbers them

// What runs one thread at a time, and what it is a part of: numbers from 0 within the machine, in the order in which
// hwloc lists them (its logical indices); -1: the machine has none. Two with the same number share it.
struct HardwareThread {
  std::int32_t os = 0;       // the kernel's number: what affinity masks, taskset and srun mean
  std::int32_t package = 0;  // socket
  std::int32_t numa = -1;    // domain of memory
  std::int32_t l3 = -1;      // cache
  std::int32_t l2 = -1;
  std::int32_t core = 0;
  bool operator==(const HardwareThread&) const = default;
};

// The hardware threads that a job may use there, in hwloc's order. Empty: not known.
struct Machine {
  std::vector<HardwareThread> threads;
  bool operator==(const Machine&) const = default;
};

struct ThreadRange {
  std::int32_t first = 0, last = 0;  // both in it
  bool operator==(const ThreadRange&) const = default;
};

// Where the thread that called MPI_Init may run: hardware threads by the kernel's number, ascending; none: not known.
struct RankBinding {
  std::int32_t rank = 0;
  std::vector<ThreadRange> ranges;
  std::uint32_t changes = 0;  // how often it was another one than when it was looked at before (every 2 s)
  bool operator==(const RankBinding&) const = default;
};

inline std::vector<ThreadRange> ranges_of(std::span<const std::int32_t> ascending) {
  std::vector<ThreadRange> ranges;
  for (const std::int32_t thread : ascending) {
    if (!ranges.empty() && ranges.back().last + 1 == thread) ranges.back().last = thread;
    else ranges.push_back({thread, thread});
  }
  return ranges;
}

struct FoundMachines {
  std::vector<Machine> machines;      // each distinct one once
  std::vector<std::int32_t> of_node;  // of the application's nodes: index into machines, -1: not known. Empty: older
                                      // dumps, or nothing is known
  std::string slurm_topology;         // as `scontrol show topology` printed it inside the job; in a dump only
  std::vector<RankBinding> bindings;  // of ranks of which it is known, ascending
  bool operator==(const FoundMachines&) const = default;
};

// Nodes whose machines are alike share one.
inline void add_machine(FoundMachines& found, std::int32_t node, std::int32_t nodes, const Machine& machine) {
  if (machine.threads.empty() || node < 0 || node >= nodes) return;
  const auto known = std::find(found.machines.begin(), found.machines.end(), machine);
  found.of_node.resize(static_cast<std::size_t>(nodes), -1);
  found.of_node[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(known - found.machines.begin());
  if (known == found.machines.end()) found.machines.push_back(machine);
}

}  // namespace pclscope
