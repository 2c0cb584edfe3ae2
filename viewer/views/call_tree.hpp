// The calls of MPI as a tree of the functions that made them: who called whom, and how long all of it was inside MPI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::views {

// A line of a function from which the next one was called; at the end of a branch an MPI function. Times are inclusive:
// of all calls of MPI below.
struct CallTreeNode {
  std::string function;  // "" when unknown
  std::string place;     // site_brief(); "" for an MPI function
  std::uint64_t calls = 0;
  double inside_s = 0;                // rank-seconds
  double lost_s = 0;                  // of messages (SiteSums)
  std::vector<CallTreeNode> callees;  // most time first
};

// The root has no function: what is below it are the outermost functions that are known.
CallTreeNode call_tree(const std::vector<SiteActivity>& activity, const Sites& sites);

session::Json call_tree_json(const CallTreeNode& root);
// Branches in which less than `least` of the whole is spent, and lost, are put together.
std::vector<std::string> call_tree_lines(const CallTreeNode& root, double least, std::size_t width);
// One line per branch, functions from the outermost on, then microseconds inside MPI: what flame graph programs read.
std::vector<std::string> call_tree_stacks(const CallTreeNode& root);

}  // namespace pclscope::views
