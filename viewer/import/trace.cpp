#include "viewer/import/trace.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "interpose/record/event.hpp"
#include "viewer/import/functions.hpp"

namespace pclscope::importing {
namespace {

constexpr std::size_t most_locations = 1'000'000, longest_chain = 10'000;

Error damaged(const std::string& what) { return Error{ErrorCode::damaged, "the trace is damaged: " + what}; }

// Follows parents; false where they go round in a circle (or very far).
template <class Map>
bool ends(const Map& map, std::uint32_t from) {
  for (std::size_t steps = 0; from != undefined; ++steps) {
    if (steps > longest_chain) return false;
    const auto at = map.find(from);
    if (at == map.end()) return true;
    from = at->second.parent;
  }
  return true;
}

// The name of the node that the process is on.
std::string node_of(const Definitions& d, std::uint32_t group) {
  const auto process = d.processes.find(group);
  std::string first;
  for (std::uint32_t at = process == d.processes.end() ? undefined : process->second.node; at != undefined;) {
    const auto node = d.nodes.find(at);
    if (node == d.nodes.end()) break;
    if (first.empty()) first = node->second.name;
    if (node->second.kind == "node") return node->second.name;
    at = node->second.parent;
  }
  return first.empty() ? "node" : first;
}

// Which process is which rank: MPI's own list of locations, else the order of the processes.
Result<std::map<std::uint32_t, std::int32_t>> ranks_of(Trace& trace) {
  const Definitions& d = trace.defined;
  std::unordered_map<std::uint64_t, std::uint32_t> group_of;
  for (const Definitions::Location& location : d.locations) group_of[location.reference] = location.group;
  std::map<std::uint32_t, std::int32_t> rank_of;
  for (const auto& [reference, group] : d.groups) {
    if (!group.locations || !group.mpi || !rank_of.empty()) continue;
    if (group.members.size() > most_locations) return damaged("it has more than a million ranks");
    std::int32_t rank = 0;
    for (const std::uint64_t member : group.members) {
      const auto at = group_of.find(member);
      // A rank whose location is not in the archive keeps its number.
      if (at == group_of.end()) trace.notes.push_back("rank " + std::to_string(rank) + " has no location in the trace");
      else if (!rank_of.try_emplace(at->second, rank).second) return damaged("a process is two ranks");
      ++rank;
    }
    trace.application.ranks = rank;
  }
  if (!rank_of.empty()) return rank_of;
  std::vector<std::uint32_t> processes;
  for (const Definitions::Location& location : d.locations) processes.push_back(location.group);
  std::sort(processes.begin(), processes.end());
  processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
  for (const std::uint32_t process : processes) rank_of[process] = trace.application.ranks++;
  trace.notes.emplace_back("it does not say which process is which rank: they are numbered as they are defined");
  return rank_of;
}

Status place_locations(Trace& trace) {
  Definitions& d = trace.defined;
  const auto rank_of = ranks_of(trace);
  if (!rank_of) return rank_of.error();
  std::vector<std::uint32_t> threads(static_cast<std::size_t>(trace.application.ranks));
  trace.application.node_of_rank.assign(threads.size(), -1);
  std::map<std::string, std::int32_t> nodes;
  std::uint64_t beside = 0;
  for (const Definitions::Location& location : d.locations) {
    const auto rank = rank_of->find(location.group);
    if (rank == rank_of->end()) {
      ++beside;
      continue;
    }
    const auto r = static_cast<std::size_t>(rank->second);
    if (!trace.place_of.try_emplace(location.reference, Trace::Place{rank->second, threads[r]++}).second)
      return damaged("a location is defined twice");
    const std::string node = node_of(d, location.group);
    const auto [at, fresh] = nodes.try_emplace(node, static_cast<std::int32_t>(nodes.size()));
    if (fresh) trace.application.nodes.push_back(node);
    trace.application.node_of_rank[r] = at->second;
  }
  beside += d.other_locations;
  if (beside > 0) trace.notes.push_back(std::to_string(beside) + " locations are no threads of ranks and left out");
  return {};
}

std::vector<std::int32_t> members_of(const Trace& trace, std::uint32_t reference) {
  std::vector<std::int32_t> members;
  const auto at = trace.defined.groups.find(reference);
  if (at == trace.defined.groups.end()) return members;
  for (const std::uint64_t member : at->second.members) {
    std::int32_t rank =
        member < static_cast<std::uint64_t>(trace.application.ranks) ? static_cast<std::int32_t>(member) : -1;
    if (at->second.locations) {
      const auto place = trace.place_of.find(member);
      rank = place == trace.place_of.end() ? -1 : place->second.rank;
    }
    members.push_back(rank);
  }
  return members;
}

Status name_comms(Trace& trace) {
  const Definitions& d = trace.defined;
  std::vector<std::uint64_t> references;
  for (const auto& [reference, comm] : d.comms) references.push_back(reference);
  std::sort(references.begin(), references.end());
  bool world = false;
  for (const std::uint64_t reference : references) {
    const Definitions::Comm& comm = d.comms.at(reference);
    if (!ends(d.comms, comm.parent)) return damaged("communicators are each other's parents");
    TraceComm& to = trace.comms[reference];
    to.id = 0x1000 + reference;
    if (comm.parent != undefined) to.parent = 0x1000 + comm.parent;
    const auto group = d.groups.find(comm.group);
    to.self = group != d.groups.end() && group->second.self;
    to.inter = comm.other != undefined;
    to.members = members_of(trace, comm.group);
    to.others = members_of(trace, comm.other);
    to.sorted = to.members;
    std::sort(to.sorted.begin(), to.sorted.end());
    // The first that all are members of is the world.
    if (to.self) to.id = record::self_comm_id;
    else if (!world && !to.inter && to.members.size() == static_cast<std::size_t>(trace.application.ranks))
      to.id = record::world_comm_id, to.parent = 0, world = true;
  }
  for (auto& [reference, comm] : trace.comms)
    if (comm.parent != 0)
      if (const auto parent = trace.comms.find(comm.parent - 0x1000); parent != trace.comms.end())
        comm.parent = parent->second.id;
  return {};
}

}  // namespace

bool TraceComm::has(std::int32_t rank) const { return self || std::binary_search(sorted.begin(), sorted.end(), rank); }

std::int32_t TraceComm::peer(std::int32_t own, std::uint32_t rank) const {
  if (self) return rank == 0 ? own : -1;
  const auto& group = inter && has(own) ? others : members;
  return rank < group.size() ? group[rank] : -1;
}

std::int32_t TraceComm::rank_of(std::int32_t world) const {
  const auto at = std::find(members.begin(), members.end(), world);
  return at == members.end() ? -1 : static_cast<std::int32_t>(at - members.begin());
}

std::int64_t Trace::ns_of(std::uint64_t ticks) const {
  const __int128 since = static_cast<__int128>(ticks) - static_cast<__int128>(defined.offset);
  if (defined.resolution == 1'000'000'000) return static_cast<std::int64_t>(since);
  return static_cast<std::int64_t>(since * 1'000'000'000 / static_cast<__int128>(defined.resolution));
}

Result<Trace> understood(Definitions definitions) {
  Trace trace;
  trace.defined = std::move(definitions);
  const Definitions& d = trace.defined;
  if (d.resolution == 0) return damaged("its clock does not tick");
  if (d.locations.empty()) return damaged("it has no location");
  if (d.locations.size() > most_locations) return damaged("it has more than a million locations");
  for (const auto& [reference, node] : d.nodes)
    if (!ends(d.nodes, node.parent)) return damaged("its system tree goes round in a circle");
  for (const auto& [reference, context] : d.contexts)
    if (!ends(d.contexts, context.parent)) return damaged("its call paths go round in a circle");
  for (const auto& [reference, region] : d.regions)
    if (const std::uint16_t function = function_named(region.name); function != 0)
      trace.function_of[reference] = function;
  if (const Status placed = place_locations(trace); !placed) return placed.error();
  if (const Status named = name_comms(trace); !named) return named.error();
  trace.application.command = d.command;
  trace.application.mpi = d.mpi;
  if (!d.lacking.empty()) trace.notes.push_back("not all was there when it was exported: " + d.lacking);
  return trace;
}

}  // namespace pclscope::importing
