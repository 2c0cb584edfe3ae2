// pclscope list: this user's jobs on all nodes, recorded or only preloaded.
#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "analysis/collect/dormant.hpp"
#include "analysis/collect/leftovers.hpp"
#include "analysis/discovery/addresses.hpp"
#include "analysis/discovery/jobs.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/commands/dormant_jobs.hpp"
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

const char* state_of(const DormantJob& job) { return job.aggregator != 0 ? "attached" : "dormant"; }

const char* state_of(const DormantThere& job) {
  switch (job.state) {
    case DormantState::dormant: return "dormant";
    case DormantState::attached: return "attached";
    case DormantState::unknown: break;
  }
  return "unknown";
}

session::Json dormant_json(const DormantJob& job) {
  return {{"name", job.name},
          {"state", state_of(job)},
          {"command", job.executable},
          {"mpi", job.mpi},
          {"ranks", job.ranks},
          {"node", job.first_node},
          {"started", text::format_utc(job.started_ns)},
          {"nodes", job.node_count},
          {"here", true},
          {"node_ranks", job.node_ranks}};
}

session::Json dormant_json(const DormantThere& job) {
  return {{"name", job.name},
          {"state", state_of(job)},
          {"command", job.command},
          {"mpi", job.mpi},
          {"ranks", job.ranks},
          {"node", job.node},
          {"started", text::format_utc(job.started_realtime_ns)},
          {"nodes", job.nodes},
          {"here", false},
          {"batch_job", job.batch_job},
          {"cluster", job.cluster}};
}

std::string age_of(std::int64_t since_realtime_ns) {
  return text::format_seconds(static_cast<double>(std::max<std::int64_t>(now_realtime_ns() - since_realtime_ns, 0)) *
                              1e-9);
}

struct Listed {
  std::vector<discovery::Job> jobs;
  std::vector<DormantJob> here;  // those only preloaded, in order of their names
  std::vector<DormantThere> elsewhere;

  // Those that an aggregator was attached to are among `jobs` as well, once it has announced itself.
  bool is_job(const std::string& name, bool on_this_node, const std::string& node) const {
    return std::any_of(jobs.begin(), jobs.end(), [&](const discovery::Job& job) {
      return job.name == name && (on_this_node ? job.here : !job.here && job.node == node);
    });
  }
  // When it was started, if it was only preloaded then.
  std::optional<std::int64_t> attached_to(const discovery::Job& job) const {
    for (const DormantJob& one : here)
      if (job.here && one.name == job.name) return one.started_ns;
    for (const DormantThere& one : elsewhere)
      if (!job.here && one.name == job.name && one.node == job.node) return one.started_realtime_ns;
    return std::nullopt;
  }
};

std::string to_json(const Listed& all) {
  session::Json jobs = session::Json::array(), dormant = session::Json::array();
  for (const discovery::Job& job : all.jobs) jobs.push_back(job_json(job, all.attached_to(job).has_value()));
  for (const DormantJob& job : all.here)
    if (!all.is_job(job.name, true, "")) dormant.push_back(dormant_json(job));
  for (const DormantThere& job : all.elsewhere)
    if (!all.is_job(job.name, false, job.node)) dormant.push_back(dormant_json(job));
  const session::Json node = {{"name", discovery::host_name()},
                              {"boot_id", discovery::boot_id()},
                              {"cluster", cluster_here(discovery::announced_dormant())}};
  return session::to_text({{"jobs", jobs}, {"dormant", dormant}, {"node", node}}, true);
}

std::string and_others(const std::string& node, std::int32_t nodes) {
  return text::printable(node) + (nodes > 1 ? " +" + std::to_string(nodes - 1) : "");
}

bool print_table(const Listed& all) {
  text::Table table;
  table.column("job", text::Align::left);
  table.column("state", text::Align::left);
  table.column("ranks", text::Align::right);
  table.column("node", text::Align::left);
  table.column("batch job", text::Align::left);
  table.column("running for", text::Align::right);
  table.column("mpi", text::Align::left);
  table.column("command", text::Align::left);
  for (const discovery::Job& job : all.jobs) {
    const auto attached = all.attached_to(job);
    table.row({text::printable(job.name), state_of(job, attached.has_value()), std::to_string(job.ranks), node_of(job),
               text::printable(job.batch_job), age_of(attached.value_or(job.started_realtime_ns)),
               text::printable(job.mpi), text::printable(job.command)});
  }
  for (const DormantJob& job : all.here) {
    if (all.is_job(job.name, true, "")) continue;
    table.row({text::printable(job.name), state_of(job), std::to_string(job.ranks),
               and_others(job.first_node, job.node_count), "", age_of(job.started_ns), text::printable(job.mpi),
               text::printable(job.executable)});
  }
  for (const DormantThere& job : all.elsewhere) {
    if (all.is_job(job.name, false, job.node)) continue;
    table.row({text::printable(job.name), state_of(job), std::to_string(job.ranks), and_others(job.node, job.nodes),
               text::printable(job.batch_job), age_of(job.started_realtime_ns), text::printable(job.mpi),
               text::printable(job.command)});
  }
  return print_lines(table.lines(output_is_terminal() ? page_options(false).width : 0));
}

}  // namespace

int list(const std::vector<std::string>& words) {
  CLI::App app{"Lists your jobs on all nodes that share this home: recorded, attached, or dormant (preloaded only).",
               "pclscope list"};
  bool json = false, only_here = false;
  app.add_flag("--json", json, "As JSON: {\"jobs\": [...], \"dormant\": [...]}");
  app.add_flag("--here", only_here, "Only this node's");
  set_usage(app, "pclscope list [--json] [--here]");
  if (const auto status = parse(app, words)) return *status;
  collect::sweep_leftovers();
  discovery::Listing listing = discovery::all_jobs();
  if (!listing.problem_here.empty()) return fail(could_not, listing.problem_here);
  if (!listing.problem_elsewhere.empty() && !only_here)
    say("jobs on other nodes cannot be seen: " + listing.problem_elsewhere);
  Listed all{std::move(listing.jobs), collect::dormant_jobs(), {}};
  if (only_here) {
    std::erase_if(all.jobs, [](const discovery::Job& job) { return !job.here; });
  } else {
    DormantElsewhere elsewhere = dormant_elsewhere(all.here);
    if (!elsewhere.problem.empty()) say(elsewhere.problem);
    all.elsewhere = std::move(elsewhere.jobs);
  }
  if (json) return print(to_json(all) + "\n") ? done : could_not;
  if (all.jobs.empty() && all.here.empty() && all.elsewhere.empty()) {
    say(only_here ? "no running job of yours on this node"
                  : "no running job of yours, on this node or one that shares your home");
    return done;
  }
  return print_table(all) ? done : could_not;
}

}  // namespace pclscope::commands
