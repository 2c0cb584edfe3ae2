#include "analysis/aggregator/init_watch.hpp"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstdlib>
#include <utility>

#include "analysis/values/signals_blocked.hpp"

namespace pclscope::aggregator {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds between_two_looks{100};
// A rank that has left MPI_Init and ended at once: we shall be out of it in a moment, too.
constexpr milliseconds after_the_last_program{1'000};

// Where MPICH talks to its launcher (PMI, version 1); -1: it does not, as Open MPI.
int launcher_connection() {
  const char* text = std::getenv("PMI_FD");
  char* end = nullptr;
  const long number = text != nullptr ? std::strtol(text, &end, 10) : -1;
  return text == nullptr || end == text || *end != 0 || number < 0 || number > INT_MAX ? -1 : static_cast<int>(number);
}

}  // namespace

InitWatch::InitWatch(collect::BoardFile& board, std::function<void()> leave) : board_(board), leave_(std::move(leave)) {
  const AllSignalsBlocked blocked;
  thread_ = std::thread([this] { watch(); });
}

InitWatch::~InitWatch() {
  over_ = true;
  board_.notify();
  thread_.join();
}

void InitWatch::watch() {
  if (!record::same_process_ids(board_.board())) return;  // whether they live cannot be seen
  for (auto alive = Clock::now(); !over_;) {
    const std::uint32_t seen = board_.board().change.load(std::memory_order_acquire);
    const auto now = Clock::now();
    if (board_.board().started.load() == 0 || board_.alive() > 0) alive = now;
    else if (now - alive >= after_the_last_program && !over_) leave_();
    board_.wait(seen, between_two_looks);
  }
}

void exit_from_mpi_init(int status) {
  const int launcher = launcher_connection();
  const pid_t self = ::getpid();
  if (launcher < 0 || ::fork() != 0) ::_exit(status);
  for (int i = 0; i < 1'000 && ::getppid() == self; ++i) ::usleep(1'000);
  constexpr char done[] = "cmd=finalize\n";
  if (::write(launcher, done, sizeof done - 1) == sizeof done - 1) {
    pollfd answer{launcher, POLLIN, 0};
    ::poll(&answer, 1, 1'000);
  }
  ::_exit(0);
}

}  // namespace pclscope::aggregator
