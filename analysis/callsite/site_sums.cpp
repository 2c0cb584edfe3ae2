#include "analysis/callsite/site_sums.hpp"

#include <algorithm>
#include <map>

namespace pclscope {
namespace {

constexpr unsigned first_bits = 8;
double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

SiteSums::SiteSums() : pairs_(1), slots_(std::size_t{1} << first_bits), shift_(64 - first_bits) {}

std::uint32_t SiteSums::find(std::uint64_t key) {
  if (key == 0) return 0;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = slot_of(key);; slot = (slot + 1) & mask) {
    if (slots_[slot] != 0) {
      if (pairs_[slots_[slot]].key == key) return slots_[slot];
      continue;
    }
    if (pairs_.size() >= most_pairs) return 0;
    slots_[slot] = static_cast<std::uint32_t>(pairs_.size());
    pairs_.emplace_back().key = key;
    if (pairs_.size() * 2 > slots_.size()) grow();
    return static_cast<std::uint32_t>(pairs_.size() - 1);
  }
}

void SiteSums::add_sums(std::uint32_t send_site, std::uint32_t recv_site, const SiteCosts& costs) {
  Pair& pair = pairs_[find(std::uint64_t{send_site} << 32 | recv_site)];
  pair.messages += costs.messages;
  pair.bytes += costs.bytes;
  pair.delayed += costs.delayed;
  pair.late_sender_ns += costs.late_sender_ns;
  pair.late_receiver_ns += costs.late_receiver_ns;
  pair.transfer_ns += costs.transfer_ns;
}

void SiteSums::grow() {
  --shift_;
  slots_.assign(slots_.size() * 2, 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t i = 1; i < pairs_.size(); ++i) {
    std::size_t slot = slot_of(pairs_[i].key);
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = i;
  }
}

std::vector<SiteActivity> SiteSums::list(std::size_t most) const {
  std::map<std::uint32_t, SiteActivity> sites;
  for (const Pair& pair : pairs_) {
    if (pair.messages == 0 && pair.late_sender_ns + pair.late_receiver_ns + pair.transfer_ns == 0) continue;
    const auto send_site = static_cast<std::uint32_t>(pair.key >> 32), recv_site = static_cast<std::uint32_t>(pair.key);
    SiteActivity& sender = sites[send_site];
    SiteActivity& receiver = sites[recv_site];
    sender.sends += pair.messages;
    sender.late_sender_s += seconds(pair.late_sender_ns);
    receiver.receives += pair.messages;
    receiver.waited_s += seconds(pair.late_sender_ns);
    receiver.late_receiver_s += seconds(pair.late_receiver_ns);
    receiver.transfer_s += seconds(pair.transfer_ns);
    for (SiteActivity* site : {&sender, &receiver}) {
      site->bytes += pair.bytes;
      site->delayed += pair.delayed;
      if (&sender == &receiver) break;  // a message within one site counts once
    }
  }
  std::vector<SiteActivity> list;
  for (auto& [id, activity] : sites) {
    activity.site = id;
    list.push_back(activity);
  }
  std::sort(list.begin(), list.end(), [](const SiteActivity& a, const SiteActivity& b) {
    return lost_s(a) != lost_s(b) ? lost_s(a) > lost_s(b) : a.site < b.site;
  });
  if (list.size() > most) list.resize(most);
  return list;
}

void add_times(std::vector<SiteActivity>& list, std::vector<SiteTime> times, std::size_t most) {
  std::map<std::uint32_t, SiteTime> left;
  for (const SiteTime& time : times) left[time.site] = time;
  for (SiteActivity& row : list) {
    const auto found = left.find(row.site);
    if (found == left.end()) continue;
    row.calls = found->second.calls;
    row.inside_s = found->second.inside_s;
    left.erase(found);
  }
  times.clear();
  for (const auto& [site, time] : left) times.push_back(time);
  std::stable_sort(times.begin(), times.end(),
                   [](const SiteTime& a, const SiteTime& b) { return a.inside_s > b.inside_s; });
  if (times.size() > most) times.resize(most);
  for (const SiteTime& time : times) {
    SiteActivity& row = list.emplace_back();
    row.site = time.site;
    row.calls = time.calls;
    row.inside_s = time.inside_s;
  }
}

}  // namespace pclscope
