#include "analysis/density/stack.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace pclscope::density {
namespace {

// Adds `amount`, spread evenly over [begin, end), to the columns that it meets; what lies outside of them is lost.
void spread_evenly(std::vector<float>& columns, double begin, double end, double amount) {
  const auto size = static_cast<double>(columns.size());
  const auto first = static_cast<std::size_t>(std::clamp(std::floor(begin), 0.0, size)),
             last = static_cast<std::size_t>(std::clamp(std::ceil(end), 0.0, size));
  for (std::size_t c = first; c < last; ++c) {
    const double from = std::max(begin, static_cast<double>(c)), to = std::min(end, static_cast<double>(c) + 1);
    if (to > from) columns[c] += static_cast<float>(amount * (to - from) / (end - begin));
  }
}

}  // namespace

std::vector<std::uint16_t> functions_by_time(const CallDensity& density) {
  std::map<std::uint16_t, std::pair<std::uint64_t, std::uint64_t>> sums;  // ns, calls
  for (const CallDensity::Inside& i : density.inside) sums[i.function].first += i.ns;
  for (const CallDensity::Calls& c : density.calls) sums[c.function].second += c.ends;
  std::vector<std::uint16_t> functions;
  for (const auto& [function, sum] : sums) functions.push_back(function);
  std::stable_sort(functions.begin(), functions.end(),
                   [&](std::uint16_t a, std::uint16_t b) { return sums[a] > sums[b]; });
  return functions;
}

float Stack::height(std::size_t column) const {
  float sum = 0;
  for (const std::vector<float>& layer : shares) sum += layer[column];
  return sum;
}

Stack stack_of(const CallDensity& density, const StackQuestion& q) {
  Stack stack;
  stack.functions.assign(q.functions.begin(), q.functions.end());
  stack.begin_s = q.begin_s;
  stack.end_s = q.end_s;
  stack.shares.assign(q.functions.size() + 1, std::vector<float>(q.columns, 0));
  if (!(q.begin_s < q.end_s) || !(q.ranks > 0) || q.columns == 0) return stack;
  const double column_s = (q.end_s - q.begin_s) / static_cast<double>(q.columns);
  const double slice_s = std::ldexp(1e-9, density.inside_shift);
  for (const CallDensity::Inside& i : density.inside) {
    if (q.region && i.region != *q.region) continue;
    const double begin_s = i.slice * slice_s;
    // The run ends inside its last slice; what clocks put behind its end stays there.
    const double end_s = begin_s < q.duration_s ? std::min(begin_s + slice_s, q.duration_s) : begin_s + slice_s;
    if (end_s <= q.begin_s || begin_s >= q.end_s) continue;
    const auto at = std::find(q.functions.begin(), q.functions.end(), i.function);
    spread_evenly(stack.shares[static_cast<std::size_t>(at - q.functions.begin())], (begin_s - q.begin_s) / column_s,
                  (end_s - q.begin_s) / column_s, static_cast<double>(i.ns) * 1e-9 / (q.ranks * column_s));
  }
  return stack;
}

}  // namespace pclscope::density
