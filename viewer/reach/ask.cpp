#include "viewer/reach/ask.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "viewer/launch/shell_words.hpp"
#include "viewer/reach/far_program.hpp"
#include "viewer/reach/remote_command.hpp"

namespace pclscope::reach {
namespace {

using Clock = std::chrono::steady_clock;
using Deadline = std::atomic<Clock::time_point>;

constexpr std::size_t most_at_once = 32;
// Said by a shell there on both streams just before pclscope starts. With its line end: the command line, which a shell
// may show, has none.
constexpr char begins[] = "pclscope-begins";
constexpr std::chrono::milliseconds to_end{500};  // for programs that must be ended
constexpr int connect_s = 4;    // ssh says itself that nobody answers, before the patience with all nodes is over
constexpr int no_way_in = 255;  // as ssh ends when it is not the command's end
constexpr int no_program = 127;

std::string surroundings(const std::string& host, bool files) {
  std::string before = std::string("echo ") + begins + "; echo " + begins + " >&2; ";
  if (const char* shared = std::getenv("PCLSCOPE_SHARED"); shared != nullptr && *shared != 0)
    before += "export PCLSCOPE_SHARED=" + launch::quote_word(shared) + "; ";
  if (!files) return before;
  std::error_code failed;
  const std::string here = std::filesystem::current_path(failed).string();
  const std::string none = "pclscope: there is no directory " + here + " on " + host + ", where the job is";
  return before + "cd " + launch::quote_word(here) + " 2>/dev/null || { echo " + launch::quote_word(none) +
         " >&2; exit 1; }; ";
}

// What was said after the shell's sign; nothing: there is none.
std::optional<std::string> said_by_pclscope(const std::string& all) {
  const std::string sign = std::string(begins) + "\n";
  const std::size_t at = all.find(sign);
  if (at == std::string::npos) return std::nullopt;
  return all.substr(at + sign.size());
}

Answer run_until(const std::string& host, const std::vector<std::string>& words, bool files, const Deadline& deadline) {
  if (!is_host(host)) return Error{ErrorCode::unreachable, "'" + host + "' is no name of a host"};
  const RelayCommand command = by_ssh(host, "", words, surroundings(host, files), connect_s);
  FarProgram program;
  if (const Status started = program.start(command.arguments); !started) return started.error();
  std::string output, errors;
  Done done;
  if (!program.finish(deadline, output, errors, done.status)) return std::nullopt;
  auto answer = said_by_pclscope(output);
  done.errors = said_by_pclscope(errors).value_or(errors);
  if (!answer || done.status == no_way_in || done.status == no_program) {
    const std::string said = advice(last_line(done.errors), host);
    return Error{ErrorCode::unreachable, command.where + ": " + (said.empty() ? "no way in" : said)};
  }
  done.output = std::move(*answer);
  return done;
}

}  // namespace

Result<Done> run_there(const std::string& host, const std::vector<std::string>& words, bool files,
                       std::chrono::milliseconds patience) {
  auto answer = run_until(host, words, files, Deadline(Clock::now() + patience));
  if (answer) return std::move(*answer);
  return Error{ErrorCode::unreachable,
               "ssh to " + host + ": no answer within " + std::to_string(patience.count() / 1000) + " s"};
}

std::vector<Answer> run_on_all(const std::vector<std::string>& hosts, const std::vector<std::string>& words,
                               const Patience& patience, const Enough& enough) {
  std::vector<Answer> all(hosts.size());
  Deadline deadline(Clock::now() + std::max(patience.all - to_end, patience.all / 2));
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  const auto ask = [&] {
    for (std::size_t at; Clock::now() < deadline.load() && (at = next++) < hosts.size();) {
      all[at] = run_until(hosts[at], words, false, deadline);
      const std::lock_guard lock(mutex);
      if (enough && enough(at, all[at])) deadline = std::min(deadline.load(), Clock::now() + patience.grace);
    }
  };
  std::vector<std::thread> askers;
  for (std::size_t i = 0; i < std::min(hosts.size(), most_at_once); ++i) askers.emplace_back(ask);
  for (std::thread& asker : askers) asker.join();
  return all;
}

}  // namespace pclscope::reach
