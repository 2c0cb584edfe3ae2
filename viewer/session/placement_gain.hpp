// What another placement would bring in time, by a replay of a dump's calls (docs/methods.md, "What if").
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/link_times.hpp"
#include "analysis/values/snapshot.hpp"
#include "viewer/session/session.hpp"
#include "viewer/session/stored_replay.hpp"
#include "viewer/session/summary_json.hpp"

namespace pclscope::session {

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
Json json_of(const PlacementGain& gain);

// The calls of a dump, in memory: up to some hundred bytes for each of 2 million messages.
class RecordedCalls {
 public:
  // Fails with not_found where nothing can be replayed.
  static Result<RecordedCalls> read(const std::string& path);
  static Result<RecordedCalls> read(Session& session, Snapshot run, const std::function<bool()>& ended = {});
  // The ranks' nodes as `hops` and `placed` below number them, where that is not as in the run. A size for each rank.
  void number_nodes(std::vector<std::int32_t> node_of_rank);
  // Of this run, by what it recorded; nothing: it has no transfers within a node, or none between nodes.
  std::optional<LinkTimes> link_times(const whatif::Hops& hops) const;
  // Of the ranks being on the nodes `placed`. `given`: what transfers take, in place of what the run tells. `of`: of
  // that part of the run alone.
  PlacementGain gain(const std::vector<std::int32_t>& placed, const whatif::Hops& hops,
                     const std::optional<LinkTimes>& given, const TimeSpan& of = {}) const;

 private:
  Snapshot snapshot_;
  std::vector<std::int32_t> node_of_rank_;
  StoredCalls calls_;
  TimeSpan span_;
  NotReplayed left_;
  bool part_ = false;
};

// "IN,FIRST[,MORE]": durations of a message within a node, between nodes, for each hop but the first; "IN,BETWEEN":
// bytes per second. Fails with bad_argument.
Result<LinkTimes> parse_link_times(const std::string& latency, const std::string& bandwidth);

}  // namespace pclscope::session
