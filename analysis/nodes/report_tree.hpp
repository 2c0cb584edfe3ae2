// What one node holds of its subtree's reports until all of it is there: totals go up at once, windows when every child
// has closed them. What has a row per pair, site, rank or node of the subtree grows with it, and need not be fresh: it
// goes up no faster than `bytes_per_s` allows. Memory: the windows that wait for the slowest child, and those rows.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/nodes/budget.hpp"
#include "analysis/nodes/tree.hpp"
#include "analysis/values/part.hpp"

namespace pclscope::nodes {

class ReportTree {
 public:
  static constexpr std::int64_t nothing = INT64_MIN;
  static constexpr double bytes_per_s = TrafficBudget::always / 3;  // of reports with rows

  ReportTree(int self, int nodes) : tree_(self, nodes) {}

  Tree& tree() { return tree_; }
  const Tree& tree() const { return tree_; }
  // Of this node; `closed_through_ns` of the report counts.
  void add_own(Report&& report);
  void add_child(int child, Report&& report);
  // What may go on: everything but windows that some child has not closed, and rows whose time has not come at `now_ns`
  // (any one axis). False when there is nothing new.
  bool take(Report& report, std::int64_t now_ns);
  // The report of the last take() was so long. The next one with rows waits for it. Nobody says so at the root.
  void sent(std::size_t bytes);
  bool took_rows() const { return took_rows_; }
  // The end is near: rows no longer wait.
  void hurry() { hurry_ = true; }

 private:
  void add(Report&& report);
  std::int64_t closed_by_all() const;

  Tree tree_;
  std::vector<Report> waiting_;
  std::vector<Report> rows_;      // of what came, as long as they wait
  std::vector<WindowPart> held_;  // ascending
  std::map<int, std::int64_t> closed_of_child_;
  std::int64_t own_closed_ = nothing, told_ = nothing;
  std::int64_t taken_ns_ = INT64_MIN, next_rows_ns_ = INT64_MIN;
  bool took_rows_ = false, hurry_ = false;
};

}  // namespace pclscope::nodes
