#include "analysis/delay/origins.hpp"

#include <algorithm>

namespace pclscope {
namespace {

constexpr std::size_t told_victims = 8;

}  // namespace

// Every rank's merged row must fit besides.
Origins::Origins(std::int32_t ranks)
    : most_rows_(std::max(limit, 2 * static_cast<std::size_t>(std::max(ranks, 0)))),
      caused_ns_(static_cast<std::size_t>(std::max(ranks, 0))) {}

std::uint32_t Origins::row(std::int32_t rank, std::uint32_t site, std::uint32_t after_site) {
  const auto [it, is_new] = index_.try_emplace({rank, site, after_site}, static_cast<std::uint32_t>(rows_.size()));
  if (is_new) {
    Row& row = rows_.emplace_back();
    row.rank = rank;
    row.site = site;
    row.after_site = after_site;
  }
  return it->second;
}

void Origins::charge(Row& row, std::int32_t victim, double ns) {
  for (Victim& v : row.victims)
    if (v.rank == victim) {
      v.ns += ns;
      return;
    }
  Victim* least = row.victims.data();
  for (Victim& v : row.victims) {
    if (v.rank < 0 ? least->rank >= 0 : least->rank >= 0 && v.ns < least->ns) least = &v;
  }
  if (least->rank < 0 || least->ns < ns) *least = {victim, ns};
}

void Origins::visit(Row& row, std::int64_t begin_ns, double ns) {
  Visit* oldest = row.visits.data();
  for (Visit& v : row.visits) {
    if (v.begin_ns == begin_ns) {
      v.ns += ns;
      row.worst_ns = std::max(row.worst_ns, v.ns);
      return;
    }
    if (v.begin_ns < oldest->begin_ns) oldest = &v;
  }
  if (begin_ns < oldest->begin_ns) return;
  *oldest = {begin_ns, ns};
  row.worst_ns = std::max(row.worst_ns, ns);
}

void Origins::charge(const Blame& blame, const Wait& wait, double ns) {
  Row& row = rows_[blame.origin];
  if (wait.victim == row.rank || !(ns > 0)) return;  // what a rank cost itself is nobody else's loss
  ++row.waits;
  row.cost_ns += ns;
  if (wait.cause == row.rank) row.direct_ns += ns;
  if (wait.collective) row.collective_ns += ns;
  row.first_ns = std::min(row.first_ns, wait.begin_ns);
  row.last_ns = std::max(row.last_ns, wait.end_ns);
  charge(row, wait.victim, ns);
  if (blame.visit_ns != several_visits) visit(row, blame.visit_ns, ns);
  caused_ns_[static_cast<std::size_t>(row.rank)] += ns;
}

void Origins::merge(Row& into, const Row& row) {
  into.waits += row.waits;
  into.cost_ns += row.cost_ns;
  into.direct_ns += row.direct_ns;
  into.collective_ns += row.collective_ns;
  into.excess_ns += row.excess_ns;
  into.off_core_ns += row.off_core_ns;
  into.worst_ns = std::max(into.worst_ns, row.worst_ns);
  into.first_ns = std::min(into.first_ns, row.first_ns);
  into.last_ns = std::max(into.last_ns, row.last_ns);
  for (const Victim& v : row.victims)
    if (v.rank >= 0) charge(into, v.rank, v.ns);
}

std::vector<std::uint32_t> Origins::make_room(std::size_t rows_needed) {
  std::vector<std::uint32_t> now_at;
  if (rows_.size() + rows_needed <= most_rows_) return now_at;
  std::vector<double> costs;
  for (const Row& row : rows_) costs.push_back(row.cost_ns);
  const auto kept = static_cast<std::ptrdiff_t>(most_rows_ / 4);  // a quarter stays, a half is free or merged rows
  std::nth_element(costs.begin(), costs.end() - kept, costs.end());
  const double least = *(costs.end() - kept);
  std::vector<Row> old;
  old.swap(rows_);
  index_.clear();
  now_at.resize(old.size());
  std::ptrdiff_t stayed = 0;
  for (std::size_t i = 0; i < old.size(); ++i) {
    const bool stays = old[i].cost_ns >= least && stayed < kept;
    stayed += stays;
    now_at[i] = stays ? row(old[i].rank, old[i].site, old[i].after_site) : row(old[i].rank, 0, 0);
    Row& into = rows_[now_at[i]];
    if (stays && into.waits == 0) into = old[i];
    else merge(into, old[i]);
  }
  return now_at;
}

DelayOrigin Origins::told(const Row& row) {
  DelayOrigin origin;
  origin.rank = row.rank;
  origin.site = row.site;
  origin.after_site = row.after_site;
  origin.waits = row.waits;
  origin.cost_s = row.cost_ns * 1e-9;
  origin.direct_s = row.direct_ns * 1e-9;
  origin.collective_s = row.collective_ns * 1e-9;
  origin.worst_s = row.worst_ns * 1e-9;
  if (row.excess_ns > 0) origin.off_core_s = origin.cost_s * std::min(1.0, row.off_core_ns / row.excess_ns);
  origin.first_s = static_cast<double>(row.first_ns) * 1e-9;
  origin.last_s = static_cast<double>(row.last_ns) * 1e-9;
  std::array<Victim, 16> victims = row.victims;
  std::sort(victims.begin(), victims.end(), [](const Victim& a, const Victim& b) {
    if ((a.rank < 0) != (b.rank < 0)) return b.rank < 0;
    return a.ns != b.ns ? a.ns > b.ns : a.rank < b.rank;
  });
  for (std::size_t i = 0; i < told_victims && victims[i].rank >= 0; ++i) {
    origin.victims.push_back(victims[i].rank);
    origin.victim_s.push_back(victims[i].ns * 1e-9);
  }
  return origin;
}

std::vector<DelayOrigin> Origins::list(std::size_t most) const {
  std::vector<const Row*> rows;
  for (const Row& row : rows_)
    if (row.waits > 0) rows.push_back(&row);
  const auto worse = [](const Row* a, const Row* b) {
    if (a->cost_ns != b->cost_ns) return a->cost_ns > b->cost_ns;
    if (a->rank != b->rank) return a->rank < b->rank;
    return a->site != b->site ? a->site < b->site : a->after_site < b->after_site;
  };
  most = std::min(most, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(most), rows.end(), worse);
  std::vector<DelayOrigin> list;
  for (std::size_t i = 0; i < most; ++i) list.push_back(told(*rows[i]));
  return list;
}

double Origins::caused_s(std::int32_t rank) const {
  return rank < 0 || static_cast<std::size_t>(rank) >= caused_ns_.size()
             ? 0
             : caused_ns_[static_cast<std::size_t>(rank)] * 1e-9;
}

}  // namespace pclscope
