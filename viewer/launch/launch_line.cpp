#include "viewer/launch/launch_line.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "viewer/launch/shell_words.hpp"
#include "viewer/launch/slurm.hpp"
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

void append(Words& to, const Words& more) { to.insert(to.end(), more.begin(), more.end()); }

// The user decides about placement himself, by option, MCA parameter or environment.
bool places_by_hand(const RunOptions& options, const RunFacts& facts) {
  if (facts.placement.by_rank) return true;
  if (has_option(options.launcher_args,
                 {"bind-to",  "map-by", "rank-by", "bind-to-core", "bind-to-socket", "bind-to-none",
                  "bycore",   "byslot", "bynode",  "bysocket",     "npernode",       "npersocket",
                  "N",        "ppr",    "cpu-set", "cpu-list",     "cpus-per-proc",  "cpus-per-rank",
                  "rankfile", "rf",     "pernode"})) {
    return true;
  }
  const auto is_placement = [](std::string_view name) {
    return name.find("binding_policy") != std::string_view::npos || name.find("rmaps_") != std::string_view::npos ||
           name.find("hwloc_base_bind") != std::string_view::npos ||
           name.find("hwloc_default_binding") != std::string_view::npos;
  };
  return std::any_of(options.launcher_args.begin(), options.launcher_args.end(), is_placement) ||
         std::any_of(facts.environment.begin(), facts.environment.end(), [&](const std::string& name) {
           return name.find("_MCA_") != std::string::npos && is_placement(name);
         });
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
  // Rank by rank along --host; cores are left to the system.
  if (facts.placement.by_rank) {
    append(words, {"--map-by", "seq"});
    if (!has_option(options.launcher_args, {"bind-to"})) append(words, {"--bind-to", "none"});
  }
  if (!yields_by_hand(options, facts) && (known || fits)) {
    for (const char* word : {"--mca", "mpi_yield_when_idle"}) words.push_back(word);
    words.push_back(fits ? "0" : "1");
  }
  return words;
}

std::string whole_command(const RunOptions& options) {
  std::string command = join_words(options.command);
  for (const MoreRanks& program : options.more) command += " : " + join_words(program.command);
  return command;
}

// The application's ranks as the list says, then the aggregators of each node that has some.
std::string mpich_hosts(const RunOptions& options, const Placement& placement) {
  Hosts blocks = fill_in_order(placement.hosts, options.ranks);
  for (const std::string& node : placement.nodes) blocks.push_back({node, options.aggregators});
  return host_words(blocks);
}

// Open MPI takes what it reads last of a node's slots for all blocks: say again what the list says, or the
// application's ranks would be spread anew.
std::string with_slots(const Placement& placement, const std::string& node) {
  if (placement.by_rank) return node;
  int slots = 0;
  for (const Host& host : placement.hosts) slots += host.name == node ? host.slots : 0;
  return slots == 0 ? node : host_words({{node, slots}});
}

// "node1:2,node2:2", or a name for each rank.
std::string openmpi_hosts(const Placement& placement) {
  if (!placement.by_rank) return host_words(placement.hosts);
  std::string words;
  for (const Host& host : placement.hosts) words.append(words.empty() ? "" : ",").append(host.name);
  return words;
}

// Behind the application's block, those of a node one after the other. A block for each where they are not all alike;
// with Open MPI for each node, so that nothing but --host decides where it goes.
void append_aggregators(const RunOptions& options, const RunFacts& facts, const Words& exported, Words& words) {
  const std::vector<std::string>& nodes = facts.placement.nodes;
  const bool by_node = facts.mpi == Mpi::openmpi && !nodes.empty();
  const auto parts = static_cast<std::size_t>(options.aggregators);
  const bool each = by_node || parts > 1;
  for (std::size_t i = 0; i < (each ? tool_ranks(options, facts) : 1); ++i) {
    append(words, {":", "-n", each ? "1" : std::to_string(tool_ranks(options, facts))});
    if (by_node) append(words, {"--host", with_slots(facts.placement, nodes[i / parts])});
    append(words, exported);
    append(words, aggregator_rank(options, facts, static_cast<int>(i % parts)));
  }
}

}  // namespace

std::size_t tool_ranks(const RunOptions& options, const RunFacts& facts) {
  return std::max<std::size_t>(facts.placement.nodes.size(), 1) * static_cast<std::size_t>(options.aggregators);
}

