#include "analysis/callsite/site_names.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "analysis/installation/installation.hpp"

extern char** environ;

namespace pclscope::callsite {
namespace {

constexpr std::size_t most_asked = 16;        // under way: they fit into the socket's buffer
constexpr std::chrono::seconds patience{20};  // with one question

// As its standard input; it keeps nothing else of ours.
int spawn(const std::string& program, int socket) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  char* arguments[] = {const_cast<char*>(program.c_str()), nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

}  // namespace

std::string SiteNames::lines_program() { return program_part("pclscope-lines"); }

SiteNames::SiteNames(std::string program) : program_(std::move(program)) {}
SiteNames::~SiteNames() { stop(); }

bool SiteNames::start() {
  if (socket_ >= 0) return true;
  if (starts_left_ == 0) return false;
  --starts_left_;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  pid_ = spawn(program_, ends[1]);
  ::close(ends[1]);
  if (pid_ < 0) {
    ::close(ends[0]);
    starts_left_ = 0;
    return false;
  }
  socket_ = ends[0];
  return true;
}

void SiteNames::stop() {
  if (socket_ < 0) return;
  ::close(socket_);
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
  socket_ = pid_ = -1;
}

void SiteNames::ask(Question question) { waiting_.push_back(std::move(question)); }

void SiteNames::send_questions() {
  while (!waiting_.empty() && asked_.size() < most_asked) {
    if (is_bad(waiting_.front()) || !start()) {
      ready_.push_back({waiting_.front().id, {}});
      waiting_.pop_front();
      continue;
    }
    const std::string packet = pack(waiting_.front());
    if (::send(socket_, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
      if (errno == EAGAIN || !asked_.empty()) return;  // full; or dead, which the answers will tell
      stop();                                          // died over nothing: another one
      continue;
    }
    if (asked_.empty()) asked_at_ = Clock::now();
    asked_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

void SiteNames::give_up_on_oldest() {
  stop();
  if (asked_.empty()) return;
  bad_.insert(asked_.front().path);
  ready_.push_back({asked_.front().id, {}});
  asked_.pop_front();
  waiting_.insert(waiting_.begin(), std::make_move_iterator(asked_.begin()), std::make_move_iterator(asked_.end()));
  asked_.clear();
}

std::vector<Answer> SiteNames::answers() {
  send_questions();
  std::array<char, longest_packet> buffer;
  while (!asked_.empty()) {
    const ssize_t length = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && errno == EAGAIN) {
      if (Clock::now() - asked_at_ > patience) give_up_on_oldest();
      break;
    }
    auto answer = length > 0 ? unpack_answer({buffer.data(), static_cast<std::size_t>(length)}) : std::nullopt;
    if (answer && answer->id == asked_.front().id) {
      ready_.push_back(std::move(*answer));
      asked_.pop_front();
      asked_at_ = Clock::now();
    } else {
      give_up_on_oldest();
    }
    send_questions();
  }
  std::vector<Answer> out;
  out.swap(ready_);
  return out;
}

std::vector<Answer> SiteNames::wait_for_answers(std::chrono::milliseconds at_most) {
  const auto end = Clock::now() + at_most;
  std::vector<Answer> all;
  for (;;) {
    std::vector<Answer> some = answers();
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (idle() || left.count() <= 0) return all;
    pollfd answer{socket_, POLLIN, 0};
    ::poll(&answer, socket_ >= 0 ? 1 : 0, static_cast<int>(std::min<std::int64_t>(left.count(), 100)));
  }
}

}  // namespace pclscope::callsite
