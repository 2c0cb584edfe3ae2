// pclscope detach: ends the aggregators beside a job, which becomes dormant again.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "analysis/discovery/directories.hpp"
#include "analysis/store/reader.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/commands/dormant_jobs.hpp"
#include "viewer/commands/news.hpp"
#include "viewer/launch/attached_job.hpp"
#include "viewer/launch/process.hpp"
#include "viewer/views/closing_lines.hpp"

namespace pclscope::commands {
namespace {

using launch::AttachedJob;
using std::chrono::seconds;

constexpr auto patience = seconds(60);  // with the aggregator: it resolves lines and closes the dump
constexpr auto patience_with_ranks = seconds(5);

// What the aggregator had to say meanwhile, and its file.
void pass_on_log(const std::string& path) {
  std::ifstream file(path);
  constexpr char ours[] = "pclscope: ";
  int lines = 0;
  for (std::string line; lines < 20 && std::getline(file, line);) {
    if (line.rfind(ours, 0) != 0) continue;
    say(line.substr(sizeof ours - 1));
    ++lines;
  }
  ::unlink(path.c_str());
}

// Returns whether everything was closed in order.
bool say_closing(const AttachedJob& target, const std::string& dump, const News& news) {
  bool closed = target.session_closed();
  views::Closing closing;
  closing.job = target.job().name;
  closing.detached = true;
  closing.dump = dump;
  std::optional<Snapshot> summary = news.newest();
  if (!dump.empty()) {
    const auto reader = store::Reader::open(dump);
    closing.dump_exists = bool(reader);
    closed = closed && reader && (*reader)->closed();
    if (closed) summary = (*reader)->summary();
  }
  closing.closed = closed;
  for (const std::string& line : views::closing_lines(closing, summary)) say(line);
  return closed;
}

int end(const AttachedJob& target, std::uint32_t pid) {
  const std::string& name = target.job().name;
  const std::string dump = target.dump_of_aggregator();
  News news(name, "auto");
  for (int i = 0; i < 20 && !news.newest(); ++i) {
    news.look();
    ::usleep(50'000);
  }
  if (::kill(static_cast<pid_t>(pid), SIGTERM) != 0 && errno != ESRCH) {
    return fail(could_not, "cannot end the aggregator of " + name + ", process " + std::to_string(pid) + ": " +
                               std::strerror(errno));
  }
  const bool gone = target.wait(
      patience, [&] { return !launch::process_alive(pid); }, [&] { news.look(); });
  if (!gone) {
    return fail(could_not, "the aggregator of " + name +
                               " did not finish within 60 s and goes on trying: its process is " + std::to_string(pid));
  }
  if (const auto runtime = discovery::runtime_directory()) pass_on_log(*runtime + "/" + name + ".log");
  const bool closed = say_closing(target, dump, news);
  const bool dormant = target.wait(patience_with_ranks, [&] { return target.progress().recording == 0; });
  say("job " + name +
      (dormant ? " is dormant again"
               : " becomes dormant: " + std::to_string(target.progress().recording) + " ranks at their next MPI call"));
  return closed ? done : could_not;
}

}  // namespace

int detach(const std::vector<std::string>& words) {
  CLI::App app{"Ends the recording of a job that pclscope attach began; the job goes on.", "pclscope detach"};
  std::string name;
  app.add_option("job", name, "The job's name, NAME@NODE, or Slurm's id (default: the only one)");
  bool here = false;
  app.add_flag("--here", here, "Only a job whose rank 0 is on this node");
  set_usage(app, "pclscope detach [JOB] [--here]");
  if (const auto status = parse(app, words)) return *status;
  const auto target = AttachedJob::open(dormant_name_here(name));
  if (!target && !here && target.error().code == ErrorCode::not_found) return done_elsewhere("detach", name, words);
  if (!target) return fail(could_not, target.error().message);
  const std::uint32_t pid = target->progress().aggregator;
  if (pid == 0) return fail(could_not, "job " + target->job().name + " is not attached: it is dormant");
  if (target->aggregator() == 0) {
    return fail(could_not, "process " + std::to_string(pid) + ", which holds job " + target->job().name +
                               ", is no aggregator of pclscope: it is left alone");
  }
  return end(*target, pid);
}

}  // namespace pclscope::commands
