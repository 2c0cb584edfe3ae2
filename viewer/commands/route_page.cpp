#include <algorithm>

#include "viewer/commands/route_output.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"

namespace pclscope::commands {
namespace {

using mapping::Route;
using text::Align;

std::string vertex_text(const RouteInput& input, std::int32_t vertex) {
  const auto& coordinates = input.set.coordinates[static_cast<std::size_t>(vertex)];
  if (static_cast<std::size_t>(vertex) < input.node_names.size())
    return text::printable(input.node_names[static_cast<std::size_t>(vertex)]);
  if (input.topology && input.topology->coordinates(vertex).empty())
    return text::printable(input.topology->title(vertex));
  std::string result = "(";
  for (const std::int32_t c : coordinates) {
    if (result.size() > 1) result += ' ';
    result += std::to_string(c);
  }
  result += ')';
  return result;
}

std::string pair_text(const Route& route) {
  return std::to_string(route.source).append("-").append(std::to_string(route.destination));
}

std::string change(double before, double after) {
  if (before <= 0 || before == after) return "";
  const double percent = (after - before) / before * 100;
  char shown[32];
  std::snprintf(shown, sizeof shown, "%+.1f %%", percent);
  return shown;
}

void append(std::vector<std::string>& page, const text::Table& table, std::size_t width) {
  for (std::string& line : table.lines(width)) page.push_back(std::move(line));
}

std::int32_t longest(const std::vector<Route>& routes) {
  std::int32_t most = 0;
  for (const Route& route : routes) most = std::max(most, route.length());
  return most;
}

std::size_t leaving(const std::vector<Route>& routes) {
  return static_cast<std::size_t>(
      std::count_if(routes.begin(), routes.end(), [](const Route& route) { return route.length() > 0; }));
}

void add_head(const RouteAnswer& answer, std::vector<std::string>& page) {
  const RouteState& now = answer.before;
  const std::size_t out = leaving(now.routes);
  page.push_back(text::format_count(now.routes.size()) + " routes" +
                 (out < now.routes.size() ? ", " + text::format_count(out) + " of them between nodes" : "") +
                 "; mean length " + text::format_ratio(mean_length(now.routes)) + ", longest " +
                 std::to_string(longest(now.routes)));
  // Without a topology no other links are known than those that are used, and the same ones the other way.
  const std::string links =
      answer.input.topology
          ? text::printable(answer.input.topology->text()) + ": " + text::format_count(now.summary.used) + " of " +
                text::format_count(now.summary.links) + " directed links are used"
          : text::format_count(now.summary.used) + " directed links are used, others are not known (--topology)";
  page.push_back(links + "; the heaviest carries " + text::format_bytes(now.summary.largest) + ", the mean one " +
                 text::format_bytes(now.summary.mean));
  if (!answer.input.bytes_from.empty()) page.push_back(answer.input.bytes_from);
}

void add_worst(const RouteAnswer& answer, std::vector<std::string>& page, std::size_t width) {
  static constexpr const char* orders[] = {"length", "heaviest link", "bytes x hops"};
  const RouteState& now = answer.before;
  text::Table table;
  table.column("route", Align::right);
  for (const char* title : {"hops", "bytes", "bytes x hops", "heaviest link"}) table.column(title, Align::right);
  table.column("from", Align::left);
  table.column("to", Align::left);
  std::size_t shown = 0;
  for (const std::size_t i : rank_routes(now.routes, answer.metric, now.heaviest)) {
    const Route& route = now.routes[i];
    if (shown == answer.top || route.length() == 0) break;
    ++shown;
    table.row({pair_text(route), std::to_string(route.length()), text::format_bytes(route.bytes),
               text::format_bytes(route.hop_bytes()), text::format_bytes(now.heaviest[i]),
               vertex_text(answer.input, route.path.front()), vertex_text(answer.input, route.path.back())});
  }
  if (table.empty()) return;
  page.push_back("");
  page.push_back("Routes by " + std::string(orders[static_cast<int>(answer.metric)]));
  append(page, table, width);
}

void add_links(const RouteAnswer& answer, const RouteState& state, const std::string& title,
               std::vector<std::string>& page, std::size_t width) {
  text::Table table;
  for (const char* column : {"from", "to"}) table.column(column, Align::left);
  for (const char* column : {"bytes", "the other way"}) table.column(column, Align::right);
  for (const auto& link : heaviest_links(*answer.input.graph, state.loads, answer.top)) {
    table.row({vertex_text(answer.input, link.from), vertex_text(answer.input, link.to), text::format_bytes(link.bytes),
               text::format_bytes(link.back)});
  }
  if (table.empty()) return;
  page.push_back("");
  page.push_back(title);
  append(page, table, width);
}

void add_before_after(const RouteAnswer& answer, std::vector<std::string>& page, std::size_t width) {
  const RouteState &before = answer.before, &after = *answer.after;
  text::Table table;
  table.column("", Align::left);
  for (const char* column : {"before", "after", "change"}) table.column(column, Align::right);
  const auto row = [&](const char* name, double old_value, double new_value, auto&& format) {
    table.row({name, format(old_value), format(new_value), change(old_value, new_value)});
  };
  row("heaviest link", before.summary.largest, after.summary.largest, text::format_bytes);
  row("mean of used links", before.summary.mean, after.summary.mean, text::format_bytes);
  row("used links", double(before.summary.used), double(after.summary.used),
      [](double count) { return text::format_count(static_cast<std::uint64_t>(count)); });
  row("bytes x hops", before.summary.total, after.summary.total, text::format_bytes);
  row("mean length", mean_length(before.routes), mean_length(after.routes), text::format_ratio);
  row("longest", longest(before.routes), longest(after.routes),
      [](double hops) { return text::format_count(static_cast<std::uint64_t>(hops)); });
  append(page, table, width);
}

void add_changed(const RouteAnswer& answer, std::vector<std::string>& page, std::size_t width) {
  text::Table table;
  table.column("route", Align::right);
  for (const char* title : {"hops", "heaviest link before", "after"}) table.column(title, Align::right);
  table.column("new way", Align::left);
  std::size_t shown = 0;
  for (const std::size_t i : answer.chosen) {
    const Route &old_route = answer.before.routes[i], &route = answer.after->routes[i];
    if (old_route.path == route.path || shown == answer.top) continue;
    ++shown;
    std::string way;
    for (const std::int32_t vertex : route.path)
      way.append(way.empty() ? "" : " ").append(vertex_text(answer.input, vertex));
    std::string hops = std::to_string(old_route.length());
    if (old_route.length() != route.length()) hops.append(" > ").append(std::to_string(route.length()));
    table.row({pair_text(route), hops, text::format_bytes(answer.before.heaviest[i]),
               text::format_bytes(answer.after->heaviest[i]), way});
  }
  if (table.empty()) return;
  page.push_back("");
  append(page, table, width);
}

// What no way around can better: a route's own bytes.
void add_floor(const RouteAnswer& answer, std::vector<std::string>& page) {
  const Route* most = nullptr;
  for (const Route& route : answer.after->routes) {
    if (route.length() > 0 && (!most || route.bytes > most->bytes)) most = &route;
  }
  if (!most || answer.after->summary.largest > most->bytes * 1.01) return;
  page.push_back("The heaviest link carries route " + pair_text(*most) +
                 " alone: only other places for these ranks can better that (pclscope map)");
}

void add_reroute(const RouteAnswer& answer, std::vector<std::string>& page, std::size_t width) {
  std::size_t changed = 0;
  for (const std::size_t i : answer.chosen) changed += answer.before.routes[i].path != answer.after->routes[i].path;
  const bool by_load = answer.rule.criterion == mapping::Criterion::load;
  page.push_back("");
  page.push_back("Rerouted by " + std::string(by_load ? "heaviest link" : "length") + ", at most " +
                 std::to_string(answer.rule.delta) + " links longer: " + text::format_count(changed) + " of " +
                 text::format_count(answer.chosen.size()) + " routes have a better way");
  add_before_after(answer, page, width);
  const Relief relief = relief_of(answer);
  if (relief.routes > 0) {
    page.push_back("The heaviest link of " + text::format_count(relief.routes) + " routes is lighter: by " +
                   text::format_share(relief.mean) + " on average, by " + text::format_share(relief.most) + " at most");
  }
  add_floor(answer, page);
  add_changed(answer, page, width);
  if (changed > 0) add_links(answer, *answer.after, "Most loaded links after", page, width);
}

}  // namespace

Relief relief_of(const RouteAnswer& answer) {
  Relief relief;
  for (const std::size_t i : answer.chosen) {
    const double before = answer.before.heaviest[i],
                 share = before > 0 ? (before - answer.after->heaviest[i]) / before : 0;
    if (share <= 1e-12) continue;
    ++relief.routes;
    relief.mean += share;
    relief.most = std::max(relief.most, share);
  }
  if (relief.routes > 0) relief.mean /= static_cast<double>(relief.routes);
  return relief;
}

RouteState state_of(const mapping::LinkGraph& graph, std::vector<Route> routes) {
  RouteState state;
  state.routes = std::move(routes);
  state.loads = mapping::link_loads(graph, state.routes);
  state.summary = mapping::summarise(state.loads);
  state.heaviest = mapping::heaviest_of(graph, state.loads, state.routes);
  return state;
}

std::vector<std::string> route_page(const RouteAnswer& answer, std::size_t width) {
  std::vector<std::string> page;
  add_head(answer, page);
  add_worst(answer, page, width);
  add_links(answer, answer.before, answer.after ? "Most loaded links before" : "Most loaded links", page, width);
  if (answer.after) add_reroute(answer, page, width);
  return page;
}

}  // namespace pclscope::commands