std::vector<std::pair<std::string, std::string>> job_variables(const RunOptions& options, const RunFacts& facts) {
  std::vector<std::pair<std::string, std::string>> set = {
      {"PCLSCOPE_JOB", facts.token},
      {"PCLSCOPE_RANKS", std::to_string(options.ranks)},
      {"PCLSCOPE_TOOL_RANKS", std::to_string(tool_ranks(options, facts))},
      {"PCLSCOPE_PRELOAD", facts.library}};
  if (options.aggregators > 1) set.emplace_back("PCLSCOPE_AGGREGATORS", std::to_string(options.aggregators));
  if (options.ring_events) set.emplace_back("PCLSCOPE_RING_EVENTS", std::to_string(*options.ring_events));
  if (options.stacks) set.emplace_back("PCLSCOPE_STACKS", std::to_string(*options.stacks));
  if (options.ring_limit) set.emplace_back("PCLSCOPE_RING_LIMIT", std::to_string(*options.ring_limit));
  if (!options.ring_directory.empty()) set.emplace_back("PCLSCOPE_RING_DIR", options.ring_directory);
  if (!options.overflow.empty()) set.emplace_back("PCLSCOPE_OVERFLOW", options.overflow);
  if (options.overflow_wait_ms)
    set.emplace_back("PCLSCOPE_OVERFLOW_WAIT_MS", std::to_string(*options.overflow_wait_ms));
  if (!options.clock.empty()) set.emplace_back("PCLSCOPE_CLOCK", options.clock);
  return set;
}

Words aggregator_rank(const RunOptions& options, const RunFacts& facts, int part) {
  Words words = {facts.rank_program, "--aggregator"};
  if (!facts.mpi_library.empty()) append(words, {"--mpi", facts.mpi_library});
  append(words, aggregator_words(options, facts));
  if (part > 0) append(words, {"--part", std::to_string(part)});
  return words;
}

void settle_aggregators(RunOptions& options, const Placement& placement) {
  if (options.aggregators != aggregators_by_ranks) return;
  constexpr int ranks_of_each = 32;
  std::map<std::string, int> ranks;
  if (placement.by_rank) {
    for (const Host& host : placement.hosts) ++ranks[host.name];
  } else if (placement.filled && !placement.hosts.empty()) {
    for (const Host& block : fill_in_order(placement.hosts, options.ranks)) ranks[block.name] += block.slots;
  }
  const auto nodes = static_cast<int>(std::max<std::size_t>(placement.nodes.size(), 1));
  int most = (options.ranks + nodes - 1) / nodes;
  for (const auto& [node, count] : ranks) most = std::max(most, count);
  options.aggregators = std::clamp((most + ranks_of_each - 1) / ranks_of_each, 1, most_aggregators);
}

std::vector<std::string> aggregator_words(const RunOptions& options, const RunFacts& facts) {
  Words words = {facts.aggregator_program, "--job", facts.job, "--command", text::printable(whole_command(options))};
  if (!options.dump.empty()) words.insert(words.end(), {"--dump", options.dump});
  if (!options.regions.empty()) words.insert(words.end(), {"--regions", options.regions});
  if (options.half_life_s >= 0) words.insert(words.end(), {"--half-life", std::to_string(options.half_life_s)});
  if (!options.baseline.empty()) words.insert(words.end(), {"--baseline", options.baseline});
  if (!options.keep.empty()) words.insert(words.end(), {"--keep", options.keep});
  if (options.budget_bytes) words.insert(words.end(), {"--budget", std::to_string(*options.budget_bytes)});
  // Whole milliseconds; finer windows than that are refused by the command line.
  words.insert(words.end(),
               {"--window-ms", std::to_string(options.window_ns / 1'000'000), "--publish", facts.endpoint});
  if (facts.tcp) words.push_back("--tcp");
  if (!facts.last_words.empty()) append(words, {"--last-words", facts.last_words});
  if (!facts.batch_job.empty()) words.insert(words.end(), {"--batch-job", facts.batch_job});
  if (!facts.cluster.empty()) words.insert(words.end(), {"--cluster", facts.cluster});
  if (!facts.program.empty()) words.insert(words.end(), {"--program", facts.program});
  return words;
}

LaunchLine build_launch_line(const RunOptions& options, const RunFacts& facts) {
  LaunchLine line;
  Words& words = line.arguments;
  const Placement& placement = facts.placement;
  line.program = facts.launcher;
  words.push_back(facts.launcher_word);
  line.environment = job_variables(options, facts);
  Words exported;  // Open MPI passes only its own variables to other hosts by itself; MPICH passes all
  if (facts.mpi == Mpi::openmpi) {
    if (facts.root && !has_option(options.launcher_args, {"allow-run-as-root"})) words.push_back("--allow-run-as-root");
    append(words, openmpi_placement(options, facts));
    for (const auto& variable : line.environment) append(exported, {"-x", variable.first});
    append(words, allow_overload(options.launcher_args));
    if (placement.by_option) append(words, {"--host", openmpi_hosts(placement)});
  } else {
    append(words, options.launcher_args);
    if (!placement.nodes.empty()) append(words, {"-hosts", mpich_hosts(options, placement)});
  }
  append(words, exported);
  append(words, {"-n", std::to_string(options.ranks_of_command())});
  words.push_back(facts.rank_program);
  append(words, options.command);
  for (const MoreRanks& program : options.more) {
    append(words, {":", "-n", std::to_string(program.ranks)});
    if (facts.mpi == Mpi::openmpi && placement.by_option) append(words, {"--host", openmpi_hosts(placement)});
    append(words, exported);
    words.push_back(facts.rank_program);
    append(words, program.command);
  }
  append_aggregators(options, facts, exported, words);
  return line;
}

