// The network that ranks are placed on: nodes, routers, links, and how far nodes are apart. Immutable once made, so any
// thread may ask. Vertices 0 .. nodes()-1 are the nodes (where ranks run); the rest are routers and switches.
// Tori and meshes: row-major, the last coordinate fastest, as in the published route files (docs/mapping.md).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/values/result.hpp"

namespace pclscope::mapping {

struct Network;

class Topology {
 public:
  // What users write:
  //   nodes:N                   N nodes, each one hop from each other (nothing known of the network)
  //   torus:4x4x4mx2            a dimension followed by m is a mesh (no wrap)      mesh:8x8   all are
  //   hyperx:6x16x4             the places along each dimension are all linked with each other
  //   torus:4x4x8@CAB           any of these three: the order in which routes go through the dimensions, A the first
  //   dragonfly:GxRxN           G groups of R routers with N nodes each
  //   fattree:AxBx..            switches' down-degrees, from the leaf switches up; A nodes at each leaf switch
  //   edges:FILE                lines "a b": names of nodes and routers; vertices named in a line "node a" (or, without
  //                             such lines, all) run ranks
  //   slurm:FILE                topology.conf (tree, block), or what `scontrol show topology` prints
  //   ibnet:FILE                what `ibnetdiscover` or `ibnetdiscover -p` prints
  //   coordinates:FILE          lines "name 0 3 2", and "torus 4x4mx2", mesh or hyperx; or "name x1000c3s2b0n1"
  // Errors: could not be read or understood (with the line's number), disconnected, too large (2^20 nodes).
  static Result<Topology> parse(std::string_view text);
  // Of a network that was made otherwise; `text` is what it is called.
  static Topology of(std::string text, Network network);
  // What `scontrol show topology` printed; `path`: what it is called in errors.
  static Result<Topology> parse_slurm(const std::string& text, const std::string& path);

  std::int32_t nodes() const;
  std::int32_t vertices() const;
  const std::string& text() const;                                             // as given to parse()
  std::vector<std::int32_t> coordinates(std::int32_t vertex) const;            // tori and meshes; else empty
  std::int32_t vertex_at(const std::vector<std::int32_t>& coordinates) const;  // -1: none. Not a torus: {vertex}
  std::string name(std::int32_t vertex) const;                                 // of a file: as there; else the number
  // For people: its name, of a dragonfly "router GROUP.PLACE", of a fat tree "switch LEVEL.PLACE" (1: leaf switches).
  std::string title(std::int32_t vertex) const;
  bool has_names() const;                     // of a file
  bool takes_ranks(std::int32_t node) const;  // a node is there: not at every place of coordinates:FILE
  std::span<const std::int32_t> neighbours(std::int32_t vertex) const;  // ascending
  // Links from node to node on a shortest path; 0 to itself. Constant time on tori; elsewhere the first question for a
  // source costs a breadth-first search, the row is kept.
  std::int32_t hops(std::int32_t from, std::int32_t to) const;
  std::int32_t diameter() const;  // largest hops()
  // Vertices of the route that messages take, both ends included: dimension order on tori and meshes (the first one
  // first, unless told otherwise; at equal length upwards from an even coordinate, downwards from an odd one),
  // elsewhere a shortest path, the lowest numbers first.
  std::vector<std::int32_t> route(std::int32_t from, std::int32_t to) const;

  Topology(Topology&&) noexcept;
  Topology& operator=(Topology&&) noexcept;
  ~Topology();

 private:
  struct Graph;
  explicit Topology(std::unique_ptr<Graph> graph);
  std::unique_ptr<Graph> graph_;
};

}  // namespace pclscope::mapping
