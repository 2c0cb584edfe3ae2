#include "analysis/order/job_clocks.hpp"

namespace pclscope {

void JobClocks::set_regions(std::span<const TrackedRegion> regions, const std::function<void(const Visit&)>& retained) {
  std::map<std::int32_t, RegionClocks> now;
  std::vector<std::int32_t> new_region_of_rank;  // -1: none, or one that goes on
  bool any_new = false;
  for (const TrackedRegion& r : regions) {
    const auto known = regions_.find(r.id);
    if (known != regions_.end() && known->second.ranks() == r.ranks && regions.size() == regions_.size()) {
      now.emplace(r.id, std::move(known->second));
      continue;
    }
    now.emplace(r.id, fresh(r.ranks, regions.size()));
    any_new = true;
    for (const std::int32_t rank : r.ranks) {
      if (static_cast<std::size_t>(rank) >= new_region_of_rank.size()) new_region_of_rank.resize(rank + 1, -1);
      new_region_of_rank[rank] = r.id;
    }
  }
  regions_ = std::move(now);
  if (!any_new || !retained) return;
  const auto region_of = [&](std::int32_t rank) {
    return rank >= 0 && static_cast<std::size_t>(rank) < new_region_of_rank.size() ? new_region_of_rank[rank] : -1;
  };
  retained([&](const Message& m) {
    const std::int32_t region = region_of(m.source);
    if (region >= 0 && region == region_of(m.destination)) regions_.at(region).put(m);
  });
  for (auto& [id, clocks] : regions_) clocks.add_put();
}

void JobClocks::add(std::span<const Message> messages, std::span<const std::int32_t> region_of_rank) {
  auto last = regions_.end();  // neighbouring messages are often of one region
  for (const Message& m : messages) {
    const std::int32_t id = region_of_rank[m.source];
    if (id < 0 || id != region_of_rank[m.destination]) continue;
    if (last == regions_.end() || last->first != id) last = regions_.find(id);
    if (last != regions_.end()) last->second.put(m);
  }
  for (auto& [id, clocks] : regions_) clocks.add_put();
}

void JobClocks::leave_out(std::int64_t until_ns) {
  for (auto& [id, clocks] : regions_) {
    clocks = fresh(clocks.ranks(), regions_.size());
    clocks.forget_before(until_ns);
  }
}

void JobClocks::forget_before(std::int64_t time_ns) {
  for (auto& [id, clocks] : regions_) clocks.forget_before(time_ns);
}

const RegionClocks* JobClocks::of(std::int32_t region) const {
  const auto found = regions_.find(region);
  return found == regions_.end() || !found->second.enabled() ? nullptr : &found->second;
}

std::size_t JobClocks::bytes() const {
  std::size_t sum = 0;
  for (const auto& [id, clocks] : regions_) sum += clocks.bytes();
  return sum;
}

}  // namespace pclscope
