// A dependency graph as text for Graphviz (`dot -Tsvg`): layers from left to right.
#pragma once

#include <string>

#include "analysis/values/dag.hpp"

namespace pclscope {

// Nodes are n0, n1, .. with the rank as label, coloured by the mean L of what they received (white: at most 1 or
// none, red: 4 and more); edges as wide as they have messages. Node details are tooltips.
std::string dag_to_dot(const Dag& dag);

}  // namespace pclscope
