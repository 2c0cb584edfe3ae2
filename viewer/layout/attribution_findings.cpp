#include "viewer/layout/attribution_findings.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace pclscope::layout {
namespace {

bool share_a_rank(const Finding& a, const Finding& b) {
  if (a.ranks.empty() || b.ranks.empty()) return a.ranks.empty() == b.ranks.empty();
  return std::any_of(a.ranks.begin(), a.ranks.end(),
                     [&](std::int32_t r) { return std::find(b.ranks.begin(), b.ranks.end(), r) != b.ranks.end(); });
}

}  // namespace

std::optional<std::size_t> same_finding(const Finding& before, const std::vector<Finding>& now) {
  std::optional<std::size_t> best;
  double nearest = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const Finding& f = now[i];
    if (f.cause != before.cause || f.region != before.region || f.detail != before.detail) continue;
    if (f.cause != Cause::mapping && !share_a_rank(before, f)) continue;  // which ranks would move changes all the time
    const double apart = std::fabs(f.begin_s - before.begin_s);
    const double counted = std::isfinite(apart) ? apart : 1e300;
    if (best && counted >= nearest) continue;
    best = i;
    nearest = counted;
  }
  return best;
}

std::vector<std::int32_t> regions_of(const Snapshot& snapshot) {
  std::unordered_map<std::int32_t, std::int32_t> of_rank;
  std::unordered_set<std::int32_t> there;
  for (const Region& region : snapshot.regions) {
    there.insert(region.id);
    for (const std::int32_t rank : region.ranks) of_rank.try_emplace(rank, region.id);
  }
  std::vector<std::int32_t> found;
  for (const Finding& f : snapshot.attribution.findings) {
    std::int32_t region = f.region >= 0 && there.contains(f.region) ? f.region : -1;
    const bool begins_in_ranks = f.cause != Cause::mapping && f.cause != Cause::background && !f.ranks.empty();
    if (f.region < 0 && begins_in_ranks) {
      if (const auto at = of_rank.find(f.ranks.front()); at != of_rank.end()) region = at->second;
    }
    found.push_back(region);
  }
  return found;
}

std::vector<std::int32_t> ranks_of(const Finding& finding, std::int32_t ranks) {
  std::vector<std::int32_t> found;
  for (const std::int32_t rank : finding.ranks) {
    if (rank >= 0 && rank < ranks) found.push_back(rank);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

float RowStack::top(std::size_t row) const {
  return static_cast<float>(row) * height + (open && *open < row ? extra : 0.f);
}

RowStack::Shown RowStack::shown(float from, float to) const {
  if (count == 0 || !(height > 0) || !(to > from)) return {};
  const auto rows_before = [&](float y) {
    return static_cast<std::size_t>(std::clamp(y / height, 0.f, static_cast<float>(count)));
  };
  // Without the taller one the window would be that much higher up.
  Shown s{rows_before(from - extra), std::min(count, rows_before(to) + 1)};
  while (s.first < s.last && top(s.first + 1) <= from) ++s.first;
  while (s.last > s.first && top(s.last - 1) >= to) --s.last;
  return s;
}

}  // namespace pclscope::layout
