#include "viewer/views/call_tree.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/callsite/site_sums.hpp"
#include "viewer/session/row_json.hpp"
#include "viewer/text/function_name.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/function_names.hpp"

namespace pclscope::views {
namespace {

constexpr std::size_t longest_name = 60;  // columns

CallTreeNode& below(CallTreeNode& node, const std::string& function, const std::string& place) {
  const auto known = std::find_if(node.callees.begin(), node.callees.end(), [&](const CallTreeNode& callee) {
    return callee.function == function && callee.place == place;
  });
  if (known != node.callees.end()) return *known;
  CallTreeNode& added = node.callees.emplace_back();
  added.function = function;
  added.place = place;
  return added;
}

void add(CallTreeNode& node, const SiteActivity& a) {
  node.calls += a.calls;
  node.inside_s += a.inside_s;
  node.lost_s += lost_s(a);
}

void sort(CallTreeNode& node) {
  std::stable_sort(node.callees.begin(), node.callees.end(),
                   [](const CallTreeNode& a, const CallTreeNode& b) { return a.inside_s > b.inside_s; });
  for (CallTreeNode& callee : node.callees) sort(callee);
}

std::string name_of(const CallTreeNode& node) {
  const std::string function = text::clip(text::printable(text::short_function(node.function)), longest_name);
  if (node.place.empty()) return function;
  return function.empty() ? node.place : function + " " + node.place;
}

void add_rows(text::Table& table, const CallTreeNode& node, double whole, double least, const std::string& indent) {
  std::size_t left_out = 0;
  CallTreeNode rest;
  for (const CallTreeNode& callee : node.callees) {
    if (callee.inside_s < least * whole && callee.lost_s < least * whole) {
      ++left_out;
      rest.calls += callee.calls;
      rest.inside_s += callee.inside_s;
      rest.lost_s += callee.lost_s;
      continue;
    }
    table.row({text::format_seconds(callee.inside_s), text::format_share(whole > 0 ? callee.inside_s / whole : 0),
               text::format_seconds(callee.lost_s), text::format_short_count(callee.calls), indent + name_of(callee)});
    add_rows(table, callee, whole, least, indent + "  ");
  }
  if (left_out > 0)
    table.row({text::format_seconds(rest.inside_s), text::format_share(whole > 0 ? rest.inside_s / whole : 0),
               text::format_seconds(rest.lost_s), text::format_short_count(rest.calls),
               indent + "... " + std::to_string(left_out) + " more"});
}

// A frame in the text of a flame graph: nothing in it that separates.
std::string frame_of(const CallTreeNode& node) {
  std::string frame = text::printable(node.function.empty() ? node.place : node.function);
  if (!node.function.empty() && !node.place.empty()) frame += " " + node.place;
  std::replace(frame.begin(), frame.end(), ';', ',');
  return frame;
}

void add_stacks(const CallTreeNode& node, const std::string& above, std::vector<std::string>& lines) {
  const std::string stack = above.empty() ? frame_of(node) : above + ";" + frame_of(node);
  double own_s = node.inside_s;
  for (const CallTreeNode& callee : node.callees) {
    own_s -= callee.inside_s;
    add_stacks(callee, stack, lines);
  }
  const auto microseconds = static_cast<long long>(std::llround(own_s * 1e6));
  if (node.callees.empty() || microseconds > 0) lines.push_back(stack + " " + std::to_string(microseconds));
}

}  // namespace

CallTreeNode call_tree(const std::vector<SiteActivity>& activity, const Sites& sites) {
  CallTreeNode root;
  for (const SiteActivity& a : activity) {
    add(root, a);
    const std::vector<const CallSite*> path = sites.path(a.site);
    CallTreeNode* node = &root;
    for (auto site = path.rbegin(); site != path.rend(); ++site) {
      node = &below(*node, (*site)->function, site_place(**site));
      add(*node, a);
    }
    if (path.empty()) {
      node = &below(*node, "", "unknown");
      add(*node, a);
    }
    if (path.empty() || path.front()->mpi_function == 0) continue;
    node = &below(*node, function_name(path.front()->mpi_function), "");
    add(*node, a);
  }
  sort(root);
  return root;
}

session::Json call_tree_json(const CallTreeNode& root) {
  session::Json callees = session::Json::array();
  for (const CallTreeNode& callee : root.callees) callees.push_back(call_tree_json(callee));
  const auto text = [](const std::string& s) { return s.empty() ? session::Json(nullptr) : session::Json(s); };
  return {{"function", text(root.function)},
          {"place", text(root.place)},
          {"calls", root.calls},
          {"inside_s", session::finite(root.inside_s)},
          {"lost_s", session::finite(root.lost_s)},
          {"callees", callees}};
}

std::vector<std::string> call_tree_lines(const CallTreeNode& root, double least, std::size_t width) {
  if (root.callees.empty()) return {"no MPI calls were recorded"};
  text::Table table;
  for (const char* title : {"inside MPI", "share", "lost", "calls"}) table.column(title, text::Align::right);
  table.column("called from", text::Align::left);
  add_rows(table, root, root.inside_s, least, "");
  return table.lines(width);
}

std::vector<std::string> call_tree_stacks(const CallTreeNode& root) {
  std::vector<std::string> lines;
  for (const CallTreeNode& callee : root.callees) add_stacks(callee, "", lines);
  return lines;
}

}  // namespace pclscope::views
