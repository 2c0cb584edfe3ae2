#include "analysis/machine/places.hpp"

#include <map>
#include <utility>

namespace pclscope::machine {
namespace {

constexpr const char* names[distances] = {"same-core",     "same-l2",   "same-l3",    "same-numa", "same-package",
                                          "other-package", "not-bound", "other-node", "not-known"};
constexpr const char* words[distances] = {"same core",        "same L2 cache", "same L3 cache",
                                          "same NUMA domain", "same package",  "other package",
                                          "not bound",        "other node",    "not known"};

// The number that all of them have; -1: there is none.
std::int32_t common(const Machine& machine, const std::vector<std::size_t>& threads,
                    std::int32_t HardwareThread::*number) {
  if (threads.empty()) return -1;
  const std::int32_t first = machine.threads[threads.front()].*number;
  for (const std::size_t t : threads)
    if (machine.threads[t].*number != first) return -1;
  return first;
}

bool has_several_cores(const Machine& machine) {
  return std::any_of(machine.threads.begin(), machine.threads.end(),
                     [&](const HardwareThread& t) { return t.core != machine.threads.front().core; });
}

Place place_of(const RankBinding& binding, std::int32_t node, const Machine& machine) {
  Place place;
  place.node = node;
  for (std::size_t t = 0; t < machine.threads.size(); ++t) {
    const std::int32_t os = machine.threads[t].os;
    if (std::any_of(binding.ranges.begin(), binding.ranges.end(),
                    [os](const ThreadRange& range) { return range.first <= os && os <= range.last; }))
      place.threads.push_back(t);
  }
  place.known = !place.threads.empty();
  place.package = common(machine, place.threads, &HardwareThread::package);
  place.numa = common(machine, place.threads, &HardwareThread::numa);
  place.l3 = common(machine, place.threads, &HardwareThread::l3);
  place.l2 = common(machine, place.threads, &HardwareThread::l2);
  place.core = common(machine, place.threads, &HardwareThread::core);
  const bool everywhere = place.threads.size() == machine.threads.size() && has_several_cores(machine);
  place.bound = place.package >= 0 && !everywhere;
  return place;
}

}  // namespace

const char* name_of(Distance distance) { return names[static_cast<std::size_t>(distance)]; }
const char* words_of(Distance distance) { return words[static_cast<std::size_t>(distance)]; }

const Machine* machine_of_node(const FoundMachines& found, std::int32_t node) {
  if (node < 0 || static_cast<std::size_t>(node) >= found.of_node.size()) return nullptr;
  const std::int32_t machine = found.of_node[static_cast<std::size_t>(node)];
  if (machine < 0 || static_cast<std::size_t>(machine) >= found.machines.size()) return nullptr;
  return &found.machines[static_cast<std::size_t>(machine)];
}

std::vector<Place> places_of(const Application& application, const FoundMachines& found) {
  std::vector<Place> places(static_cast<std::size_t>(std::max(0, application.ranks)));
  for (std::size_t rank = 0; rank < places.size() && rank < application.node_of_rank.size(); ++rank)
    places[rank].node = application.node_of_rank[rank];
  for (const RankBinding& binding : found.bindings) {
    if (binding.rank < 0 || static_cast<std::size_t>(binding.rank) >= places.size()) continue;
    Place& place = places[static_cast<std::size_t>(binding.rank)];
    if (const Machine* machine = machine_of_node(found, place.node)) place = place_of(binding, place.node, *machine);
  }
  return places;
}

Distance distance_between(const Place& a, const Place& b) {
  if (a.node < 0 || b.node < 0) return Distance::not_known;
  if (a.node != b.node) return Distance::other_node;
  if (!a.known || !b.known) return Distance::not_known;
  if (!a.bound || !b.bound) return Distance::not_bound;
  const auto same = [](std::int32_t x, std::int32_t y) { return x >= 0 && x == y; };
  if (same(a.core, b.core)) return Distance::same_core;
  if (same(a.l2, b.l2)) return Distance::same_l2;
  if (same(a.l3, b.l3)) return Distance::same_l3;
  if (same(a.numa, b.numa)) return Distance::same_numa;
  if (same(a.package, b.package)) return Distance::same_package;
  return Distance::other_package;
}

std::vector<SharedCore> shared_cores(const std::vector<Place>& places, const FoundMachines& found) {
  std::map<std::pair<std::int32_t, std::int32_t>, SharedCore> by_core;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const Place& place = places[rank];
    if (!place.known || place.core < 0) continue;
    SharedCore& shared = by_core[{place.node, place.core}];
    shared.node = place.node;
    shared.core = place.core;
    shared.ranks.push_back(static_cast<std::int32_t>(rank));
  }
  std::vector<SharedCore> list;
  for (auto& [key, shared] : by_core) {
    if (shared.ranks.size() < 2) continue;
    for (const HardwareThread& thread : machine_of_node(found, shared.node)->threads)
      shared.hardware_threads += thread.core == shared.core;
    list.push_back(std::move(shared));
  }
  return list;
}

std::array<DistanceSums, distances> sum_by_distance(const std::vector<PairTraffic>& traffic,
                                                    const std::vector<Place>& places) {
  std::array<DistanceSums, distances> sums{};
  const auto place = [&](std::int32_t rank) {
    return rank >= 0 && static_cast<std::size_t>(rank) < places.size() ? &places[static_cast<std::size_t>(rank)]
                                                                       : nullptr;
  };
  for (const PairTraffic& pair : traffic) {
    const Place *from = place(pair.source), *to = place(pair.destination);
    const Distance distance = from && to ? distance_between(*from, *to) : Distance::not_known;
    DistanceSums& sum = sums[static_cast<std::size_t>(distance)];
    ++sum.pairs;
    sum.messages += pair.messages;
    sum.bytes += pair.bytes;
    sum.timed += pair.timed;
    sum.time_s += pair.time_s;
    sum.transfer_s += pair.transfer_s;
  }
  return sums;
}

}  // namespace pclscope::machine
