#include "analysis/mapping/launch_files.hpp"

#include <algorithm>

#include "analysis/mapping/input_checks.hpp"

namespace pclscope::mapping {
namespace {

bool usable(const std::string& name) {
  return !name.empty() && name.find_first_of(" \t\r\n=,:;#'\"") == std::string::npos;
}

std::string plain(const std::vector<std::int32_t>& nodes, const std::vector<std::string>& names) {
  std::string text = "# rank node\n";
  for (std::size_t rank = 0; rank < nodes.size(); ++rank)
    text += std::to_string(rank) + ' ' + names[nodes[rank]] + '\n';
  return text;
}

bool all_placed(const std::vector<std::int32_t>& nodes, const std::vector<Slot>& slots) {
  return slots.size() == nodes.size() &&
         std::all_of(slots.begin(), slots.end(), [](const Slot& slot) { return slot.thread >= 0; });
}

// Slots are hwloc's logical indices: of cores, or, with --use-hwthread-cpus, of hardware threads.
std::string bound_rankfile(const std::vector<std::int32_t>& nodes, const std::vector<std::string>& names,
                           const std::vector<Slot>& slots) {
  const bool cores = std::all_of(slots.begin(), slots.end(), [](const Slot& slot) { return slot.alone; });
  std::string text = cores ? "" : "# slots are hardware threads: mpirun --use-hwthread-cpus --rankfile ...\n";
  for (std::size_t rank = 0; rank < nodes.size(); ++rank)
    text += "rank " + std::to_string(rank) + '=' + names[nodes[rank]] +
            " slot=" + std::to_string(cores ? slots[rank].core : slots[rank].thread) + '\n';
  return text;
}

// The k-th rank of a node on its k-th core: Open MPI 4.1 wants one named, and binds to it ('*' is core 0 for all). A
// core that is not there ends the job without a word: docs/mapping.md says what to take then.
std::string rankfile(const std::vector<std::int32_t>& nodes, const std::vector<std::string>& names,
                     const std::vector<Slot>& slots) {
  if (all_placed(nodes, slots)) return bound_rankfile(nodes, names, slots);
  std::vector<std::int32_t> used(names.size(), 0);
  std::string text;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank)
    text += "rank " + std::to_string(rank) + '=' + names[nodes[rank]] + " slot=" + std::to_string(used[nodes[rank]]++) +
            '\n';
  return text;
}

// Ranks one after the other on one node share a line.
std::string hydra(const std::vector<std::int32_t>& nodes, const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t rank = 0; rank < nodes.size();) {
    std::size_t end = rank;
    while (end < nodes.size() && nodes[end] == nodes[rank]) ++end;
    text += names[nodes[rank]] + ':' + std::to_string(end - rank) + '\n';
    rank = end;
  }
  return text;
}

std::string slurm(const std::vector<std::int32_t>& nodes, const std::vector<std::string>& names) {
  std::string text;
  for (const std::int32_t node : nodes) text += names[node] + '\n';
  return text;
}

// The ranks in the order of places, which the launcher fills node by node: it cannot leave a place free between.
Result<std::string> cray(const std::vector<std::int32_t>& nodes, const std::vector<std::string>& names) {
  std::vector<std::vector<std::size_t>> ranks_of(names.size());
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) ranks_of[nodes[rank]].push_back(rank);
  while (ranks_of.back().empty()) ranks_of.pop_back();
  const std::size_t each = ranks_of.front().size();
  std::string text = "# MPICH_RANK_REORDER_METHOD=3, " + std::to_string(each) + " ranks on each node\n";
  for (std::size_t node = 0; node < ranks_of.size(); ++node) {
    const std::size_t here = ranks_of[node].size();
    if (here > each || (here < each && node + 1 < ranks_of.size())) {
      return bad("a Cray rank order needs the same number of ranks on each node (only the last may have fewer); node " +
                 names[node] + " has " + std::to_string(here) + ", " + names[0] + " has " + std::to_string(each) +
                 ": choose another --format");
    }
    for (std::size_t k = 0; k < here; ++k) text += std::to_string(ranks_of[node][k]) + (k + 1 < here ? "," : "\n");
  }
  return text;
}

// For the k-th rank of each node: the kernel's number of its hardware thread.
Result<std::string> binding(const char* option, const std::vector<std::int32_t>& nodes,
                            const std::vector<std::string>& names, const std::vector<Slot>& slots) {
  if (!all_placed(nodes, slots))
    return bad("there are no places inside the nodes for all ranks: a run that knows its machine is needed");
  std::vector<std::string> lists(names.size());
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    std::string& list = lists[nodes[rank]];
    list += (list.empty() ? "" : ",") + std::to_string(slots[rank].os);
  }
  const std::string* first = nullptr;
  std::size_t first_node = 0;
  for (std::size_t node = 0; node < lists.size(); ++node) {
    if (lists[node].empty()) continue;
    if (first == nullptr) first = &lists[node], first_node = node;
    if (lists[node] != *first)
      return bad("this launcher takes one list for all nodes, and " + names[node] + " needs another one than " +
                 names[first_node] + ": take --format wrapper, or openmpi-rankfile");
  }
  return option + *first + '\n';
}

Result<std::string> wrapper(const std::vector<std::int32_t>& nodes, const std::vector<Slot>& slots) {
  if (!all_placed(nodes, slots))
    return bad("there are no places inside the nodes for all ranks: a run that knows its machine is needed");
  std::string text =
      "#!/bin/sh\n"
      "# The launcher runs this for each rank, with the application behind it: it binds the rank, and becomes the "
      "application.\n"
      "case \"${OMPI_COMM_WORLD_RANK-${PMIX_RANK-${PMI_RANK-${SLURM_PROCID-}}}}\" in\n";
  for (std::size_t rank = 0; rank < nodes.size(); ++rank)
    text += "  " + std::to_string(rank) + ") exec taskset -c " + std::to_string(slots[rank].os) + " \"$@\" ;;\n";
  return text + "esac\nexec \"$@\"\n";
}

}  // namespace

Result<std::string> launch_file(LaunchFormat format, const std::vector<std::int32_t>& node_of_rank,
                                const std::vector<std::string>& names, const std::vector<Slot>& slots) {
  if (node_of_rank.empty()) return bad("there are no ranks");
  for (const std::int32_t node : node_of_rank) {
    if (node < 0 || static_cast<std::size_t>(node) >= names.size())
      return bad("node " + std::to_string(node) + " has no name");
    if (!usable(names[node]))
      return bad("node " + std::to_string(node) + " has a name that no launcher takes: '" + names[node].substr(0, 60) +
                 "'");
  }
  switch (format) {
    case LaunchFormat::plain: return plain(node_of_rank, names);
    case LaunchFormat::openmpi_rankfile: return rankfile(node_of_rank, names, slots);
    case LaunchFormat::hydra: return hydra(node_of_rank, names);
    case LaunchFormat::slurm: return slurm(node_of_rank, names);
    case LaunchFormat::cray: return cray(node_of_rank, names);
    case LaunchFormat::hydra_binding: return binding("-bind-to user:", node_of_rank, names, slots);
    case LaunchFormat::slurm_binding: return binding("--cpu-bind=map_cpu:", node_of_rank, names, slots);
    case LaunchFormat::wrapper: return wrapper(node_of_rank, slots);
  }
  return bad("no such format");
}

}  // namespace pclscope::mapping
