#include "viewer/session/cut_regions.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/region/dendrogram.hpp"
#include "analysis/window/call_waits.hpp"
#include "viewer/session/criteria.hpp"

namespace pclscope::session {
namespace {

// Means are sums until finish().
struct Sums {
  std::uint64_t messages = 0, bytes = 0, delayed = 0, with_ratio = 0, with_transfer = 0;
  double ratio = 0, transfer_ratio = 0;
  BlockedTime blocked;

  void add(const Message& m, const Criteria& criteria) {
    ++messages;
    bytes += m.bytes;
    if (m.flags & message_flag::no_latency) return;
    if (const auto l = criteria.ratio(m)) {
      ratio += *l;
      ++with_ratio;
      if (*l > 1) ++delayed;
    }
    if (const auto l = criteria.transfer_ratio(m)) {
      transfer_ratio += *l;
      ++with_transfer;
    }
  }

  template <class T>  // Region and RegionLink name them alike
  void tell(T& to) const {
    to.messages = messages;
    to.bytes = bytes;
    to.delayed = delayed;
    to.mean_latency_ratio = with_ratio > 0 ? ratio / static_cast<double>(with_ratio) : 0;
    to.mean_transfer_ratio = with_transfer > 0 ? transfer_ratio / static_cast<double>(with_transfer) : 0;
    to.late_sender_s = static_cast<double>(blocked.late_sender) / 1e9;
    to.late_receiver_s = static_cast<double>(blocked.late_receiver) / 1e9;
    to.transfer_s = static_cast<double>(blocked.transfer()) / 1e9;
  }
};

using Pairs = std::map<std::pair<std::int32_t, std::int32_t>, Sums>;

Result<Pairs> sum_up(Session& session, const Snapshot& snapshot, const std::vector<std::int32_t>& region_of_rank) {
  const Criteria criteria(snapshot.criteria);
  const auto region_of = [&](std::int32_t rank) {
    return rank >= 0 && static_cast<std::size_t>(rank) < region_of_rank.size()
               ? region_of_rank[static_cast<std::size_t>(rank)]
               : -1;
  };
  Pairs pairs;
  const auto sums_of = [&](std::int32_t source, std::int32_t destination) -> Sums* {
    const std::int32_t a = region_of(source), b = region_of(destination);
    return a >= 0 && b >= 0 ? &pairs[{std::min(a, b), std::max(a, b)}] : nullptr;
  };
  StoredCallWaits calls([&](const CallWaits::Of& of, const BlockedTime& blocked) {
    if (Sums* sums = sums_of(of.source, of.destination)) sums->blocked += blocked;
  });
  const Status read = session.messages({}, [&](std::span<const Message> batch) {
    for (const Message& m : batch) {
      if (Sums* sums = sums_of(m.source, m.destination)) sums->add(m, criteria);
      calls.add(m);
    }
    return true;
  });
  if (!read) return read.error();
  calls.finish();
  return pairs;
}

}  // namespace

Result<CutRegions> cut_regions(Session& session, const Snapshot& snapshot, std::optional<std::uint64_t> count,
                               double height) {
  if (session.live()) {
    return Error{ErrorCode::not_found, "the tree of regions is in the dump only: cut it when there is one"};
  }
  const Dendrogram& tree = snapshot.dendrogram;
  if (tree.leaf_of_rank.empty()) {
    return Error{ErrorCode::not_found,
                 "the dump has no tree of regions to cut: it is of an older version, or there were no messages"};
  }
  const auto cut = count ? cut_into(tree, static_cast<std::int32_t>(std::min<std::uint64_t>(*count, INT32_MAX)))
                         : cut_at(tree, height);
  if (!cut) return cut.error();
  auto pairs = sum_up(session, snapshot, cut->region_of_rank);
  if (!pairs) return pairs.error();
  CutRegions made;
  made.regions.resize(static_cast<std::size_t>(cut->regions));
  for (std::size_t rank = 0; rank < cut->region_of_rank.size(); ++rank) {
    const std::int32_t region = cut->region_of_rank[rank];
    if (region >= 0) made.regions[static_cast<std::size_t>(region)].ranks.push_back(static_cast<std::int32_t>(rank));
  }
  for (std::size_t id = 0; id < made.regions.size(); ++id) made.regions[id].id = static_cast<std::int32_t>(id);
  for (const auto& [ends, sums] : *pairs) {
    if (ends.first == ends.second) {
      Region& region = made.regions[static_cast<std::size_t>(ends.first)];
      sums.tell(region);
      region.delayed_share =
          sums.messages > 0 ? static_cast<double>(sums.delayed) / static_cast<double>(sums.messages) : 0;
      continue;
    }
    RegionLink& link = made.links.emplace_back();
    link.a = ends.first;
    link.b = ends.second;
    sums.tell(link);
  }
  std::stable_sort(made.links.begin(), made.links.end(),
                   [](const RegionLink& a, const RegionLink& b) { return a.messages > b.messages; });
  std::map<std::int32_t, double> waits;
  for (const RankSummary& rank : snapshot.ranks) waits[rank.rank] = rank.collective_wait_s;
  for (Region& region : made.regions) {
    for (const std::int32_t rank : region.ranks) region.collective_wait_s += waits[rank];
  }
  return made;
}

}  // namespace pclscope::session
