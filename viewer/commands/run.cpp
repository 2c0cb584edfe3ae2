// pclscope run: starts an application with the recorder preloaded and an aggregator beside it, waits, sums up.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <optional>
#include <thread>

#include "analysis/collect/leftovers.hpp"
#include "analysis/discovery/announcer.hpp"
#include "analysis/discovery/jobs.hpp"
#include "analysis/store/reader.hpp"
#include "analysis/wire/last_words.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/commands/news.hpp"
#include "viewer/commands/run_plan.hpp"
#include "viewer/launch/child.hpp"
#include "viewer/launch/hosts_file.hpp"
#include "viewer/launch/job_files.hpp"
#include "viewer/launch/program.hpp"
#include "viewer/launch/shell_words.hpp"
#include "viewer/launch/slurm.hpp"
#include "viewer/views/closing_lines.hpp"

namespace pclscope::commands {
namespace {

using launch::AggregatorEnd;
using std::chrono::milliseconds;

int print_command(const RunPlan& plan, const launch::LaunchLine& line) {
  if (launch::is_srun(plan.facts.launcher))
    return print(launch::srun_script(plan.options, plan.facts)) ? done : could_not;
  std::string text;
  // Each run of the printed line is a job of its own: its secret is made when it runs, and is in no script or log.
  for (const auto& [name, value] : line.environment)
    text += name + "=" + (value == plan.facts.token ? launch::new_token_here : launch::quote_word(value)) + " ";
  return print(text + launch::join_words(line.arguments) + "\n") ? done : could_not;
}

// The dump, if it is of this run: an earlier one's stays when this one never began.
std::unique_ptr<store::Reader> own_dump(const RunPlan& plan) {
  if (plan.options.dump.empty()) return nullptr;
  auto reader = store::Reader::open(plan.options.dump);
  return reader && (*reader)->summary().job == plan.facts.job ? std::move(*reader) : nullptr;
}

// A dump may end where storing stopped: then what the aggregator said last says more, or else what it published.
std::optional<Snapshot> final_summary(const RunPlan& plan, AggregatorEnd end, const wire::LastWords& last,
                                      const News& news) {
  const auto dump = end == AggregatorEnd::closed ? own_dump(plan) : nullptr;
  if (!dump || !dump->closed())
    if (auto said = last.read()) return said;
  const bool later = news.newest() && (!dump || (!dump->closed() && news.newest()->finished));
  return dump && !later ? dump->summary() : news.newest();
}

// Takes down what an aggregator that died has announced, as far as it is certainly ours.
void tidy_up(const RunPlan& plan) {
  (void)discovery::jobs_here();  // forgets the dead
  discovery::withdraw_for_the_dead(plan.facts.job);
  if (!plan.own_endpoint) return;
  const std::string path = plan.facts.endpoint.substr(std::string("ipc://").size());
  for (const char* suffix : {".pub", ".ask"}) ::unlink((path + suffix).c_str());
}

bool dump_is_closed(const RunPlan& plan) {
  const auto dump = own_dump(plan);
  return dump && dump->closed();
}

// The root is on another node, whose board we cannot see. The launcher has waited for it; what it stored or said last
// may still be on its way.
AggregatorEnd end_elsewhere(const RunPlan& plan, News& news) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (true) {
    news.look();
    if (dump_is_closed(plan) || (news.newest() && news.newest()->finished)) return AggregatorEnd::closed;
    const bool nothing_can_come = plan.options.dump.empty() && !news.connected();
    if (nothing_can_come || std::chrono::steady_clock::now() > deadline)
      return news.newest() ? AggregatorEnd::died : AggregatorEnd::closed;
    std::this_thread::sleep_for(milliseconds(50));
  }
}

void close_job(const RunPlan& plan, const std::optional<launch::JobFiles>& files, const wire::LastWords& last,
               News& news) {
  AggregatorEnd end = files ? files->wait_for_aggregator(std::chrono::seconds(30)) : AggregatorEnd::closed;
  news.look();
  if (!plan.root_is_here) end = end_elsewhere(plan, news);
  if (files && end == AggregatorEnd::still_running) {
    say("the aggregator did not finish within 30 s and is ended: the dump may lack its last seconds");
    files->end_aggregator();
  }
  if (end != AggregatorEnd::closed) tidy_up(plan);
  if (plan.quiet) return;
  views::Closing closing;
  closing.job = plan.facts.job;
  closing.dump = plan.options.dump;
  const auto dump = own_dump(plan);
  closing.dump_exists = dump != nullptr;
  closing.dump_whole = dump != nullptr && dump->closed();
  closing.closed = end == AggregatorEnd::closed;
  closing.why_nothing_said = files && files->nothing_to_record();
  closing.aggregator_ran = end != AggregatorEnd::never_ran;
  for (const std::string& line : views::closing_lines(closing, final_summary(plan, end, last, news))) say(line);
}

std::string starting_line(const RunPlan& plan) {
  const std::vector<std::string>& nodes = plan.facts.placement.nodes;
  std::string line = "job " + plan.facts.job + " starts";
  if (nodes.size() > 1) line += " on " + std::to_string(nodes.size()) + " nodes";
  if (plan.facts.endpoint.empty()) return line;
  return line + "; to look at it" + (plan.root_is_here ? "" : " on " + nodes.front() + ", or wherever your home is") +
         ": pclscope watch " + plan.facts.job;
}

// As without us, after saying why.
int run_bare(const RunPlan& plan, const std::string& why) {
  const launch::LaunchLine line = launch::build_bare_line(plan.options, plan.facts);
  if (plan.print_only) return print(launch::join_words(line.arguments) + "\n") ? done : could_not;
  say(why);
  auto child = launch::Child::start(line.program, line.arguments, line.environment);
  if (!child) return fail(could_not, child.error().message);
  return child->wait(milliseconds(500), [] {});
}

}  // namespace

