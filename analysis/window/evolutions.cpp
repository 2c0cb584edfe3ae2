#include "analysis/window/evolutions.hpp"

#include <algorithm>

namespace pclscope {

void Evolutions::collect(std::int32_t region, const Evolution& evolution) {
  for (const Evolution::Verdict& v : evolution.verdicts()) verdicts_.push_back({v.window, region, v.kind, v.first});
}

std::uint64_t Evolutions::close_window(const Window& window, std::span<const std::int32_t> present) {
  verdicts_.clear();
  ended_.clear();
  ended_periods_.clear();
  std::vector<std::int32_t> ids(present.begin(), present.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (auto it = regions_.begin(); it != regions_.end();) {
    if (std::binary_search(ids.begin(), ids.end(), it->first)) {
      ++it;
      continue;
    }
    it->second.finish();
    collect(it->first, it->second);
    ended_.push_back(it->first);
    ended_periods_[it->first] = it->second.newest(Evolution::default_periods);
    it = regions_.erase(it);
  }
  std::vector<const RegionWindow*> by_id(ids.size(), nullptr);
  for (const RegionWindow& r : window.regions)
    if (const auto at = std::lower_bound(ids.begin(), ids.end(), r.region); at != ids.end() && *at == r.region)
      by_id[static_cast<std::size_t>(at - ids.begin())] = &r;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Evolution& evolution = regions_.try_emplace(ids[i], periods_).first->second;
    evolution.add(by_id[i] ? *by_id[i] : RegionWindow{}, window.begin_s, window.length_s, next_);
    collect(ids[i], evolution);
  }
  return next_++;
}

void Evolutions::finish() {
  verdicts_.clear();
  ended_.clear();
  ended_periods_.clear();
  for (auto& [region, evolution] : regions_) {
    evolution.finish();
    collect(region, evolution);
  }
}

PeriodKind Evolutions::provisional(std::int32_t region, std::uint64_t window) const {
  const auto it = regions_.find(region);
  return it == regions_.end() ? PeriodKind::other : it->second.provisional(window);
}

std::vector<Period> Evolutions::newest(std::int32_t region, std::size_t count) const {
  const auto it = regions_.find(region);
  return it == regions_.end() ? std::vector<Period>{} : it->second.newest(count);
}

std::vector<Period> periods_of(std::span<const Window> windows, std::int32_t region, bool closed) {
  Evolution evolution;
  for (const Window& window : windows) {
    const auto it = std::find_if(window.regions.begin(), window.regions.end(),
                                 [&](const RegionWindow& r) { return r.region == region; });
    evolution.add(it == window.regions.end() ? RegionWindow{} : *it, window.begin_s, window.length_s);
  }
  if (closed) evolution.finish();
  return evolution.periods();
}

}  // namespace pclscope
