#include "interpose/recorder/processor.hpp"

#include <sys/resource.h>
#include <time.h>

#include "interpose/recorder/recorder.hpp"

namespace pclscope {

// Where the system does not tell nothing is told.
void Recorder::measure_processor(std::uint64_t now_ticks) {
  timespec wall, ran;
  rusage use;
  if (clock_gettime(CLOCK_MONOTONIC, &wall) != 0 || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran) != 0 ||
      getrusage(RUSAGE_THREAD, &use) != 0)
    return;
  const auto ns = [](const timespec& t) {
    return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
  };
  const bool first = !processor_.measured;
  processor_.add({now_ticks, ns(wall), ns(ran), static_cast<std::uint64_t>(use.ru_nvcsw)});
  if (first) return;
  constexpr auto relaxed = std::memory_order_relaxed;
  record::SegmentHeader& h = header();
  h.idle_ns.store(processor_.idle_ns, relaxed);
  h.idle_least_ns.store(processor_.least_ns, relaxed);
  h.idle_most_ns.store(processor_.most_ns, relaxed);
  h.off_inside_ns.store(processor_.off_inside_ns, relaxed);
  h.off_outside_ns.store(processor_.off_outside_ns, relaxed);
  h.idle_until.store(now_ticks, std::memory_order_release);
}

}  // namespace pclscope
