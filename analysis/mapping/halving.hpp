// Sites cut in two again and again: the tree of domains that Scotch wants of a network ("decomposition-defined"
// target).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/mapping/instance.hpp"

namespace pclscope::mapping {

// Of each site its number in the tree: the root is 1, the halves of k are 2k and 2k + 1. Numbers stay below twice the
// next power of two above the number of sites.
using Domains = std::vector<std::int32_t>;

// A grid, a dimension for each cut.
Domains halve_grid(const Grid& grid, std::int32_t sites, const std::vector<std::size_t>& halving);

// Each site is followed by the nearest one that is left: parts that are near to each other follow each other.
std::vector<std::int32_t> chain_of(const Instance& instance);
// The chain, cut near the middle where neighbours in it are farthest apart.
Domains halve_chain(const Instance& instance, const std::vector<std::int32_t>& chain);

// As Scotch reads it. Scotch rounds mean distances: they are written `fine` times as large.
std::string decomposition(const Instance& instance, const Domains& domains, int fine);

}  // namespace pclscope::mapping
