#include "benchmarks/clock/truth.hpp"

#include <fstream>
#include <string>

std::int64_t namespace_offset(pclscope::record::ClockSource source) {
  if (source == pclscope::record::ClockSource::tsc) return 0;
  std::ifstream file("/proc/self/timens_offsets");
  std::string clock;
  std::int64_t seconds = 0, ns = 0;
  while (file >> clock >> seconds >> ns)
    if (clock == "monotonic") return seconds * 1'000'000'000 + ns;
  return 0;
}

long double true_global(std::uint64_t ticks, const ClockFacts& here, const ClockFacts& root) {
  const std::int64_t roots_ticks = static_cast<std::int64_t>(ticks) - here.namespace_ns + root.namespace_ns;
  return static_cast<long double>(roots_ticks - static_cast<std::int64_t>(root.origin_ticks)) *
         static_cast<long double>(root.ns_per_tick);
}
