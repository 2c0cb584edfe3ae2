// The MPI calls of a stored run, with what they waited for, the messages and the critical path, as the rank timeline
// needs them: by rank and time, 40 bytes per call, about 60 with all of it. Shared, immutable once made.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/delay/critical_path.hpp"
#include "viewer/session/part_to_read.hpp"
#include "viewer/session/session.hpp"
#include "viewer/session/waits_of_ranks.hpp"

namespace pclscope::session {

struct TimelineCall {
  std::int64_t begin = 0, end = 0;  // ns
  float outside = -1;               // ns; as MpiCall has it, to a ten-millionth
  float bytes = 0;                  // the same
  std::uint32_t site = 0;
  std::int32_t peer = MpiCall::nobody;
  std::uint16_t function = 0;
  CallEnding ending = CallEnding::returned;
  bool running = false;  // it had not returned when the record ended
};
static_assert(sizeof(TimelineCall) == 40);
TimelineCall timeline_call(const MpiCall& call, bool running = false);

// Calls of one thread: they do not overlap.
struct TimelineThread {
  std::int32_t rank = 0;
  std::uint16_t thread = 0;
  std::size_t first = 0, end = 0;  // of calls
};

struct TimelineMessage {
  std::int64_t send_begin = 0, recv_end = 0;
  std::int32_t source = 0, destination = 0;
};

struct TimelineRun {
  std::int32_t ranks = 0;
  std::int64_t begin_ns = 0, end_ns = 0;  // of all calls
  std::vector<TimelineCall> calls;
  std::vector<TimelineThread> threads;  // by rank, thread
  std::vector<std::size_t> first_of;    // by rank: its first thread; one more at the end
  WaitsOfRanks waits;
  std::vector<TimelineMessage> messages;  // by send_begin
  std::int64_t longest_message_ns = 0;
  std::vector<PathStep> path;  // critical path of the run; empty: too many messages
  CallCount count;
  std::string lacks;          // a line: what is not in here; empty
  bool live = false;          // the newest calls of a running job: neither messages nor waits are known
  PartToRead part;            // of a dump
  bool more_to_come = false;  // a first piece, while the rest is read

  std::span<const TimelineThread> of(std::int32_t rank) const;
  // The thread's calls of which a part lies in [begin_ns, end_ns).
  std::span<const TimelineCall> within(const TimelineThread& thread, std::int64_t begin_ns, std::int64_t end_ns) const;
};

// For tests and benchmarks: the same from rows. `path`: whether the critical path is looked for.
std::shared_ptr<const TimelineRun> timeline_of(std::int32_t ranks, std::span<const MpiCall> calls,
                                               std::span<const Message> messages,
                                               std::span<const CollectiveCall> collectives, bool path);

// Of a running job: what has returned, what has not, and the span of time that is shown.
std::shared_ptr<const TimelineRun> timeline_of_newest(std::int32_t ranks, std::span<const MpiCall> calls,
                                                      std::span<const MpiCall> running, std::int64_t begin_ns,
                                                      std::int64_t end_ns);

struct TimelineReading {
  std::uint64_t most_calls = 12'000'000;  // of a longer run a part: then `lacks` says so
  TimeSpan wanted = {};                   // which; else its begin
};
// `progress` gets shares of what is read and returns false to stop.
Result<std::shared_ptr<TimelineRun>> read_timeline(Session& session, const Snapshot& snapshot,
                                                   const std::function<bool(double)>& progress,
                                                   const TimelineReading& reading = {});

}  // namespace pclscope::session
