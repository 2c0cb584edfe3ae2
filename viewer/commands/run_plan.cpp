#include "viewer/commands/run_plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "viewer/commands/analysis_options.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/pieces.hpp"
#include "viewer/commands/run_options.hpp"
#include "viewer/commands/slurm_choice.hpp"
#include "viewer/launch/around.hpp"
#include "viewer/launch/job_files.hpp"
#include "viewer/launch/launcher.hpp"
#include "viewer/launch/machine.hpp"
#include "viewer/launch/program.hpp"
#include "viewer/launch/rankfile.hpp"

namespace pclscope::commands {
namespace {

namespace fs = std::filesystem;
using launch::ProgramState;

std::optional<int> find_application(const std::string& name, const std::string& path, std::string& program) {
  const launch::Program found = launch::find_program(name, path);
  // The statuses of a shell.
  if (found.state == ProgramState::missing) {
    const bool is_path = name.find('/') != std::string::npos;
    return fail(
        127, "cannot find '" + name + (is_path ? "': there is no such file" : "': give its path, or put it in PATH"));
  }
  if (found.state == ProgramState::not_executable)
    return fail(126, "cannot execute '" + found.path + "': it is no executable file");
  program = found.path;
  return std::nullopt;
}

void note(const RunWords& words, const std::string& text) {
  if (!words.quiet) say(text);
}

// As without us: a launcher that a name finds is called by that name.
std::string word_for(const std::string& launcher, const std::string& given, const std::string& path) {
  if (given.find('/') != std::string::npos) return launcher;
  const std::string name(launch::base_name(launcher));
  return launch::find_program(name, path).path == launcher ? name : launcher;
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
  facts.mpi_library = launch::private_library(detected.library);
  if (!words.launcher.empty()) {
    const auto launcher = launch::find_program(words.launcher, path);
    if (launch::base_name(words.launcher) == "srun")
      return choose_srun(words, detected, launcher.state == ProgramState::found ? launcher.path : "", path, facts);
    if (launcher.state != ProgramState::found)
      return fail(could_not, "cannot execute the launcher '" + words.launcher + "'");
    const auto mpi = detected.mpi ? detected.mpi : launch::identify_launcher(launcher.path);
    if (!mpi)
      return fail(could_not,
                  "cannot tell which MPI '" + words.launcher + "' belongs to: add --mpi openmpi or --mpi mpich");
    if (mpirun_takes_nodes_once({mpi, false, false, ""}, words, path))
      return fail(
          wrong_usage,
          "MPICH's mpirun cannot start pclscope's ranks on several nodes of a Slurm allocation: leave --launcher "
          "out (srun starts them), or add --launcher-args \"-launcher ssh\"");
    facts.mpi = *mpi;
    facts.launcher = launcher.path;
    return std::nullopt;
  }
  const std::string srun = srun_of_allocation(path);
  if (site_uses_srun(detected, path) || mpirun_takes_nodes_once(detected, words, path))
    return choose_srun(words, detected, srun, path, facts);
  const auto launcher =
      detected.mpi ? launch::find_launcher(*detected.mpi, detected.library, path) : launch::default_launcher(path);
  if (!launcher && detected.mpi && !srun.empty()) return choose_srun(words, detected, srun, path, facts);
  if (!launcher) return fail(could_not, launcher.error().message);
  if (!detected.mpi && !detected.no_mpi) {
    note(words, "cannot tell which MPI '" + name + "' uses: taking " + std::string(launch::mpi_title(launcher->mpi)) +
                    " like " + launcher->path + " (--mpi decides)");
  }
  facts.mpi = launcher->mpi;
  facts.launcher = launcher->path;
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
  const std::string path = environment_or("PATH", "/usr/local/bin:/usr/bin:/bin");
  std::string program;
  if (const auto status = find_application(run.options.command.front(), path, program)) return status;
  std::vector<std::pair<std::string, std::string>> programs = {{run.options.command.front(), program}};
  for (const launch::MoreRanks& more : run.options.more) {
    auto& [name, found] = programs.emplace_back(more.command.front(), "");
    if (const auto status = find_application(name, path, found)) return status;
  }
  if (const auto status = check_dump(run.options.dump)) return status;
  if (const auto status = check_baseline(run.options.baseline)) return status;
  if (const auto status = choose_launcher(run, program, plan.facts)) return status;
  plan.facts.launcher_word = word_for(plan.facts.launcher, run.launcher, path);
  for (const auto& [name, found] : programs) {
    if (!plan.around.empty()) break;
    plan.around = launch::goes_around(found).value_or("");
    plan.around_program = name;
  }
  if (const auto status = find_pieces(plan.facts)) return status;
  plan.facts.job = job_name(run.options.command.front());
  plan.facts.environment = launch::environment_names();
  if (const auto status = find_nodes(run.hosts, run.rankfile, run.options, plan.facts)) return status;
  if (const std::string text = note_of_components(run); !text.empty()) note(run, text);
  launch::settle_aggregators(run.options, plan.facts.placement);
  const std::vector<std::string>& nodes = plan.facts.placement.nodes;
  const std::string here = launch::this_host();
  plan.root_is_here = nodes.empty() || launch::same_host(nodes.front(), here) || nodes.front() == "localhost";
  plan.runs_here = plan.root_is_here || std::any_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
                     return launch::same_host(node, here);
                   });
  if (const auto text = launch::note_on_slots(plan.facts.placement.slots, run.rankfile, run.options.launcher_args);
      !text.empty())
    note(run, text);
  if (const auto status =
          plan_publishing(run.endpoint, launch::allocation(), plan.root_is_here, plan.facts, plan.own_endpoint))
    return status;
  const auto token = launch::make_token();
  if (!token) return fail(could_not, token.error().message);
  plan.facts.token = *token;
  plan.facts.root = ::geteuid() == 0;
  plan.options = std::move(run.options);
  plan.quiet = run.quiet;
  plan.print_only = run.print_only;
  return std::nullopt;
}

}  // namespace pclscope::commands
