// pclscope attach: starts aggregators beside a job that was only preloaded, and ends when they have begun.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include "analysis/collect/leftovers.hpp"
#include "analysis/discovery/directories.hpp"
#include "analysis/discovery/jobs.hpp"
#include "viewer/commands/analysis_options.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/commands/dormant_jobs.hpp"
#include "viewer/commands/news.hpp"
#include "viewer/commands/pieces.hpp"
#include "viewer/launch/attached_job.hpp"
#include "viewer/launch/background.hpp"
#include "viewer/launch/launcher.hpp"
#include "viewer/launch/machine.hpp"
#include "viewer/launch/program.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::commands {
namespace {

using launch::AttachedJob;
using std::chrono::seconds;

struct AttachWords {
  std::string job;
  launch::RunOptions options;
  AnalysisWords analysis;
  std::vector<std::string> launcher_args;
  std::string launcher;
  bool here = false;
};

std::optional<int> parse_attach(const std::vector<std::string>& words, AttachWords& attach) {
  CLI::App app{"Begins to record and analyse a job that runs with the library preloaded only.", "pclscope attach"};
  app.add_option("job", attach.job,
                 "The job's name, as pclscope list shows it, NAME@NODE, or Slurm's id (default: the only one)");
  app.add_flag("--here", attach.here, "Only a job whose rank 0 is on this node");
  add_analysis_options(app, attach.options, attach.analysis);
  app.add_option("--launcher", attach.launcher, "Of a job on several nodes: the mpirun to use")->type_name("PATH");
  app.add_option("--launcher-args", attach.launcher_args,
                 "Of a job on several nodes: options for mpirun, in quotes; may be repeated")
      ->type_name("\"...\"")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  set_usage(app, "pclscope attach [JOB] [options]");
  app.footer(
      "The job must have been started with LD_PRELOAD=.../libpclscope-MPI.so. pclscope detach JOB ends the recording.");
  if (const auto status = parse(app, words)) return status;
  if (const auto status = finish_analysis_options(app, attach.analysis, attach.options)) return status;
  return split_launcher_args(attach.launcher_args, attach.options);
}

// One attach at a time: of two at once the second waits, and finds the job attached. Else it could take the other's
// aggregator for its own, and both aggregators have one log.
class Turn {
 public:
  explicit Turn(const collect::DormantJob& job)
      : file_(::open(("/dev/shm/" + collect::shm_names(job.token) + "board").c_str(),
                     O_RDONLY | O_NOFOLLOW | O_CLOEXEC)) {
    if (file_ >= 0) ::flock(file_, LOCK_EX);
  }
  ~Turn() {
    if (file_ >= 0) ::close(file_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int file_;
};

// A job that `pclscope run` started is recorded from its beginning.
bool is_recorded(const std::string& name) {
  const auto jobs = discovery::jobs_here();
  return jobs && std::any_of(jobs->begin(), jobs->end(), [&](const discovery::Job& job) { return job.name == name; });
}

std::optional<int> check_job(const AttachedJob& target) {
  const collect::DormantJob& job = target.job();
  if (target.progress().aggregator != 0) {
    return fail(could_not, "job " + job.name + " is attached already: pclscope watch " + job.name +
                               ", or pclscope detach " + job.name + " first");
  }
  if (job.node_count > 1 && job.nodes.empty()) {
    return fail(could_not, "job " + job.name + " spans " + std::to_string(job.node_count) +
                               " nodes: attach where its rank 0 runs, on " + job.first_node);
  }
  return std::nullopt;
}

// As rank 0 announced it to other nodes: who attaches by ssh is in none.
launch::Allocation allocation_of(const collect::DormantJob& job) {
  for (const discovery::Dormant& announced : discovery::announced_dormant())
    if (announced.here && announced.name == job.name)
      return launch::allocation_of_job(announced.batch_job, announced.cluster);
  return launch::allocation();
}

std::optional<int> find_launcher(const AttachWords& words, launch::RunFacts& facts) {
  const std::string path = environment_or("PATH", "/usr/local/bin:/usr/bin:/bin");
  if (words.launcher.empty()) {
    const auto found = launch::find_launcher(facts.mpi, "", path);
    if (!found) return fail(could_not, found.error().message);
    facts.launcher = found->path;
    return std::nullopt;
  }
  const launch::Program found = launch::find_program(words.launcher, path);
  if (found.state != launch::ProgramState::found)
    return fail(could_not, "cannot execute the launcher '" + words.launcher + "'");
  facts.launcher = found.path;
  return std::nullopt;
}

std::optional<int> plan_attach(AttachWords& words, const collect::DormantJob& job, const std::string& runtime,
                               launch::RunFacts& facts) {
  if (const auto status = check_dump(words.options.dump)) return status;
  if (const auto status = check_baseline(words.options.baseline)) return status;
  facts.mpi = job.mpi.rfind("Open MPI", 0) == 0 ? launch::Mpi::openmpi : launch::Mpi::mpich;
  if (const auto status = find_pieces(facts)) return status;
  words.options.ranks = job.ranks;
  words.options.command = {job.executable};
  facts.job = job.name;
  facts.token = job.token;
  facts.log = runtime + "/" + job.name + ".log";
  facts.root = ::geteuid() == 0;
  bool own_endpoint = false;
  if (const auto status = plan_publishing(words.analysis.endpoint, allocation_of(job), true, facts, own_endpoint))
    return status;
  if (job.node_count <= 1) return std::nullopt;
  facts.placement.nodes = job.nodes;
  facts.environment = launch::environment_names();
  return find_launcher(words, facts);
}

// What the aggregator, else the launcher, had to say, on one line.
std::string words_of(const std::string& path) {
  constexpr char ours[] = "pclscope: ";
  constexpr std::size_t most = 600;
  std::ifstream file(path);
  std::string all;
  for (std::string line; all.size() < most && std::getline(file, line);) {
    if (line.rfind(ours, 0) == 0) return line.substr(sizeof ours - 1);
    line.erase(0, line.find_first_not_of(" \t"));
    if (!line.empty() && line.rfind("---", 0) != 0)
      all += (all.empty() ? "" : " ") + line;  // Open MPI frames its errors
  }
  return text::printable(all.substr(0, most));
}

// Rounded up: what is promised from then on must be true.
std::string now_text() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return text::format_utc(std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec + 999'999);
}

struct Begun {
  std::uint32_t recording = 0, of = 0;
};

// The board counts processes that record: for whom, it does not say (an aggregator that was killed may have left them
// so), and it knows of this node only. The job's own news say whose rings this aggregator has.
Begun await_all(const AttachedJob& target) {
  const collect::DormantJob& job = target.job();
  Begun begun;
  News news(job.name, "auto");
  target.wait(seconds(job.node_count > 1 ? 20 : 5), [&] {  // between nodes clocks are measured before anything else
    const collect::SessionProgress now = target.progress();
    begun = {now.recording, now.living};
    news.look();
    if (job.node_count > 1) begun.of = static_cast<std::uint32_t>(job.ranks);
    begun.recording = 0;
    if (news.newest()) {
      const auto& nodes = news.newest()->application.node_of_rank;
      begun.recording =
          static_cast<std::uint32_t>(std::count_if(nodes.begin(), nodes.end(), [](auto node) { return node >= 0; }));
    }
    return (news.newest() && begun.recording >= begun.of) || now.aggregator == 0;
  });
  return begun;
}

void say_begun(const AttachedJob& target, const Begun& now, const std::string& dump) {
  const collect::DormantJob& job = target.job();
  const std::string end = "; pclscope watch " + job.name + " shows it, pclscope detach " + job.name + " ends it" +
                          (dump.empty() ? "" : " and closes " + dump);
  if (now.recording >= now.of) {
    say("job " + job.name + ": all " + std::to_string(now.of) +
        " ranks record; matching is exact for messages sent after " + now_text() + end);
  } else {
    say("job " + job.name + ": " + std::to_string(now.recording) + " of " + std::to_string(now.of) +
        " ranks record, the others follow at their next MPI call; matching is exact for messages sent after a rank's "
        "first recorded call" +
        end);
  }
}

int start(const AttachWords& words, const AttachedJob& target, const launch::RunFacts& facts) {
  const launch::LaunchLine line = launch::build_attach_line(words.options, facts);
  const std::string& log = facts.log;
  const auto pid = launch::start_in_background(line.arguments, line.environment, log);
  if (!pid) return fail(could_not, pid.error().message);
  bool ended = false;
  const auto gone = [&] { return ended = ended || ::waitpid(*pid, nullptr, WNOHANG) == *pid; };
  const auto attached = [&] {
    const auto now = target.progress();
    return now.aggregator != 0 && now.session % 2 == 1;
  };
  // A launcher that reaches other nodes takes its time.
  target.wait(facts.placement.nodes.empty() ? seconds(10) : seconds(60), [&] { return attached() || gone(); });
  const Begun begun = attached() ? await_all(target) : Begun();
  if (!gone() && attached()) {
    say_begun(target, begun, words.options.dump);
    return done;
  }
  const std::string why = words_of(log);
  if (!gone()) return fail(could_not, "the aggregator has not begun yet and goes on trying; what it says is in " + log);
  ::unlink(log.c_str());
  if (target.progress().living == 0) return fail(could_not, "job " + facts.job + " has ended");
  return fail(could_not, "the aggregator did not begin" + (why.empty() ? "" : ": " + why));
}

}  // namespace

int attach(const std::vector<std::string>& words) {
  AttachWords attach;
  if (const auto status = parse_attach(words, attach)) return *status;
  collect::sweep_leftovers();
  const auto target = AttachedJob::open(dormant_name_here(attach.job));
  if (!target) {
    const bool recorded = !attach.job.empty() && is_recorded(attach.job);
    if (recorded) return fail(could_not, "job " + attach.job + " is recorded already: pclscope run started it");
    if (!attach.here && target.error().code == ErrorCode::not_found) return done_elsewhere("attach", attach.job, words);
    return fail(could_not, target.error().message);
  }
  const Turn turn(target->job());
  if (const auto status = check_job(*target)) return *status;
  const auto runtime = discovery::runtime_directory();
  if (!runtime) return fail(could_not, runtime.error().message);
  launch::RunFacts facts;
  if (const auto status = plan_attach(attach, target->job(), *runtime, facts)) return *status;
  return start(attach, *target, facts);
}

}  // namespace pclscope::commands
