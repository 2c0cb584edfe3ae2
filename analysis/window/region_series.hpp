// Totals and window history of the current regions. A message belongs to a region when both its ranks do.
// When the regions change, totals are summed anew from the pairs: they are exact, as if the regions had always been
// these. The history keeps what the region of that number was at the time; a new region's history begins with it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/region/tracker.hpp"
#include "analysis/values/snapshot.hpp"
#include "analysis/window/evolutions.hpp"
#include "analysis/window/pair_table.hpp"

namespace pclscope {

class RegionSeries {
 public:
  RegionSeries(std::int32_t ranks, std::uint32_t history_windows)
      : tracker_(ranks), history_limit_(history_windows), id_of_rank_(static_cast<std::size_t>(ranks), -1) {}

  // Clusters the pairs' message counts; true when the regions changed. Call it when the window is folded.
  bool recluster(std::int32_t ranks, const PairTable& pairs, const RegionOptions& options, double margin);
  // Adds the folded window of `pairs` to the totals (recluster() has done so when it returned true).
  void fold(const PairTable& pairs);
  // A window with these sums is over, `skipped` empty windows before it. Fills `window.regions` and `.all`. Sums of
  // regions that are no more are left out. Returns the window's number in evolutions().
  std::uint64_t close_window(const LatencySums& all, std::span<const RegionSums> sums, std::int64_t skipped,
                             Window& window);
  void finish() { evolutions_.finish(); }

  // Each with its newest periods, at most `periods`. `ratios`: of all closed windows, of each pair.
  std::vector<Region> regions(std::size_t periods, const PairTable& pairs, std::span<const RatioSums> ratios) const;
  const Evolutions& evolutions() const { return evolutions_; }
  std::span<const std::int32_t> id_of_rank() const { return id_of_rank_; }  // -1: in no region
  // Between regions, most messages first, at most `most`.
  std::vector<RegionLink> links(std::size_t most, const PairTable& pairs, std::span<const RatioSums> ratios) const;
  const RegionTracker& tracker() const { return tracker_; }

 private:
  struct Point {
    float ratio;
    std::uint32_t messages;
  };
  std::int32_t region_of(const PairTable::Pair& pair) const {
    const std::int32_t of_source = tracker_.region_of(pair.source);
    return of_source == tracker_.region_of(pair.destination) ? of_source : -1;
  }
  void push_history(std::deque<Point>& history, Point point);
  // Key in links_; none when both ranks are of one region, or one of no region.
  std::optional<std::uint64_t> link_of(const PairTable::Pair& pair) const;

  RegionTracker tracker_;
  std::uint32_t history_limit_;
  std::vector<LatencySums> totals_;                              // by index of the tracker's regions
  std::unordered_map<std::uint64_t, LatencySums> links_;         // by both indices, the smaller one high
  std::unordered_map<std::int32_t, std::deque<Point>> history_;  // by region number
  Evolutions evolutions_;
  std::vector<std::int32_t> ids_, id_of_rank_;  // of the present regions
};

}  // namespace pclscope
