#include "analysis/density/coarser.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/density/packing.hpp"

namespace pclscope::density {
namespace {

constexpr std::uint32_t slices_before_bins = 128;
constexpr std::uint8_t bins_before_slices = 2;
constexpr std::uint8_t longest_shift = 62;

// Of ascending entries: equal places become one.
template <class Entry, class Add>
void join(std::vector<Entry>& entries, Add&& add) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (kept > 0 && entries[kept - 1].place() == entries[i].place()) add(entries[kept - 1], entries[i]);
    else entries[kept++] = entries[i];
  }
  entries.resize(kept);
}

void join(std::vector<CallDensity::Inside>& entries) {
  join(entries, [](CallDensity::Inside& to, const CallDensity::Inside& from) { to.ns += from.ns; });
}

void join(std::vector<CallDensity::Calls>& entries) {
  join(entries, [](CallDensity::Calls& to, const CallDensity::Calls& from) {
    to.starts += from.starts;
    to.ends += from.ends;
  });
}

template <class Entry>
bool before(const Entry& a, const Entry& b) {
  return a.place() < b.place();
}

template <class Entry>
void append(std::vector<Entry>& to, const std::vector<Entry>& from) {
  const auto size = static_cast<std::ptrdiff_t>(to.size());
  to.insert(to.end(), from.begin(), from.end());
  std::inplace_merge(to.begin(), to.begin() + size, to.end(), before<Entry>);
  join(to);
}

}  // namespace

void halve_inside(CallDensity& density) {
  if (density.inside_shift >= longest_shift) return;
  ++density.inside_shift;
  for (CallDensity::Inside& i : density.inside) i.slice /= 2;
  join(density.inside);
}

void halve_calls(CallDensity& density) {
  if (density.calls_shift >= longest_shift) return;
  ++density.calls_shift;
  auto& calls = density.calls;
  for (CallDensity::Calls& c : calls) c.slice /= 2;
  // Bins of one slice ascend, and begin anew where those of the other one follow.
  for (auto first = calls.begin(); first != calls.end();) {
    const auto second =
        std::adjacent_find(first, calls.end(), [](const auto& a, const auto& b) { return !before(a, b); });
    if (second == calls.end()) break;
    const auto end = std::find_if(second + 1, calls.end(), [&](const auto& c) {
      return c.slice != second->slice || c.function != second->function;
    });
    const auto begin = std::lower_bound(first, second, *second, [](const auto& a, const auto& b) {
      return std::tie(a.function, a.slice) < std::tie(b.function, b.slice);
    });
    std::inplace_merge(begin, second + 1, end, before<CallDensity::Calls>);
    first = end;
  }
  join(calls);
}

void halve_bins(CallDensity& density) {
  if (density.bins_per_octave < 2) return;
  density.bins_per_octave /= 2;
  for (CallDensity::Calls& c : density.calls) c.bin /= 2;
  join(density.calls);
}

std::uint32_t slices_of_inside(const CallDensity& density) {
  std::uint32_t last = 0;
  for (const CallDensity::Inside& i : density.inside) last = std::max(last, i.slice);
  return last + 1;
}

std::uint32_t slices_of_calls(const CallDensity& density) {
  std::uint32_t last = 0;
  for (const CallDensity::Calls& c : density.calls) last = std::max(last, c.slice);
  return last + 1;
}

void add(CallDensity& to, CallDensity more) {
  if (more.empty()) return;
  if (to.empty()) return void(to = std::move(more));
  while (to.inside_shift < more.inside_shift) halve_inside(to);
  while (to.calls_shift < more.calls_shift) halve_calls(to);
  while (to.bins_per_octave > more.bins_per_octave) halve_bins(to);
  while (more.inside_shift < to.inside_shift) halve_inside(more);
  while (more.calls_shift < to.calls_shift) halve_calls(more);
  while (more.bins_per_octave > to.bins_per_octave) halve_bins(more);
  append(to.inside, more.inside);
  append(to.calls, more.calls);
}

void fit_inside(CallDensity& density, std::uint32_t slices) {
  while (slices_of_inside(density) > std::max(slices, 1u)) halve_inside(density);
}

void fit(CallDensity& density, std::size_t bytes) {
  while (packed_bytes(density) > bytes) {
    const std::uint32_t slices = slices_of_calls(density);
    if (slices > slices_before_bins) halve_calls(density);
    else if (density.bins_per_octave > bins_before_slices) halve_bins(density);
    else if (slices > 1) halve_calls(density);
    else if (density.bins_per_octave > 1) halve_bins(density);
    else if (slices_of_inside(density) > 1) halve_inside(density);
    else return;
  }
}

}  // namespace pclscope::density
