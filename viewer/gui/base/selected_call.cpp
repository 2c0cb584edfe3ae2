#include "viewer/gui/base/selected_call.hpp"

#include <algorithm>
#include <cstdio>

#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/function_names.hpp"

namespace pclscope::gui {

void select_call(const SelectedCall& call, const Snapshot& snapshot, Selection& selection) {
  selection.call = call;
  selection.rank = call.rank;
  selection.ranks = {call.rank};
  for (const Region& region : snapshot.regions)
    if (std::binary_search(region.ranks.begin(), region.ranks.end(), call.rank)) selection.region = region.id;
  selection.period = call.period();
  selection.message.reset();
}

std::string call_line(const SelectedCall& call, const views::Sites& sites) {
  std::string text = "rank " + std::to_string(call.rank);
  if (call.thread > 0) text += ", thread " + std::to_string(call.thread);
  text += ": " + views::function_name(call.function) + " at " + sites.with_caller(call.site) + ", ";
  char from[48];
  std::snprintf(from, sizeof from, "%.6f s", static_cast<double>(call.begin_ns) * 1e-9);
  return text + text::format_seconds(static_cast<double>(call.end_ns - call.begin_ns) * 1e-9) + " from " + from + " on";
}

std::vector<std::string> call_path(std::uint64_t site, const views::Sites& sites) {
  std::vector<std::string> lines;
  for (const CallSite* frame : sites.path(site))
    lines.push_back(frame->function.empty() ? views::site_brief(*frame)
                                            : text::printable(frame->function) + "  " + views::site_place(*frame));
  return lines;
}

std::string call_path_line(std::uint64_t site, const views::Sites& sites) {
  std::string line;
  for (const CallSite* frame : sites.path(site)) line += (line.empty() ? "" : " < ") + views::site_brief(*frame);
  return line.empty() ? "?" : line;
}

}  // namespace pclscope::gui
