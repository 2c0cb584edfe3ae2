// graphviz's program sfdp as a process of its own: a graph goes in by its standard input, places come out. Nothing of
// graphviz is in this program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "viewer/layout/force_layout.hpp"
#include "viewer/layout/geometry.hpp"

namespace pclscope::layout {

// Undirected, numbered from 0.
using GraphEdges = std::vector<std::pair<std::int32_t, std::int32_t>>;

// Places of `vertices`, in units of sfdp's own; deterministic (its seed is fixed). Nothing: there is no sfdp in PATH,
// it failed, or `stopping`, which is asked every few milliseconds, turned true (it is killed then).
std::optional<std::vector<Point>> run_sfdp(std::int32_t vertices, const GraphEdges& edges, const Stopping& stopping,
                                           const std::string& program = "sfdp");

}  // namespace pclscope::layout
