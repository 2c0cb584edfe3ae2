// Another placement of the ranks of a network, before it is applied: what it would change, and how to run with it.
// Plain functions of a NetworkCase; analysis/mapping/mapping.hpp searches.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/mapping/launch_files.hpp"
#include "analysis/mapping/mapping.hpp"
#include "viewer/session/network_case.hpp"

namespace pclscope::session {

// What a network has to carry, by its own routes and loads.
struct PlacementSide {
  double hop_bytes = 0;
  double heaviest = 0;  // bytes over the most loaded link
  double inter_bytes = 0;
  std::uint64_t inter_messages = 0;   // between nodes
  std::vector<double> bytes_of_link;  // each direction apart, largest first, without links that nothing crosses
};
PlacementSide placement_side(const NetworkCase& network);

struct PlacementSearch {
  mapping::Objective objective = mapping::Objective::hop_bytes;
  double effort = 1;
  std::optional<LinkTimes> times = {};  // what messages take; Objective::time needs it
  std::function<bool()> ended = {};     // as MappingProblem::ended
};
struct PlacementProposal {
  NetworkCasePtr of;
  NetworkCasePtr after;             // `of` with the ranks elsewhere, on the topology's own routes
  PlacementSide side;               // of `after`
  std::vector<std::int32_t> moved;  // ranks that are on another node
  struct Times {
    double before_s = 0, after_s = 0;
  };
  std::optional<Times> times;  // of all messages together, where it is known what they take
};
// Takes seconds for thousands of ranks: not in the thread that draws. Nobody moves when nothing better is found.
// Errors: no topology, one node, ranks whose node nobody knows, unknown times; as mapping::find_mapping().
Result<PlacementProposal> propose_placement(const NetworkCasePtr& network, const PlacementSearch& search);

// The placement of a network as launchers take it.
Result<std::string> placement_file(const NetworkCase& network, mapping::LaunchFormat format);
// Writes that file anew; refuses when there is one of that name.
Status write_placement(const NetworkCase& network, mapping::LaunchFormat format, const std::string& path);

struct PlacementName {
  const char* word;     // as `pclscope map` takes it
  const char* meaning;  // one sentence
};
PlacementName name_of(mapping::Objective objective);
PlacementName name_of(mapping::LaunchFormat format);
// The command that finds the same placement and writes the same file, for a shell. `target`: what was opened.
std::string map_command(const NetworkCase& network, const std::string& target, mapping::Objective objective,
                        double effort, mapping::LaunchFormat format, const std::string& path);

}  // namespace pclscope::session
