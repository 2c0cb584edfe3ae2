// What each rank sent to each other rank: sums since the job began, and those of the window being closed. The sparse
// source of everything that is shown per region or rank; totals per region stay exact when regions change.
// Memory: 140 bytes per pair of ranks that ever exchanged a message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/values/latency_sums.hpp"

namespace pclscope {

class PairTable {
 public:
  struct Pair {
    std::int32_t source;
    std::int32_t destination;
  };

  // The pair's sums of the open window; the reference is valid until the next call.
  LatencySums& window_sums(std::int32_t source, std::int32_t destination) {
    const std::uint32_t index = find_or_make(source, destination);
    LatencySums& sums = window_[index];
    if (sums.messages == 0) touched_.push_back(index);
    return sums;
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
  // Pairs that have messages in the open window; indices for pair(), window(), total().
  std::span<const std::uint32_t> touched() const { return touched_; }
  // Adds the open window to the totals. The window's sums stay until clear_window().
  void fold_window() {
    for (const std::uint32_t i : touched_) total_[i] += window_[i];
  }
  void clear_window() {
    for (const std::uint32_t i : touched_) window_[i] = LatencySums{};
    touched_.clear();
  }

  std::size_t size() const { return pairs_.size(); }
  const Pair& pair(std::size_t index) const { return pairs_[index]; }
  const LatencySums& window(std::size_t index) const { return window_[index]; }
  const LatencySums& total(std::size_t index) const { return total_[index]; }

 private:
  static constexpr std::uint32_t none = 0xffffffffu;

  static std::size_t hash(std::int32_t source, std::int32_t destination) {
    const std::uint64_t key =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32 | static_cast<std::uint32_t>(destination);
    const std::uint64_t mixed = (key ^ key >> 29) * 0xbf58476d1ce4e5b9u;
    return mixed ^ mixed >> 32;
  }
  std::uint32_t find_or_make(std::int32_t source, std::int32_t destination) {
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
  std::vector<LatencySums> window_, total_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace pclscope
