// A dependency graph for people and programs (pictures: analysis/order/dag_dot.hpp).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/values/dag.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::views {

// What is written in pieces, one node or edge per line: a graph may have hundreds of thousands. False from `write`
// stops.
bool write_dag_json(const Dag& dag, const std::vector<std::string>& nodes, const Sites& sites,
                    const std::function<bool(const std::string&)>& write);

// One line per layer: its nodes as rank:received>sent.
std::vector<std::string> dag_lines(const Dag& dag, std::size_t width);

}  // namespace pclscope::views
