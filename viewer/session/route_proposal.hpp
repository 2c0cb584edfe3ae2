// Other ways for some routes of a network, before they are applied: what each would change
// (analysis/mapping/reroute.hpp has the rule). Plain functions of a NetworkCase.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/mapping/reroute.hpp"
#include "viewer/session/network_case.hpp"

namespace pclscope::session {

struct RouteChange {
  std::uint32_t route = 0;         // number in the case's routes
  std::vector<std::int32_t> path;  // the other way
};

struct RouteProposal {
  NetworkCasePtr of;
  mapping::RerouteRule rule;
  std::vector<std::uint32_t> chosen;  // routes that were asked about, ascending
  std::vector<RouteChange> changes;   // those of them that get another way, ascending
  // Of the chosen routes, with all changes made. Better: the heaviest link on the route is lighter; worse: heavier,
  // because others have moved there.
  std::size_t better = 0, worse = 0, shorter = 0;
  double mean_saving = 0, best_saving = 0;         // of the better ones: 1 - heaviest after / before
  std::int64_t links_before = 0, links_after = 0;  // of all chosen together
  double heaviest_before = 0, heaviest_after = 0;  // the heaviest link on any of them
  double network_before = 0, network_after = 0;    // the heaviest link of the network
};

// False ends the search.
using RerouteWatch = std::function<bool(double share)>;

// One route: exact. Several: one by one. Nothing when `watch` ended it. Routes within a vertex and unknown numbers are
// passed over.
std::optional<RouteProposal> propose_routes(const NetworkCasePtr& network, std::vector<std::uint32_t> chosen,
                                            const mapping::RerouteRule& rule, const RerouteWatch& watch = {});
// The case with the proposal's changes.
NetworkCasePtr apply_proposal(const RouteProposal& proposal);
// "73 routes: 19 better, mean -18.4 %, best -50.1 %"; of one route its length and heaviest link before and after.
std::string proposal_words(const RouteProposal& proposal);

}  // namespace pclscope::session
