// pclscope relay: speaks with a running job for a viewer elsewhere, which starts it by ssh or srun.
#include <unistd.h>

#include <csignal>

#include "analysis/wire/socket_link.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/launch/process.hpp"
#include "viewer/reach/relay_server.hpp"
#include "viewer/reach/relay_stream.hpp"
#include "viewer/reach/ways.hpp"
#include "viewer/session/target.hpp"

namespace pclscope::commands {
namespace {

using discovery::Job;

// The job of that name that listens at `endpoint`, announced or not: where jobs are announced may differ between a
// login and the job itself.
Result<reach::RelayedRun> open_at(const std::string& word, const std::string& endpoint) {
  auto link = wire::open_sockets(endpoint);
  if (!link) return link.error();
  auto subscriber = std::make_unique<wire::Subscriber>(std::move(*link));
  const auto first = subscriber->reach(std::chrono::milliseconds(2000));
  if (!first) return first.error();
  if (*first && (*first)->job != word)
    return Error{ErrorCode::not_found, "another job, " + (*first)->job + ", is at " + endpoint};
  const std::string socket = endpoint.rfind("ipc://", 0) == 0 ? endpoint.substr(6) + ".pub" : "";
  const auto why_over = [word, socket]() -> std::string {
    return socket.empty() || ::access(socket.c_str(), F_OK) == 0 ? "" : "job " + word + " has ended";
  };
  return reach::RelayedRun{subscriber->take_link(), word, "", why_over};
}

std::string why_over(const Job& job) {
  const bool announced = ::access(job.file.c_str(), F_OK) == 0;
  if (job.here ? launch::process_alive(job.aggregator_pid) : announced) return {};
  return announced ? "the aggregator of " + job.name + " is gone" : "job " + job.name + " has finished";
}

// `relays`: whether another node may be logged in to. Whoever was told where the job is goes no further.
Result<reach::RelayedRun> open_word(const std::string& word, bool relays) {
  const auto target = session::find_target(word);
  if (!target) return target.error();
  if (!target->live.job) return Error{ErrorCode::not_found, "'" + word + "' is no running job"};
  const Job& job = *target->live.job;
  reach::RelayedRun run;
  if (job.here) {
    auto link = wire::open_sockets(job.endpoint);
    if (!link) return link.error();
    run.link = std::move(*link);
  } else {
    reach::WayOptions ways;
    ways.relays = relays;
    auto reached = reach::reach(job, ways);
    if (!reached) return reached.error();
    run.link = reached->subscriber->take_link();
  }
  run.job = job.name;
  run.node = job.node;
  run.why_over = [job] { return why_over(job); };
  return run;
}

}  // namespace

int relay(const std::vector<std::string>& words) {
  CLI::App app{"Speaks with a running job for a viewer on another machine, which starts this by ssh or srun.",
               "pclscope relay"};
  std::string word, endpoint;
  app.add_option("job", word, "The job's name (default: your running job)");
  app.add_option("--at", endpoint, "Where it listens on this node")->type_name("ENDPOINT");
  set_usage(app, "pclscope relay [JOB] [--at ENDPOINT]");
  if (const auto status = parse(app, words)) return *status;
  std::signal(SIGPIPE, SIG_IGN);
  reach::RelayWriter writer(STDOUT_FILENO);
  if (!writer.write_line(reach::relay_greeting_line())) return could_not;
  const bool told = !endpoint.empty() && !word.empty();
  auto run = told ? open_at(word, endpoint) : open_word(word, true);
  if (!run && told) run = open_word(word, false);
  if (!run) {
    const std::string& why = run.error().message;
    writer.write(reach::Part::complaint, {reinterpret_cast<const std::uint8_t*>(why.data()), why.size()});
    return could_not;
  }
  return reach::serve_relay(STDIN_FILENO, STDOUT_FILENO, std::move(*run)) == 0 ? done : could_not;
}

}  // namespace pclscope::commands
