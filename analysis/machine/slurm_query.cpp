#include "analysis/machine/slurm_query.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "analysis/machine/background.hpp"

extern char** environ;

namespace pclscope::machine {
namespace {

constexpr std::chrono::milliseconds longest{5'000};
constexpr std::size_t most_text = std::size_t{1} << 20;

// The child has its output in `out` alone, no signal blocked, and a group of its own. -1: it could not be started.
pid_t start(const std::vector<std::string>& command, int out) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, words[0], &actions, &attributes, words.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

}  // namespace

void Child::begin(pid_t pid) {
  const std::lock_guard lock(mutex_);
  pid_ = pid;
  if (over_) ::kill(-pid_, SIGKILL);
}

void Child::kill() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

bool Child::reap(int& status) {
  const std::lock_guard lock(mutex_);
  if (pid_ > 0 && ::waitpid(pid_, &status, WNOHANG) == 0) return false;
  pid_ = 0;
  return true;
}

std::string printed_by(Child& child, const std::vector<std::string>& command, std::chrono::milliseconds limit,
                       std::size_t most) {
  using Clock = std::chrono::steady_clock;
  int ends[2];
  if (command.empty() || ::pipe2(ends, O_CLOEXEC) != 0) return "";
  const pid_t pid = start(command, ends[1]);
  ::close(ends[1]);
  if (pid > 0) child.begin(pid);
  std::string text;
  bool whole = false;
  const auto until = Clock::now() + limit;
  while (pid > 0 && text.size() <= most) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd ready{ends[0], POLLIN, 0};
    const int found = ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0) break;
    std::array<char, 4096> part;
    const ssize_t length = ::read(ends[0], part.data(), part.size());
    if (length < 0 && errno == EINTR) continue;
    whole = length == 0;
    if (length <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(length));
  }
  ::close(ends[0]);
  if (pid <= 0) return "";
  if (!whole) child.kill();
  int status = -1;
  while (!child.reap(status)) {  // it may have closed its output and go on: it has the rest of the time
    if (Clock::now() >= until) child.kill();
    ::usleep(1'000);
  }
  return whole && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

SlurmQuery::SlurmQuery() {
  const char* job = std::getenv("SLURM_JOB_ID");
  if (job == nullptr || *job == 0) return;
  child_ = std::make_shared<Child>();
  coming_ = in_background([child = child_] {
    return printed_by(*child, {"scontrol", "show", "topology"}, longest, most_text);
  });
}

SlurmQuery::~SlurmQuery() {
  if (child_) child_->kill();
}

const std::string& SlurmQuery::text(std::chrono::milliseconds patience) {
  if (coming_.valid() && coming_.wait_for(patience) == std::future_status::ready) text_ = coming_.get();
  return text_;
}

}  // namespace pclscope::machine
