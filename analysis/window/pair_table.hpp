// What each rank sent to each other rank: sums since the job began, and those of the window being closed. The sparse
// source of everything that is shown per region or rank; totals per region stay exact when regions change.
// Per pair also sums of times per class and size (size_bins.hpp), from which mean ratios follow exactly by any
// criteria. Memory: 230 bytes per pair of ranks that ever exchanged a message, and 80 per size class of its messages.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/values/latency_sums.hpp"
#include "analysis/values/ratio_sums.hpp"

namespace pclscope {

class PairTable {
 public:
  struct Pair {
    std::int32_t source;
    std::int32_t destination;
  };

  // Times of the messages of one size class that have a latency, ns.
  struct TimeSums {
    std::uint64_t timed = 0;
    std::int64_t time = 0;
    std::int64_t transfer = 0;
    std::int64_t log = 0;  // of the natural logarithms of the times in ns, each rounded to 1 / log_unit
    TimeSums& operator+=(const TimeSums& o) {
      timed += o.timed;
      time += o.time;
      transfer += o.transfer;
      log += o.log;
      return *this;
    }
    static constexpr double log_unit = 65536;
    static TimeSums of(std::int64_t time_ns, std::int64_t transfer_ns) {
      return {1, time_ns, transfer_ns, log_of(time_ns)};
    }
    // In units of 1 / log_unit, to 2 of them: the power of two, and a polynomial (Chebyshev's of degree 5) for the
    // rest. A third of std::log's time.
    static std::int64_t log_of(std::int64_t time_ns) {
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::max<std::int64_t>(time_ns, 1)));
      const float x = std::bit_cast<float>((bits & 0x7fffffu) | 0x3f800000u) - 1.0f;
      const float square = x * x;
      const float log = 1.1447098e-05f + 0.9991664f * x + (-0.48969909f + 0.28382318f * x) * square +
                        (-0.1299572f + 0.029808765f * x) * (square * square);
      constexpr double of_two = 0.693147180559945 * log_unit;
      const auto power = static_cast<double>(static_cast<int>(bits >> 23) - 127);
      return static_cast<std::int64_t>(power * of_two + static_cast<double>(log) * log_unit + 0.5);
    }
  };

  // Index of the pair, which has, or is about to get, messages or blocked time in the open window.
  std::uint32_t touch(std::int32_t source, std::int32_t destination) {
    const std::uint32_t index = find_or_make(source, destination);
    if (!in_window_[index]) {
      in_window_[index] = true;
      touched_.push_back(index);
    }
    return index;
  }
  // The pair's sums of the open window; the reference is valid until the next call of touch.
  LatencySums& window_sums(std::uint32_t index) { return window_[index]; }
  void add_times(std::uint32_t index, bool inter_node, std::uint32_t bin, const TimeSums& times) {
    size_of(index, static_cast<std::uint16_t>(bin << 1 | inter_node)).window += times;
  }
  // Sets the ratios of the open window. `inverse(inter_node, bin)`: Criteria::Inverse.
  template <class InverseOf>
  void judge_window(InverseOf&& inverse) {
    for (const std::uint32_t i : touched_) {
      LatencySums& sums = window_[i];
      sums.ratio = sums.transfer_ratio = sums.log_ratio = 0;
      for (std::uint32_t at = first_size_[i]; at != none; at = sizes_[at].next) {
        const auto judged = judge(sizes_[at], sizes_[at].window, inverse);
        sums.ratio += judged.time;
        sums.transfer_ratio += judged.transfer;
        sums.log_ratio += judged.log;
      }
    }
  }
  // Of all closed windows, by these criteria.
  template <class InverseOf>
  RatioSums total_ratios(std::size_t index, InverseOf&& inverse) const {
    RatioSums sums;
    for (std::uint32_t at = first_size_[index]; at != none; at = sizes_[at].next)
      sums += judge(sizes_[at], sizes_[at].total, inverse);
    return sums;
  }
  // Calls visit(inter_node, bin, TimeSums) for what the pair has in the open window.
  template <class Visit>
  void window_times(std::size_t index, Visit&& visit) const {
    for (std::uint32_t at = first_size_[index]; at != none; at = sizes_[at].next)
      if (sizes_[at].window.timed > 0) visit((sizes_[at].key & 1) != 0, sizes_[at].key >> 1u, sizes_[at].window);
  }
  // The same, of all closed windows.
  template <class Visit>
  void total_times(std::size_t index, Visit&& visit) const {
    for (std::uint32_t at = first_size_[index]; at != none; at = sizes_[at].next)
      if (sizes_[at].total.timed > 0) visit((sizes_[at].key & 1) != 0, sizes_[at].key >> 1u, sizes_[at].total);
  }
  // Ratios of messages of one class and size with these times.
  template <class InverseOf>
  static RatioSums judge(bool inter_node, std::uint32_t bin, const TimeSums& times, InverseOf&& inverse) {
    if (times.timed == 0) return {};
    const auto by = inverse(inter_node, bin);
    return {times.timed, static_cast<double>(times.time) * by.time, static_cast<double>(times.transfer) * by.transfer,
            static_cast<double>(times.log) / TimeSums::log_unit + static_cast<double>(times.timed) * by.log_time};
  }
  // The sums of the open window per region: messages of two ranks with the same number (-1: in no region), ascending.
  std::vector<RegionSums> region_sums(std::span<const std::int32_t> region_of_rank, LatencySums& all) const {
    std::vector<RegionSums> list;
    std::unordered_map<std::int32_t, std::size_t> at;
    std::size_t last = 0;  // neighbouring pairs are often of one region
    for (const std::uint32_t i : touched_) {
      all += window_[i];
      const std::int32_t region = region_of_rank[static_cast<std::size_t>(pairs_[i].source)];
      if (region < 0 || region != region_of_rank[static_cast<std::size_t>(pairs_[i].destination)]) continue;
      if (last >= list.size() || list[last].region != region) {
        const auto [found, made] = at.try_emplace(region, list.size());
        if (made) list.push_back({region, {}});
        last = found->second;
      }
      list[last].sums += window_[i];
    }
    std::sort(list.begin(), list.end(), [](const RegionSums& a, const RegionSums& b) { return a.region < b.region; });
    return list;
  }
  // Pairs that touch() was called for since the last window; indices for pair(), window(), total().
  std::span<const std::uint32_t> touched() const { return touched_; }
  // Adds the open window to the totals. The window's sums stay until clear_window().
  void fold_window() {
    for (const std::uint32_t i : touched_) {
      total_[i] += window_[i];
      for (std::uint32_t at = first_size_[i]; at != none; at = sizes_[at].next) sizes_[at].total += sizes_[at].window;
    }
  }
  void clear_window() {
    for (const std::uint32_t i : touched_) {
      window_[i] = LatencySums{};
      in_window_[i] = false;
      for (std::uint32_t at = first_size_[i]; at != none; at = sizes_[at].next) sizes_[at].window = TimeSums{};
    }
    touched_.clear();
  }

  std::size_t size() const { return pairs_.size(); }
  const Pair& pair(std::size_t index) const { return pairs_[index]; }
  const LatencySums& window(std::size_t index) const { return window_[index]; }
  const LatencySums& total(std::size_t index) const { return total_[index]; }

 private:
  static constexpr std::uint32_t none = 0xffffffffu;
  struct Size {
    std::uint32_t next;  // of the same pair
    std::uint16_t key;   // bin, class
    TimeSums window, total;
  };

  Size& size_of(std::uint32_t index, std::uint16_t key) {
    std::uint32_t at = first_size_[index];
    while (at != none && sizes_[at].key != key) at = sizes_[at].next;
    if (at != none) return sizes_[at];
    sizes_.push_back({first_size_[index], key, {}, {}});
    first_size_[index] = static_cast<std::uint32_t>(sizes_.size() - 1);
    return sizes_.back();
  }
  template <class InverseOf>
  static RatioSums judge(const Size& size, const TimeSums& times, InverseOf&& inverse) {
    return judge((size.key & 1) != 0, static_cast<std::uint32_t>(size.key >> 1), times, inverse);
  }

  static std::size_t hash(std::int32_t source, std::int32_t destination) {
    const std::uint64_t key =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32 | static_cast<std::uint32_t>(destination);
    const std::uint64_t mixed = (key ^ key >> 29) * 0xbf58476d1ce4e5b9u;
    return mixed ^ mixed >> 32;
  }
  std::uint32_t find_or_make(std::int32_t source, std::int32_t destination) {
    if (last_ < pairs_.size() && pairs_[last_].source == source && pairs_[last_].destination == destination)
      return last_;
    return last_ = look_up(source, destination);
  }
  [[gnu::noinline]] std::uint32_t look_up(std::int32_t source, std::int32_t destination) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash(source, destination) & mask;
    for (; slots_[at] != none; at = (at + 1) & mask) {
      const Pair& p = pairs_[slots_[at]];
      if (p.source == source && p.destination == destination) return slots_[at];
    }
    const auto index = static_cast<std::uint32_t>(pairs_.size());
    slots_[at] = index;
    pairs_.push_back({source, destination});
    window_.emplace_back();
    total_.emplace_back();
    first_size_.push_back(none);
    in_window_.push_back(false);
    if (pairs_.size() * 2 > slots_.size()) grow();
    return index;
  }
  void grow() {
    slots_.assign(slots_.size() * 2, none);
    for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
      std::size_t at = hash(pairs_[i].source, pairs_[i].destination) & (slots_.size() - 1);
      while (slots_[at] != none) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = i;
    }
  }

  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(256, none);
  std::vector<Pair> pairs_;
  std::uint32_t last_ = 0;                   // that was asked for: messages often come pair by pair
  std::vector<LatencySums> window_, total_;  // ratios: of the open window, as judge_window() set them
  std::vector<std::uint32_t> first_size_;    // of each pair, into sizes_
  std::vector<Size> sizes_;
  std::vector<char> in_window_;  // is it in touched_?
  std::vector<std::uint32_t> touched_;
};

}  // namespace pclscope
