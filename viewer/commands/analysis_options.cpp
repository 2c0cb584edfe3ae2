#include "viewer/commands/analysis_options.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "analysis/store/reader.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/launch/shell_words.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::commands {
namespace {
namespace fs = std::filesystem;
constexpr std::uint64_t least_budget = 10'000'000;
}  // namespace

void add_analysis_options(CLI::App& app, launch::RunOptions& options, AnalysisWords& words) {
  app.add_option("-d,--dump", options.dump, "Store the run in this HDF5 file")->type_name("FILE");
  app.add_option("--window", words.window, "Length of the analysis windows, 10ms to 60s (100ms)")
      ->type_name("TIME")
      ->check(duration_between("10ms", "60s"));
  app.add_option("--keep", options.keep,
                 "Messages in the dump: none, those of interesting periods, or all (interesting)")
      ->type_name("summaries|interesting|all")
      ->check(one_of({"summaries", "interesting", "all"}));
  app.add_option("--budget", words.budget, "The dump never grows beyond this, 10MB at least (2GB)")->type_name("SIZE");
  app.add_option("--baseline", options.baseline, "Judge latencies by the criteria of this dump of an earlier run")
      ->type_name("FILE");
  app.add_option("--regions", options.regions, "How communication regions are found (free-energy)")
      ->type_name("free-energy|paper|correlation")
      ->check(one_of({"free-energy", "paper", "correlation"}));
  app.add_option("--half-life", options.half_life_s,
                 "Regions follow slow changes: after so many seconds a message counts half; 0 never (600)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 1e9).description(""));
  app.add_option(
         "--publish", words.endpoint,
         "For viewers of yours: auto (a local socket, in a batch allocation a TCP port too), local, tcp, none, or "
         "ipc:///path, tcp://host:port")
      ->type_name("WHERE");
}

std::optional<int> finish_analysis_options(const CLI::App& app, const AnalysisWords& words,
                                           launch::RunOptions& options) {
  options.window_ns = *text::parse_duration_ns(words.window) / 1'000'000 * 1'000'000;
  if (app.count("--baseline") > 0 && options.baseline.empty()) {
    return fail(wrong_usage, "--baseline: the file name is empty");
  }
  if (app.count("--budget") > 0) {
    options.budget_bytes = text::parse_bytes(words.budget);
    if (options.budget_bytes.value_or(0) < least_budget) {
      return fail(wrong_usage,
                  "--budget: '" + words.budget + "' is no size of 10MB or more: write for example 500MB or 2GB");
    }
  }
  if (app.count("--dump") > 0 && options.dump.empty()) return fail(wrong_usage, "--dump: the file name is empty");
  const std::string& endpoint = words.endpoint;
  const bool known = endpoint.empty() || endpoint == "auto" || endpoint == "local" || endpoint == "tcp" ||
                     endpoint == "none" || endpoint.rfind("ipc:///", 0) == 0 || endpoint.rfind("tcp://", 0) == 0;
  if (!known) {
    return fail(wrong_usage, "--publish: '" + endpoint +
                                 "' is no endpoint: write auto, local, tcp, none, ipc:///path or tcp://host:port");
  }
  return std::nullopt;
}

std::optional<int> split_launcher_args(const std::vector<std::string>& lines, launch::RunOptions& options) {
  for (const std::string& line : lines) {
    const auto words = launch::split_words(line);
    if (!words) return fail(wrong_usage, "--launcher-args: a quote is not closed in: " + line);
    options.launcher_args.insert(options.launcher_args.end(), words->begin(), words->end());
  }
  return std::nullopt;
}

std::optional<int> check_dump(std::string& dump) {
  if (dump.empty()) return std::nullopt;
  dump = fs::absolute(dump).lexically_normal().string();
  const std::string directory = fs::path(dump).parent_path().string();
  struct stat status {};
  const auto refuse = [&](const std::string& why) {
    return fail(could_not, "cannot write the dump " + dump + ": " + why);
  };
  if (::stat(directory.c_str(), &status) != 0) return refuse("there is no directory " + directory);
  if (!S_ISDIR(status.st_mode)) return refuse(directory + " is no directory");
  if (::stat(dump.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) return refuse("it is no ordinary file");
    if (::access(dump.c_str(), W_OK) != 0) return refuse(std::strerror(errno));
  }
  const std::string trial = dump + "." + std::to_string(::getpid()) + ".trial";
  const int fd = ::open(trial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return refuse(std::strerror(errno));
  ::close(fd);
  ::unlink(trial.c_str());
  return std::nullopt;
}

std::optional<int> check_baseline(std::string& baseline) {
  if (baseline.empty()) return std::nullopt;
  baseline = fs::absolute(baseline).lexically_normal().string();
  const auto reader = store::Reader::open(baseline);
  if (!reader) return fail(could_not, "--baseline: " + reader.error().message);
  if ((*reader)->summary().criteria.empty()) {
    return fail(could_not, "--baseline: " + baseline + " has no criteria: no messages were matched in that run");
  }
  return std::nullopt;
}

}  // namespace pclscope::commands
