// Who called MPI, called by whom: the call tree as a table.
#include <algorithm>

#include "viewer/report/html.hpp"
#include "viewer/report/report.hpp"
#include "viewer/text/function_name.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/call_tree.hpp"

namespace pclscope::report {
namespace {

constexpr double least_shown = 0.01;                  // of the time inside MPI
constexpr std::size_t most_rows = 200, deepest = 16;  // levels that are indented (style.cpp)

struct Table {
  const views::CallTreeNode& root;
  std::size_t rows = 0;
  std::string html{};

  void add(const views::CallTreeNode& node, const std::string& field, std::size_t depth) {
    for (std::size_t i = 0; i < node.callees.size() && rows < most_rows; ++i) {
      const views::CallTreeNode& callee = node.callees[i];
      if (std::max(callee.inside_s, callee.lost_s) < least_shown * root.inside_s) continue;
      ++rows;
      const std::string at = field + ".callees." + std::to_string(i);
      const std::string place = callee.place.empty() ? "" : " " + element("small", "", escaped(callee.place));
      html += "<tr>" +
              row_title("depth" + std::to_string(std::min(depth, deepest)),
                        escaped(text::short_function(callee.function)) + place) +
              element("td", "", number(at + ".inside_s", callee.inside_s, text::format_seconds(callee.inside_s))) +
              element("td", "", escaped(text::format_share(root.inside_s > 0 ? callee.inside_s / root.inside_s : 0))) +
              element("td", "", number(at + ".calls", callee.calls, text::format_short_count(callee.calls))) +
              "</tr>\n";
      add(callee, at, depth + 1);
    }
  }
};

}  // namespace

std::string calls_section(const Run& run, const views::Sites& sites) {
  const views::CallTreeNode root = views::call_tree(run.snapshot.site_activity, sites);
  if (!(root.inside_s > 0)) return "";
  Table table{root};
  table.add(root, "tree", 0);
  std::string head = "<tr>";
  for (const char* title : {"called from", "inside MPI", "share", "calls"}) head += column_title("", title);
  return element("p", "",
                 "Functions that called MPI, below those that called them. Time is that of all calls below, of all "
                 "ranks; what has, and lost, less than 1% is left out.") +
         "\n<table>\n<thead>" + head + "</tr></thead>\n<tbody>\n" + table.html + "</tbody>\n</table>\n";
}

}  // namespace pclscope::report