int RunOptions::ranks_of_command() const {
  int others = 0;
  for (const MoreRanks& program : more) others += program.ranks;
  return ranks - others;
}

std::optional<std::string> split_programs(RunOptions& options) {
  Words words = std::move(options.command);
  auto colon = std::find(words.begin(), words.end(), ":");
  options.command.assign(words.begin(), colon);
  while (colon != words.end()) {
    const auto begin = colon + 1;
    colon = std::find(begin, words.end(), ":");
    Words block(begin, colon);
    int ranks = 0;
    if (block.size() >= 2 && (block[0] == "-n" || block[0] == "-np" || block[0] == "--np")) {
      const auto [end, error] = std::from_chars(block[1].data(), block[1].data() + block[1].size(), ranks);
      if (error != std::errc() || end != block[1].data() + block[1].size()) ranks = 0;
    }
    constexpr int most = 1 << 20;
    if (ranks < 1 || ranks > most - options.ranks || block.size() < 3)
      return "behind ':' give the number of ranks and the next program: ./app : -n 2 ./other";
    options.more.push_back({ranks, Words(block.begin() + 2, block.end())});
    options.ranks += ranks;
  }
  return std::nullopt;
}

LaunchLine build_bare_line(const RunOptions& options, const RunFacts& facts) {
  LaunchLine line;
  Words& words = line.arguments;
  line.program = facts.launcher;
  words.push_back(facts.launcher_word);
  const Placement& placement = facts.placement;
  const bool openmpi = facts.mpi == Mpi::openmpi;
  const bool srun = is_srun(facts.launcher);
  if (openmpi && !srun && facts.root && !has_option(options.launcher_args, {"allow-run-as-root"}))
    words.push_back("--allow-run-as-root");
  if (srun && !facts.mpi_type.empty()) words.push_back("--mpi=" + facts.mpi_type);
  append(words, options.launcher_args);
  if (placement.by_rank && openmpi) append(words, {"--map-by", "seq"});
  if (placement.by_option && openmpi) append(words, {"--host", openmpi_hosts(placement)});
  if (placement.by_option && !openmpi) append(words, {"-hosts", host_words(placement.hosts)});
  append(words, {"-n", std::to_string(options.ranks_of_command())});
  append(words, options.command);
  for (const MoreRanks& program : options.more) {
    append(words, {":", "-n", std::to_string(program.ranks)});
    append(words, program.command);
  }
  return line;
}

LaunchLine build_attach_line(const RunOptions& options, const RunFacts& facts) {
  LaunchLine line;
  line.environment = {{"PCLSCOPE_JOB", facts.token},
                      {"PCLSCOPE_RANKS", std::to_string(options.ranks)},
                      {"PCLSCOPE_TOOL_RANKS", std::to_string(tool_ranks(options, facts))}};
  Words program = aggregator_words(options, facts);
  program.insert(program.begin() + 1, "--attach");
  if (!facts.log.empty()) program.insert(program.begin() + 2, {"--log", facts.log});
  if (tool_ranks(options, facts) == 1) {
    line.program = program.front();
    line.arguments = std::move(program);
    return line;
  }
  Words& words = line.arguments;
  // In an allocation mpirun reaches other nodes by a step of Slurm's, which would wait for the job to end.
  if (facts.environment.contains("SLURM_JOB_ID") && !facts.environment.contains("SLURM_OVERLAP"))
    line.environment.emplace_back("SLURM_OVERLAP", "1");
  line.program = facts.launcher;
  words.push_back(facts.launcher);
  const std::string count = std::to_string(tool_ranks(options, facts));
  Hosts once;
  for (const std::string& node : facts.placement.nodes) once.push_back({node, 1});
  if (facts.mpi == Mpi::openmpi) {
    if (facts.root && !has_option(options.launcher_args, {"allow-run-as-root"})) words.push_back("--allow-run-as-root");
    // The nodes are full of ranks already: neither a core of one's own nor spinning.
    append(words, {"--oversubscribe", "--map-by", "node", "--bind-to", "none"});
    if (!yields_by_hand(options, facts)) append(words, {"--mca", "mpi_yield_when_idle", "1"});  // twice is an error
    append(words, options.launcher_args);
    append(words, {"--host", host_words(once)});
    for (const auto& variable : line.environment)
      if (variable.first != "SLURM_OVERLAP") append(words, {"-x", variable.first});
  } else {
    append(words, options.launcher_args);
    append(words, {"-hosts", host_words(once)});
  }
  append(words, {"-n", count});
  append(words, program);
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
