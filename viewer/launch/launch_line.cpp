#include "viewer/launch/launch_line.hpp"

#include <algorithm>
#include <string_view>

#include "viewer/launch/shell_words.hpp"
#include "viewer/text/printable.hpp"

namespace pclscope::launch {
namespace {

using Words = std::vector<std::string>;

std::string_view option_name(std::string_view word) {
  const auto start = word.find_first_not_of('-');
  return start == std::string_view::npos || start == 0 ? std::string_view() : word.substr(start);
}

bool has_option(const Words& words, const std::vector<std::string_view>& names) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(names.begin(), names.end(), option_name(word)) != names.end();
  });
}

// The user decides about placement himself, by option, MCA parameter or environment.
bool places_by_hand(const RunOptions& options, const RunFacts& facts) {
  if (has_option(options.launcher_args,
                 {"bind-to", "map-by", "rank-by", "bind-to-core", "bind-to-socket", "bind-to-none", "bycore", "byslot",
                  "bynode", "bysocket", "npernode", "npersocket", "N", "ppr", "cpu-set", "cpu-list", "cpus-per-proc",
                  "cpus-per-rank", "rankfile", "rf", "pernode"})) {
    return true;
  }
  const auto is_placement = [](std::string_view name) {
    return name.find("binding_policy") != std::string_view::npos || name.find("rmaps_") != std::string_view::npos ||
           name.find("hwloc_base_bind") != std::string_view::npos || name.find("hwloc_default_binding") != std::string_view::npos;
  };
  return std::any_of(options.launcher_args.begin(), options.launcher_args.end(), is_placement) ||
         std::any_of(facts.environment.begin(), facts.environment.end(),
                     [&](const std::string& name) { return name.find("_MCA_") != std::string::npos && is_placement(name); });
}

bool yields_by_hand(const RunOptions& options, const RunFacts& facts) {
  const auto names_it = [](const std::string& word) { return word.find("mpi_yield_when_idle") != std::string::npos; };
  return std::any_of(options.launcher_args.begin(), options.launcher_args.end(), names_it) ||
         std::any_of(facts.environment.begin(), facts.environment.end(), names_it);
}

// A binding that the user asked for must not fail because of our one additional process.
Words allow_overload(Words words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    std::string& policy = words[i + 1];
    if (option_name(words[i]) != "bind-to" || policy == "none") continue;
    if (policy.find("overload-allowed") != std::string::npos) continue;
    policy += policy.find(':') == std::string::npos ? ":overload-allowed" : ",overload-allowed";
  }
  return words;
}

// With one rank more than asked for, Open MPI would bind, map and yield differently than a bare `mpirun -n N` does
// (it counts 3 ranks where the user has 2, or calls a full node oversubscribed). Say explicitly what it would do.
Words openmpi_placement(const RunOptions& options, const RunFacts& facts) {
  Words words;
  const bool by_user = has_option(options.launcher_args, {"oversubscribe", "nooversubscribe"});
  if (!by_user) words.push_back("--oversubscribe");
  // Slots unknown: bare, they must suffice (Open MPI refuses otherwise), unless the user allowed more.
  const bool known = facts.slots > 0;
  const bool fits = known ? options.ranks <= facts.slots : !by_user;
  if (!places_by_hand(options, facts)) {
    if (fits && options.ranks <= 2) {
      for (const char* word : {"--map-by", "core", "--rank-by", "slot", "--bind-to", "core:overload-allowed"}) {
        words.push_back(word);
      }
    } else if (fits && known) {
      for (const char* word : {"--bind-to", "socket:overload-allowed"}) words.push_back(word);
    } else if (known) {
      for (const char* word : {"--bind-to", "none"}) words.push_back(word);
    }
  }
  if (!yields_by_hand(options, facts) && (known || fits)) {
    for (const char* word : {"--mca", "mpi_yield_when_idle"}) words.push_back(word);
    words.push_back(fits ? "0" : "1");
  }
  return words;
}

std::vector<std::pair<std::string, std::string>> variables(const RunOptions& options, const RunFacts& facts) {
  std::vector<std::pair<std::string, std::string>> set = {{"PCLSCOPE_JOB", facts.token},
                                                          {"PCLSCOPE_RANKS", std::to_string(options.ranks)},
                                                          {"PCLSCOPE_TOOL_RANKS", "1"},
                                                          {"PCLSCOPE_PRELOAD", facts.library}};
  if (options.ring_events) set.emplace_back("PCLSCOPE_RING_EVENTS", std::to_string(*options.ring_events));
  if (!options.overflow.empty()) set.emplace_back("PCLSCOPE_OVERFLOW", options.overflow);
  if (options.overflow_wait_ms) set.emplace_back("PCLSCOPE_OVERFLOW_WAIT_MS", std::to_string(*options.overflow_wait_ms));
  if (!options.clock.empty()) set.emplace_back("PCLSCOPE_CLOCK", options.clock);
  return set;
}

Words aggregator_command(const RunOptions& options, const RunFacts& facts) {
  Words words = {facts.rank_program, "--aggregator", facts.aggregator_program, "--job", facts.job, "--command",
                 text::printable(join_words(options.command))};
  if (!options.dump.empty()) words.insert(words.end(), {"--dump", options.dump});
  if (!options.regions.empty()) words.insert(words.end(), {"--regions", options.regions});
  if (!options.baseline.empty()) words.insert(words.end(), {"--baseline", options.baseline});
  if (!options.keep.empty()) words.insert(words.end(), {"--keep", options.keep});
  if (options.budget_bytes) words.insert(words.end(), {"--budget", std::to_string(*options.budget_bytes)});
  // Whole milliseconds; finer windows than that are refused by the command line.
  words.insert(words.end(), {"--window-ms", std::to_string(options.window_ns / 1'000'000), "--publish", facts.endpoint});
  return words;
}

void append(Words& to, const Words& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

LaunchLine build_launch_line(const RunOptions& options, const RunFacts& facts) {
  LaunchLine line;
  Words& words = line.arguments;
  words.push_back(facts.launcher);
  line.environment = variables(options, facts);
  Words exported;  // Open MPI passes only its own variables to other hosts by itself; MPICH passes all
  if (facts.mpi == Mpi::openmpi) {
    if (facts.root && !has_option(options.launcher_args, {"allow-run-as-root"})) words.push_back("--allow-run-as-root");
    append(words, openmpi_placement(options, facts));
    for (const auto& variable : line.environment) append(exported, {"-x", variable.first});
    append(words, allow_overload(options.launcher_args));
  } else {
    append(words, options.launcher_args);
  }
  append(words, exported);
  append(words, {"-n", std::to_string(options.ranks)});
  words.push_back(facts.rank_program);
  append(words, options.command);
  append(words, {":", "-n", "1"});
  append(words, exported);
  append(words, aggregator_command(options, facts));
  return line;
}

std::optional<std::string> misplaced_rank_count(const std::vector<std::string>& launcher_args) {
  for (const std::string& word : launcher_args) {
    for (const char* option : {"-n", "-np", "--n", "--np", "-c"}) {
      if (word == option) return word;
    }
  }
  return std::nullopt;
}

}  // namespace pclscope::launch
