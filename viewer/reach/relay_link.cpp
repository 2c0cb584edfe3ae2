#include "viewer/reach/relay_link.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <thread>

#include "viewer/reach/relay_stream.hpp"
#include "viewer/text/printable.hpp"

extern char** environ;

namespace pclscope::reach {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds look{100};             // at `stop`
constexpr milliseconds patience_at_end{200};  // for a program whose input has ended

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

// The program, with our end of its input and output, and what it says on standard error.
struct Program {
  Descriptor channel, errors;
  pid_t pid = 0;

  Program() = default;
  Program(const Program&) = delete;
  ~Program() {
    channel.close();
    if (pid > 0 && !ended(patience_at_end)) {
      ::kill(-pid, SIGTERM);
      if (!ended(patience_at_end)) ::kill(-pid, SIGKILL);
      int status = 0;
      if (pid > 0) ::waitpid(pid, &status, 0);
    }
  }

  Status start(const std::vector<std::string>& arguments);
  std::string last_words();

 private:
  bool ended(milliseconds patience) {
    for (const auto end = Clock::now() + patience;; std::this_thread::sleep_for(milliseconds(5))) {
      int status = 0;
      if (::waitpid(pid, &status, WNOHANG) != 0) return pid = 0, true;
      if (Clock::now() >= end) return false;
    }
  }
};

Status Program::start(const std::vector<std::string>& arguments) {
  int pair[2], said[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return Error{ErrorCode::io, std::string("cannot open a channel: ") + std::strerror(errno)};
  channel = Descriptor(pair[0]);
  const Descriptor theirs(pair[1]);
  if (::pipe2(said, O_CLOEXEC) != 0)
    return Error{ErrorCode::io, std::string("cannot open a channel: ") + std::strerror(errno)};
  errors = Descriptor(said[0]);
  const Descriptor their_errors(said[1]);
  ::fcntl(errors.get(), F_SETFL, O_NONBLOCK);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), 0);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, their_errors.get(), 2);
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
  const int failed = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failed == 0) return {};
  pid = 0;
  return Error{ErrorCode::unreachable, "cannot start " + arguments.front() + ": " + std::strerror(failed)};
}

// The last line; programs say the reason last.
std::string Program::last_words() {
  std::string text;
  char buffer[4096];
  // It says why and ends: a moment for that.
  for (const auto end = Clock::now() + patience_at_end; Clock::now() < end;) {
    const ssize_t got = ::read(errors.get(), buffer, sizeof buffer);
    if (got == 0) break;
    if (got > 0 && text.size() < 65536) text.append(buffer, static_cast<std::size_t>(got));
    if (got < 0) std::this_thread::sleep_for(milliseconds(5));
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text::printable(text.substr(text.rfind('\n') + 1));
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// What to do about what ssh or srun said.
std::string advice(const std::string& said, const std::string& host) {
  if (host.empty() || said.empty()) return said;
  if (has(said, "ermission denied") || has(said, "Authentication failed"))
    return said + " (it would ask for a password: let ssh-copy-id " + host + " take your key there)";
  if (has(said, "ost key")) return said + " (log in once by hand: ssh " + host + ")";
  return said;
}

class RelayLink final : public wire::FrameLink {
 public:
  RelayLink(RelayCommand command, milliseconds interval) : command_(std::move(command)), interval_(interval) {}

  Status start() {
    if (const Status started = program_.start(command_.arguments); !started) return started;
    reader_ = std::make_unique<RelayReader>(program_.channel.get());
    writer_ = std::make_unique<RelayWriter>(program_.channel.get());
    return {};
  }
  Status await_job(Clock::time_point deadline, const std::atomic<bool>& stop, RelayedJob& job);

  Status ask(std::span<const std::uint8_t> question, Deadline) override {
    if (open_ && writer_->write(Part::question, question)) return {};
    open_ = false;
    return gone();
  }
  Result<std::optional<wire::AnswerFrames>> answer(Deadline deadline) override {
    const Status status = pump(deadline, [this] { return !answers_.empty(); });
    if (!answers_.empty()) {
      wire::AnswerFrames first = std::move(answers_.front());
      answers_.pop_front();
      return std::optional(std::move(first));
    }
    if (!status) return status.error();
    return std::optional<wire::AnswerFrames>();
  }
  Result<std::optional<wire::Frame>> snapshot(Deadline deadline) override {
    const Status status = pump(deadline, [this] { return newest_.has_value(); });
    if (newest_) return std::exchange(newest_, std::nullopt);
    if (!status) return status.error();
    return std::optional<wire::Frame>();
  }
  bool open() const override { return open_; }
  bool paced() const override { return true; }
  Error nobody(milliseconds waited) const override {
    return {ErrorCode::unreachable, command_.where + ": no answer within " + std::to_string(waited.count()) + " ms"};
  }

 private:
  template <class Enough>
  Status pump(Deadline deadline, Enough enough);
  void take(RelayMessage message);
  void take_answer(const std::vector<std::uint8_t>& bytes);
  Error gone() const {
    return {ErrorCode::unreachable,
            command_.where + ": " + (complaint_.empty() ? "the connection is lost" : complaint_)};
  }
  Error failed(const Error& error);

  RelayCommand command_;
  milliseconds interval_;
  Program program_;
  std::unique_ptr<RelayReader> reader_;
  std::unique_ptr<RelayWriter> writer_;
  std::deque<wire::AnswerFrames> answers_;
  std::optional<wire::Frame> newest_;
  std::string complaint_, job_, node_;
  Clock::time_point next_sign_{};
  bool open_ = true;
};

wire::Frame frame_of(std::vector<std::uint8_t> bytes) {
  const auto owner = std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes));
  return {owner, *owner};
}

