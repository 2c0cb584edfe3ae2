// What the placement view has done in the background: what networks have to carry, the search, what it would bring, the
// writing of a file.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "viewer/session/placement_gain.hpp"
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
  std::shared_ptr<const session::RecordedCalls> calls;  // of the run; null: they are not known
  std::string why_no_calls;
  std::shared_ptr<std::atomic<bool>> ended;  // set by whoever has had enough
};
struct SearchAnswer {
  std::uint64_t number = 0;
  std::shared_ptr<const session::PlacementProposal> proposal;
  std::string problem;
  bool ended = false;  // before the search was through
};
SearchAnswer search_placement(const SearchQuestion& question, const std::function<bool()>& stopping);

struct GainQuestion {
  session::NetworkCasePtr placed;
  std::shared_ptr<const session::RecordedCalls> calls;
  bool operator==(const GainQuestion&) const = default;
};
struct GainAnswer {
  session::NetworkCasePtr placed;  // ranks as here
  session::PlacementGain gain;
};
GainAnswer replay_placement(const GainQuestion& question);

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
