#include "analysis/nodes/report_tree.hpp"

#include <algorithm>
#include <utility>

#include "analysis/nodes/merge.hpp"

namespace pclscope::nodes {

namespace {

constexpr std::size_t most_waiting_rows = 16;  // reports; then they are merged

// Leaves the rest in `report`.
Report rows_of(Report& report) {
  Report rows;
  rows.pairs = std::exchange(report.pairs, {});
  rows.pair_times = std::exchange(report.pair_times, {});
  rows.sites = std::exchange(report.sites, {});
  rows.ranks = std::exchange(report.ranks, {});
  rows.functions = std::exchange(report.functions, {});
  rows.site_times = std::exchange(report.site_times, {});
  return rows;
}

bool has_rows(const Report& report) {
  return !(report.pairs.empty() && report.sites.empty() && report.ranks.empty() && report.functions.empty() &&
           report.site_times.empty());
}

}  // namespace

void ReportTree::add(Report&& report) {
  if (has_rows(report)) {
    rows_.push_back(rows_of(report));
    if (rows_.size() >= most_waiting_rows) {
      Report all;
      merge(all, rows_);
      rows_.push_back(std::move(all));
    }
  }
  waiting_.push_back(std::move(report));
}

void ReportTree::add_own(Report&& report) {
  own_closed_ = std::max(own_closed_, report.closed_through_ns);
  add(std::move(report));
}

void ReportTree::add_child(int child, Report&& report) {
  std::int64_t& closed = closed_of_child_.try_emplace(child, nothing).first->second;
  closed = std::max(closed, report.closed_through_ns);
  add(std::move(report));
}

std::int64_t ReportTree::closed_by_all() const {
  std::int64_t closed = own_closed_;
  for (const int child : tree_.children()) {
    const auto found = closed_of_child_.find(child);
    closed = std::min(closed, found == closed_of_child_.end() ? nothing : found->second);
  }
  return closed;
}

bool ReportTree::take(Report& report, std::int64_t now_ns) {
  const std::int64_t closed = closed_by_all();
  took_rows_ = !rows_.empty() && (hurry_ || now_ns >= next_rows_ns_);
  if (waiting_.empty() && closed <= told_ && !took_rows_) return false;
  report = Report{};
  report.windows = std::move(held_);
  merge(report, waiting_);
  if (took_rows_) merge(report, rows_);
  taken_ns_ = now_ns;
  const auto open = std::partition_point(report.windows.begin(), report.windows.end(),
                                         [&](const WindowPart& w) { return w.begin_ns < closed; });
  held_.assign(std::make_move_iterator(open), std::make_move_iterator(report.windows.end()));
  report.windows.erase(open, report.windows.end());
  told_ = std::max(told_, closed);
  report.closed_through_ns = std::max(told_, nothing + 1);  // `nothing` would make it news for the root (part.hpp)
  return true;
}

void ReportTree::sent(std::size_t bytes) {
  if (!took_rows_ || taken_ns_ > INT64_MAX / 2) return;
  next_rows_ns_ = taken_ns_ + static_cast<std::int64_t>(static_cast<double>(bytes) / bytes_per_s * 1e9);
}

}  // namespace pclscope::nodes
