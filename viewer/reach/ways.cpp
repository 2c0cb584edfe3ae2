#include "viewer/reach/ways.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "viewer/launch/program.hpp"
#include "viewer/reach/remote_command.hpp"

namespace pclscope::reach {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Stop = std::atomic<bool>;

struct Way {
  std::string name;
  bool at_once;  // with the one before it
  std::function<Result<Reached>(const Stop&)> go;
};

Way over_tcp(const std::string& endpoint, const std::string& job) {
  return {endpoint, true, [endpoint, job](const Stop& stop) -> Result<Reached> {
            auto subscriber = wire::Subscriber::connect(endpoint);
            if (!subscriber) return subscriber.error();
            Error last;
            for (milliseconds spent{0}; spent < patience_tcp && !stop; spent += milliseconds(500)) {
              const auto first = (*subscriber)->reach(milliseconds(500));
              if (first && *first && (*first)->job != job)
                return Error{ErrorCode::not_found, "another job, " + (*first)->job + ", answers there"};
              if (first) return Reached{std::move(*subscriber), job, endpoint};
              last = first.error();
              if (last.code != ErrorCode::unreachable) return last;
            }
            return Error{ErrorCode::unreachable, "nobody answers (a firewall, or other keys: pclscope key)"};
          }};
}

Way over_relay(const RelayCommand& command, const std::string& job, milliseconds interval, milliseconds wait) {
  return {command.where, false, [command, job, interval, wait](const Stop& stop) -> Result<Reached> {
            auto relayed = open_relay(command, wait, interval, stop);
            if (!relayed) return relayed.error();
            if (!job.empty() && relayed->job != job)
              return Error{ErrorCode::not_found, "another job, " + relayed->job + ", answers there"};
            return Reached{std::make_unique<wire::Subscriber>(std::move(relayed->link)), relayed->job, command.where};
          }};
}

// Of the threads and of whoever waits for them; who comes last ends it.
struct Race {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Reached> winner;  // under mutex, all below too
  std::vector<Error> failures;
  std::size_t over = 0;
  Stop stop{false};

  void run(const Way& way) {
    auto reached = way.go(stop);
    const std::lock_guard lock(mutex);
    ++over;
    if (!reached) {
      const auto& [code, why] = reached.error();
      failures.push_back({code, why.rfind(way.name, 0) == 0 ? why : way.name + ": " + why});
    } else if (!winner) {
      winner = std::move(*reached);
      stop = true;
    }
    changed.notify_all();
  }
};

Result<Reached> race(const std::vector<Way>& ways, const std::string& job, const WayOptions& options,
                     milliseconds wait) {
  const auto shared = std::make_shared<Race>();
  std::unique_lock lock(shared->mutex);
  for (std::size_t started = 0; started < ways.size() && !shared->winner;) {
    std::thread([shared, way = ways[started]] { shared->run(way); }).detach();
    ++started;
    if (started < ways.size() && ways[started].at_once) continue;
    // At once when all that were started have failed.
    shared->changed.wait_for(lock, head_start, [&] { return shared->winner || shared->over == started; });
  }
  const auto end = Clock::now() + wait + milliseconds(1000);
  const auto given_up = [&] { return options.give_up && options.give_up(); };
  while (!shared->winner && shared->over < ways.size() && Clock::now() < end && !given_up())
    shared->changed.wait_for(lock, milliseconds(100));
  shared->stop = true;
  if (shared->winner) return std::move(*shared->winner);
  std::string why;
  ErrorCode code =
      shared->failures.size() == ways.size() && !ways.empty() ? ErrorCode::not_found : ErrorCode::unreachable;
  for (const Error& failure : shared->failures) {
    why += (why.empty() ? "" : "; ") + failure.message;
    if (failure.code == ErrorCode::wrong_version) code = failure.code;
    else if (failure.code != ErrorCode::not_found && code == ErrorCode::not_found) code = ErrorCode::unreachable;
  }
  if (why.empty()) why = "no way leads there: it opened no port, and its node's name is not known";
  return Error{code, "job " + job + " cannot be reached: " + why};
}

bool srun_is_here() {
  const char* path = std::getenv("PATH");
  return launch::find_program("srun", path != nullptr ? path : "/usr/bin:/bin").state == launch::ProgramState::found;
}

bool is_number(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

Result<Reached> reach(const discovery::Job& job, const WayOptions& options) {
  std::vector<Way> ways;
  for (const std::string& endpoint : job.tcp) {
    if (endpoint.rfind("tcp://", 0) == 0) ways.push_back(over_tcp(endpoint, job.name));
  }
  if (options.relays && is_host(job.node))
    ways.push_back(over_relay(by_ssh(job.node, job.program, relay_words(job)), job.name, options.interval, patience));
  if (options.relays && is_host(job.node) && is_number(job.batch_job) && srun_is_here())
    ways.push_back(over_relay(by_srun(job, relay_words(job)), job.name, options.interval, patience));
  return race(ways, job.name, options, patience);
}

Result<Reached> reach_via(const std::string& host, const std::string& word, const WayOptions& options) {
  if (!is_host(host))
    return Error{ErrorCode::bad_argument, "'" + host + "' is no host: write login.site.org or user@login.site.org"};
  std::vector<std::string> words = {"relay"};
  if (!word.empty()) words.push_back(word);
  return race({over_relay(by_ssh(host, "", words), "", options.interval, patience_via)}, word.empty() ? "there" : word,
              options, patience_via);
}

}  // namespace pclscope::reach
