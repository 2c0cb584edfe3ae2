#include "analysis/aggregator/anchor_worker.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace pclscope::aggregator {
namespace {

[[noreturn]] void become_worker(char** argv, int descriptor) {
  ::setsid();  // the launcher signals process groups; a last flush must not be cut short
  constexpr int own_fd = 3;
  if (descriptor != own_fd) ::dup2(descriptor, own_fd);  // dup2 clears close-on-exec
  else ::fcntl(own_fd, F_SETFD, 0);
  ::close_range(own_fd + 1, ~0u, 0);  // the launcher's sockets belong to the anchor alone
  std::vector<char*> arguments;
  for (char** a = argv; *a != nullptr; ++a) arguments.push_back(*a);
  std::string flag = "--worker", option = "--control", value = std::to_string(own_fd);
  for (std::string* text : {&flag, &option, &value}) arguments.push_back(text->data());
  arguments.push_back(nullptr);
  ::execv("/proc/self/exe", arguments.data());
  std::fprintf(stderr, "pclscope: cannot start the aggregator: %s\n", std::strerror(errno));
  ::_exit(1);
}

}  // namespace

bool AnchorWorker::start(char** argv) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
  pid_ = ::fork();
  if (pid_ == 0) become_worker(argv, pair[1]);
  const int error = errno;
  ::close(pair[1]);
  if (pid_ < 0) {
    ::close(pair[0]);
    errno = error;
    return false;
  }
  known_as_ = pid_;
  socket_ = FrameSocket(pair[0]);
  return true;
}

void AnchorWorker::say(FrameKind word) {
  socket_.queue(word);
  socket_.flush();
}

bool AnchorWorker::ended(int& status) {
  if (pid_ <= 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return false;
  pid_ = -1;
  return true;
}

std::int64_t AnchorWorker::ran_ns() const {
  clockid_t clock;
  timespec time;
  if (pid_ <= 0 || ::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return -1;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::string death_of(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace pclscope::aggregator
