#include "viewer/session/harm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pclscope::session {
namespace {

constexpr double tie = 0.95, least_top = 0.25, above_usual = 4;

}  // namespace

Harms::Harms(const Snapshot& s) {
  bool any = false;
  for (const RankSummary& r : s.ranks) {
    if (r.rank < 0 || r.rank >= most_rank || !(r.delay_caused_s > 0) || !std::isfinite(r.delay_caused_s)) continue;
    if (!(s.duration_s > 0) || !std::isfinite(s.duration_s)) continue;
    const auto at = static_cast<std::size_t>(r.rank);
    if (of_rank_.size() <= at) of_rank_.resize(at + 1, 0);
    of_rank_[at] = r.delay_caused_s / s.duration_s;
    any = true;
  }
  lead_ = any && std::any_of(s.attribution.findings.begin(), s.attribution.findings.end(), is_believed);
}

double Harms::of_rank(std::int32_t rank) const {
  return rank >= 0 && static_cast<std::size_t>(rank) < of_rank_.size() ? of_rank_[static_cast<std::size_t>(rank)] : 0;
}

double Harms::of_region(const Region& region) const {
  double sum = 0;
  for (const std::int32_t rank : region.ranks) sum += of_rank(rank);
  return sum;
}

std::vector<Region> harmful_first(const Snapshot& s) {
  const Harms harms(s);
  if (!harms.lead()) return s.regions;
  std::vector<std::pair<double, const Region*>> order;
  for (const Region& region : s.regions) order.emplace_back(harms.of_region(region), &region);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Region> sorted;
  for (const auto& [harm, region] : order) sorted.push_back(*region);
  return sorted;
}

double harm_top(std::span<const double> values) {
  if (values.empty()) return least_top;
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);  // of two the lesser
  std::nth_element(sorted.begin(), middle, sorted.end());
  const double usual = *middle;
  return std::max({*std::max_element(values.begin(), values.end()), least_top, above_usual * usual});
}

std::optional<std::size_t> stands_out(std::span<const double> values) {
  const auto largest = std::max_element(values.begin(), values.end());
  if (largest == values.end() || !(*largest > 0)) return std::nullopt;
  const auto near = std::count_if(values.begin(), values.end(), [&](double v) { return v >= tie * *largest; });
  if (near > 1) return std::nullopt;
  return static_cast<std::size_t>(largest - values.begin());
}

bool all_alike(std::span<const double> values) {
  if (values.size() < 2) return false;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *high > 0 && *low >= tie * *high;
}

}  // namespace pclscope::session
