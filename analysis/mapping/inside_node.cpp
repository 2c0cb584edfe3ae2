#include "analysis/mapping/inside_node.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>

#include "analysis/mapping/input_checks.hpp"
#include "analysis/mapping/mapping.hpp"
#include "analysis/mapping/network.hpp"

namespace pclscope::mapping {
namespace {

using Threads = std::vector<std::int32_t>;  // rows of a machine

// Of each core its hardware threads; cores in the machine's order.
std::vector<Threads> cores_of(const Machine& machine) {
  std::vector<Threads> cores;
  std::map<std::int32_t, std::size_t> index;
  for (std::size_t t = 0; t < machine.threads.size(); ++t) {
    const auto [place, added] = index.try_emplace(machine.threads[t].core, cores.size());
    if (added) cores.emplace_back();
    cores[place->second].push_back(static_cast<std::int32_t>(t));
  }
  return cores;
}

using Key = std::array<std::int32_t, 4>;  // package, NUMA domain, L3, L2
constexpr std::int32_t HardwareThread::*levels[] = {&HardwareThread::package, &HardwareThread::numa,
                                                    &HardwareThread::l3, &HardwareThread::l2};

// For each level, the widest first, the group that each core is in; groups are numbered in their order.
std::vector<std::vector<std::int32_t>> groups_of(const Machine& machine, const std::vector<Threads>& cores) {
  std::vector<std::vector<std::int32_t>> list;
  for (std::size_t level = 0; level < std::size(levels); ++level) {
    std::map<Key, std::int32_t> numbers;
    std::vector<std::int32_t>& groups = list.emplace_back();
    for (const Threads& core : cores) {
      Key key{-1, -1, -1, -1};
      for (std::size_t l = 0; l <= level; ++l) key[l] = machine.threads[static_cast<std::size_t>(core[0])].*levels[l];
      groups.push_back(numbers.try_emplace(key, static_cast<std::int32_t>(numbers.size())).first->second);
    }
  }
  return list;
}

std::int32_t count_of(const std::vector<std::int32_t>& groups) {
  return groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
}

// Levels that part what the one above holds, and hold several cores somewhere.
std::vector<std::vector<std::int32_t>> parting(std::vector<std::vector<std::int32_t>> all, std::size_t cores) {
  std::vector<std::vector<std::int32_t>> kept;
  std::int32_t above = 1;
  for (std::vector<std::int32_t>& groups : all) {
    const std::int32_t count = count_of(groups);
    if (count <= above || static_cast<std::size_t>(count) >= cores) continue;
    above = count;
    kept.push_back(std::move(groups));
  }
  return kept;
}

// How many ranks each core takes when they are spread as evenly as possible over packages, in these over NUMA domains,
// and so on: no part has two more than another while it has room.
class Spread {
 public:
  Spread(const Machine& machine, const std::vector<Threads>& cores)
      : cores_(cores), groups_(groups_of(machine, cores)), capacity_(cores.size(), 0) {}

  std::vector<std::int32_t> of(std::int32_t ranks) {
    std::vector<std::size_t> all(cores_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    give(all, 0, ranks);
    return capacity_;
  }

 private:
  void give(const std::vector<std::size_t>& cores, std::size_t level, std::int32_t ranks) {
    std::vector<std::vector<std::size_t>> parts;
    std::map<std::int32_t, std::size_t> index;
    for (const std::size_t core : cores) {
      const std::int32_t part = level < groups_.size() ? groups_[level][core] : static_cast<std::int32_t>(core);
      const auto [place, added] = index.try_emplace(part, parts.size());
      if (added) parts.emplace_back();
      parts[place->second].push_back(core);
    }
    // In proportion to cores; the hardware threads beyond the first of each core come into play when all cores are
    // used.
    std::vector<std::int32_t> share(parts.size(), 0);
    for (std::int32_t left = ranks; left > 0; --left) {
      std::size_t best = parts.size();
      double fill = 0;
      for (std::size_t p = 0; p < parts.size(); ++p) {
        std::int32_t room = 0;
        for (const std::size_t core : parts[p]) room += static_cast<std::int32_t>(cores_[core].size());
        const double filled = (share[p] + 1.0) / static_cast<double>(parts[p].size());
        if (share[p] < room && (best == parts.size() || filled < fill)) best = p, fill = filled;
      }
      ++share[best];
    }
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (level < groups_.size()) give(parts[p], level + 1, share[p]);
      else capacity_[parts[p].front()] = share[p];
    }
  }

  const std::vector<Threads>& cores_;
  std::vector<std::vector<std::int32_t>> groups_;
  std::vector<std::int32_t> capacity_;
};

class OneNode {
 public:
  OneNode(const InsideProblem& problem, std::int32_t node)
      : problem_(problem),
        node_(node),
        machine_(*problem.machines[static_cast<std::size_t>(node)]),
        cores_(cores_of(machine_)) {
    for (std::size_t rank = 0; rank < problem.node_of_rank.size(); ++rank)
      if (problem.node_of_rank[rank] == node) ranks_.push_back(static_cast<std::int32_t>(rank));
  }

  std::size_t ranks() const { return ranks_.size(); }
  std::size_t hardware_threads() const { return machine_.threads.size(); }

  Result<bool> place(InsideMapping& mapping) {
    auto tree = core_tree(machine_);
    if (!tree) return tree.error();
    const Traffic traffic = inner_traffic();
    MappingProblem inside{traffic, *tree, {}, {}, Objective::hop_bytes, problem_.effort, false};
    const bool as_now = take_now(inside);
    if (!as_now) {
      inside.current.clear();
      inside.capacity = Spread(machine_, cores_).of(traffic.ranks);
    }
    auto found = find_mapping(inside);
    if (!found) return found.error();
    mapping.before += found->before.hop_bytes;
    mapping.after += found->after.hop_bytes;
    give_threads(found->node_of_rank, mapping.slot_of_rank);
    return as_now;
  }

