#include "viewer/reach/ask.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "viewer/launch/shell_words.hpp"
#include "viewer/reach/far_program.hpp"
#include "viewer/reach/remote_command.hpp"

namespace pclscope::reach {
namespace {

constexpr std::size_t most_at_once = 16;
constexpr int no_way_in = 255;  // as ssh ends when it is not the command's end
constexpr int no_program = 127;

std::string surroundings(const std::string& host, bool files) {
  std::string before;
  if (const char* shared = std::getenv("PCLSCOPE_SHARED"); shared != nullptr && *shared != 0)
    before = "export PCLSCOPE_SHARED=" + launch::quote_word(shared) + "; ";
  if (!files) return before;
  std::error_code failed;
  const std::string here = std::filesystem::current_path(failed).string();
  const std::string none = "pclscope: there is no directory " + here + " on " + host + ", where the job is";
  return before + "cd " + launch::quote_word(here) + " 2>/dev/null || { echo " + launch::quote_word(none) +
         " >&2; exit 1; }; ";
}

}  // namespace

Result<Done> run_there(const std::string& host, const std::vector<std::string>& words, bool files,
                       std::chrono::milliseconds patience) {
  if (!is_host(host)) return Error{ErrorCode::unreachable, "'" + host + "' is no name of a host"};
  const RelayCommand command = by_ssh(host, "", words, surroundings(host, files));
  FarProgram program;
  if (const Status started = program.start(command.arguments); !started) return started.error();
  Done done;
  if (!program.finish(std::chrono::steady_clock::now() + patience, done.output, done.errors, done.status)) {
    return Error{ErrorCode::unreachable,
                 command.where + ": no answer within " + std::to_string(patience.count() / 1000) + " s"};
  }
  if (done.status == no_way_in || done.status == no_program) {
    const std::string said = advice(last_line(done.errors), host);
    return Error{ErrorCode::unreachable, command.where + ": " + (said.empty() ? "no way in" : said)};
  }
  return done;
}

std::vector<Result<Done>> run_on_all(const std::vector<std::string>& hosts, const std::vector<std::string>& words,
                                     std::chrono::milliseconds patience) {
  std::vector<Result<Done>> all(hosts.size(), Error{ErrorCode::unreachable, "not asked"});
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> askers;
  for (std::size_t i = 0; i < std::min(hosts.size(), most_at_once); ++i) {
    askers.emplace_back([&] {
      for (std::size_t at; (at = next++) < hosts.size();) all[at] = run_there(hosts[at], words, false, patience);
    });
  }
  for (std::thread& asker : askers) asker.join();
  return all;
}

}  // namespace pclscope::reach
