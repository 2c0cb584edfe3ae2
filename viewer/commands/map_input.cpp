#include "viewer/commands/map_input.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "analysis/machine/read_machine.hpp"
#include "analysis/mapping/route_file.hpp"
#include "viewer/commands/traffic_source.hpp"
#include "viewer/session/run_network.hpp"
#include "viewer/session/target.hpp"

namespace pclscope::commands {
namespace {

using mapping::Topology;

Error bad(std::string message) { return {ErrorCode::bad_argument, std::move(message)}; }

// Traffic, and where the ranks are now.
Status read_source(const MapInputWords& words, MapInput& input) {
  if (session::is_existing_file(words.target) && mapping::is_route_file(words.target)) {
    return bad(words.target + " holds routes, without bytes: give a traffic file (pclscope route reads routes)");
  }
  auto source = read_traffic_source(words.target);
  if (!source) return source.error();
  input.traffic = std::move(source->traffic);
  if (!source->names.empty()) {
    input.notes.push_back("the file's numbers of ranks begin at " + std::to_string(source->names.front()) +
                          ": they are numbered anew from 0, in their order");
  }
  if (!source->of_run) {
    if (words.topology.empty() && !words.machine.empty() && words.capacity.empty() && !words.ranks_per_node) {
      input.names = {"localhost"};  // one node, of which the machine is given
      input.current.assign(static_cast<std::size_t>(input.traffic.ranks), 0);
      return {};
    }
    if (words.topology.empty())
      return bad(words.target +
                 " does not say on which network it was: --topology is needed, as in --topology torus:4x4x2");
    return {};
  }
  input.of_run = true;
  input.names = std::move(source->nodes);
  input.machines = std::move(source->machines);
  input.current = std::move(source->node_of_rank);
  if (std::find_if(input.current.begin(), input.current.end(), [](auto node) { return node < 0; }) ==
      input.current.end())
    return {};
  return Error{ErrorCode::damaged,
               words.target + " does not say on which nodes all ranks are: not all of them have begun"};
}

Result<std::vector<std::int32_t>> parse_capacities(const std::string& word) {
  std::string text = word;
  if (session::is_existing_file(word)) {
    std::ostringstream content;
    content << std::ifstream(word).rdbuf();
    text = content.str();
  }
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ',' || c == '\n' || c == '\t' || c == '\r'; }, ' ');
  std::istringstream in(text);
  std::vector<std::int32_t> capacities;
  for (std::string number; in >> number;) {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size() || value < 0 || value > most_ranks_per_node) {
      return bad("--capacity: '" + number.substr(0, 60) + "' is neither a file nor a number of ranks");
    }
    capacities.push_back(value);
  }
  return capacities;
}

Status set_capacities(const MapInputWords& words, MapInput& input) {
  const auto nodes = static_cast<std::size_t>(input.topology->nodes());
  if (!words.capacity.empty()) {
    auto given = parse_capacities(words.capacity);
    if (!given) return given.error();
    if (given->size() > nodes)
      return bad("--capacity names " + std::to_string(given->size()) + " nodes, " + input.topology->text() + " has " +
                 std::to_string(nodes));
    input.capacity = std::move(*given);
    input.capacity.resize(nodes, 0);
  } else if (words.ranks_per_node) {
    input.capacity = session::equal_capacities(*input.topology, *words.ranks_per_node);
  } else if (!input.current.empty()) {  // as now
    input.capacity.assign(nodes, 0);
    for (const std::int32_t node : input.current)
      if (static_cast<std::size_t>(node) < nodes) ++input.capacity[node];
  } else {
    input.capacity = session::equal_capacities(*input.topology, 1);
  }
  return {};
}

// A run on few nodes may be asked where it would go on others.
void forget_what_does_not_fit(MapInput& input) {
  std::vector<std::int32_t> left = input.capacity;
  const bool fits = std::all_of(input.current.begin(), input.current.end(), [&](std::int32_t node) {
    return static_cast<std::size_t>(node) < left.size() && left[node]-- > 0;
  });
  if (fits) return;
  input.current.clear();
  input.notes.push_back(
      "the run's own placement does not fit on these nodes: before is with ranks in order, node by node");
}

// In the topology's order from here on; nodes of the run keep their names.
Status number_as_topology(MapInput& input) {
  auto numbers = session::number_nodes(*input.topology, input.names);
  if (!numbers) return numbers.error();
  std::vector<std::int32_t> machines(static_cast<std::size_t>(input.topology->nodes()),
                                     input.machines.machines.size() == 1 ? 0 : -1);
  for (std::size_t i = 0; i < numbers->number.size(); ++i)
    machines[static_cast<std::size_t>(numbers->number[i])] =
        i < input.machines.of_node.size() ? input.machines.of_node[i] : -1;
  if (!input.machines.of_node.empty()) input.machines.of_node = std::move(machines);
  input.names = std::move(numbers->names);
  numbers->renumber(input.current);
  return {};
}

// Nodes that the run did not use are taken to be like the others, where those are all alike.
Status set_machines(const MapInputWords& words, MapInput& input) {
  const auto nodes = static_cast<std::size_t>(input.topology->nodes());
  FoundMachines& found = input.machines;
  if (!words.machine.empty()) {
    auto given = machine::read_machine(words.machine);
    if (!given) return given.error();
    found.machines = {std::move(*given)};
    found.of_node.assign(nodes, 0);
  }
  found.of_node.resize(nodes, found.machines.size() == 1 ? 0 : -1);
  return {};
}

Status read_names(const MapInputWords& words, MapInput& input) {
  const auto nodes = static_cast<std::size_t>(input.topology->nodes());
  if (!words.node_names.empty()) {
    std::ifstream file(words.node_names);
    if (!file) return Error{ErrorCode::not_found, "cannot read " + words.node_names};
    input.names.clear();
    for (std::string line; std::getline(file, line);) {
      line.erase(std::min(line.size(), line.find_last_not_of(" \t\r") + 1));
      if (!line.empty()) input.names.push_back(line);
    }
    if (input.names.size() < nodes)
      return bad(words.node_names + " names " + std::to_string(input.names.size()) + " nodes, " +
                 input.topology->text() + " has " + std::to_string(nodes));
  }
  for (std::size_t node = input.names.size(); node < nodes; ++node)
    input.names.push_back(input.topology->name(static_cast<std::int32_t>(node)));
  return {};
}

}  // namespace

Result<MapInput> read_map_input(const MapInputWords& words) {
  MapInput input;
  if (const Status status = read_source(words, input); !status) return status.error();
  auto topology = words.topology.empty() ? session::topology_of_run(input.machines, input.names, input.notes)
                                         : Topology::parse(words.topology);
  if (!topology) return topology.error();
  input.topology = std::move(*topology);
  if (const Status status = number_as_topology(input); !status) return status.error();
  if (const Status status = set_capacities(words, input); !status) return status.error();
  forget_what_does_not_fit(input);
  if (const Status status = set_machines(words, input); !status) return status.error();
  if (const Status status = read_names(words, input); !status) return status.error();
  return input;
}

}  // namespace pclscope::commands
