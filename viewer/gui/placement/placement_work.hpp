// What the placement view has done in the background: what networks have to carry, the search, the writing of a file.
#pragma once

#include <memory>
#include <string>

#include "viewer/session/placement_proposal.hpp"

namespace pclscope::gui {

struct SidesQuestion {
  session::NetworkCasePtr before, now;  // as it is, and what is shown
  bool operator==(const SidesQuestion&) const = default;
};
struct Sides {
  SidesQuestion of;
  session::PlacementSide before, now;
};
Sides make_sides(const SidesQuestion& question);

struct SearchQuestion {
  std::uint64_t number = 0;
  session::NetworkCasePtr network;
  mapping::Objective objective = mapping::Objective::hop_bytes;
  double effort = 1;
};
struct SearchAnswer {
  std::uint64_t number = 0;
  std::shared_ptr<const session::PlacementProposal> proposal;
  std::string problem;
};
SearchAnswer search_placement(const SearchQuestion& question);

struct WriteQuestion {
  std::uint64_t number = 0;
  session::NetworkCasePtr network;
  mapping::LaunchFormat format = mapping::LaunchFormat::plain;
  std::string path;
};
struct WriteAnswer {
  std::uint64_t number = 0;
  bool written = false;
  std::string words;  // "written: /home/me/ranks.txt", or why not
};
WriteAnswer write_file(const WriteQuestion& question);

}  // namespace pclscope::gui
