// pclscope list: this user's jobs: on all nodes those that are recorded, on this one also those that were only
// preloaded.
#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "analysis/collect/dormant.hpp"
#include "analysis/collect/leftovers.hpp"
#include "analysis/discovery/jobs.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"

namespace pclscope::commands {
namespace {

using collect::DormantJob;

std::int64_t now_realtime_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::string state_of(const discovery::Job& job, bool attached) {
  if (!job.here && job.silent_s > discovery::silent_s) return "silent";
  return attached ? "attached" : "recorded";
}

// On two clusters that share a home, nodes may have the same names.
std::string node_of(const discovery::Job& job) {
  return text::printable(job.node + (job.cluster.empty() ? "" : " (" + job.cluster + ")"));
}

session::Json job_json(const discovery::Job& job, bool attached) {
  return {{"name", job.name},
          {"state", state_of(job, attached)},
          {"command", job.command},
          {"mpi", job.mpi},
          {"ranks", job.ranks},
          {"node", job.node},
          {"started", text::format_utc(job.started_realtime_ns)},
          {"here", job.here},
          {"batch_job", job.batch_job},
          {"cluster", job.cluster},
          {"silent_s", job.silent_s},
          {"endpoint", job.endpoint},
          {"tcp", job.tcp},
          {"aggregator_pid", job.aggregator_pid}};
}

session::Json dormant_json(const DormantJob& job) {
  return {{"name", job.name},
          {"state", "dormant"},
          {"command", job.executable},
          {"mpi", job.mpi},
          {"ranks", job.ranks},
          {"node", job.first_node},
          {"started", text::format_utc(job.started_ns)},
          {"nodes", job.node_count},
          {"node_ranks", job.node_ranks}};
}

std::string age_of(std::int64_t since_realtime_ns) {
  return text::format_seconds(static_cast<double>(std::max<std::int64_t>(now_realtime_ns() - since_realtime_ns, 0)) *
                              1e-9);
}

bool print_table(const std::vector<discovery::Job>& jobs, const std::vector<DormantJob>& preloaded) {
  const auto find = [&](const std::string& name) {
    return std::find_if(preloaded.begin(), preloaded.end(), [&](const DormantJob& job) { return job.name == name; });
  };
  text::Table table;
  table.column("job", text::Align::left);
  table.column("state", text::Align::left);
  table.column("ranks", text::Align::right);
  table.column("node", text::Align::left);
  table.column("batch job", text::Align::left);
  table.column("running for", text::Align::right);
  table.column("mpi", text::Align::left);
  table.column("command", text::Align::left);
  for (const discovery::Job& job : jobs) {
    const auto known = find(job.name);
    const bool attached = job.here && known != preloaded.end();
    table.row({text::printable(job.name), state_of(job, attached), std::to_string(job.ranks), node_of(job),
               text::printable(job.batch_job), age_of(attached ? known->started_ns : job.started_realtime_ns),
               text::printable(job.mpi), text::printable(job.command)});
  }
  for (const DormantJob& job : preloaded) {
    if (std::any_of(jobs.begin(), jobs.end(), [&](const discovery::Job& other) { return other.name == job.name; }))
      continue;
    table.row({text::printable(job.name), job.aggregator != 0 ? "attached" : "dormant", std::to_string(job.ranks),
               text::printable(job.first_node) + (job.node_count > 1 ? " +" + std::to_string(job.node_count - 1) : ""),
               "", age_of(job.started_ns), text::printable(job.mpi), text::printable(job.executable)});
  }
  return print_lines(table.lines(output_is_terminal() ? page_options(false).width : 0));
}

}  // namespace

int list(const std::vector<std::string>& words) {
  CLI::App app{
      "Lists your jobs on all nodes that share this home, recorded or attached; on this node also dormant ones "
      "(preloaded only).",
      "pclscope list"};
  bool json = false;
  app.add_flag("--json", json, "As JSON: {\"jobs\": [...], \"dormant\": [...]}");
  set_usage(app, "pclscope list [--json]");
  if (const auto status = parse(app, words)) return *status;
  collect::sweep_leftovers();
  const discovery::Listing listing = discovery::all_jobs();
  if (!listing.problem_here.empty()) return fail(could_not, listing.problem_here);
  if (!listing.problem_elsewhere.empty()) say("jobs on other nodes cannot be seen: " + listing.problem_elsewhere);
  const std::vector<DormantJob> preloaded = collect::dormant_jobs();
  if (json) {
    session::Json all = session::Json::array(), dormant = session::Json::array();
    for (const discovery::Job& job : listing.jobs) {
      all.push_back(job_json(job, std::any_of(preloaded.begin(), preloaded.end(),
                                              [&](const DormantJob& d) { return d.name == job.name; })));
    }
    for (const DormantJob& job : preloaded) {
      if (job.aggregator == 0) dormant.push_back(dormant_json(job));
    }
    return print(session::to_text({{"jobs", all}, {"dormant", dormant}}, true) + "\n") ? done : could_not;
  }
  if (listing.jobs.empty() && preloaded.empty()) {
    say("no running job of yours, on this node or one that shares your home");
    return done;
  }
  return print_table(listing.jobs, preloaded) ? done : could_not;
}

}  // namespace pclscope::commands
