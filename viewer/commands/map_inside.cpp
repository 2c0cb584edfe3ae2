#include "viewer/commands/map_inside.hpp"

#include <cstdio>

#include "analysis/mapping/launch_files.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::commands {
namespace {

using machine::Distance;
using mapping::InsideMapping;
using mapping::LaunchFormat;
using mapping::Slot;
using session::finite;

std::array<double, machine::distances> bytes_by_distance(const mapping::Traffic& traffic,
                                                         const std::vector<machine::Place>& places) {
  std::array<double, machine::distances> bytes{};
  for (const mapping::Flow& flow : traffic.flows) {
    const Distance distance = machine::distance_between(places[static_cast<std::size_t>(flow.source)],
                                                        places[static_cast<std::size_t>(flow.destination)]);
    bytes[static_cast<std::size_t>(distance)] += flow.bytes;
  }
  return bytes;
}

std::vector<machine::Place> places_of(const MapInput& input, const std::vector<std::int32_t>& node_of_rank,
                                      const std::vector<Slot>& slots) {
  Application application;
  application.ranks = input.traffic.ranks;
  application.node_of_rank = node_of_rank;
  FoundMachines found = input.machines;
  found.bindings.clear();
  for (std::size_t rank = 0; rank < slots.size(); ++rank)
    if (slots[rank].os >= 0)
      found.bindings.push_back({static_cast<std::int32_t>(rank), {{slots[rank].os, slots[rank].os}}, 0});
  return machine::places_of(application, found);
}

// An option, or why there is none.
Result<std::string> option(LaunchFormat format, const MapInput& input, const std::vector<std::int32_t>& node_of_rank,
                           const std::vector<Slot>& slots) {
  auto text = mapping::launch_file(format, node_of_rank, input.names, slots);
  if (text && text->ends_with('\n')) text->pop_back();
  return text;
}

}  // namespace

Result<InsideAnswer> find_inside(const MapInput& input, const std::vector<std::int32_t>& node_of_rank, double effort) {
  InsideAnswer answer;
  std::vector<const Machine*> machines;
  for (std::int32_t node = 0; node < input.topology->nodes(); ++node)
    machines.push_back(machine::machine_of_node(input.machines, node));
  Application now;
  now.ranks = input.traffic.ranks;
  now.node_of_rank = input.current;
  const bool placed = input.current.size() == node_of_rank.size();
  const std::vector<machine::Place> places =
      placed ? machine::places_of(now, input.machines) : std::vector<machine::Place>();
  auto found = mapping::place_inside({input.traffic, node_of_rank, std::move(machines), places, effort}, input.names);
  if (!found) return found.error();
  answer.mapping = std::move(*found);
  if (!answer.known()) return answer;
  if (placed) answer.bytes_before = bytes_by_distance(input.traffic, places);
  answer.bytes_after = bytes_by_distance(input.traffic, places_of(input, node_of_rank, answer.mapping.slot_of_rank));
  return answer;
}

std::string change_text(double before, double after) {
  if (before <= 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%+.2f %%", -100 * (1 - after / before));
  return text == std::string("-0.00 %") ? text + 1 : text;
}

void add_inside_rows(text::Table& table, const InsideAnswer& answer) {
  if (!answer.sends()) return;
  const auto row = [&](const std::string& name, double before, double after) {
    table.row({name, text::format_bytes(before), text::format_bytes(after), change_text(before, after)});
  };
  row("hop-bytes inside nodes", answer.mapping.before, answer.mapping.after);
  for (std::size_t i = 0; i < machine::distances; ++i) {
    const auto distance = static_cast<Distance>(i);
    if (distance == Distance::other_node || answer.bytes_before[i] + answer.bytes_after[i] <= 0) continue;
    row(std::string("bytes, ") + machine::words_of(distance), answer.bytes_before[i], answer.bytes_after[i]);
  }
}

std::vector<std::string> inside_lines(const InsideAnswer& answer, const MapInput& input,
                                      const std::vector<std::int32_t>& node_of_rank) {
  std::vector<std::string> lines = answer.mapping.notes;
  if (!answer.sends()) return lines;
  if (!answer.mapping.bound_now)
    lines.emplace_back(
        "Ranks are not bound to cores of their own now: before is, inside such nodes, with ranks in order.");
  for (const auto& [launcher, format] :
       {std::pair("mpiexec (MPICH): ", LaunchFormat::hydra_binding), std::pair("srun: ", LaunchFormat::slurm_binding)})
    if (const auto text = option(format, input, node_of_rank, answer.mapping.slot_of_rank))
      lines.push_back(launcher + *text);
  return lines;
}

nlohmann::json inside_json(const InsideAnswer& answer, const MapInput& input,
                           const std::vector<std::int32_t>& node_of_rank) {
  if (!answer.known()) return nullptr;
  using session::Json;
  Json slots = Json::array(), distances = Json::object();
  for (const Slot& slot : answer.mapping.slot_of_rank)
    slots.push_back(slot.thread < 0 ? Json(nullptr)
                                    : Json{{"core", slot.core}, {"hardware_thread", slot.os}, {"alone", slot.alone}});
  for (std::size_t i = 0; i < machine::distances; ++i)
    distances[machine::name_of(static_cast<Distance>(i))] = {{"bytes_before", finite(answer.bytes_before[i])},
                                                             {"bytes_after", finite(answer.bytes_after[i])}};
  Json json = {{"before", finite(answer.mapping.before)},
               {"after", finite(answer.mapping.after)},
               {"bound_now", answer.mapping.bound_now},
               {"slot_of_rank", slots},
               {"distances", distances}};
  for (const auto& [key, format] :
       {std::pair("hydra", LaunchFormat::hydra_binding), std::pair("slurm", LaunchFormat::slurm_binding)}) {
    const auto text = option(format, input, node_of_rank, answer.mapping.slot_of_rank);
    json["options"][key] = text ? Json(*text) : Json(nullptr);
  }
  return json;
}

}  // namespace pclscope::commands
