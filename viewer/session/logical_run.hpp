// Logical time of a stored run (docs/methods.md, "Logical time") as pictures need it: every event in 24 bytes, phase by
// phase, so that 16,384 ranks for 2,000 steps fit into 800 MB. Shared, immutable once published.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/logical/clusters.hpp"
#include "viewer/session/logical_reading.hpp"
#include "viewer/session/part_to_read.hpp"
#include "viewer/session/session.hpp"
#include "viewer/session/short_bytes.hpp"

namespace pclscope::session {

inline constexpr std::size_t logical_metrics = logical::metrics;
// From LogicalPhase::value() to seconds; bytes stay.
constexpr double unit_of(logical::Metric metric) { return metric == logical::Metric::bytes ? 1 : 1e-9; }

// An event. What is in float is exact to a ten-millionth.
struct LogicalBox {
  std::uint32_t step = 0;       // of the run
  std::uint32_t site : 29 = 0;  // id in Snapshot::sites, 0 unknown
  std::uint32_t several : 1 = 0;
  logical::Kind kind : 2 = logical::Kind::send;
  float lateness_ns = 0;
  float duration_ns = 0;
  // The box at the other end of its message, in the same phase; with several, where they begin in
  // LogicalPhase::partners, their number first. Of a collective whose members all left after all had come the box of
  // its least rank, the same for all of them. None: not known, or a collective that members left early.
  std::uint32_t partner = logical::none;
  std::uint16_t wait_share = 0;   // of the duration, in 65535ths
  std::uint16_t short_bytes = 0;  // short_bytes.hpp
};
static_assert(sizeof(LogicalBox) == 24);

struct LogicalPhase {
  std::uint32_t first_step = 0, steps = 0;
  std::vector<logical::Part> parts;  // by rank; their events are boxes of this phase
  std::vector<LogicalBox> boxes;
  std::vector<std::uint32_t> partners;
  std::vector<logical::Earliest> earliest;     // of its steps
  std::array<double, logical_metrics> sums{};  // over boxes by logical::Metric, in its unit

  std::span<const std::uint32_t> partners_of(const LogicalBox& box) const {
    if (box.kind == logical::Kind::collective || box.partner == logical::none) return {};
    if (!box.several) return {&box.partner, 1};
    return {&partners[box.partner] + 1, partners[box.partner]};
  }
  std::int32_t rank_of(std::uint32_t box) const;
  const logical::Part* part_of(std::int32_t rank) const;  // null: it has none
  // The rank's box in that step; none.
  std::uint32_t box_at(std::int32_t rank, std::uint32_t step) const;
  // Nanoseconds since the time origin.
  std::int64_t end_ns(const LogicalBox& box) const {
    return earliest[box.step - first_step].end + static_cast<std::int64_t>(box.lateness_ns);
  }
  std::int64_t begin_ns(const LogicalBox& box) const {
    return end_ns(box) - static_cast<std::int64_t>(box.duration_ns);
  }
  // Nanoseconds, or bytes, of the box.
  float value(const LogicalBox& box, logical::Metric metric) const {
    if (metric == logical::Metric::lateness) return box.lateness_ns;
    if (metric == logical::Metric::duration) return box.duration_ns;
    if (metric == logical::Metric::wait) return box.duration_ns * (static_cast<float>(box.wait_share) / 65535);
    if (metric == logical::Metric::bytes) return static_cast<float>(from_short_bytes(box.short_bytes));
    const logical::Earliest& first = earliest[box.step - first_step];
    return std::max(0.f, static_cast<float>(first.end - first.begin) + box.lateness_ns - box.duration_ns);
  }
};

struct LogicalRun {
  std::int32_t ranks = 0;
  std::vector<std::shared_ptr<const LogicalPhase>> phases;  // by first step, then least rank, once it is whole
  std::uint32_t steps = 0;
  std::uint64_t events = 0;
  // Of each step the sum over events by logical::Metric, in its unit.
  std::vector<std::array<float, logical_metrics>> sums;
  std::uint32_t longest_phase = UINT32_MAX;  // steps; known when phases are in order
  bool whole = false;                        // everything was read, of the part
  double progress = 0;                       // 0 .. 1
  PartToRead part;
  std::string lacks;  // a line: what is not in here; empty

  // Among phases[first] to phases[end - 1] are all that have a step in [from, to).
  std::pair<std::uint32_t, std::uint32_t> phases_within(double from, double to) const;
};

// Reads messages and collectives that are stored, in pieces of time, and publishes what there is now and then, all of
// it last. `publish` returns false to stop.
using PublishLogical = std::function<bool(std::shared_ptr<const LogicalRun>)>;
struct LogicalReading {
  std::uint64_t messages_at_once = 400'000;  // about; of a piece
  std::uint64_t most_messages = 16'000'000;  // of a longer run a part
  std::size_t most_bytes = 900'000'000;      // what is read ends there: phases of few events need more for each
  TimeSpan wanted = {};                      // which; else its begin
};
Status read_logical(Session& session, const Snapshot& snapshot, const PublishLogical& publish,
                    const LogicalReading& reading = {});

// A phase of `time` as boxes.
std::shared_ptr<const LogicalPhase> boxes_of(const logical::LogicalTime& time, const logical::Phase& phase);
// All of it: for what has no session.
LogicalRun run_of(const logical::LogicalTime& time, std::int32_t ranks);
// The phase alone, to compute with; times are as exact as boxes are.
logical::LogicalTime time_of(const LogicalPhase& phase, std::int32_t ranks);

}  // namespace pclscope::session
