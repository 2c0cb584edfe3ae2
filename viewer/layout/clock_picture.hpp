// Vector clocks of few ranks (PCLVis, Figure 7): their events in logical order, what each knows of the others, and
// which messages told it. From a run's logical time; no pixels.
//
// An event adds one to its own rank's component; what receives takes the maxima of its senders' clocks, and who returns
// from a collective those of all its members (when all returned after all had come: logical time has them in one
// step). Steps grow along messages and along each rank, so clocks that begin at a step are exact among what follows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "viewer/session/logical_run.hpp"

namespace pclscope::layout {

struct ClockRequest {
  std::shared_ptr<const session::LogicalRun> run;
  // Whose events; fewer than two: those of `focus` and of who exchanges most messages with it; -1: of the latest rank.
  std::vector<std::int32_t> ranks;  // ascending
  std::int32_t focus = -1;
  std::int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;  // of interest
  std::size_t most_ranks = 8;
  std::size_t columns = 16;  // at least, if there are as many: those around the period
  bool operator==(const ClockRequest&) const = default;
};

struct ClockEvent {
  std::uint32_t phase = 0, box = 0;  // of the run, of the phase
  std::uint32_t row = 0, column = 0;
  std::vector<std::uint32_t> clock;  // by row
  std::uint32_t others = 0;          // events of ranks that have no row, before it
  bool in_period = false;
};

struct ClockMessage {
  std::uint32_t from = 0, to = 0;  // of ClockPicture::events
};

// A message with a rank that has no row.
struct ClockLooseEnd {
  std::uint32_t event = 0;
  std::int32_t rank = 0;
  bool sent = false;
};

struct ClockPicture {
  std::shared_ptr<const session::LogicalRun> run;
  std::vector<std::int32_t> ranks;   // of the rows, ascending
  std::vector<std::uint32_t> steps;  // of the columns, ascending
  std::vector<ClockEvent> events;    // by column, then row
  std::vector<ClockMessage> messages;
  std::vector<ClockLooseEnd> loose_ends;
  std::size_t ranks_left_out = 0;  // of those that were asked for
  std::size_t steps_left_out = 0;  // of the period, behind the last column
  std::uint32_t first_step = 0;    // clocks begin with it
  bool knows_others = false;       // ClockEvent::others; else too many ranks
  std::size_t contradictions = 0;  // messages that nobody can have learnt from: received before they were sent
};

ClockPicture clock_picture(const ClockRequest& request, const std::function<bool()>& stopping = {});

// Of two events of the picture. Neither way round: they are concurrent.
bool happened_before(const ClockPicture& picture, std::uint32_t a, std::uint32_t b);

}  // namespace pclscope::layout
