#include "viewer/reach/far_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "viewer/text/printable.hpp"

extern char** environ;

namespace pclscope::reach {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds patience_at_end{200};  // for a program whose input has ended
constexpr std::size_t most_words = 65536;     // of errors
constexpr std::size_t most_output = 4u << 20;

void close_end(int& fd) {
  if (fd >= 0) ::close(std::exchange(fd, -1));
}

// False at the end of the stream.
bool take(int fd, std::string& to, std::size_t most) {
  char buffer[4096];
  const ssize_t got = ::read(fd, buffer, sizeof buffer);
  if (got == 0) return false;
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (to.size() < most) to.append(buffer, static_cast<std::size_t>(got));
  return true;
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

FarProgram::~FarProgram() {
  close_end(channel_);
  if (pid_ > 0 && !ended(patience_at_end)) {
    ::kill(-pid_, SIGTERM);
    if (!ended(patience_at_end)) ::kill(-pid_, SIGKILL);
    int status = 0;
    if (pid_ > 0) ::waitpid(pid_, &status, 0);
  }
  close_end(errors_);
}

bool FarProgram::ended(milliseconds patience) {
  for (const auto end = Clock::now() + patience;; std::this_thread::sleep_for(milliseconds(5))) {
    if (::waitpid(pid_, &status_, WNOHANG) != 0) return pid_ = 0, true;
    if (Clock::now() >= end) return false;
  }
}

Status FarProgram::start(const std::vector<std::string>& arguments) {
  int pair[2], said[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return Error{ErrorCode::io, std::string("cannot open a channel: ") + std::strerror(errno)};
  if (::pipe2(said, O_CLOEXEC) != 0) {
    const int error = errno;
    for (int& end : pair) close_end(end);
    return Error{ErrorCode::io, std::string("cannot open a channel: ") + std::strerror(error)};
  }
  channel_ = pair[0];
  errors_ = said[0];
  ::fcntl(errors_, F_SETFL, O_NONBLOCK);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pair[1], 0);
  ::posix_spawn_file_actions_adddup2(&actions, pair[1], 1);
  ::posix_spawn_file_actions_adddup2(&actions, said[1], 2);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  // Without a terminal nobody can be asked for a password; and Ctrl-C is for us.
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  static char nobody_is_asked[] = "SSH_ASKPASS_REQUIRE=never";
  std::vector<char*> environment = {nobody_is_asked};
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::strncmp(*variable, nobody_is_asked, 20) != 0) environment.push_back(*variable);
  environment.push_back(nullptr);
  const int failed = ::posix_spawnp(&pid_, argv[0], &actions, &attributes, argv.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  ::close(pair[1]);
  ::close(said[1]);
  if (failed == 0) return {};
  pid_ = 0;
  return Error{ErrorCode::unreachable, "cannot start " + arguments.front() + ": " + std::strerror(failed)};
}

std::string FarProgram::last_words() {
  std::string text;
  // It says why and ends: a moment for that.
  for (const auto end = Clock::now() + patience_at_end; Clock::now() < end;) {
    pollfd ready{errors_, POLLIN, 0};
    if (::poll(&ready, 1, 5) > 0 && !take(errors_, text, most_words)) break;
  }
  return text;
}

bool FarProgram::finish(const std::atomic<Clock::time_point>& deadline, std::string& output, std::string& errors,
                        int& status) {
  constexpr long look_ms = 50;  // at the deadline
  const auto left = [&] {
    return static_cast<long>(std::chrono::ceil<milliseconds>(deadline.load() - Clock::now()).count());
  };
  ::shutdown(channel_, SHUT_WR);
  for (bool more = true, more_errors = true; more || more_errors;) {
    pollfd ready[] = {{more ? channel_ : -1, POLLIN, 0}, {more_errors ? errors_ : -1, POLLIN, 0}};
    const long rest = left();
    if (rest <= 0 || (::poll(ready, 2, static_cast<int>(std::min(rest, look_ms))) < 0 && errno != EINTR)) return false;
    if (ready[0].revents != 0) more = take(channel_, output, most_output);
    if (ready[1].revents != 0) more_errors = take(errors_, errors, most_words);
  }
  if (pid_ > 0 && !ended(milliseconds(std::max(left(), 0L)))) return false;
  status = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  return true;
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text::printable(text.substr(text.rfind('\n') + 1));
}

std::string advice(const std::string& said, const std::string& host) {
  if (host.empty() || said.empty()) return said;
  if (has(said, "ermission denied") || has(said, "Authentication failed"))
    return said + " (it would ask for a password: let ssh-copy-id " + host + " take your key there)";
  if (has(said, "ost key")) return said + " (log in once by hand: ssh " + host + ")";
  return said;
}

}  // namespace pclscope::reach
