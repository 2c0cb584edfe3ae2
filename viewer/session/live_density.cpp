#include "viewer/session/live_density.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "analysis/density/coarser.hpp"

namespace pclscope::session {
namespace {

constexpr std::int64_t late_ns = 3'000'000'000;  // how much later events of some rank may come than those of others
constexpr unsigned older_every = 4;              // refreshes
constexpr int most_parts = 1024;                 // of one refresh: as many as there are slices

struct Slices {
  std::int64_t first, end;
  bool has(std::int64_t slice) const { return slice >= first && slice < end; }
};
// Those that lie in the part as a whole.
Slices slices_in(const DensityPart& part, unsigned shift) {
  return {((part.begin_ns - 1) >> shift) + 1, part.end_ns >> shift};
}

template <class Entry>
void replace(std::vector<Entry>& entries, const std::vector<Entry>& by, Slices slices) {
  std::erase_if(entries, [&](const Entry& e) { return slices.has(e.slice); });
  const auto kept = static_cast<std::ptrdiff_t>(entries.size());
  std::copy_if(by.begin(), by.end(), std::back_inserter(entries), [&](const Entry& e) { return slices.has(e.slice); });
  std::inplace_merge(entries.begin(), entries.begin() + kept, entries.end(),
                     [](const Entry& a, const Entry& b) { return a.place() < b.place(); });
}

void coarsen(CallDensity& density, const CallDensity& as) {
  while (density.inside_shift < as.inside_shift) density::halve_inside(density);
  while (density.calls_shift < as.calls_shift) density::halve_calls(density);
  while (density.bins_per_octave > as.bins_per_octave) density::halve_bins(density);
}

}  // namespace

void LiveDensity::put(const DensityPart& part) {
  DensityPart fitting = part;
  if (until_ns_ == 0) {
    density_ = {};
    density_.inside_shift = part.density.inside_shift;
    density_.calls_shift = part.density.calls_shift;
    density_.bins_per_octave = part.density.bins_per_octave;
  }
  coarsen(density_, part.density);
  coarsen(fitting.density, density_);
  replace(density_.inside, fitting.density.inside, slices_in(part, density_.inside_shift));
  replace(density_.calls, fitting.density.calls, slices_in(part, density_.calls_shift));
  const unsigned shift = std::max(density_.inside_shift, density_.calls_shift);
  if (slices_in(part, shift).first << shift <= until_ns_)
    until_ns_ = std::max(until_ns_, slices_in(part, shift).end << shift);
}

Status LiveDensity::refresh(const Ask& ask, std::int64_t newest_ns, const std::function<bool()>& stopping) {
  const std::int64_t known = std::min(until_ns_, newest_ns_), again = std::max<std::int64_t>(known - late_ns, 0);
  std::int64_t from = again;
  for (int parts = 0; parts < most_parts && from <= newest_ns && !stopping(); ++parts) {
    const auto part = ask({from, std::numeric_limits<std::int64_t>::max()});  // calls go on behind it
    if (!part) return part.error();
    put(*part);
    if (part->end_ns <= from) break;  // it has no slices there yet
    from = part->end_ns;
  }
  newest_ns_ = newest_ns;
  if (older_ns_ >= again) older_ns_ = 0;
  if (again == 0 || ++refreshes_ % older_every != 0 || stopping()) return {};
  const auto part = ask({older_ns_, again});
  if (!part) return part.error();
  put(*part);
  older_ns_ = std::max(part->end_ns, older_ns_ + 1);
  return {};
}

}  // namespace pclscope::session
