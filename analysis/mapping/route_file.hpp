// Route files as Fujiwara et al. published them (docs/mapping.md), one line for each link of a route, in any order:
//   Hop 1: [102-0] 102 (0 0 1 1 0 6) -> 64 (0 0 1 0 0 0)
// source and destination ranks, then two vertices: a rank there, and coordinates, the last of which is the core in the
// node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/mapping/route_set.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::mapping {

struct RouteProblem {
  std::size_t line = 0;
  std::string what;
};

struct RouteFile {
  RouteSet set;  // without the routes that have a problem
  std::size_t lines = 0;
  std::vector<RouteProblem>
      problems;  // the first hundred, by line: gaps, loops, a rank at two places, links that are not there
  std::size_t problem_count = 0;
};

// With a topology its vertices, found by their coordinates, and its links; without, the vertices that the file names,
// by coordinates. Every route has one byte (set_bytes() knows better). Errors: not readable, a line that is no such
// line (with its number), no lines at all, no route without a problem.
Result<RouteFile> read_routes(const std::string& path, const Topology* topology = nullptr);
// Whether the first line that says anything looks like one of these; false for a file that cannot be read.
bool is_route_file(const std::string& path);

// Routes within a vertex are left out: the format has no line for them.
Status write_routes(const std::string& path, const RouteSet& set);
std::string route_lines(const RouteSet& set, const Route& route);

}  // namespace pclscope::mapping