 private:
  Traffic inner_traffic() const {
    std::vector<std::int32_t> index(problem_.node_of_rank.size(), -1);
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      index[static_cast<std::size_t>(ranks_[i])] = static_cast<std::int32_t>(i);
    Traffic inner;
    inner.ranks = static_cast<std::int32_t>(ranks_.size());
    for (const Flow& flow : problem_.traffic.flows) {
      const std::int32_t from = index[static_cast<std::size_t>(flow.source)],
                         to = index[static_cast<std::size_t>(flow.destination)];
      if (from >= 0 && to >= 0) inner.flows.push_back({from, to, flow.messages, flow.bytes});
    }
    return inner;
  }

  // The cores that its ranks use now, if each of them has one, and none has two ranks more than another core.
  bool take_now(MappingProblem& inside) const {
    if (problem_.now.size() < problem_.node_of_rank.size()) return false;
    std::vector<std::size_t> order;  // who has the least choice first
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const machine::Place& place = problem_.now[static_cast<std::size_t>(ranks_[i])];
      if (!place.known || !place.bound || place.node != node_) return false;
      order.push_back(i);
    }
    const auto choice = [&](std::size_t i) -> const std::vector<std::size_t>& {
      return problem_.now[static_cast<std::size_t>(ranks_[i])].threads;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return choice(a).size() < choice(b).size(); });
    std::vector<std::int32_t> core_of_thread(machine_.threads.size(), 0);
    for (std::size_t core = 0; core < cores_.size(); ++core)
      for (const std::int32_t thread : cores_[core])
        core_of_thread[static_cast<std::size_t>(thread)] = static_cast<std::int32_t>(core);
    inside.capacity.assign(cores_.size(), 0);
    inside.current.assign(ranks_.size(), 0);
    for (const std::size_t i : order) {
      std::int32_t best = -1;
      for (const std::size_t thread : choice(i)) {
        const std::int32_t core = core_of_thread[thread];
        if (best < 0 ||
            inside.capacity[static_cast<std::size_t>(core)] < inside.capacity[static_cast<std::size_t>(best)])
          best = core;
      }
      inside.current[i] = best;
      ++inside.capacity[static_cast<std::size_t>(best)];
    }
    const auto [least, most] = std::minmax_element(inside.capacity.begin(), inside.capacity.end());
    for (std::size_t core = 0; core < cores_.size(); ++core)
      if (inside.capacity[core] > static_cast<std::int32_t>(cores_[core].size())) return false;
    return *most <= *least + 1;
  }

  void give_threads(const std::vector<std::int32_t>& core_of_rank, std::vector<Slot>& slots) const {
    std::vector<std::int32_t> count(cores_.size(), 0), used(cores_.size(), 0);
    for (const std::int32_t core : core_of_rank) ++count[static_cast<std::size_t>(core)];
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const auto core = static_cast<std::size_t>(core_of_rank[i]);
      const std::int32_t thread = cores_[core][static_cast<std::size_t>(used[core]++)];
      const HardwareThread& its = machine_.threads[static_cast<std::size_t>(thread)];
      slots[static_cast<std::size_t>(ranks_[i])] = {thread, its.os, its.core, count[core] == 1};
    }
  }

  const InsideProblem& problem_;
  std::int32_t node_;
  const Machine& machine_;
  std::vector<Threads> cores_;
  std::vector<std::int32_t> ranks_;
};

}  // namespace

Result<Topology> core_tree(const Machine& machine) {
  const std::vector<Threads> cores = cores_of(machine);
  if (cores.empty()) return bad("the machine has no cores");
  Network network;
  network.nodes = static_cast<std::int32_t>(cores.size());
  const auto groups = parting(groups_of(machine, cores), cores.size());
  const std::int32_t root = network.nodes;
  network.vertices = root + 1;
  std::vector<Edge> edges;
  std::vector<std::int32_t> above(cores.size(), root);
  for (const std::vector<std::int32_t>& level : groups) {
    for (std::size_t core = 0; core < cores.size(); ++core) {
      edges.emplace_back(above[core], network.vertices + level[core]);
      above[core] = network.vertices + level[core];
    }
    network.vertices += count_of(level);
  }
  for (std::size_t core = 0; core < cores.size(); ++core)
    edges.emplace_back(above[core], static_cast<std::int32_t>(core));
  network.links = make_links(network.vertices, edges);
  return Topology::of("the cores of a node", std::move(network));
}

Result<InsideMapping> place_inside(const InsideProblem& problem, const std::vector<std::string>& names) {
  InsideMapping mapping;
  mapping.slot_of_rank.resize(problem.node_of_rank.size());
  bool known = false;
  for (std::size_t node = 0; node < problem.machines.size(); ++node) {
    if (problem.machines[node] == nullptr || problem.machines[node]->threads.empty()) continue;
    OneNode one(problem, static_cast<std::int32_t>(node));
    if (one.ranks() == 0) continue;
    if (one.ranks() > one.hardware_threads()) {
      mapping.notes.push_back(names[node] + " has " + std::to_string(one.hardware_threads()) +
                              " hardware threads for " + std::to_string(one.ranks()) +
                              " ranks: they cannot be bound to one each");
      continue;
    }
    known = true;
    const auto as_now = one.place(mapping);
    if (!as_now) return as_now.error();
    mapping.bound_now = mapping.bound_now && *as_now;
  }
  if (!known) mapping.slot_of_rank.clear();
  return mapping;
}

}  // namespace pclscope::mapping
