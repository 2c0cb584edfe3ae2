// Routes, or the vertices of a network, in the order of a metric, largest first (Fujiwara et al. 4.3): which of them a
// brush holds, and where their values lie in a plot.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/mapping/route_set.hpp"
#include "viewer/layout/geometry.hpp"

namespace pclscope::layout {

enum class RankedBy : std::uint8_t {
  length,      // links of a route
  bytes,       // of a route
  hop_bytes,   // bytes x links
  load,        // bytes over the heaviest link of a route
  out_degree,  // bytes over the links out of a vertex
  in_degree,   // over those into it
};
inline constexpr std::size_t ranked_by_count = 6;
inline bool ranks_vertices(RankedBy by) { return by == RankedBy::out_degree || by == RankedBy::in_degree; }
const char* name_of(RankedBy by);

struct RouteRanking {
  RankedBy by = RankedBy::load;
  std::vector<std::uint32_t> order;  // indices of routes, or vertices
  std::vector<double> values;        // in that order: never rising
};

struct RankingValues {
  const std::vector<mapping::Route>& routes;
  const std::vector<double>& heaviest;   // load of the heaviest link of each route
  const std::vector<double>& out_bytes;  // of each vertex, over its links
  const std::vector<double>& in_bytes;
};
// Routes within a vertex use no link and are left out; so are vertices without bytes. Among equals more bytes first,
// then the order in which they are given.
RouteRanking rank_by(RankedBy by, const RankingValues& values);

// How many of `count` are the first `percent`: at least one.
std::size_t top_count(std::size_t count, double percent);

// Indices of the routes that places first .. end - 1 of the ranking hold, ascending. Of vertices: the routes over a
// link out of one (into one).
std::vector<std::uint32_t> routes_between(const RouteRanking& ranking, const std::vector<mapping::Route>& routes,
                                          std::size_t first, std::size_t end);

// Places from left to right, values upwards.
struct RankingPlot {
  Rect area;
  std::size_t count = 0;
  double least = 0, most = 1;  // of the axis of values; least > 0 when logarithmic
  bool logarithmic = false;
  float x(double place) const;  // left edge of a place
  double place(float x) const;  // not rounded; within 0 .. count
  float y(double value) const;  // below the least: the bottom
};
RankingPlot ranking_plot(const RouteRanking& ranking, const Rect& area, bool logarithmic);

// The values of all places that begin in one column of pixels, or the place that spans it.
struct RankingColumn {
  float x = 0;  // left edge
  double most = 0, least = 0;
};
std::vector<RankingColumn> ranking_columns(const RouteRanking& ranking, const RankingPlot& plot);

}  // namespace pclscope::layout
