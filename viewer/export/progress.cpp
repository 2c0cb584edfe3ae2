#include "viewer/export/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

#include "viewer/text/quantities.hpp"

namespace pclscope::exporting {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds soon{1'000}, between{250};
constexpr int taken[] = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t asked_to_stop = 0;

void ask_to_stop(int) { asked_to_stop = 1; }

}  // namespace

LongWork::LongWork(std::string what)
    : what_(std::move(what)), terminal_(::isatty(STDERR_FILENO) == 1), begun_(steady_clock::now()) {
  next_ = begun_ + soon;
  asked_to_stop = 0;
  for (const int signal : taken) std::signal(signal, ask_to_stop);
}

LongWork::~LongWork() {
  clear();
  for (const int signal : taken) std::signal(signal, SIG_DFL);
}

void LongWork::clear() {
  if (std::exchange(shown_, false)) std::fputs("\r\033[K", stderr);
}

bool LongWork::go_on(double share) {
  const auto now = terminal_ ? steady_clock::now() : steady_clock::time_point{};
  if (terminal_ && now >= next_) {
    next_ = now + between;
    shown_ = true;
    const double spent = std::chrono::duration<double>(now - begun_).count();
    std::string line = what_ + ": " + text::format_share(std::clamp(share, 0.0, 1.0));
    if (share > 0.05 && share < 1) line += ", " + text::format_seconds(spent / share * (1 - share)) + " to go";
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    std::fflush(stderr);
  }
  return !interrupted();
}

bool LongWork::interrupted() const { return asked_to_stop != 0; }

}  // namespace pclscope::exporting
