#include "analysis/collect/tick_clock.hpp"

#include <time.h>

#include <chrono>
#include <cstdint>
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

}  // namespace

std::uint64_t read_ticks(record::ClockSource source) {
  return source == record::ClockSource::tsc ? read_tsc() : static_cast<std::uint64_t>(read_ns(CLOCK_MONOTONIC));
}

const ClockReader& system_clocks() {
  static const ClockReader reader = {read_tsc, read_ns};
  return reader;
}

Moment read_moment(const ClockReader& read) {
  constexpr int tries = 100;
  constexpr std::int64_t close_ns = 1'000;
  Moment best;
  std::int64_t shortest = INT64_MAX;
  for (int i = 0; i < tries && (i < 16 || shortest > close_ns); ++i) {
    Moment now;
    now.raw_ns = read.ns(CLOCK_MONOTONIC_RAW);
    now.tsc = read.tsc();
    now.realtime_ns = read.ns(CLOCK_REALTIME);
    now.monotonic_ns = read.ns(CLOCK_MONOTONIC);
    const std::int64_t bracket = read.ns(CLOCK_MONOTONIC_RAW) - now.raw_ns;
    if (bracket >= shortest) continue;
    shortest = bracket;
    best = now;
  }
  return best;
}

TickClock::TickClock(const ClockReader& read) : read_(&read), start_(read_moment(read)) {
  scale_.origin_ticks = static_cast<std::uint64_t>(start_.monotonic_ns);  // until it is settled
}

void TickClock::settle(record::ClockSource source, std::uint64_t origin_ticks) {
  if (settled_) return;
  source_ = source;
  settled_ = true;
  const bool tsc = source == record::ClockSource::tsc;
  const std::uint64_t start_ticks = tsc ? start_.tsc : static_cast<std::uint64_t>(start_.monotonic_ns);
  scale_ = {origin_ticks != 0 ? origin_ticks : start_ticks, 1.0};
  if (tsc) {
    const std::int64_t missing = start_.raw_ns + 50'000'000 - read_->ns(CLOCK_MONOTONIC_RAW);
    if (missing > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(missing));
    const Moment now = read_moment(*read_);
    scale_.ns_per_tick = static_cast<double>(now.raw_ns - start_.raw_ns) / static_cast<double>(now.tsc - start_.tsc);
  }
  start_ns_ = scale_.to_ns(start_ticks);
}

void TickClock::adopt(record::ClockSource source, const TickScale& scale, std::int64_t origin_realtime_ns) {
  source_ = source;
  settled_ = true;
  scale_ = scale;
  start_.realtime_ns = origin_realtime_ns;
  start_ns_ = 0;
}

std::int64_t TickClock::now_ns() const { return scale_.to_ns(read_ticks(source_)); }

std::int64_t TickClock::realtime_of(std::int64_t axis_ns) const {
  const Moment now = read_moment(*read_);
  const auto ticks = source_ == record::ClockSource::tsc ? now.tsc : static_cast<std::uint64_t>(now.monotonic_ns);
  return now.realtime_ns - (scale_.to_ns(ticks) - axis_ns);
}

}  // namespace pclscope::collect
