#include "analysis/collect/tick_clock.hpp"

#include <time.h>

#include <chrono>
#include <thread>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace pclscope::collect {
namespace {

std::int64_t read_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::uint64_t read_tsc() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return 0;
#endif
}

// TSC and MONOTONIC_RAW at one moment: of several tries the one with the shortest bracket.
void read_pair(std::uint64_t& tsc, std::int64_t& raw_ns) {
  std::uint64_t best = ~std::uint64_t{0};
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t before = read_tsc();
    const std::int64_t raw = read_ns(CLOCK_MONOTONIC_RAW);
    const std::uint64_t after = read_tsc();
    if (after - before < best) {
      best = after - before;
      tsc = before + (after - before) / 2;
      raw_ns = raw;
    }
  }
}

}  // namespace

std::uint64_t read_ticks(record::ClockSource source) {
  return source == record::ClockSource::tsc ? read_tsc() : static_cast<std::uint64_t>(read_ns(CLOCK_MONOTONIC));
}

TickClock::TickClock() {
  read_pair(start_tsc_, start_raw_ns_);
  start_monotonic_ns_ = static_cast<std::uint64_t>(read_ns(CLOCK_MONOTONIC));
  origin_realtime_ns_ = read_ns(CLOCK_REALTIME);
}

void TickClock::settle(record::ClockSource source) {
  if (settled_) return;
  source_ = source;
  settled_ = true;
  if (source == record::ClockSource::monotonic) {
    scale_ = {start_monotonic_ns_, 1.0};
    return;
  }
  const std::int64_t missing = start_raw_ns_ + 50'000'000 - read_ns(CLOCK_MONOTONIC_RAW);
  if (missing > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(missing));
  std::uint64_t tsc = 0;
  std::int64_t raw_ns = 0;
  read_pair(tsc, raw_ns);
  scale_ = {start_tsc_, static_cast<double>(raw_ns - start_raw_ns_) / static_cast<double>(tsc - start_tsc_)};
}

std::int64_t TickClock::now_ns() const { return scale_.to_ns(read_ticks(source_)); }

std::int64_t TickClock::realtime_of(std::int64_t axis_ns) const {
  return read_ns(CLOCK_REALTIME) - (now_ns() - axis_ns);
}

}  // namespace pclscope::collect
