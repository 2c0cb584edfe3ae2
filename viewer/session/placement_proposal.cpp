#include "viewer/session/placement_proposal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "analysis/mapping/index.hpp"
#include "analysis/mapping/node_match.hpp"
#include "viewer/launch/shell_words.hpp"

namespace pclscope::session {
namespace {

using mapping::LaunchFormat;
using mapping::Objective;

Error no_placement(std::string message) { return {ErrorCode::bad_argument, std::move(message)}; }

std::vector<std::string> names_of_nodes(const NetworkCase& network) {
  std::vector<std::string> names = network.node_names;
  const std::int32_t nodes = network.topology ? network.topology->nodes() : network.vertices();
  for (std::int32_t node = static_cast<std::int32_t>(names.size()); node < nodes; ++node)
    names.push_back(network.topology ? network.topology->name(node) : std::to_string(node));
  return names;
}

}  // namespace

PlacementSide placement_side(const NetworkCase& network) {
  PlacementSide side;
  side.hop_bytes = mapping::sum_hop_bytes(network.routes.routes);
  for (const double bytes : network.loads)
    if (bytes > 0) side.bytes_of_link.push_back(bytes);
  std::sort(side.bytes_of_link.begin(), side.bytes_of_link.end(), std::greater<>());
  if (!side.bytes_of_link.empty()) side.heaviest = side.bytes_of_link.front();
  const auto node = [&](std::int32_t rank) {
    return rank >= 0 && mapping::at(rank) < network.node_of_rank.size() ? network.node_of_rank[mapping::at(rank)] : -1;
  };
  for (const mapping::Flow& flow : network.traffic.flows) {
    if (node(flow.source) == node(flow.destination)) continue;
    side.inter_bytes += flow.bytes;
    side.inter_messages += flow.messages;
  }
  return side;
}

Result<PlacementProposal> propose_placement(const NetworkCasePtr& network, const PlacementSearch& search) {
  if (!network->topology) return no_placement("only routes are known, not the network: --topology says which it is");
  if (network->topology->nodes() < 2) return no_placement("all ranks are on one node: there is nothing to place");
  const auto ranks = mapping::at(std::max(network->traffic.ranks, 0));
  std::vector<std::int32_t> current = network->node_of_rank, capacity = network->capacities;
  current.resize(ranks, -1);
  capacity.resize(mapping::at(network->topology->nodes()), 0);
  if (std::any_of(current.begin(), current.end(), [](std::int32_t node) { return node < 0; }))
    return no_placement("the nodes of some ranks are not known");
  if (search.objective == Objective::time && !search.times)
    return no_placement(
        "what messages take is not known: of a traffic file pclscope map --latency and --bandwidth say "
        "it");
  auto found = mapping::find_mapping({.traffic = network->traffic,
                                      .topology = *network->topology,
                                      .capacity = std::move(capacity),
                                      .current = current,
                                      .objective = search.objective,
                                      .effort = search.effort,
                                      .links = false,
                                      .times = search.times.value_or(LinkTimes{}),
                                      .ended = search.ended});
  if (!found) return found.error();
  PlacementProposal made;
  made.of = network;
  if (search.times) made.times = {found->before.time_s, found->after.time_s};
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (found->node_of_rank[rank] != current[rank]) made.moved.push_back(static_cast<std::int32_t>(rank));
  const std::size_t count = made.moved.size();
  auto after = with_placement(*network, std::move(found->node_of_rank),
                              std::to_string(count) + (count == 1 ? " rank moved" : " ranks moved"));
  if (!after) return after.error();
  made.after = std::move(*after);
  made.side = placement_side(*made.after);
  return made;
}

Result<std::string> placement_file(const NetworkCase& network, LaunchFormat format) {
  return mapping::launch_file(format, network.node_of_rank, names_of_nodes(network));
}

Status write_placement(const NetworkCase& network, LaunchFormat format, const std::string& path) {
  const auto text = placement_file(network, format);
  if (!text) return text.error();
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0)
    return no_placement(errno == EEXIST ? "there is a file " + path + ": give another name"
                                        : "cannot write " + path + ": " + std::strerror(errno));
  std::size_t written = 0;
  while (written < text->size()) {
    const ssize_t more = ::write(file, text->data() + written, text->size() - written);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) break;
    written += static_cast<std::size_t>(more);
  }
  const int problem = written < text->size() ? errno : 0;
  if (::close(file) != 0 || problem != 0)
    return no_placement("cannot write " + path + ": " + std::strerror(problem != 0 ? problem : errno));
  return {};
}

PlacementName name_of(Objective objective) {
  switch (objective) {
    case Objective::hop_bytes: return {"hop-bytes", "Each message's bytes times its links, added up."};
    case Objective::inter_bytes: return {"inter-bytes", "Bytes between nodes."};
    case Objective::inter_messages: return {"inter-messages", "Messages between nodes."};
    case Objective::max_link_load: return {"max-link-load", "Bytes over the most loaded link."};
    case Objective::time: return {"time", "What all messages take together."};
  }
  return {"hop-bytes", ""};
}

PlacementName name_of(LaunchFormat format) {
  switch (format) {
    case LaunchFormat::plain: return {"plain", "Lines 'rank node', for pclscope run --rankfile."};
    case LaunchFormat::openmpi_rankfile: return {"openmpi-rankfile", "For mpirun --rankfile of Open MPI."};
    case LaunchFormat::hydra: return {"hydra", "For mpiexec -f of MPICH."};
    case LaunchFormat::slurm: return {"slurm", "For SLURM_HOSTFILE with srun --distribution=arbitrary."};
    case LaunchFormat::cray: return {"cray", "As MPICH_RANK_ORDER with MPICH_RANK_REORDER_METHOD=3."};
    case LaunchFormat::hydra_binding: return {"hydra-binding", "Cores, as an option of mpiexec of MPICH."};
    case LaunchFormat::slurm_binding: return {"slurm-binding", "Cores, as an option of srun."};
    case LaunchFormat::wrapper: return {"wrapper", "Cores, as a script before the application."};
  }
  return {"plain", ""};
}

std::string map_command(const NetworkCase& network, const std::string& target, Objective objective, double effort,
                        LaunchFormat format, const std::string& path) {
  std::vector<std::string> words = {"pclscope", "map", target};
  const auto option = [&](const char* name, std::string value) {
    words.emplace_back(name);
    words.push_back(std::move(value));
  };
  if (network.topology && network.topology->text() != mapping::told_by_slurm)
    option("--topology", network.topology->text());
  const std::vector<std::int32_t>& capacity = network.capacities;
  if (!network.of_run && !capacity.empty()) {  // those of a run are as it had them
    if (std::all_of(capacity.begin(), capacity.end(), [&](std::int32_t c) { return c == capacity[0]; })) {
      if (capacity[0] != 1) option("--ranks-per-node", std::to_string(capacity[0]));
    } else {
      std::string list;
      for (const std::int32_t c : capacity) list += (list.empty() ? "" : ",") + std::to_string(c);
      option("--capacity", list);
    }
  }
  option("--objective", name_of(objective).word);
  if (effort != 1) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", effort);
    option("--effort", text);
  }
  option("--format", name_of(format).word);
  option("-o", path);
  return launch::join_words(words);
}

}  // namespace pclscope::session
