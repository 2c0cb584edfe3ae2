// How regions are found: three methods by name.
#pragma once

#include <optional>
#include <string_view>

namespace pclscope {

enum class RegionMethod {
  free_energy,  // weighted free-energy distance, average linkage, largest modularity
  paper,        // PCLVis as printed: shortest-path distance, average linkage, cut at a threshold
  correlation,  // its earlier version: paths of at most 3 edges, average linkage, largest modularity on the tree
};

// "free-energy", "paper", "correlation": as on the command line and in Dendrogram::method.
std::string_view name_of(RegionMethod method);
std::optional<RegionMethod> region_method(std::string_view name);

}  // namespace pclscope