void RelayLink::take_answer(const std::vector<std::uint8_t>& bytes) {
  if (bytes.size() < count_bytes) return;
  const std::size_t size = get_number(bytes.data());
  if (size > bytes.size() - count_bytes) return;
  const auto head = bytes.begin() + count_bytes, body = head + static_cast<std::ptrdiff_t>(size);
  wire::AnswerFrames answer{frame_of({head, body}), {}};
  if (body != bytes.end()) answer.body = frame_of({body, bytes.end()});
  answers_.push_back(std::move(answer));
}

void RelayLink::take(RelayMessage message) {
  const std::string_view said(reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size());
  switch (message.part) {
    case Part::snapshot: newest_ = frame_of(std::move(message.bytes)); break;
    case Part::answer: take_answer(message.bytes); break;
    case Part::job:
      job_ = text::printable(said.substr(0, said.find('\n')));
      node_ = said.find('\n') == said.npos ? "" : text::printable(said.substr(said.find('\n') + 1));
      break;
    case Part::complaint: complaint_ = text::printable(said); break;
    default: break;  // a sign of life, or something newer than we are
  }
}

template <class Enough>
Status RelayLink::pump(Deadline deadline, Enough enough) {
  while (open_) {
    const auto now = Clock::now();
    if (now >= next_sign_) {
      next_sign_ = now + sign_every;
      if (!writer_->write(Part::sign, {})) open_ = false;
    }
    // What is there already, then as long as we may.
    auto message = reader_->read(enough() ? now : std::min(deadline, next_sign_));
    if (!message) {
      open_ = false;
      if (message.error().code != ErrorCode::unreachable) complaint_ = message.error().message;
      break;
    }
    if (*message) {
      take(std::move(**message));
      continue;
    }
    if (!job_.empty() && Clock::now() - reader_->heard() > longest_silence) open_ = false;
    if (enough() || Clock::now() >= deadline) return {};
  }
  return gone();
}

Error RelayLink::failed(const Error& error) {
  if (error.code == ErrorCode::wrong_version) return {error.code, command_.where + ": " + error.message};
  const std::string said = complaint_.empty() ? advice(program_.last_words(), command_.host) : complaint_;
  return {complaint_.empty() ? error.code : ErrorCode::not_found,
          command_.where + ": " + (said.empty() ? error.message : said)};
}

Status RelayLink::await_job(Clock::time_point deadline, const std::atomic<bool>& stop, RelayedJob& job) {
  Status greeted;
  do {
    greeted = reader_->greet(std::min(deadline, Clock::now() + look));
  } while (!greeted && greeted.error().message == "no answer in time" && Clock::now() < deadline && !stop);
  if (!greeted) return failed(greeted.error());
  std::uint8_t bytes[count_bytes];
  put_number(bytes, static_cast<std::size_t>(interval_.count()));
  writer_->write(Part::interval, bytes);
  while (open_ && job_.empty() && complaint_.empty() && Clock::now() < deadline && !stop)
    (void)pump(std::min(deadline, Clock::now() + look), [this] { return !job_.empty() || !complaint_.empty(); });
  if (job_.empty()) return failed({ErrorCode::unreachable, "no answer in time"});
  job.job = job_;
  job.node = node_;
  return {};
}

}  // namespace

Result<RelayedJob> open_relay(const RelayCommand& command, milliseconds patience, milliseconds interval,
                              const std::atomic<bool>& stop) {
  auto link = std::make_unique<RelayLink>(command, interval);
  if (const Status started = link->start(); !started) return started.error();
  RelayedJob job;
  if (const Status there = link->await_job(Clock::now() + patience, stop, job); !there) return there.error();
  job.link = std::move(link);
  return job;
}

}  // namespace pclscope::reach
