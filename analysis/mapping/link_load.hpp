// Directed links with numbers, and the bytes that cross each of them.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/mapping/route_set.hpp"
#include "analysis/mapping/topology.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::mapping {

// Every link of a network in both directions, numbered by its first vertex, then its second. Immutable.
class LinkGraph {
 public:
  // Error: more than 2^24 links (nodes:N of more than 4,096 nodes: such routes have one link, nothing to choose).
  static Result<LinkGraph> of(const Topology& topology);
  // What is known of a network of which only routes are: the links that they use, both ways.
  static LinkGraph of(const RouteSet& set);

  std::int32_t vertices() const { return static_cast<std::int32_t>(start_.size()) - 1; }
  std::int32_t links() const { return static_cast<std::int32_t>(to_.size()); }
  std::int32_t first(std::int32_t vertex) const {
    return start_[static_cast<std::size_t>(vertex)];
  }  // the links from it are
  std::int32_t last(std::int32_t vertex) const {
    return start_[static_cast<std::size_t>(vertex) + 1];
  }  // first() .. last() - 1
  std::int32_t from(std::int32_t link) const { return to_[static_cast<std::size_t>(reverse(link))]; }
  std::int32_t to(std::int32_t link) const { return to_[static_cast<std::size_t>(link)]; }
  std::int32_t reverse(std::int32_t link) const { return reverse_[static_cast<std::size_t>(link)]; }
  std::int32_t find(std::int32_t from, std::int32_t to) const;  // -1: there is none

 private:
  void add_reverse();
  std::vector<std::int32_t> start_, to_, reverse_;
};

using LinkLoads = std::vector<double>;  // bytes of each link of a LinkGraph

// The routes must be of this graph: an unknown link ends the program's trust in them and counts nothing.
LinkLoads link_loads(const LinkGraph& graph, const std::vector<Route>& routes);
// The heaviest link of a path; 0 for a path without links.
double heaviest_on(const LinkGraph& graph, const LinkLoads& loads, const std::vector<std::int32_t>& path);
std::vector<double> heaviest_of(const LinkGraph& graph, const LinkLoads& loads, const std::vector<Route>& routes);

struct LoadedLink {
  std::int32_t from = 0, to = 0;  // undirected: from < to
  double bytes = 0;
  double back = 0;  // bytes the other way; undirected: in `bytes`
};
// The heaviest first, at most `most`; without links that nothing crosses.
std::vector<LoadedLink> heaviest_links(const LinkGraph& graph, const LinkLoads& loads, std::size_t most,
                                       bool undirected = false);

struct LoadSummary {
  double largest = 0;  // over directed links
  double total = 0;    // sum of all loads = sum of bytes x hops
  double mean = 0;     // over links that carry something
  std::size_t used = 0;
  std::size_t links = 0;
};
LoadSummary summarise(const LinkLoads& loads);

}  // namespace pclscope::mapping
