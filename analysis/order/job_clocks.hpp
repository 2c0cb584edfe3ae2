// The vector clocks of all regions of a running job, over the messages that are kept in memory. Within a region exact
// for messages since RegionClocks::retained_from_ns(); a region that is new or has other ranks begins with what
// `retained` still gives.
//
// One thread owns a JobClocks. Memory: at most the budget, in equal parts for the regions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "analysis/order/clocks.hpp"
#include "analysis/region/tracker.hpp"
#include "analysis/values/message.hpp"

namespace pclscope {

class JobClocks {
 public:
  using Visit = std::function<void(const Message&)>;

  explicit JobClocks(std::size_t budget_bytes) : budget_(budget_bytes) {}

  // The regions have changed. `retained(visit)` visits the messages that are still in memory; without it new regions
  // begin with what comes, after leave_out().
  void set_regions(std::span<const TrackedRegion> regions, const std::function<void(const Visit&)>& retained);
  // A window's messages, in any order; region's id by rank, -1 for none.
  void add(std::span<const Message> messages, std::span<const std::int32_t> region_of_rank);
  // A window that ends at `until_ns` was left out: what follows does not follow on what came before.
  void leave_out(std::int64_t until_ns);
  void forget_before(std::int64_t time_ns);

  // The region's clocks; nullptr for a region that is unknown or too large (RegionClocks).
  const RegionClocks* of(std::int32_t region) const;
  std::size_t bytes() const;

 private:
  RegionClocks fresh(std::span<const std::int32_t> ranks, std::size_t regions) const {
    return RegionClocks(ranks, {budget_ / std::max<std::size_t>(regions, 1)});
  }

  std::size_t budget_;
  std::map<std::int32_t, RegionClocks> regions_;
};

}  // namespace pclscope
