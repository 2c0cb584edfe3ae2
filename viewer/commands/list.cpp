// pclscope list: this user's running jobs on this node.
#include <ctime>

#include "analysis/wire/jobs.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"

namespace pclscope::commands {
namespace {

std::int64_t now_realtime_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

session::Json job_json(const wire::Job& job) {
  return {{"name", job.name},   {"command", job.command},   {"mpi", job.mpi},
          {"ranks", job.ranks}, {"node", job.node},         {"started", text::format_utc(job.started_realtime_ns)},
          {"endpoint", job.endpoint}, {"aggregator_pid", job.aggregator_pid}};
}

bool print_table(const std::vector<wire::Job>& jobs) {
  text::Table table;
  table.column("job", text::Align::left);
  table.column("ranks", text::Align::right);
  table.column("running for", text::Align::right);
  table.column("mpi", text::Align::left);
  table.column("command", text::Align::left);
  for (const wire::Job& job : jobs) {
    const double age = static_cast<double>(now_realtime_ns() - job.started_realtime_ns) * 1e-9;
    table.row({text::printable(job.name), std::to_string(job.ranks), text::format_seconds(age), text::printable(job.mpi),
               text::printable(job.command)});
  }
  return print_lines(table.lines(output_is_terminal() ? page_options(false).width : 0));
}

}  // namespace

int list(const std::vector<std::string>& words) {
  CLI::App app{"Lists your running jobs on this node.", "pclscope list"};
  bool json = false;
  app.add_flag("--json", json, "As JSON: {\"jobs\": [...]}");
  set_usage(app, "pclscope list [--json]");
  if (const auto status = parse(app, words)) return *status;
  const auto jobs = wire::list_jobs();
  if (!jobs) return fail(could_not, jobs.error().message);
  if (json) {
    session::Json all = session::Json::array();
    for (const wire::Job& job : *jobs) all.push_back(job_json(job));
    return print(session::to_text({{"jobs", all}}, true) + "\n") ? done : could_not;
  }
  if (jobs->empty()) {
    say("no running job of yours on this node");
    return done;
  }
  return print_table(*jobs) ? done : could_not;
}

}  // namespace pclscope::commands
