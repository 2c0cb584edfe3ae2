// Places of a network by forces: sfdp's for the structure, then a few steps of our own in which links pull by what they
// carry. Takes seconds: not in the thread that draws. The result is kept on disk.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "viewer/layout/force_layout.hpp"
#include "viewer/layout/network_shape.hpp"

namespace pclscope::layout {

struct ForcePlaces {
  VertexPlaces places;
  std::string how;     // "by forces (sfdp)", "by forces", "by forces, as kept on disk"
  bool whole = false;  // false: `stopping` turned true, places are not finished
};

struct ForceSettings {
  std::string sfdp = "sfdp";  // the program; empty: without
  std::string cache;          // a folder for results; empty: none
};
// As the environment says: XDG_CACHE_HOME or ~/.cache, then pclscope/layouts.
ForceSettings usual_force_settings();

// `loads`: of the graph's links; those of both directions pull together. The same input gives the same places.
// `progress`: what is being done, and how much of it (0 .. 1; below 0: nobody knows).
using ForceProgress = std::function<void(const char* what, double share)>;
ForcePlaces place_by_forces(const mapping::LinkGraph& graph, const mapping::LinkLoads& loads,
                            const ForceSettings& settings, const ForceProgress& progress = {},
                            const Stopping& stopping = {});

}  // namespace pclscope::layout
