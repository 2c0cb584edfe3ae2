#include "viewer/commands/run_plan.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "analysis/store/reader.hpp"
#include "analysis/wire/jobs.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/run_options.hpp"
#include "viewer/launch/job_files.hpp"
#include "viewer/launch/launcher.hpp"
#include "viewer/launch/machine.hpp"
#include "viewer/launch/program.hpp"

namespace pclscope::commands {
namespace {

namespace fs = std::filesystem;
using launch::ProgramState;

std::string environment_or(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

// Makes the path absolute (the aggregator may run elsewhere) and tries whether a file can be made there.
std::optional<int> check_dump(std::string& dump) {
  if (dump.empty()) return std::nullopt;
  dump = fs::absolute(dump).lexically_normal().string();
  const std::string directory = fs::path(dump).parent_path().string();
  struct stat status{};
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

// An earlier run's criteria are asked for: better to fail here than hours into the job.
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

std::optional<int> find_application(const launch::RunOptions& options, const std::string& path, std::string& program) {
  const std::string& name = options.command.front();
  const launch::Program found = launch::find_program(name, path);
  // The statuses of a shell.
  if (found.state == ProgramState::missing) {
    const bool is_path = name.find('/') != std::string::npos;
    return fail(127, "cannot find '" + name + (is_path ? "': there is no such file" : "': give its path, or put it in PATH"));
  }
  if (found.state == ProgramState::not_executable) return fail(126, "cannot execute '" + found.path + "': it is no executable file");
  program = found.path;
  return std::nullopt;
}

void note(const RunWords& words, const std::string& text) {
  if (!words.quiet) say(text);
}

// Decides on the MPI and its mpirun.
std::optional<int> choose_launcher(const RunWords& words, const std::string& program, launch::RunFacts& facts) {
  const std::string path = environment_or("PATH", "/usr/local/bin:/usr/bin:/bin");
  const launch::Surroundings around{
      path, launch::system_search_path(environment_or("LD_LIBRARY_PATH", ""), "/etc/ld.so.conf")};
  launch::Detection detected = launch::detect_mpi(program, words.options.command, around);
  const std::string& name = words.options.command.front();
  if (words.mpi != "auto") {
    const auto asked = words.mpi == "openmpi" ? launch::Mpi::openmpi : launch::Mpi::mpich;
    if (detected.certain && detected.mpi != asked) {
      return fail(wrong_usage, "'" + name + "' is linked with " + std::string(launch::mpi_title(*detected.mpi)) +
                                   ": leave --mpi " + words.mpi + " out");
    }
    if (detected.mpi != asked) detected = {asked, false, false, ""};
  } else if (detected.no_mpi) {
    note(words, "'" + name + "' links no MPI: it runs, but there may be nothing to record");
  }
  if (!words.launcher.empty()) {
    const auto launcher = launch::find_program(words.launcher, path);
    if (launcher.state != ProgramState::found) return fail(could_not, "cannot execute the launcher '" + words.launcher + "'");
    const auto mpi = detected.mpi ? detected.mpi : launch::identify_launcher(launcher.path);
    if (!mpi) return fail(could_not, "cannot tell which MPI '" + words.launcher + "' belongs to: add --mpi openmpi or --mpi mpich");
    facts.mpi = *mpi;
    facts.launcher = launcher.path;
    return std::nullopt;
  }
  const auto launcher = detected.mpi ? launch::find_launcher(*detected.mpi, detected.library, path)
                                     : launch::default_launcher(path);
  if (!launcher) return fail(could_not, launcher.error().message);
  if (!detected.mpi && !detected.no_mpi) {
    note(words, "cannot tell which MPI '" + name + "' uses: taking " + std::string(launch::mpi_title(launcher->mpi)) +
                    " like " + launcher->path + " (--mpi decides)");
  }
  facts.mpi = launcher->mpi;
  facts.launcher = launcher->path;
  return std::nullopt;
}

// Our own programs and library lie beside this one: bin/ and lib/ side by side, built or installed.
std::optional<int> find_pieces(launch::RunFacts& facts) {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  if (failed) return fail(could_not, "cannot find out where pclscope itself lies: is /proc mounted?");
  const fs::path bin = self.parent_path();
  const std::string key(launch::mpi_key(facts.mpi));
  facts.rank_program = (bin / "pclscope-rank").string();
  facts.aggregator_program = (bin / ("pclscope-aggregator-" + key)).string();
  facts.library = (bin.parent_path() / "lib" / ("libpclscope-" + key + ".so")).string();
  for (const std::string& piece : {facts.rank_program, facts.aggregator_program, facts.library}) {
    if (::access(piece.c_str(), piece == facts.library ? R_OK : X_OK) == 0) continue;
    return fail(could_not, "this installation has no " + piece + ": build or install pclscope with " +
                               std::string(launch::mpi_title(facts.mpi)));
  }
  return std::nullopt;
}

// "lmp-4711": short, unique among this user's running jobs, and harmless in file names.
std::string job_name(const std::string& command) {
  std::string name(launch::base_name(command));
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return c >= 0x80 || (std::isalnum(c) == 0 && c != '_' && c != '.' && c != '-'); }, '_');
  while (!name.empty() && (name.front() == '.' || name.front() == '-')) name.erase(0, 1);
  return (name.empty() ? std::string("job") : name.substr(0, 24)) + "-" + std::to_string(::getpid());
}

}  // namespace

std::optional<int> plan_run(const std::vector<std::string>& words, RunPlan& plan) {
  RunWords run;
  if (const auto status = parse_run(words, run)) return status;
  std::string program;
  if (const auto status = find_application(run.options, environment_or("PATH", "/usr/local/bin:/usr/bin:/bin"), program)) {
    return status;
  }
  if (const auto status = check_dump(run.options.dump)) return status;
  if (const auto status = check_baseline(run.options.baseline)) return status;
  if (const auto status = choose_launcher(run, program, plan.facts)) return status;
  if (const auto status = find_pieces(plan.facts)) return status;
  plan.facts.job = job_name(run.options.command.front());
  plan.facts.endpoint = run.endpoint;
  if (run.endpoint.empty()) {
    const auto runtime = wire::runtime_directory();
    if (!runtime) return fail(could_not, runtime.error().message);
    plan.own_endpoint = true;
    plan.facts.endpoint = "ipc://" + *runtime + "/" + plan.facts.job;
  }
  const auto token = launch::make_token();
  if (!token) return fail(could_not, token.error().message);
  plan.facts.token = *token;
  plan.facts.root = ::geteuid() == 0;
  plan.facts.environment = launch::environment_names();
  plan.facts.slots = launch::openmpi_slots(run.options.launcher_args, plan.facts.environment, launch::usable_cores());
  plan.options = std::move(run.options);
  plan.quiet = run.quiet;
  plan.print_only = run.print_only;
  return std::nullopt;
}

}  // namespace pclscope::commands
