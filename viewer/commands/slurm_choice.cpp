#include "viewer/commands/slurm_choice.hpp"

#include <algorithm>
#include <chrono>

#include "viewer/commands/command_line.hpp"
#include "viewer/commands/pieces.hpp"
#include "viewer/launch/capture.hpp"
#include "viewer/launch/program.hpp"
#include "viewer/launch/slurm.hpp"

namespace pclscope::commands {
namespace {

constexpr std::chrono::seconds for_slurm{10};

bool asks_pmix(const launch::Detection& detected) { return launch::asks_pmix(*detected.mpi, detected.library); }

// What a step gets when nobody says it: the user's variable, else the site's setting.
std::string type_by_default(const std::string& search) {
  const std::string asked = environment_or("SLURM_MPI_TYPE", "");
  const auto scontrol = launch::find_program("scontrol", search);
  if (!asked.empty() || scontrol.state != launch::ProgramState::found) return asked;
  return launch::default_mpi_type(launch::capture({scontrol.path, "show", "config"}, for_slurm).value_or(""));
}

bool inside_allocation() {
  return !environment_or("SLURM_JOB_ID", "").empty() &&
         !environment_or("SLURM_JOB_NODELIST", environment_or("SLURM_NODELIST", "").c_str()).empty();
}

bool says_type(const std::vector<std::string>& launcher_args) {
  return std::any_of(launcher_args.begin(), launcher_args.end(),
                     [](const std::string& word) { return word == "--mpi" || word.rfind("--mpi=", 0) == 0; });
}

// Older versions print the list on standard error.
std::optional<int> choose_type(const std::string& srun, const launch::Detection& detected, const std::string& search,
                               std::string& type) {
  const bool pmix = asks_pmix(detected);
  const std::string unasked = type_by_default(search);
  if (launch::fits(unasked, pmix)) return type = unasked, std::nullopt;
  const auto types = launch::mpi_types(
      launch::capture({"/bin/sh", "-c", "exec \"$0\" --mpi=list 2>&1", srun}, for_slurm).value_or(""));
  if (types.empty()) return std::nullopt;  // it does not say: as Slurm does by itself
  const auto chosen = launch::choose_mpi_type(types, pmix);
  if (chosen) return type = *chosen, std::nullopt;
  std::string list;
  for (const std::string& each : types) list += (list.empty() ? "" : ", ") + each;
  return fail(could_not, std::string("this Slurm's srun cannot start ") +
                             std::string(launch::mpi_title(*detected.mpi)) +
                             ", which needs --mpi=" + (pmix ? "pmix" : "pmi2") + " (it has: " + list +
                             "): use --launcher mpirun, or say --launcher-args --mpi=TYPE");
}

}  // namespace

std::string srun_of_allocation(const std::string& search) {
  const auto srun = launch::find_program("srun", search);
  return inside_allocation() && srun.state == launch::ProgramState::found ? srun.path : "";
}

bool site_uses_srun(const launch::Detection& detected, const std::string& search) {
  return detected.mpi && !srun_of_allocation(search).empty() &&
         launch::fits(type_by_default(search), asks_pmix(detected));
}

bool mpirun_takes_nodes_once(const launch::Detection& detected, const RunWords& words, const std::string& search) {
  const std::string nodes = environment_or("SLURM_JOB_NUM_NODES", "1");
  if (detected.mpi != launch::Mpi::mpich || nodes == "1" || srun_of_allocation(search).empty()) return false;
  for (const char* name : {"HYDRA_LAUNCHER", "HYDRA_BOOTSTRAP"})
    if (!environment_or(name, "").empty()) return false;
  const auto names_one = [](const std::string& word) {
    const std::size_t start = word.find_first_not_of('-');
    const std::string name = start == std::string::npos || start == 0 ? "" : word.substr(start);
    return name == "launcher" || name == "bootstrap";
  };
  return std::none_of(words.options.launcher_args.begin(), words.options.launcher_args.end(), names_one);
}

std::optional<int> choose_srun(const RunWords& words, const launch::Detection& detected, const std::string& found,
                               const std::string& search, launch::RunFacts& facts) {
  if (!words.options.more.empty())
    return fail(wrong_usage, "several programs in one job (':') are for mpirun: a step of srun has one");
  if (!detected.mpi)
    return fail(could_not, "cannot tell which MPI the application uses: add --mpi openmpi or --mpi mpich");
  const bool placed = !words.hosts.empty() || !words.rankfile.empty();
  if (!words.print_only && !inside_allocation())
    return fail(wrong_usage,
                "there is no Slurm allocation around us: call pclscope run --launcher srun inside sbatch or salloc" +
                    std::string(placed ? ", or add --print and run what it prints" : ""));
  if (!words.print_only && found.empty())
    return fail(could_not, "cannot execute the launcher '" + words.launcher + "'");
  facts.mpi = *detected.mpi;
  facts.launcher = found.empty() ? words.launcher : found;
  facts.slurm_export = environment_or("SLURM_EXPORT_ENV", "");
  for (const char* name : launch::spreading_variables)
    if (const std::string value = environment_or(name, ""); !value.empty())
      facts.slurm_spreading.emplace_back(name, value);
  if (found.empty() || says_type(words.options.launcher_args)) return std::nullopt;
  return choose_type(found, detected, search, facts.mpi_type);
}

std::string note_of_components(const RunWords& words) {
  const std::string size = environment_or("SLURM_HET_SIZE", "");
  if (size.empty() || size == "1" || !words.hosts.empty() || !words.rankfile.empty()) return "";
  return "a heterogeneous job of " + size +
         " components: all ranks go to the first one, as with a plain srun (--hosts names other nodes)";
}

}  // namespace pclscope::commands
