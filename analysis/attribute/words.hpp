// The sentences of findings. Whoever shows findings adds where in the code (place_names.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope::attribute::words {

std::string number(double value);                           // three significant digits, no exponent: 0.0123, 4.56, 1230
std::string percent(double share);                          // "23 %"
std::string ranks(const std::vector<std::int32_t>& ranks);  // "rank 3", "ranks 3, 5 and 9 more"

using NodeNames = std::span<const std::string>;        // host names, by node
std::string node(NodeNames names, std::int32_t node);  // "nid0012", where it has none "node 3"

}  // namespace pclscope::attribute::words
