// pclscope map: which rank should run on which node, as files that launchers take.
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/mapping/launch_files.hpp"
#include "analysis/mapping/mapping.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/commands/map_input.hpp"
#include "viewer/commands/map_inside.hpp"
#include "viewer/commands/map_phases.hpp"
#include "viewer/commands/traffic_source.hpp"
#include "viewer/session/placement_gain.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/session/target.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"

namespace pclscope::commands {
namespace {

using mapping::LaunchFormat;
using mapping::MappingCost;
using mapping::Objective;
using session::finite;
using session::Json;
using session::PlacementGain;
using session::RecordedCalls;

struct MapWords {
  MapInputWords input;
  Objective objective = Objective::hop_bytes;
  LaunchFormat format = LaunchFormat::plain;
  std::optional<LinkTimes> given;
  double effort = 1;
  std::string output;
  bool json = false;
  bool per_phase = false;
};

template <class Value>
struct Word {
  const char* word;
  Value value;
};
constexpr Word<Objective> objectives[] = {{"hop-bytes", Objective::hop_bytes},
                                          {"inter-bytes", Objective::inter_bytes},
                                          {"inter-messages", Objective::inter_messages},
                                          {"max-link-load", Objective::max_link_load},
                                          {"time", Objective::time}};
constexpr Word<LaunchFormat> formats[] = {{"plain", LaunchFormat::plain},
                                          {"openmpi-rankfile", LaunchFormat::openmpi_rankfile},
                                          {"hydra", LaunchFormat::hydra},
                                          {"slurm", LaunchFormat::slurm},
                                          {"cray", LaunchFormat::cray},
                                          {"hydra-binding", LaunchFormat::hydra_binding},
                                          {"slurm-binding", LaunchFormat::slurm_binding},
                                          {"wrapper", LaunchFormat::wrapper}};

std::vector<std::string> words_of(const auto& table) {
  std::vector<std::string> words;
  for (const auto& entry : table) words.emplace_back(entry.word);
  return words;
}

auto value_of(const auto& table, const std::string& word) {
  for (const auto& entry : table)
    if (word == entry.word) return entry.value;
  return table[0].value;
}

std::optional<int> parse_map(const std::vector<std::string>& words, MapWords& map) {
  std::string objective = objectives[0].word, format = formats[0].word, latency, bandwidth;
  CLI::App app{
      "Finds nodes for the ranks so that what they send travels less, and writes the file that the launcher needs.",
      "pclscope map"};
  app.add_option("input", map.input.target, "A dump, a running job's name, or a traffic file")->required();
  app.add_option("--topology", map.input.topology,
                 "The network: torus:4x4x4mx2, mesh:8x8, hyperx:6x16x4, dragonfly:9x4x2, fattree:18x12x8, nodes:16, "
                 "edges:FILE, slurm:FILE, ibnet:FILE, coordinates:FILE (default: the nodes of the run, equally far)")
      ->type_name("SPEC");
  auto* each = app.add_option("--ranks-per-node", map.input.ranks_per_node,
                              "So many ranks may run on each node (default: as the run had, else 1)")
                   ->type_name("N")
                   ->check(CLI::Range(1, most_ranks_per_node));
  app.add_option("--capacity", map.input.capacity,
                 "The same for each node: 4,4,2 or a file of such numbers; nodes beyond them take none")
      ->type_name("LIST")
      ->excludes(each);
  app.add_option("--node-names", map.input.node_names,
                 "The nodes' names for the launcher, one each line (default: as the run had, else their numbers)")
      ->type_name("FILE");
  app.add_option("--machine", map.input.machine,
                 "What each node is inside: synthetic:\"pack:2 numa:1 l3:1 core:4 pu:2\", xml:FILE (of lstopo), this "
                 "(default: as the run found)")
      ->type_name("SPEC");
  app.add_option(
         "--objective", objective,
         "What to lessen: hop-bytes (default), inter-bytes or inter-messages (between nodes), max-link-load (the "
         "most loaded link), time (of all messages together)")
      ->check(one_of(words_of(objectives)))
      ->type_name("WHAT");
  app.add_option("--format", format,
                 "plain (lines 'rank node', default), openmpi-rankfile, hydra, slurm, cray; of cores: hydra-binding, "
                 "slurm-binding, wrapper (openmpi-rankfile has both)")
      ->check(one_of(words_of(formats)))
      ->type_name("FORMAT");
  app.add_option("--effort", map.effort, "How long to search; 1 is some seconds for thousands of ranks")
      ->type_name("X")
      ->check(CLI::Range(0.01, 100.0))
      ->capture_default_str();
  auto* of_bytes = app.add_option("--bandwidth", bandwidth,
                                  "Bytes per second within a node and between nodes, as 10GB,12GB (default: as the run "
                                  "tells)")
                       ->type_name("IN,BETWEEN");
  app.add_option("--latency", latency,
                 "What a message takes besides, within a node, over the first link, over each further one: "
                 "500ns,2us,100ns (default: as the run tells)")
      ->type_name("IN,FIRST[,MORE]")
      ->needs(of_bytes);
  app.add_flag("--per-phase", map.per_phase,
               "Of a dump: what each phase would have with a placement of its own, where the pattern of communication "
               "changed");
  app.add_option("-o,--output", map.output,
                 "Write the mapping there (default: to standard output, the comparison to standard error)")
      ->type_name("FILE");
  app.add_flag("--json", map.json, "The comparison and the mapping as JSON");
  set_usage(app, "pclscope map INPUT [options]");
  app.footer("Formats, how to use them, and the search: docs/mapping.md.");
  const auto status = parse(app, words);
  if (status) return status;
  map.objective = value_of(objectives, objective);
  map.format = value_of(formats, format);
  if (latency.empty() && bandwidth.empty()) return {};
  auto given = session::parse_link_times(latency, bandwidth);
  if (!given) return fail(wrong_usage, given.error().message);
  map.given = *given;
  return {};
}

struct Answer {
  MapInput input;
  mapping::Mapping mapping;
  InsideAnswer inside;
  double seconds = 0;
  bool better = false;
  std::optional<LinkTimes> times;
  std::optional<PlacementGain> gain;  // none: not of a run
  std::optional<MapPhases> phases;
};

// 0.42: it became 42 % less. Nothing to lessen: 0.
double reduction(double before, double after) { return before > 0 ? 1 - after / before : 0; }

std::vector<std::string> table_lines(const MapWords& words, const Answer& answer) {
  const MappingCost &before = answer.mapping.before, &after = answer.mapping.after;
  text::Table table;
  for (const char* title : {"", "before", "after", "change"})
    table.column(title, *title == 0 ? text::Align::left : text::Align::right);
  const auto row = [&](const char* name, double was, double is, bool bytes) {
    const auto write = [&](double value) {
      return bytes ? text::format_bytes(value) : text::format_count(static_cast<std::uint64_t>(value));
    };
    table.row({name, write(was), write(is), change_text(was, is)});
  };
  row("hop-bytes", before.hop_bytes, after.hop_bytes, true);
  row("messages between nodes", static_cast<double>(before.inter_messages), static_cast<double>(after.inter_messages),
      false);
  row("bytes between nodes", before.inter_bytes, after.inter_bytes, true);
  row("most loaded link", before.max_link_load, after.max_link_load, true);
  if (answer.times)
    table.row({"time of all messages", text::format_seconds(before.time_s), text::format_seconds(after.time_s),
               change_text(before.time_s, after.time_s)});
  add_inside_rows(table, answer.inside);
  std::vector<std::string> lines = {text::format_count(static_cast<std::uint64_t>(answer.input.traffic.ranks)) +
                                    " ranks on " + answer.input.topology->text() + ", in " +
                                    text::format_seconds(answer.seconds)};
  for (std::string& line : table.lines()) lines.push_back(std::move(line));
  for (const std::string& note : answer.input.notes) lines.push_back(note);
  for (std::string& line : inside_lines(answer.inside, answer.input, answer.mapping.node_of_rank))
    lines.push_back(std::move(line));
  if (!answer.better && !answer.inside.better()) {
    lines.push_back(answer.inside.sends() && !answer.inside.mapping.bound_now
                        ? "The nodes stay as they are; the cores are those of the file."
                    : value_of(before, words.objective) > 0 || answer.inside.sends()
                        ? "No better mapping was found: the current one is as good, and is what is written."
                        : "Nothing is sent between nodes: the current mapping is as good as any.");
  } else if (answer.gain) {
    for (std::string& line : lines_of(*answer.gain)) lines.push_back(std::move(line));
  }
  if (answer.phases)
    for (std::string& line :
         lines_of(*answer.phases, words.objective, objectives[static_cast<int>(words.objective)].word))
      lines.push_back(std::move(line));
  return lines;
}

Json cost_json(const MappingCost& cost, bool times) {
  return {{"hop_bytes", finite(cost.hop_bytes)},
          {"inter_bytes", finite(cost.inter_bytes)},
          {"inter_messages", cost.inter_messages},
          {"max_link_load", finite(cost.max_link_load)},
          {"time_s", times ? finite(cost.time_s) : Json(nullptr)}};
}

Json map_json(const MapWords& words, const Answer& answer) {
  const auto& m = answer.mapping;
  return {{"ranks", answer.input.traffic.ranks},
          {"topology", answer.input.topology->text()},
          {"objective", objectives[static_cast<int>(words.objective)].word},
          {"seconds", answer.seconds},
          {"better", answer.better},
          {"brings", answer.gain ? json_of(*answer.gain) : Json(nullptr)},
          {"phases", answer.phases ? json_of(*answer.phases, words.objective) : Json(nullptr)},
          {"reduction", reduction(value_of(m.before, words.objective), value_of(m.after, words.objective))},
          {"before", cost_json(m.before, answer.times.has_value())},
          {"after", cost_json(m.after, answer.times.has_value())},
          {"node_of_rank", m.node_of_rank},
          {"nodes", answer.input.names},
          {"inside", inside_json(answer.inside, answer.input, m.node_of_rank)},
          {"notes", answer.input.notes}};
}

// Of a dump, unless its calls cannot be replayed: `why_not`.
std::optional<RecordedCalls> recorded(const MapWords& words, const MapInput& input, std::string& why_not) {
  if (!input.of_run) {
    why_not = "it is no run";
  } else if (!session::is_existing_file(words.input.target)) {
    why_not = "cannot be told of a running job: its calls are in the dump";
  } else if (input.current.empty()) {
    why_not = "cannot be told: the run's own placement does not fit on these nodes";
  } else if (auto calls = RecordedCalls::read(words.input.target)) {
    calls->number_nodes(input.current);  // as the topology has them
    return std::move(*calls);
  } else {
    why_not = calls.error().message;
  }
  return std::nullopt;
}

Result<Answer> find(const MapWords& words) {
  auto input = read_map_input(words.input);
  if (!input) return input.error();
  const mapping::Topology& topology = *input->topology;
  const auto hops = [&](std::int32_t from, std::int32_t to) { return topology.hops(from, to); };
  std::string why_not;
  const std::optional<RecordedCalls> calls = recorded(words, *input, why_not);
  std::optional<LinkTimes> times = words.given;
  if (!times && calls) times = calls->link_times(hops);
  if (!times && words.objective == Objective::time)
    return Error{
        ErrorCode::bad_argument,
        "--objective time needs to know what messages take: " +
            (calls ? "the run has no transfers that ranks waited for within a node, or none between nodes" : why_not) +
            " (--latency and --bandwidth say it)"};
  const auto begin = std::chrono::steady_clock::now();
  mapping::MappingProblem problem{input->traffic, topology,        input->capacity,
                                  input->current, words.objective, words.effort};
  problem.times = times.value_or(LinkTimes{});
  auto found = mapping::find_mapping(problem);
  if (!found) return found.error();
  auto inside = find_inside(*input, found->node_of_rank, words.effort);
  if (!inside) return inside.error();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const bool better = value_of(found->after, words.objective) < value_of(found->before, words.objective);
  std::optional<PlacementGain> gain;
  if (calls) gain = calls->gain(found->node_of_rank, hops, words.given);
  else if (input->of_run) gain.emplace().why_not = why_not;
  std::optional<MapPhases> phases;
  if (words.per_phase) {
    if (!input->of_run || !session::is_existing_file(words.input.target))
      return Error{ErrorCode::bad_argument, "--per-phase needs a dump, which has the messages of each phase"};
    auto made = map_phases(words.input.target, problem, found->node_before, found->node_of_rank,
                           calls ? &*calls : nullptr, words.given);
    if (!made) return made.error();
    phases = std::move(*made);
  }
  return Answer{std::move(*input), std::move(*found), std::move(*inside), seconds, better, times,
                std::move(gain),   std::move(phases)};
}

bool write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return true;
  say("cannot write " + path + ": " + std::strerror(errno));
  return false;
}

}  // namespace

int map(const std::vector<std::string>& words) {
  MapWords map;
  if (const auto status = parse_map(words, map)) return *status;
  const auto answer = find(map);
  if (!answer) return fail(could_not, answer.error().message);
  const auto file =
      launch_file(map.format, answer->mapping.node_of_rank, answer->input.names, answer->inside.mapping.slot_of_rank);
  if (!file) return fail(could_not, file.error().message);
  if (!map.output.empty() && !write(map.output, *file)) return could_not;
  if (map.json) return print(session::to_text(map_json(map, *answer), true) + "\n") ? done : could_not;
  const std::vector<std::string> lines = table_lines(map, *answer);
  if (!map.output.empty()) return print_lines(lines) ? done : could_not;
  for (const std::string& line : lines) std::fprintf(stderr, "%s\n", line.c_str());
  return print(*file) ? done : could_not;
}

}  // namespace pclscope::commands
