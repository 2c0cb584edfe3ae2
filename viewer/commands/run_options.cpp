#include "viewer/commands/run_options.hpp"

#include <algorithm>

#include "viewer/commands/analysis_options.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/settings.hpp"

namespace pclscope::commands {
namespace {

using Words = std::vector<std::string>;

struct Raw {
  AnalysisWords analysis;
  Words launcher_args;
  std::string aggregators = "1";
  std::uint64_t ring_events = 0;
  std::uint64_t ring_limit = 0;
  std::uint32_t stacks = 0;
  std::uint64_t overflow_wait_ms = 0;
};

// Where the application's command begins: behind "--", or at the first word that is neither option nor value. Before
// it, -np is what mpirun calls -n.
std::size_t command_start(CLI::App& app, Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string& word = words[i];
    if (word == "-np") word = "-n";
    if (word == "--") return i;
    if (word.empty() || word.front() != '-') return i;
    const bool is_long = word.rfind("--", 0) == 0;
    const bool has_value = is_long ? word.find('=') != std::string::npos : word.size() > 2;
    const CLI::Option* option = app.get_option_no_throw(is_long ? word : word.substr(0, 2));
    if (option != nullptr && !has_value && option->get_items_expected_max() > 0) ++i;
  }
  return words.size();
}

void add_options(CLI::App& app, RunWords& run, Raw& raw) {
  app.add_option("-n,--ranks", run.options.ranks, "Ranks of the application")
      ->required()
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20).description(""));
  add_analysis_options(app, run.options, raw.analysis);
  app.add_option("--hosts", run.hosts, "Nodes and how many ranks each takes; an aggregator is added on each")
      ->type_name("node1:2,node2:2");
  app.add_option("--aggregators", raw.aggregators,
                 "Aggregators on each node, which share its ranks: a number, or auto: one for each 32 ranks (1)")
      ->type_name("K|auto");
  app.add_option("--rankfile", run.rankfile,
                 "File with the node of each rank, as pclscope map writes it (instead of --hosts)")
      ->type_name("FILE");
  app.add_option("--mpi", run.mpi, "The MPI of the application: openmpi, mpich or auto (auto)")
      ->type_name("MPI")
      ->check(one_of({"openmpi", "mpich", "auto"}));
  app.add_option("--launcher", run.launcher, "The mpirun to use")->type_name("PATH");
  // One word per use: the next may be the application.
  app.add_option("--launcher-args", raw.launcher_args, "Options handed to mpirun, in quotes; may be repeated")
      ->type_name("\"...\"")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--ring-events", raw.ring_events, "Events that each rank can buffer (65536, and more when it is full)")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{64}, std::uint64_t{1} << 26).description(""));
  app.add_option("--ring-limit", raw.ring_limit,
                 "Events up to which a buffer grows (1048576; with --ring-events: it does not grow)")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{64}, std::uint64_t{1} << 26).description(""));
  app.add_option("--stacks", raw.stacks, "Callers that are told of each call, 0 to 16: 0 none, the line alone (8)")
      ->type_name("N")
      ->check(CLI::Range(0u, 16u).description(""));
  app.add_option("--ring-dir", run.options.ring_directory,
                 "Directory on each node where buffers lie (/dev/shm; memory without a name where that is small)")
      ->type_name("DIR");
  app.add_option("--overflow", run.options.overflow, "When a buffer is full: wait for the aggregator, or drop events")
      ->type_name("wait|drop")
      ->check(one_of({"wait", "drop"}));
  app.add_option("--overflow-wait", raw.overflow_wait_ms, "Wait at most this many milliseconds, then drop")
      ->type_name("MS")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{3'600'000}).description(""));
  app.add_option("--clock", run.options.clock, "Clock of the time stamps (tsc where it is reliable)")
      ->type_name("tsc|monotonic")
      ->check(one_of({"tsc", "monotonic"}));
  app.add_flag("--print", run.print_only, "Print the command instead of running it");
  app.add_flag("-q,--quiet", run.quiet, "No lines of our own, except errors");
}

std::optional<int> check_words(RunWords& run, const Raw& raw) {
  if (raw.aggregators == "auto") {
    run.options.aggregators = launch::aggregators_by_ranks;
  } else {
    const int count = CLI::detail::lexical_cast(raw.aggregators, run.options.aggregators) ? run.options.aggregators : 0;
    if (count < 1 || count > std::min(run.options.ranks, launch::most_aggregators))
      return fail(wrong_usage, "--aggregators: give a number from 1 to the number of ranks, at most " +
                                   std::to_string(launch::most_aggregators) + ", or auto");
  }
  if (const auto status = split_launcher_args(raw.launcher_args, run.options)) return status;
  if (const auto word = launch::misplaced_rank_count(run.options.launcher_args)) {
    return fail(wrong_usage, "--launcher-args: give the number of ranks to pclscope run -n, not as " + *word);
  }
  if (run.options.command.empty()) {
    return fail(wrong_usage, "no application given: pclscope run -n 4 -- ./app its arguments");
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> parse_run(Words words, RunWords& run) {
  CLI::App app{"Runs an MPI application, records its messages, and analyses them while it runs.", "pclscope run"};
  Raw raw;
  add_options(app, run, raw);
  set_usage(app, "pclscope run -n N [options] -- command arguments");
  app.footer(
      "Exit status: the application's own.\n"
      "Options may also stand in variables (PCLSCOPE_RUN_KEEP=all) and in ~/.config/pclscope/config (keep = all).\n"
      "example: pclscope run -n 8 --dump run.h5 -- ./app input.txt     then, elsewhere: pclscope watch");
  const std::size_t start = command_start(app, words);
  Words own(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(start));
  if (std::none_of(own.begin(), own.end(), [](const std::string& word) { return word == "-h" || word == "--help"; })) {
    RunWords tried;
    Raw tried_raw;
    const auto make = [&](CLI::App& another) { add_options(another, tried, tried_raw); };
    if (const auto status = add_settings(make, "PCLSCOPE_RUN_", own)) return status;
  }
  if (const auto status = parse(app, own)) return status;
  const std::size_t first = start < words.size() && words[start] == "--" ? start + 1 : start;
  run.options.command.assign(words.begin() + static_cast<std::ptrdiff_t>(first), words.end());
  if (!run.options.command.empty())
    if (const auto wrong = launch::split_programs(run.options)) return fail(wrong_usage, *wrong);
  if (const auto status = finish_analysis_options(app, raw.analysis, run.options)) return status;
  run.endpoint = raw.analysis.endpoint;
  if (app.count("--ring-events") > 0) run.options.ring_events = raw.ring_events;
  if (app.count("--ring-limit") > 0) run.options.ring_limit = raw.ring_limit;
  if (app.count("--stacks") > 0) run.options.stacks = raw.stacks;
  if (app.count("--overflow-wait") > 0) run.options.overflow_wait_ms = raw.overflow_wait_ms;
  if (app.count("--hosts") > 0 && run.hosts.empty()) return fail(wrong_usage, "--hosts: no node is named");
  if (app.count("--rankfile") > 0 && run.rankfile.empty()) return fail(wrong_usage, "--rankfile: no file is named");
  return check_words(run, raw);
}

}  // namespace pclscope::commands
