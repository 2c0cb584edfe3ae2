// What a Topology is made of: links between vertices, and for tori the shape. Built once by the functions below, then
// only read. Vertices 0 .. nodes-1 are nodes, the rest routers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/mapping/torus.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::mapping {

inline constexpr std::int32_t most_vertices = 1 << 20;
inline constexpr std::size_t most_edges = std::size_t{1} << 24;

// Undirected links, for each vertex its neighbours ascending, each once.
struct Links {
  std::vector<std::size_t> start;  // of each vertex, and the end
  std::vector<std::int32_t> neighbours;
  std::span<const std::int32_t> of(std::int32_t vertex) const {
    const auto v = static_cast<std::size_t>(vertex);
    return {neighbours.data() + start[v], start[v + 1] - start[v]};
  }
};

using Edge = std::pair<std::int32_t, std::int32_t>;
// Duplicates count once; no edge from a vertex to itself.
Links make_links(std::int32_t vertices, const std::vector<Edge>& edges);

enum class NetworkKind : std::uint8_t { complete, torus, graph };

struct Network {
  NetworkKind kind = NetworkKind::graph;
  std::int32_t nodes = 0;
  std::int32_t vertices = 0;
  Links links;                                    // empty for `complete`
  Torus torus;                                    // of `torus`
  std::vector<std::string> names;                 // of a file
  std::vector<std::int32_t> dragonfly, fat_tree;  // sizes, of one that was made of three or some numbers; else empty
  std::vector<char> unused;  // of nodes: places where there is none; empty: there is one everywhere
};

// Each takes what stands behind the colon.
Result<Network> parse_nodes(std::string_view text);
Result<Network> parse_torus(std::string_view text, Wiring wiring);
Result<Network> parse_dragonfly(std::string_view text);
Result<Network> parse_fat_tree(std::string_view text);
Result<Network> read_edge_list(const std::string& path);

// "4x4x4mx2": the numbers between the x; `marked` tells which had an m behind them (else it is an error).
Result<std::vector<std::int32_t>> parse_sizes(std::string_view text, std::vector<bool>* marked = nullptr);

}  // namespace pclscope::mapping
