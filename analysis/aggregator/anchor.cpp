#include "analysis/aggregator/anchor.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "analysis/collect/board_file.hpp"
#include "analysis/collect/collector.hpp"

namespace pclscope::aggregator {
namespace {

using std::chrono::milliseconds;

// For the signal handler: the launcher ends a job with SIGTERM, and soon after with SIGKILL. The worker, which is in a
// session of its own, then finishes by itself; the anchor must not keep the launcher waiting.
std::atomic<int> control_fd{-1};

void on_termination(int signal) {
  const char word = say_stopped;
  if (const int fd = control_fd.load(); fd >= 0) [[maybe_unused]] const ssize_t n = ::write(fd, &word, 1);
  ::_exit(128 + signal);
}

class Worker {
 public:
  // Runs this same program with --worker, in its own session. Returns false when that fails.
  bool start(char** argv) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
    pid_ = ::fork();
    if (pid_ < 0) return false;
    if (pid_ == 0) become_worker(argv, pair[1]);
    ::close(pair[1]);
    control_fd = pair[0];
    return true;
  }
  void say(char word) const {
    if (const int fd = control_fd.load(); fd >= 0) [[maybe_unused]] const ssize_t n = ::send(fd, &word, 1, MSG_NOSIGNAL);
  }
  // True once the worker has ended; `status` as from waitpid.
  bool ended(int& status) {
    if (pid_ > 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) pid_ = -1;
    else return false;
    return true;
  }
  bool running() const { return pid_ > 0; }

 private:
  [[noreturn]] static void become_worker(char** argv, int control) {
    ::setsid();  // the launcher signals process groups; a last flush must not be cut short
    constexpr int own_fd = 3;
    if (control != own_fd) ::dup2(control, own_fd);  // dup2 clears close-on-exec
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
  pid_t pid_ = -1;
};

std::string death_of(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

class Anchor {
 public:
  Anchor(const Options& options, collect::BoardFile& board) : options_(options), file_(board), board_(board.board()) {}

  int run(char** argv) {
    if (!worker_.start(argv)) {
      std::fprintf(stderr, "pclscope: cannot start the aggregator (%s): nothing is recorded\n", std::strerror(errno));
      mark_dead();
    }
    if (!wait_for_init()) return leave_without_mpi();
    ::MPI_Init(nullptr, nullptr);
    wait_for_finalize();
    if (!in_finalize_) leave();
    worker_.say(say_finished);
    ::MPI_Finalize();
    wait_for_worker(milliseconds(120'000));
    return 0;
  }

 private:
  // The application leaves without MPI_Finalize, and so do we; the worker goes on. Launchers kill everybody when the first
  // process closes its connection: our status is settled before, and a child keeps our connection open as long as
  // the application's processes have theirs, so that the end looks as without us.
  [[noreturn]] void leave() {
    const pid_t self = ::getpid();
    const pid_t child = ::fork();
    if (child > 0) ::_exit(0);
    for (int i = 0; child == 0 && i < 100 && ::getppid() == self; ++i) ::usleep(200);
    board_.parted.store(1);
    file_.notify();
    for (int i = 0; child == 0 && i < 1'000 && file_.alive() > 0; ++i) ::usleep(1'000);
    worker_.say(say_finished);  // not before: its last work would be in the way
    ::_exit(0);
  }

  // True when an application rank has entered MPI_Init; false when none ever will.
  bool wait_for_init() {
    constexpr std::chrono::seconds patience{30};
    const auto begin = std::chrono::steady_clock::now();
    bool told = false;
    while (true) {
      const std::uint32_t seen = board_.change.load(std::memory_order_acquire);
      if (board_.initializing.load() > 0) return true;
      if (board_.refused.load() > 0) return false;
      watch_worker();
      if (std::chrono::steady_clock::now() - begin > patience && !told) {
        told = true;
        std::fprintf(stderr, "pclscope: no rank has been seen to enter MPI_Init for 30 s; if the program did (its MPI may be "
                             "linked statically), end it and start it without pclscope\n");
      }
      const std::uint32_t started = board_.started.load();
      if (started > 0 && file_.alive() == 0 && board_.initializing.load() == 0) {
        // Ranks of one node start together; give a slow one time to appear.
        if (++empty_rounds_ > 10) return false;
      } else {
        empty_rounds_ = 0;
      }
      file_.wait(seen, milliseconds(50));
    }
  }

  int leave_without_mpi() {
    if (board_.refused.load() == 0)
      std::fprintf(stderr, "pclscope: the program ended without calling MPI_Init: nothing was recorded\n");
    worker_.say(say_nothing_to_record);
    wait_for_worker(milliseconds(5'000));
    return 0;
  }

  // Returns when every living application process of this node is in MPI_Finalize, or none lives any more, or all that
  // are left are exiting.
  void wait_for_finalize() {
    while (true) {
      const std::uint32_t seen = board_.change.load(std::memory_order_acquire);
      const std::uint32_t finalizing = board_.finalizing.load(std::memory_order_acquire);
      if (finalizing >= board_.initializing.load(std::memory_order_acquire)) break;
      const std::uint32_t leaving = board_.leaving.load(std::memory_order_acquire);
      const bool all_leave = leaving > 0 && board_.aborting.load() == 0 &&
                             leaving + finalizing >= board_.initializing.load(std::memory_order_acquire);
      const std::uint32_t alive = all_leave ? 0 : file_.alive();
      if (alive == 0) {
        in_finalize_ = false;
        return;
      }
      if (finalizing > 0 && finalizing >= alive) break;
      watch_worker();
      file_.wait(seen, milliseconds(100));
    }
    in_finalize_ = true;
  }

  void watch_worker() {
    int status = 0;
    if (!worker_.ended(status)) return;
    const bool in_order = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    std::fprintf(stderr, "pclscope: the aggregator %s: recording stopped, the application goes on%s%s\n",
                 in_order ? "was asked to stop" : death_of(status).c_str(),
                 options_.dump.empty() ? "" : "; what it had stored is in ", options_.dump.c_str());
    if (!in_order) mark_dead();
  }

  void wait_for_worker(milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (worker_.running() && std::chrono::steady_clock::now() < end) {
      int status = 0;
      if (worker_.ended(status)) {
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
          std::fprintf(stderr, "pclscope: the aggregator %s while it finished%s%s\n", death_of(status).c_str(),
                       options_.dump.empty() ? "" : "; what it had stored is in ", options_.dump.c_str());
          mark_dead();
        }
        return;
      }
      std::this_thread::sleep_for(milliseconds(2));
    }
  }

  void mark_dead() {
    board_.aggregator_done.store(2);
    board_.aggregator.store(0);
    file_.notify();
  }

  const Options& options_;
  collect::BoardFile& file_;
  record::Board& board_;
  Worker worker_;
  int empty_rounds_ = 0;
  bool in_finalize_ = false;
};

}  // namespace

int run_anchor(const Options& options, char** argv) {
  ::prctl(PR_SET_NAME, "pclscope-anchor");
  ::signal(SIGPIPE, SIG_IGN);
  struct sigaction action {};
  action.sa_handler = on_termination;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaction(signal, &action, nullptr);
  auto board = collect::BoardFile::open(options.token);
  if (!board) {
    std::fprintf(stderr, "pclscope: %s: nothing is recorded\n", board.error().message.c_str());
    // Without a board nobody can say when the application enters MPI. Join at once, so that it does not wait for us.
    ::MPI_Init(nullptr, nullptr);
    ::MPI_Finalize();
    return 0;
  }
  return Anchor(options, **board).run(argv);
}

}  // namespace pclscope::aggregator
