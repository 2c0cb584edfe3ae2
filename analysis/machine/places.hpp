// Where ranks are on their nodes, and how far two of them are apart (docs/mapping.md, "Inside a node"). Immutable once
// made; plain lookups.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope::machine {

// The nearest thing that holds both ranks' hardware threads.
enum class Distance : std::uint8_t {
  same_core,
  same_l2,
  same_l3,
  same_numa,
  same_package,
  other_package,
  not_bound,  // on one node, and one of them may run in several packages or on all of the node's hardware threads
  other_node,
  not_known,  // the node's machine, or where one of them is
};
inline constexpr std::size_t distances = 9;
const char* name_of(Distance distance);   // "same-l3": in JSON
const char* words_of(Distance distance);  // "same L3 cache"

struct Place {
  std::int32_t node = -1;
  bool known = false;                // its machine and binding
  bool bound = false;                // see Distance::not_bound
  std::vector<std::size_t> threads;  // it may run on: rows of the machine, ascending
  // All of them are in it; -1: in several, or the machine has none.
  std::int32_t package = -1, numa = -1, l3 = -1, l2 = -1, core = -1;
};

// One for each rank of the application.
std::vector<Place> places_of(const Application& application, const FoundMachines& found);
Distance distance_between(const Place& a, const Place& b);
const Machine* machine_of_node(const FoundMachines& found, std::int32_t node);  // null: not known

// Ranks of one node whose whole bindings lie in one core, two or more for each such core.
struct SharedCore {
  std::int32_t node = 0, core = 0;
  std::vector<std::int32_t> ranks;
  std::size_t hardware_threads = 0;  // of the core
};
std::vector<SharedCore> shared_cores(const std::vector<Place>& places, const FoundMachines& found);

struct DistanceSums {
  std::uint64_t pairs = 0;  // of ranks that talk, each direction for itself
  std::uint64_t messages = 0, bytes = 0, timed = 0;
  double time_s = 0, transfer_s = 0;
};
// All of the traffic is in exactly one of them.
std::array<DistanceSums, distances> sum_by_distance(const std::vector<PairTraffic>& traffic,
                                                    const std::vector<Place>& places);

}  // namespace pclscope::machine
