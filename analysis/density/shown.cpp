#include "analysis/density/shown.hpp"

#include <algorithm>

#include "analysis/density/coarser.hpp"
#include "analysis/density/packing.hpp"

namespace pclscope::density {
namespace {

constexpr std::chrono::milliseconds between{200};
constexpr int rest = 50;  // times what the last one took

}  // namespace

const std::vector<std::uint8_t>& Shown::of(const Pyramid& pyramid, std::span<const Pyramid::Running> running,
                                           bool last) {
  const Clock::time_point began = Clock::now();
  if (!last && began < next_) return packed_;
  CallDensity density = pyramid.value(running);
  if (!last) fit_inside(density, live_slices);
  std::uint64_t calls = 0;
  for (const CallDensity::Calls& c : density.calls) calls += c.ends;
  fit(density, last ? std::clamp<std::size_t>(calls, least_stored_bytes, most_stored_bytes) : live_bytes);
  packed_ = pack(density);
  const Clock::time_point end = Clock::now();
  next_ = end + std::max<Clock::duration>(between, rest * (end - began));
  return packed_;
}

}  // namespace pclscope::density
