#include "analysis/aggregator/departure.hpp"

#include <pthread.h>
#include <unistd.h>

#include <chrono>

namespace pclscope::aggregator {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds after_the_last{500};  // process of the application, until an anchor that is in MPI goes, too

}  // namespace

Departure::Departure(collect::BoardFile& board) : board_(board) {
  ::sigemptyset(&signals_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    ::sigaddset(&signals_, signal);
    ::signal(signal, SIG_DFL);  // one that is ignored is never waited for
  }
  ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  watcher_ = std::thread([this] { watch(); });
}

Departure::~Departure() {
  call_off();
  ::pthread_kill(watcher_.native_handle(), SIGTERM);  // it waits for one
  watcher_.join();
}

void Departure::watch() {
  int number = 0;
  while (::sigwait(&signals_, &number) != 0) {}
  for (auto alive = Clock::now(); Clock::now() - alive < after_the_last;) {
    if (off_) return;
    if (board_.alive() > 0) alive = Clock::now();
    else board_.notify();  // the main thread, which looks at it
    std::this_thread::sleep_for(milliseconds(10));
  }
  if (!off_) ::_exit(128 + number);
}

}  // namespace pclscope::aggregator
