// Sums over the messages of an interval: of a region, or between two. With times per class and size, from which mean
// ratios follow by any criteria. And the pairs' sums at a moment, which begin such intervals.
//
// One thread. Memory: an IntervalSums 100 bytes and 40 per size class; a PairBaseline 80 bytes per pair of ranks and 40
// per size class of its messages; RecentWindows at most its budget.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "analysis/values/latency_sums.hpp"
#include "analysis/values/ratio_sums.hpp"
#include "analysis/window/pair_table.hpp"

namespace pclscope {

// Ratios of messages of a class and size bin with these times, by the criteria of now.
using Judge = std::function<RatioSums(bool inter_node, std::uint32_t bin, const PairTable::TimeSums& times)>;

LatencySums difference(const LatencySums& later, const LatencySums& earlier);

struct SizeTimes {
  std::uint32_t bin = 0;
  bool inter_node = false;
  PairTable::TimeSums times;
};

class IntervalSums {
 public:
  LatencySums sums;
  void add_times(bool inter_node, std::uint32_t bin, const PairTable::TimeSums& times);
  IntervalSums& operator+=(const IntervalSums& more);
  RatioSums ratios(const Judge& judge) const;

 private:
  std::vector<SizeTimes> times_;
};

// The newest windows of pairs, as long as they may be the beginning of another pattern.
class RecentWindows {
 public:
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  // The open window of `pairs`. When there is no room the oldest windows are forgotten.
  void add(std::int64_t begin_ns, const PairTable& pairs);
  void forget_before(std::int64_t begin_ns);
  // visit(pair, LatencySums, its SizeTimes...) for what is kept of windows that begin at `begin_ns` or later; returns
  // the begin of the first of them (`begin_ns` if there is none).
  template <class Visit>
  std::int64_t each_since(std::int64_t begin_ns, Visit&& visit) const {
    std::int64_t first = INT64_MAX;
    for (const Kept& window : windows_) {
      if (window.begin_ns < begin_ns) continue;
      first = std::min(first, window.begin_ns);
      std::size_t at = 0;
      for (const Entry& e : window.entries) {
        visit(e.pair, e.sums, std::span(window.times).subspan(at, e.times));
        at += e.times;
      }
    }
    return first == INT64_MAX ? begin_ns : first;
  }

 private:
  struct Entry {
    std::uint32_t pair = 0;
    std::uint32_t times = 0;  // how many
    LatencySums sums;
  };
  struct Kept {
    std::int64_t begin_ns = 0;
    std::vector<Entry> entries;
    std::vector<SizeTimes> times;
    std::size_t bytes() const { return entries.size() * sizeof(Entry) + times.size() * sizeof(SizeTimes); }
  };
  std::deque<Kept> windows_;
  std::size_t bytes_ = 0;
};

// What each pair had at a moment: nothing, or its totals of now without some of the newest windows.
class PairBaseline {
 public:
  PairBaseline() = default;
  PairBaseline(const PairTable& pairs, const RecentWindows& recent, std::int64_t begin_ns);

  LatencySums sums(std::size_t pair) const { return pair < sums_.size() ? sums_[pair] : LatencySums{}; }
  template <class Visit>
  void times(std::size_t pair, Visit&& visit) const {
    if (pair >= sums_.size()) return;
    for (std::size_t i = first_[pair]; i < first_[pair + 1]; ++i)
      visit(times_[i].inter_node, times_[i].bin, times_[i].times);
  }

 private:
  std::vector<LatencySums> sums_;
  std::vector<std::size_t> first_;  // of each pair, into times_; one more than pairs
  std::vector<SizeTimes> times_;
};

}  // namespace pclscope
