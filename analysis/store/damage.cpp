#include "analysis/store/damage.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

namespace pclscope::store {
namespace {

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int too_long = SIGVTALRM;

std::atomic<bool> tells = false;
std::mutex one_at_a_time;
char newest[4096];  // text, as a handler must read it without the lock
std::atomic<std::size_t> newest_length = 0;

void say(const char* text, std::size_t length) {
  while (length > 0) {
    const ssize_t written = ::write(STDERR_FILENO, text, length);
    if (written <= 0) return;
    text += written;
    length -= static_cast<std::size_t>(written);
  }
}
void say(const char* text) { say(text, std::strlen(text)); }

extern "C" void on_signal(int signal, siginfo_t* info, void*) {
  const std::size_t length = newest_length.load();
  const bool is_sent = info->si_code == SI_USER && info->si_pid != ::getpid();  // by somebody else
  if (length == 0 || is_sent) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
    return;
  }
  say("pclscope: ");
  say(newest, length);
  say(signal == too_long ? " is damaged: the HDF5 library does not come to an end with it\n"
                         : " cannot be read: the process crashed with it, as it does when a file is damaged\n");
  ::_exit(1);
}

}  // namespace

void tell_of_crashes() {
  static char stack[64 * 1024];  // the usual one may be what has overflowed
  const stack_t other = {.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
  ::sigaltstack(&other, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  for (const int signal : signals) ::sigaction(signal, &action, nullptr);
  ::sigaction(too_long, &action, nullptr);
  tells = true;
}

void dump_is_open(const std::string& path) {
  const std::lock_guard lock(one_at_a_time);
  const std::size_t length = std::min(path.size(), sizeof newest);
  newest_length = 0;
  std::copy_n(path.data(), length, newest);
  newest_length = length;
}

void dump_is_closed(const std::string& path) {
  const std::lock_guard lock(one_at_a_time);
  if (path.compare(0, sizeof newest, newest, newest_length) == 0) newest_length = 0;
}

CpuLimit::CpuLimit(std::chrono::milliseconds most) {
  if (!tells) return;
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = too_long;
  event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
  timer_t timer = {};
  if (::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return;
  timer_ = timer;
  has_timer_ = true;
  itimerspec after = {};
  after.it_value = {.tv_sec = most.count() / 1000, .tv_nsec = most.count() % 1000 * 1'000'000};
  ::timer_settime(timer, 0, &after, nullptr);
}

CpuLimit::~CpuLimit() {
  if (has_timer_) ::timer_delete(timer_);
}

}  // namespace pclscope::store
