#include "viewer/commands/pieces.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "analysis/discovery/directories.hpp"
#include "analysis/installation/installation.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/launch/capture.hpp"
#include "viewer/launch/machine.hpp"
#include "viewer/launch/program.hpp"

namespace pclscope::commands {
namespace {

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf())) return std::nullopt;
  return content.str();
}

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

std::optional<std::string> slurm_names(const std::string& list) {
  const launch::Program scontrol =
      launch::find_program("scontrol", environment_or("PATH", "/usr/local/bin:/usr/bin:/bin"));
  if (scontrol.state != launch::ProgramState::found) return std::nullopt;
  return launch::capture({scontrol.path, "show", "hostnames", list}, std::chrono::seconds(10));
}

}  // namespace

std::string environment_or(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

std::optional<int> find_pieces(launch::RunFacts& facts) {
  if (own_folder().empty()) return fail(could_not, "cannot find out where pclscope itself lies: is /proc mounted?");
  const std::string key(launch::mpi_key(facts.mpi));
  facts.rank_program = program_part("pclscope-rank");
  facts.aggregator_program = program_part("pclscope-aggregator-" + key);
  facts.library = library_part("libpclscope-" + key + ".so");
  for (const std::string& piece : {facts.rank_program, facts.aggregator_program, facts.library}) {
    if (::access(piece.c_str(), piece == facts.library ? R_OK : X_OK) == 0) continue;
    return fail(could_not, "this installation has no " + piece + ": build or install pclscope with " +
                               std::string(launch::mpi_title(facts.mpi)));
  }
  return std::nullopt;
}

std::optional<int> find_nodes(const std::string& hosts, const std::string& rankfile, launch::RunOptions& options,
                              launch::RunFacts& facts) {
  launch::HostQuestion question{facts.mpi, options.ranks, hosts, options.launcher_args, rankfile};
  auto placement = launch::find_placement(question, {read_file, slurm_names, variable});
  if (!placement) return fail(wrong_usage, placement.error().message);
  options.launcher_args = std::move(question.launcher_args);
  facts.placement = std::move(*placement);
  facts.slots = facts.placement.by_option
                    ? launch::total_slots(facts.placement.hosts)
                    : launch::openmpi_slots(options.launcher_args, facts.environment, launch::usable_cores());
  return std::nullopt;
}

std::optional<int> plan_publishing(const std::string& given, const launch::Allocation& allocation, bool root_is_here,
                                   launch::RunFacts& facts, bool& own) {
  std::string publish = given;
  if (publish.empty()) {
    const auto site = launch::site_publishing();
    if (!site) return fail(could_not, site.error().message);
    publish = *site;
  }
  facts.batch_job = allocation.slurm_job;
  facts.cluster = allocation.cluster;
  facts.program = own_folder().empty() ? "" : own_folder() + "/pclscope";
  own = false;
  if (publish == "none") return facts.endpoint.clear(), std::nullopt;
  if (publish != "auto" && publish != "local" && publish != "tcp") return facts.endpoint = publish, std::nullopt;
  facts.tcp = publish == "tcp" || (publish == "auto" && allocation.inside);
  if (!root_is_here) return facts.endpoint = "auto", std::nullopt;  // its runtime directory may be another than ours
  const auto runtime = discovery::runtime_directory();
  if (!runtime) return fail(could_not, runtime.error().message);
  own = true;
  facts.endpoint = "ipc://" + *runtime + "/" + facts.job;
  return std::nullopt;
}

}  // namespace pclscope::commands
