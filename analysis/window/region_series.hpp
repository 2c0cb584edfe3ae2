// Regions over time: their intervals, totals and window history. A message belongs to a region when both its ranks do.
//
// A pattern of communication begins with a window (analysis/region/pattern_watch.hpp; the first with the job). Regions
// are found in the pattern's graph:
//   - when the pattern changes, regions whose ranks are in no new region alone end where the new pattern begins, new
//     ones begin there, and the messages of the windows since then are theirs;
//   - when a better partition of the same pattern is found, it takes the place of the one before from the pattern's
//     begin: totals are summed anew from the pairs, and regions that began with the pattern and are no more are
//     forgotten, as if they had never been. Those that are older end where the pattern began.
// A region with the same ranks goes on in any case. So, at any moment, regions + links between them + messages of ranks
// without a region (+ what was dropped, see below) are the whole, and intervals of a rank's regions do not overlap.
// The history keeps what the region of that number had at the time; a new region's history begins when it was found.
//
// One thread. Memory: present regions and the history; 1,024 ended regions and 8,192 ended links at most (those with
// fewest messages are dropped, and counted); PairBaseline; RecentWindows.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/region/change.hpp"
#include "analysis/region/tracker.hpp"
#include "analysis/values/snapshot.hpp"
#include "analysis/window/evolutions.hpp"
#include "analysis/window/interval_sums.hpp"
#include "analysis/window/pair_table.hpp"

namespace pclscope {

class RegionSeries {
 public:
  // Of regions that ended, so many are kept, and eight times as many links.
  RegionSeries(std::int32_t ranks, std::uint32_t history_windows, std::size_t most_ended = 1024)
      : tracker_(ranks),
        history_limit_(history_windows),
        most_ended_(most_ended),
        id_of_rank_(static_cast<std::size_t>(ranks), -1) {}

  // Another pattern began with the window that begins at `begin_ns`, of which `recent` knows the pairs: later, when it
  // has not all of them. Regions change with the next recluster().
  void begin_pattern(std::int64_t begin_ns, const PairTable& pairs, const RecentWindows& recent);
  bool pattern_waits() const { return next_pattern_.has_value(); }
  // Clusters the graph; true when the regions changed. Call it when the window stands in the totals of `pairs`.
  bool recluster(std::int32_t ranks, const PairTable& pairs, const GraphChange& graph, const RegionOptions& options,
                 double margin);
  // Adds the folded window of `pairs` to the sums, before recluster().
  void fold(const PairTable& pairs);
  // A window with these sums is over, `skipped` empty windows before it. Fills `window.regions` and `.all`, of all sums
  // that there are: also of regions that ended meanwhile. Returns the window's number in evolutions().
  std::uint64_t close_window(const LatencySums& all, std::span<const RegionSums> sums, std::int64_t skipped,
                             Window& window);
  void finish() { evolutions_.finish(); }

  // Fills what a snapshot has of regions: regions, ended_regions, links, ended_links, pattern.
  struct Most {
    std::size_t periods = 32, links = 200, ended = 64, ended_links = 0;  // each at most
  };
  void fill(Snapshot& snapshot, const Most& most, const Judge& judge) const;

  const Evolutions& evolutions() const { return evolutions_; }
  std::span<const std::int32_t> id_of_rank() const { return id_of_rank_; }  // -1: in no region
  const RegionTracker& tracker() const { return tracker_; }
  std::uint64_t pattern() const { return patterns_; }  // its number
  // The ranks of a region that goes on or has ended; nullptr: unknown.
  const std::vector<std::int32_t>* ranks_of(std::int32_t id) const;
  // The region that took the place of a forgotten one; `id` itself when it was not.
  std::int32_t present_id(std::int32_t id) const;

 private:
  struct Point {
    float ratio;
    std::uint32_t messages;
  };
  struct Life {
    std::int64_t from_ns = 0;
    std::int32_t parent = -1;
    IntervalSums before;  // its sums before the present pattern began
  };
  struct Ended {
    TrackedRegion region;
    std::int64_t from_ns = 0, until_ns = 0;
    std::int32_t parent = -1;
    IntervalSums sums;
    std::vector<Period> periods;
  };
  struct EndedLink {
    std::int32_t a = 0, b = 0;
    IntervalSums sums;
  };
  struct NextPattern {
    std::int64_t begin_ns = 0;
    PairBaseline base;
  };
  using Ids = std::pair<std::int32_t, std::int32_t>;
  // Of the tracker's regions, by index; links by both indices, the smaller one high.
  struct Sums {
    std::vector<IntervalSums> regions;
    std::unordered_map<std::uint64_t, IntervalSums> links;
  };

  std::int32_t region_of(const PairTable::Pair& pair) const {
    const std::int32_t of_source = tracker_.region_of(pair.source);
    return of_source == tracker_.region_of(pair.destination) ? of_source : -1;
  }
  void fill_present(Snapshot& snapshot, const Most& most, const Judge& judge) const;
  void push_history(std::deque<Point>& history, Point point);
  // Both indices, the smaller one high; none when both ranks are of one region, or one of no region.
  std::optional<std::uint64_t> link_of(const PairTable::Pair& pair) const;
  Ids ids_of(std::uint64_t link) const;
  // Of all pairs, from the present pattern's begin until a baseline, or until now.
  Sums sums_until(const PairTable& pairs, const PairBaseline* until) const;
  // Where a pair's sums belong; nullptr: to no region and no link.
  IntervalSums* sums_of(const PairTable::Pair& pair, Sums& sums) const;
  void turn_to_next_pattern(const PairTable& pairs);
  void replace(const std::vector<TrackedRegion>& old);
  void end(const TrackedRegion& region, Life& life);
  void end_links(const std::vector<std::int32_t>& present);
  std::int32_t parent_of(const TrackedRegion& region) const;
  void keep_bounds();

  RegionTracker tracker_;
  std::uint32_t history_limit_;
  std::size_t most_ended_;
  std::int64_t pattern_begin_ns_ = 0;
  std::uint64_t patterns_ = 0;  // changes so far
  PairBaseline base_;           // the pairs when the pattern began
  std::optional<NextPattern> next_pattern_;
  std::map<std::int32_t, Life> lives_;        // of the present regions, by id
  std::map<Ids, IntervalSums> links_before_;  // between present regions, before the pattern began
  Sums since_;                                // since then
  std::deque<Ended> ended_;                   // oldest first
  std::vector<EndedLink> ended_links_;        // oldest first
  std::uint64_t dropped_ = 0, dropped_messages_ = 0, dropped_bytes_ = 0;
  std::map<std::int32_t, std::int32_t> took_place_;              // of a forgotten region: which
  std::unordered_map<std::int32_t, std::deque<Point>> history_;  // by region number
  Evolutions evolutions_;
  std::vector<std::int32_t> ids_, id_of_rank_;  // of the present regions
};

}  // namespace pclscope
