#include "viewer/session/route_proposal.hpp"

#include <algorithm>
#include <cstdio>

#include "analysis/mapping/index.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::session {
namespace {

using mapping::at;
using mapping::LinkGraph;
using mapping::LinkLoads;
using mapping::Route;

struct Ended {};

void add_to(LinkLoads& loads, const LinkGraph& graph, const std::vector<std::int32_t>& path, double bytes) {
  for (std::size_t i = 1; i < path.size(); ++i)
    if (const std::int32_t link = graph.find(path[i - 1], path[i]); link >= 0) loads[at(link)] += bytes;
}

std::int64_t links_on(const std::vector<std::int32_t>& path) { return static_cast<std::int64_t>(path.size()) - 1; }

// What the changes bring, by loads that are summed anew. A change of 1e-9 is rounding.
void compare(RouteProposal& made) {
  const NetworkCase& network = *made.of;
  const LinkGraph& graph = *network.links;
  LinkLoads loads = network.loads;
  for (const RouteChange& change : made.changes) {
    const Route& route = network.routes.routes[change.route];
    add_to(loads, graph, route.path, -route.bytes);
    add_to(loads, graph, change.path, route.bytes);
  }
  auto change = made.changes.begin();
  double savings = 0;
  for (const std::uint32_t number : made.chosen) {
    const Route& route = network.routes.routes[number];
    const bool changed = change != made.changes.end() && change->route == number;
    const std::vector<std::int32_t>& path = changed ? (change++)->path : route.path;
    const double before = network.heaviest[number], after = mapping::heaviest_on(graph, loads, path);
    made.links_before += route.length();
    made.links_after += links_on(path);
    made.shorter += links_on(path) < route.length();
    made.heaviest_before = std::max(made.heaviest_before, before);
    made.heaviest_after = std::max(made.heaviest_after, after);
    const double saving = before > 0 ? 1 - after / before : 0;
    made.worse += saving < -1e-9;
    if (saving <= 1e-9) continue;
    ++made.better;
    savings += saving;
    made.best_saving = std::max(made.best_saving, saving);
  }
  if (made.better > 0) made.mean_saving = savings / static_cast<double>(made.better);
  made.network_before = mapping::summarise(network.loads).largest;
  made.network_after = mapping::summarise(loads).largest;
}

void propose_one(RouteProposal& made) {
  const NetworkCase& network = *made.of;
  mapping::Rerouter rerouter(*network.links, network.loads);
  mapping::Reroute found = rerouter.suggest(network.routes.routes[made.chosen[0]], made.rule);
  if (found.changed) made.changes.push_back({made.chosen[0], std::move(found.path)});
}

bool propose_several(RouteProposal& made, const RerouteWatch& watch) {
  const std::vector<Route>& before = made.of->routes.routes;
  std::vector<Route> routes = before;
  try {
    mapping::reroute(*made.of->links, routes, {made.chosen.begin(), made.chosen.end()}, made.rule,
                     [&](std::int32_t pass, std::size_t done, std::size_t all) {
                       const double passes = made.rule.passes;
                       const double share = (pass - 1 + static_cast<double>(done) / static_cast<double>(all)) / passes;
                       if (watch && !watch(std::min(share, 1.0))) throw Ended();
                     });
  } catch (const Ended&) { return false; }
  for (const std::uint32_t number : made.chosen)
    if (routes[number].path != before[number].path) made.changes.push_back({number, std::move(routes[number].path)});
  return true;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * share);
  return text;
}

std::string from_to(double before, double after) {
  std::string text = text::format_bytes(before) + " -> " + text::format_bytes(after);
  if (before > 0) text += " (" + percent(after / before - 1) + ")";
  return text;
}

}  // namespace

std::optional<RouteProposal> propose_routes(const NetworkCasePtr& network, std::vector<std::uint32_t> chosen,
                                            const mapping::RerouteRule& rule, const RerouteWatch& watch) {
  const std::vector<Route>& routes = network->routes.routes;
  std::erase_if(chosen, [&](std::uint32_t i) { return i >= routes.size() || routes[i].length() < 1; });
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  RouteProposal made;
  made.of = network;
  made.rule = rule;
  made.chosen = std::move(chosen);
  if (made.chosen.size() == 1) propose_one(made);
  else if (!made.chosen.empty() && !propose_several(made, watch)) return std::nullopt;
  compare(made);
  return made;
}

NetworkCasePtr apply_proposal(const RouteProposal& proposal) {
  std::vector<Route> routes = proposal.of->routes.routes;
  for (const RouteChange& change : proposal.changes) routes[change.route].path = change.path;
  return with_routes(
      *proposal.of, std::move(routes),
      std::to_string(proposal.changes.size()) + (proposal.changes.size() == 1 ? " other route" : " other routes"));
}

std::string proposal_words(const RouteProposal& proposal) {
  const std::size_t count = proposal.chosen.size();
  if (count == 0) return "no route between vertices is chosen";
  if (proposal.changes.empty()) return count == 1 ? "no better way for this route" : "no better way for these routes";
  const std::string heaviest = from_to(proposal.heaviest_before, proposal.heaviest_after);
  if (count == 1)
    return std::to_string(proposal.links_before) + " -> " + std::to_string(proposal.links_after) +
           " links, heaviest link on it " + heaviest;
  std::string words = std::to_string(count) + " routes: " + std::to_string(proposal.better) + " better";
  if (proposal.better > 0)
    words += ", mean " + percent(-proposal.mean_saving) + ", best " + percent(-proposal.best_saving);
  if (proposal.worse > 0) words += "; " + std::to_string(proposal.worse) + " worse";
  if (proposal.links_after != proposal.links_before)
    words += "; " + std::to_string(proposal.links_before) + " -> " + std::to_string(proposal.links_after) + " links";
  return words + "; heaviest link on them " + heaviest;
}

}  // namespace pclscope::session
