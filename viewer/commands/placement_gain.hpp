// What another placement would bring in time, by a replay of a dump's calls (docs/methods.md, "What if").
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/link_times.hpp"
#include "analysis/values/snapshot.hpp"
#include "viewer/commands/stored_replay.hpp"
#include "viewer/session/session.hpp"
#include "viewer/session/summary_json.hpp"

namespace pclscope::commands {

struct PlacementGain {
  static constexpr double least_worth = 0.02;  // of the time: less cannot be told from noise
  std::string why_not;                         // empty: it is told
  WhatIf what_if;
  NotReplayed left;
  double collective = 0;  // share of all ranks' time in collectives after all had come
  double run_s = 0;
  bool part = false;  // of the run, which is too long to be replayed as a whole
  // Of the run, or of the part.
  double share() const;
  bool worth() const { return why_not.empty() && share() >= least_worth; }
};
std::vector<std::string> lines_of(const PlacementGain& gain);
session::Json json_of(const PlacementGain& gain);

// A dump with its calls in memory.
class RecordedCalls {
 public:
  // Fails with not_found where nothing can be replayed.
  static Result<RecordedCalls> read(const std::string& path);
  // Of this run, by what it recorded; nothing: it has no transfers within a node, or none between nodes.
  std::optional<LinkTimes> link_times(const whatif::Hops& hops) const;
  // `given`: what transfers take, in place of what the run tells. `placed`: nodes as the run numbers them.
  // `of`: of that part of the run alone.
  PlacementGain gain(const std::vector<std::int32_t>& placed, const whatif::Hops& hops,
                     const std::optional<LinkTimes>& given, const session::TimeSpan& of = {}) const;

 private:
  std::unique_ptr<session::Session> session_;
  Snapshot snapshot_;
  StoredCalls calls_;
  session::TimeSpan span_;
  NotReplayed left_;
  bool part_ = false;
};

// "IN,FIRST[,MORE]": durations of a message within a node, between nodes, for each hop but the first; "IN,BETWEEN":
// bytes per second. Fails with bad_argument.
Result<LinkTimes> parse_link_times(const std::string& latency, const std::string& bandwidth);

}  // namespace pclscope::commands