int run(const std::vector<std::string>& words) {
  RunPlan plan;
  if (const auto status = plan_run(words, plan)) return *status;
  // Joined by the tool's rank, a program that goes around the recorder would see one rank too many and wait for it.
  if (!plan.around.empty())
    return run_bare(plan,
                    "'" + plan.around_program + "' " + plan.around + ": it runs without pclscope, nothing is recorded");
  const wire::LastWords last;
  if (!plan.print_only && !plan.quiet && plan.root_is_here) plan.facts.last_words = last.path();
  const bool by_srun = launch::is_srun(plan.facts.launcher);
  std::optional<launch::HostsFile> hosts;
  if (by_srun && !plan.print_only) {
    auto written = launch::HostsFile::write(launch::srun_hosts(plan.options, plan.facts));
    if (!written) return fail(could_not, written.error().message);
    hosts.emplace(std::move(*written));
  }
  const launch::LaunchLine line = hosts ? launch::build_srun_line(plan.options, plan.facts, hosts->path())
                                        : launch::build_launch_line(plan.options, plan.facts);
  if (plan.print_only) return print_command(plan, line);
  for (const std::string& name : line.without) ::unsetenv(name.c_str());
  ::signal(SIGPIPE, SIG_IGN);  // a closed terminal must not take us from the job
  ::signal(SIGXFSZ, SIG_IGN);  // nor a limit on the size of files: it is an error where it matters
  collect::sweep_leftovers();  // of jobs whose launcher had no time to
  std::optional<launch::JobFiles> files;
  if (plan.runs_here) {
    auto created = launch::JobFiles::create(plan.facts.token);
    if (!created && created.error().code == ErrorCode::no_space)
      return run_bare(plan, created.error().message + "; it runs without pclscope, nothing is recorded");
    if (!created) return fail(could_not, created.error().message);
    files.emplace(std::move(*created));
  }
  if (!plan.quiet) say(starting_line(plan));
  auto child = launch::Child::start(line.program, line.arguments, line.environment);
  if (!child) return fail(could_not, child.error().message);
  News news(plan.facts.job, plan.quiet ? "" : plan.facts.endpoint);
  const int status = child->wait(milliseconds(500), [&] { news.look(); });
  close_job(plan, files, last, news);
  return status;
}

}  // namespace pclscope::commands
