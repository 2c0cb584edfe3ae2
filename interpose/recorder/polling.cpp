// Loops of calls that found nothing (Test, Iprobe ...). Time inside them and between two that follow closely is time
// that the thread waited. In longer gaps the program may have worked or slept: the processor's time tells, asked for
// twice in a loop that has such gaps.
#include <time.h>

#include "interpose/recorder/recorder.hpp"

namespace pclscope {

namespace {

std::uint64_t ns_of([[maybe_unused]] clockid_t clock) {
  timespec t;
  if (clock_gettime(clock, &t) != 0) return 0;
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}

// The whole loop is a wait when so much of it was.
constexpr double mostly = 0.8;

}  // namespace

void Recorder::poll_otherwise(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t length = end - begin;
  if (poll_.head != ring_.written()) {
    poll_ = Polling{};
    poll_.head = ring_.written();
    poll_.begin = begin;
    poll_.end = end;
    poll_.waited = length;
    return;
  }
  const std::uint64_t gap = begin - poll_.end;
  poll_.waited += length;
  poll_.end = end;
  poll_.gaps += gap;
  if (poll_.measured_from == 0) {
    poll_.measured_from = end;
    poll_.measured_waited = poll_.waited;
    poll_.measured_gaps = poll_.gaps;
    poll_.measured_wall_ns = ns_of(CLOCK_MONOTONIC);
    poll_.measured_ns = ns_of(CLOCK_THREAD_CPUTIME_ID);
  }
}

// The part of the long gaps in which the thread did not run.
double Recorder::idle_in_gaps() const {
  const std::uint64_t gaps = poll_.gaps - poll_.measured_gaps;
  const std::uint64_t wall = ns_of(CLOCK_MONOTONIC) - poll_.measured_wall_ns;
  if (poll_.measured_from == 0 || gaps == 0 || wall == 0) return 0;
  const double ticks = static_cast<double>(poll_.end - poll_.measured_from);
  const double ran =
      static_cast<double>(ns_of(CLOCK_THREAD_CPUTIME_ID) - poll_.measured_ns) / static_cast<double>(wall);
  const double waited = static_cast<double>(poll_.waited - poll_.measured_waited) / ticks;
  const double worked = (ran - waited) * ticks / static_cast<double>(gaps);
  return worked <= 0 ? 1 : worked >= 1 ? 0 : 1 - worked;
}

std::uint64_t Recorder::end_of_polling(std::uint64_t begin) {
  const std::uint64_t gap = begin - poll_.end;
  poll_.end = begin;
  (gap < Polling::short_gap ? poll_.waited : poll_.gaps) += gap;
  double waited = static_cast<double>(poll_.waited);
  if (poll_.gaps > 0) waited += idle_in_gaps() * static_cast<double>(poll_.gaps);
  return waited >= mostly * static_cast<double>(begin - poll_.begin) ? poll_.begin : begin;
}

}  // namespace pclscope
