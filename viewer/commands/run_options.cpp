#include "viewer/commands/run_options.hpp"

#include "viewer/commands/command_line.hpp"
#include "viewer/launch/shell_words.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::commands {
namespace {

using Words = std::vector<std::string>;

constexpr std::uint64_t least_budget = 10'000'000;

struct Raw {
  std::string window = "100ms";
  std::string budget;
  Words launcher_args;
  std::uint64_t ring_events = 0;
  std::uint64_t overflow_wait_ms = 0;
};

// Where the application's command begins: behind "--", or at the first word that is neither option nor value.
std::size_t command_start(CLI::App& app, const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
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
  app.add_option("-d,--dump", run.options.dump, "Store the run in this HDF5 file")->type_name("FILE");
  app.add_option("--window", raw.window, "Length of the analysis windows, 10ms to 60s (100ms)")
      ->type_name("TIME")
      ->check(duration_between("10ms", "60s"));
  app.add_option("--keep", run.options.keep, "Messages in the dump: none, those of interesting periods, or all (interesting)")
      ->type_name("summaries|interesting|all")
      ->check(CLI::IsMember({"summaries", "interesting", "all"}).description(""));
  app.add_option("--budget", raw.budget, "The dump never grows beyond this, 10MB at least (2GB)")->type_name("SIZE");
  app.add_option("--baseline", run.options.baseline, "Judge latencies by the criteria of this dump of an earlier run")
      ->type_name("FILE");
  app.add_option("--regions", run.options.regions, "How communication regions are found (free-energy)")
      ->type_name("free-energy|paper|correlation")
      ->check(CLI::IsMember({"free-energy", "paper", "correlation"}).description(""));
  app.add_option("--publish", run.endpoint, "Where viewers connect: ipc:///path or tcp://host:port (this user only)")
      ->type_name("ENDPOINT");
  app.add_option("--mpi", run.mpi, "The MPI of the application: openmpi, mpich or auto (auto)")
      ->type_name("MPI")
      ->check(CLI::IsMember({"openmpi", "mpich", "auto"}).description(""));
  app.add_option("--launcher", run.launcher, "The mpirun to use")->type_name("PATH");
  // One word per use: the next may be the application.
  app.add_option("--launcher-args", raw.launcher_args, "Options handed to mpirun, in quotes; may be repeated")
      ->type_name("\"...\"")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--ring-events", raw.ring_events, "Events that each rank can buffer (65536)")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{64}, std::uint64_t{1} << 28).description(""));
  app.add_option("--overflow", run.options.overflow, "When a buffer is full: wait for the aggregator, or drop events")
      ->type_name("wait|drop")
      ->check(CLI::IsMember({"wait", "drop"}).description(""));
  app.add_option("--overflow-wait", raw.overflow_wait_ms, "Wait at most this many milliseconds, then drop")
      ->type_name("MS")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{3'600'000}).description(""));
  app.add_option("--clock", run.options.clock, "Clock of the time stamps (tsc where it is reliable)")
      ->type_name("tsc|monotonic")
      ->check(CLI::IsMember({"tsc", "monotonic"}).description(""));
  app.add_flag("--print", run.print_only, "Print the command instead of running it");
  app.add_flag("-q,--quiet", run.quiet, "No lines of our own, except errors");
}

std::optional<int> check_words(RunWords& run, const Raw& raw) {
  for (const std::string& line : raw.launcher_args) {
    const auto words = launch::split_words(line);
    if (!words) return fail(wrong_usage, "--launcher-args: a quote is not closed in: " + line);
    run.options.launcher_args.insert(run.options.launcher_args.end(), words->begin(), words->end());
  }
  if (const auto word = launch::misplaced_rank_count(run.options.launcher_args)) {
    return fail(wrong_usage, "--launcher-args: give the number of ranks to pclscope run -n, not as " + *word);
  }
  const std::string& endpoint = run.endpoint;
  if (!endpoint.empty() && endpoint.rfind("ipc:///", 0) != 0 && endpoint.rfind("tcp://", 0) != 0) {
    return fail(wrong_usage, "--publish: '" + endpoint + "' is no endpoint: write ipc:///path or tcp://host:port");
  }
  if (run.options.command.empty()) {
    return fail(wrong_usage, "no application given: pclscope run -n 4 -- ./app its arguments");
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> parse_run(const Words& words, RunWords& run) {
  CLI::App app{"Runs an MPI application, records its messages, and analyses them while it runs.", "pclscope run"};
  Raw raw;
  add_options(app, run, raw);
  set_usage(app, "pclscope run -n N [options] -- command arguments");
  app.footer("Exit status: the application's own.\n"
             "example: pclscope run -n 8 --dump run.h5 -- ./app input.txt     then, elsewhere: pclscope watch");
  const std::size_t start = command_start(app, words);
  const Words own(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(start));
  if (const auto status = parse(app, own)) return status;
  const std::size_t first = start < words.size() && words[start] == "--" ? start + 1 : start;
  run.options.command.assign(words.begin() + static_cast<std::ptrdiff_t>(first), words.end());
  run.options.window_ns = *text::parse_duration_ns(raw.window) / 1'000'000 * 1'000'000;
  if (app.count("--ring-events") > 0) run.options.ring_events = raw.ring_events;
  if (app.count("--overflow-wait") > 0) run.options.overflow_wait_ms = raw.overflow_wait_ms;
  if (app.count("--baseline") > 0 && run.options.baseline.empty()) {
    return fail(wrong_usage, "--baseline: the file name is empty");
  }
  if (app.count("--budget") > 0) {
    run.options.budget_bytes = text::parse_bytes(raw.budget);
    if (run.options.budget_bytes.value_or(0) < least_budget) {
      return fail(wrong_usage, "--budget: '" + raw.budget + "' is no size of 10MB or more: write for example 500MB or 2GB");
    }
  }
  if (app.count("--dump") > 0 && run.options.dump.empty()) return fail(wrong_usage, "--dump: the file name is empty");
  return check_words(run, raw);
}

}  // namespace pclscope::commands
