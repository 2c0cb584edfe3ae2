#include "viewer/layout/call_part.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/density/bins.hpp"

namespace pclscope::layout {
namespace {

constexpr double most_ns = 4e18;  // 126 years: no sum overflows

double slice_ns(const CallDensity& density) { return std::ldexp(1, density.calls_shift); }

unsigned bins_of_all(const CallDensity& density) {
  return density::octaves * std::max<unsigned>(density.bins_per_octave, 1);
}

// Where bin `bin` of the density begins; bin 0 has 0 ns, too.
std::uint64_t begin_of(const CallDensity& density, unsigned bin) {
  if (bin == 0) return 0;
  const unsigned fine = bin * (density::bins_per_octave / std::max<unsigned>(density.bins_per_octave, 1));
  return density::bin_table.begins[std::min(fine, density::bins)];
}

std::int64_t to_ns(double ns) { return static_cast<std::int64_t>(std::clamp(ns, -most_ns, most_ns)); }

}  // namespace

session::CallPart part_of(const CallDensity& density, CallEdge edge, const CallBox& box,
                          const std::optional<std::uint16_t>& function) {
  session::CallPart part;
  part.by_end = edge == CallEdge::end;
  part.function = function;
  const auto finite = [](double a, double b) { return std::isfinite(a) && std::isfinite(b) && a <= b; };
  if (!finite(box.time.begin_s, box.time.end_s) || !finite(box.durations.low, box.durations.high)) return part;
  const double slice = slice_ns(density);
  const double first = std::floor(box.time.begin_s * 1e9 / slice), last = std::floor(box.time.end_s * 1e9 / slice);
  if (last < 0) return part;
  part.begin_ns = first <= 0 ? INT64_MIN : to_ns(first * slice);  // what began before the origin stands in slice 0
  part.end_ns = to_ns((last + 1) * slice);
  const double highest = bins_of_all(density) - 1.0;
  const auto bin = [&](double log2) {
    return static_cast<unsigned>(std::clamp(std::floor(log2 * density.bins_per_octave), 0.0, highest));
  };
  if (box.durations.high < 0) return part;
  part.least_ns = begin_of(density, bin(box.durations.low));
  part.below_ns = begin_of(density, bin(box.durations.high) + 1);
  return part;
}

CallBox box_of(const session::CallPart& part) {
  const auto log2 = [](std::uint64_t ns) { return std::log2(static_cast<double>(std::max<std::uint64_t>(ns, 1))); };
  return {{std::max(0.0, static_cast<double>(part.begin_ns) * 1e-9), static_cast<double>(part.end_ns) * 1e-9},
          {log2(part.least_ns), log2(part.below_ns)}};
}

std::uint64_t counted_in(const CallDensity& density, const session::CallPart& part) {
  std::uint64_t calls = 0;
  const auto shift = density.calls_shift;
  for (const CallDensity::Calls& c : density.calls) {
    if (part.function && c.function != *part.function) continue;
    const auto begin_ns = static_cast<double>(c.slice) * std::ldexp(1, shift);
    if (begin_ns >= static_cast<double>(part.end_ns) ||
        (part.begin_ns != INT64_MIN && begin_ns < static_cast<double>(part.begin_ns)))
      continue;
    const std::uint64_t least = begin_of(density, c.bin);
    if (least < part.least_ns || least >= part.below_ns) continue;
    calls += part.by_end ? c.ends : c.starts;
  }
  return calls;
}

}  // namespace pclscope::layout
