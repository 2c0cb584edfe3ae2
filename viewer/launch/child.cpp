#include "viewer/launch/child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace pclscope::launch {
namespace {

// All that somebody may send to a job by sending it to us; and SIGCHLD.
sigset_t handled_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGALRM, SIGVTALRM, SIGPROF,
                           SIGPWR, SIGURG, SIGWINCH, SIGTSTP, SIGCONT, SIGCHLD})
    ::sigaddset(&set, signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) ::sigaddset(&set, signal);
  return set;
}

bool in_terminal_foreground() {
  const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return false;
  const bool foreground = ::tcgetpgrp(terminal) == ::getpgrp();
  ::close(terminal);
  return foreground;
}

// In the child, between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(const char* program, char* const* argv, const sigset_t& mask, bool own_group, pid_t parent,
                         int report) {
  if (own_group) ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);
  for (const int ignored : {SIGPIPE, SIGXFSZ}) ::signal(ignored, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execv(program, argv);
  const int error = errno;
  [[maybe_unused]] const ssize_t sent = ::write(report, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

Result<Child> Child::start(const std::string& program, const std::vector<std::string>& arguments,
                           const std::vector<std::pair<std::string, std::string>>& environment) {
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{ErrorCode::io, std::string("no pipe: ") + std::strerror(errno)};
  const sigset_t handled = handled_signals();
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &handled, &before);
  const bool own_group = !in_terminal_foreground();
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(program.c_str(), argv.data(), before, own_group, parent, ends[1]);
  int error = pid < 0 ? errno : 0;
  ::close(ends[1]);
  if (pid > 0 && ::read(ends[0], &error, sizeof error) == static_cast<ssize_t>(sizeof error)) {
    ::waitpid(pid, nullptr, 0);
  }
  ::close(ends[0]);
  if (error != 0) return Error{ErrorCode::io, "cannot start " + program + ": " + std::strerror(error)};
  return Child(pid, own_group);
}

int Child::wait(std::chrono::milliseconds interval, const std::function<void()>& idle) {
  const sigset_t handled = handled_signals();
  const timespec pause{interval.count() / 1000, static_cast<long>(interval.count() % 1000) * 1'000'000};
  while (true) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    siginfo_t info{};
    const int signal = ::sigtimedwait(&handled, &info, &pause);
    if (signal == SIGCHLD || (signal < 0 && errno == EINTR)) continue;
    if (signal < 0) {
      idle();
      continue;
    }
    // What the terminal sends reaches a child in our group by itself; launchers take a second one as "at once".
    const bool from_terminal = info.si_code == SI_KERNEL;
    if (own_group_ || !from_terminal) ::kill(pid_, signal);
    if (signal == SIGTSTP) ::raise(SIGSTOP);  // as the launcher does; the shell continues us, and we the launcher
  }
}

}  // namespace pclscope::launch
