// One network with traffic on it: what the network views draw. Immutable once made, so any thread may read it; another
// placement or other routes give another NetworkCase.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/mapping/link_load.hpp"
#include "analysis/mapping/route_set.hpp"
#include "analysis/mapping/topology.hpp"
#include "analysis/mapping/traffic.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::session {

// What is known, before routes and loads are computed (network_source.hpp reads it).
struct NetworkFacts {
  std::shared_ptr<const mapping::Topology> topology;  // null: only routes are known
  mapping::Traffic traffic;
  std::vector<std::int64_t> rank_names;     // what a traffic file calls the ranks; empty: as they are numbered
  std::vector<std::int32_t> node_of_rank;   // -1: there is no such rank, or nobody knows where it is
  std::vector<std::int32_t> capacities;     // ranks that each node may take; empty without a topology
  std::vector<std::string> node_names;      // of a run; empty: vertices have numbers
  std::optional<mapping::RouteSet> routes;  // as a route file says; none: the topology's own
  std::string routes_from;                  // of `routes`; else make_network_case() says it
  std::string traffic_from;                 // "all of halo.h5", "a byte for each route", ...
  std::string title;                        // "halo.h5 on torus:4x4x2"
  bool of_run = false;
  bool as_run = false;  // node_of_rank is where the run had its ranks
};

struct NetworkCase {
  std::shared_ptr<const mapping::Topology> topology;  // null: only routes are known
  mapping::Traffic traffic;
  std::vector<std::int64_t> rank_names;
  mapping::RouteSet routes;                         // between ranks as they are numbered in `traffic`
  std::shared_ptr<const mapping::LinkGraph> links;  // the topology's; those that routes use where that is `nodes:N`, or
                                                    // where there is none
  mapping::LinkLoads loads;                         // of `links`, by `routes`
  std::vector<double> heaviest;                     // link on each route
  std::vector<double> out_bytes, in_bytes;          // of each vertex: over its links, out of and into it
  std::vector<std::vector<std::int32_t>> ranks_at;  // of each vertex, ascending
  std::vector<std::int32_t> node_of_rank;           // vertex of each rank; -1: there is no such rank
  std::vector<std::int32_t> capacities;             // ranks that each node may take; empty without a topology
  std::vector<std::string> node_names;              // of a run, of the first vertices; empty: vertices have numbers
  std::string routes_from;   // how routes are known: "as the route file says", "assumed: the routes of torus:4x4"
  std::string traffic_from;  // what of the traffic: "all of it so far", "from 3.1 s to 4.1 s", "a byte for each route"
  std::string title;         // "halo.h5 on torus:4x4x2"
  std::string change;        // what was applied last: "32 ranks moved"; empty: this is how it is
  std::uint64_t generation = 0;  // another one for each case that was ever made in this program
  bool of_run = false;           // ranks are those of a run that other views show
  bool as_run = false;           // before any change the ranks are where the run had them
  std::int32_t vertices() const { return routes.vertices; }
};
using NetworkCasePtr = std::shared_ptr<const NetworkCase>;

// What is being done, and how far it has come (0 .. 1).
using NetworkProgress = std::function<void(const char* what, double share)>;

// Routes and loads. Takes up to a second for tens of thousands of routes: not in the thread that draws. Errors: as
// mapping::routes_of(); a topology with too many links.
Result<NetworkCasePtr> make_network_case(const NetworkFacts& facts, const NetworkProgress& progress = {});
// The same traffic on other paths: of each route of `before` its new path, routes in the same order.
NetworkCasePtr with_routes(const NetworkCase& before, std::vector<mapping::Route> routes, std::string change);
// The same traffic with the ranks elsewhere, on the topology's own routes. Errors: no topology, nodes that do not
// exist.
Result<NetworkCasePtr> with_placement(const NetworkCase& before, std::vector<std::int32_t> node_of_rank,
                                      std::string change);
// Other traffic with the same placement, on the topology's own routes: a running job's.
Result<NetworkCasePtr> with_traffic(const NetworkCase& before, mapping::Traffic traffic, std::string traffic_from);

// "node7" or "(1 0 2)" or "12", and what a rank is called.
std::string vertex_name(const NetworkCase& network, std::int32_t vertex);
std::string rank_name(const NetworkCase& network, std::int32_t rank);

}  // namespace pclscope::session
