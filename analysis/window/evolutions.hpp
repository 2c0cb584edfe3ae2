// The evolution of every region, by region id, and the same from stored windows.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "analysis/window/evolution.hpp"

namespace pclscope {

class Evolutions {
 public:
  struct Verdict {
    std::uint64_t window = 0;  // number, as close_window() returned it
    std::int32_t region = 0;
    PeriodKind kind = PeriodKind::other;
    bool first = false;  // of a period of the region
  };

  explicit Evolutions(std::size_t periods_per_region = Evolution::default_periods) : periods_(periods_per_region) {}

  // The next window (its `regions` filled in), and the ids of all regions there are now, in any order. A region that
  // is no longer among them is finished and forgotten; what the window has of others does not count. Returns the
  // window's number, from 0, one more each time.
  std::uint64_t close_window(const Window& window, std::span<const std::int32_t> present);
  // No more windows: everything is decided.
  void finish();

  // Decided by the last call, also of regions that vanished in it; of one region in the order of windows.
  std::span<const Verdict> verdicts() const { return verdicts_; }
  // Regions that vanished in the last call.
  std::span<const std::int32_t> ended() const { return ended_; }
  // And their periods, all that were kept.
  std::vector<Period> periods_of_ended(std::int32_t region) const {
    const auto found = ended_periods_.find(region);
    return found == ended_periods_.end() ? std::vector<Period>{} : found->second;
  }
  // What an undecided window of a region looks like now.
  PeriodKind provisional(std::int32_t region, std::uint64_t window) const;
  // Oldest first, the newest `count`; empty for an unknown region.
  std::vector<Period> newest(std::int32_t region, std::size_t count) const;

 private:
  void collect(std::int32_t region, const Evolution& evolution);

  std::size_t periods_;
  std::map<std::int32_t, Evolution> regions_;
  std::vector<Verdict> verdicts_;
  std::vector<std::int32_t> ended_;
  std::map<std::int32_t, std::vector<Period>> ended_periods_;
  std::uint64_t next_ = 0;
};

// The periods of a region in stored windows (store::Reader::windows()), as they were found live. `closed`: the run is
// over, nothing is open.
std::vector<Period> periods_of(std::span<const Window> windows, std::int32_t region, bool closed = true);

}  // namespace pclscope
