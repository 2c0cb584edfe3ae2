// How many calls of MPI each rank made from each call site, and how long they took. One thread owns a SiteTimes.
// Memory: 32 bytes per rank and site, at most 8,192 sites of a rank; calls from further ones are left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope::blocked {

class SiteTimes {
 public:
  explicit SiteTimes(std::size_t ranks) : ranks_(ranks) {}

  // `key`: site_key.hpp. `calls`: 0 when another event of the same call was added before.
  void add(std::size_t rank, std::uint64_t key, std::uint64_t ticks, std::uint64_t calls) {
    Rank& r = ranks_[rank];
    if (r.last >= r.sites.size() || (r.sites[r.last].key != key && !follows(r, key))) {
      const std::size_t before = r.last;
      if (key == 0 || !find(r, key)) return;
      r.sites[before].next = static_cast<std::uint32_t>(r.last);
    }
    r.sites[r.last].ticks += ticks;
    r.sites[r.last].calls += calls;
  }

  // Sums over ranks by the id that `site_of`(rank, key) gives, ascending; 0, not known, is left out.
  template <class SiteOf>
  std::vector<SiteTime> list(double seconds_per_tick, SiteOf&& site_of) const {
    std::map<std::uint32_t, SiteTime> sums;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      for (const Site& s : ranks_[rank].sites) {
        const std::uint32_t id = site_of(static_cast<std::int32_t>(rank), s.key);
        if (id == 0) continue;
        SiteTime& sum = sums[id];
        sum.site = id;
        sum.calls += s.calls;
        sum.inside_s += static_cast<double>(s.ticks) * seconds_per_tick;
      }
    }
    std::vector<SiteTime> list;
    for (const auto& [id, sum] : sums) list.push_back(sum);
    return list;
  }

 private:
  static constexpr std::size_t most_sites = 8192;
  struct Site {
    std::uint64_t key = 0, ticks = 0, calls = 0;
    std::uint32_t next = 0;  // the site that came after it last time
  };
  struct Rank {
    std::vector<Site> sites;           // as they came
    std::vector<std::uint16_t> slots;  // open addressing: index into sites plus 1, 0 empty
    std::size_t last = 0;              // index into sites
  };

  // Programs call from the same sites again and again, in the same order.
  static bool follows(Rank& r, std::uint64_t key) {
    const std::size_t next = r.sites[r.last].next;
    if (r.sites[next].key != key) return false;
    r.last = next;
    return true;
  }
  static std::size_t slot_of(std::uint64_t key, std::size_t slots) {
    return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15ull >> 40) & (slots - 1);
  }
  static void put(Rank& r, std::uint64_t key, std::size_t index) {
    std::size_t slot = slot_of(key, r.slots.size());
    while (r.slots[slot] != 0) slot = (slot + 1) & (r.slots.size() - 1);
    r.slots[slot] = static_cast<std::uint16_t>(index + 1);
  }
  // Makes it `last`. False: there is no room.
  static bool find(Rank& r, std::uint64_t key) {
    if (r.slots.empty()) r.slots.resize(32);
    for (std::size_t slot = slot_of(key, r.slots.size()); r.slots[slot] != 0;
         slot = (slot + 1) & (r.slots.size() - 1)) {
      if (r.sites[r.slots[slot] - 1u].key != key) continue;
      r.last = r.slots[slot] - 1u;
      return true;
    }
    if (r.sites.size() >= most_sites) return false;
    if (r.sites.size() * 2 >= r.slots.size()) {
      r.slots.assign(r.slots.size() * 2, 0);
      for (std::size_t i = 0; i < r.sites.size(); ++i) put(r, r.sites[i].key, i);
    }
    r.last = r.sites.size();
    r.sites.push_back({.key = key});
    put(r, key, r.last);
    return true;
  }

  std::vector<Rank> ranks_;
};

}  // namespace pclscope::blocked
