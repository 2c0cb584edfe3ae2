// Routes: which vertices the messages of a pair of ranks go through. From a topology's deterministic routes, or as a
// file says (route_file.hpp). Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/mapping/topology.hpp"
#include "analysis/mapping/traffic.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::mapping {

struct Route {
  std::int32_t source = 0;  // ranks
  std::int32_t destination = 0;
  double bytes = 0;                // finite, not negative
  std::vector<std::int32_t> path;  // vertices, both ends included; one vertex: both ranks are there
  std::int32_t length() const { return static_cast<std::int32_t>(path.size()) - 1; }
  double hop_bytes() const { return bytes * length(); }
};

struct RankPlace {
  std::int32_t vertex = 0;
  std::int32_t core = 0;  // the last number in a route file's brackets
};

struct RouteSet {
  std::int32_t vertices = 0;
  std::vector<std::vector<std::int32_t>> coordinates;  // of each vertex; of networks without: its number
  std::vector<std::int32_t> number;  // of each vertex: how route files call it, a rank there if there is one
  std::unordered_map<std::int32_t, RankPlace> places;  // of the ranks; their numbers may have gaps
  std::vector<Route> routes;                           // by source, then destination; each pair once
};

// One route for each flow, the topology's own. Errors: more ranks than nodes in `node_of_rank`, nodes that do not
// exist, routes longer in all than a gigabyte.
Result<RouteSet> routes_of(const Traffic& traffic, const Topology& topology,
                           const std::vector<std::int32_t>& node_of_rank);
// Bytes of each route from the traffic, zero for pairs that it does not have. Returns how many routes got bytes.
std::size_t set_bytes(RouteSet& set, const Traffic& traffic);

double mean_length(const std::vector<Route>& routes);  // of the routes that leave their node; 0 without any
double sum_hop_bytes(const std::vector<Route>& routes);

enum class RouteMetric : std::uint8_t { length, load, hop_bytes };
// Indices of all routes, worst first: longest, the heaviest link on it (`heaviest[i]` of route i), bytes x hops. Among
// equals more bytes first, then the order in the set.
std::vector<std::size_t> rank_routes(const std::vector<Route>& routes, RouteMetric metric,
                                     const std::vector<double>& heaviest);

}  // namespace pclscope::mapping
