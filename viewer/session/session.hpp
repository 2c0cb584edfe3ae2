// One interface to a run, whether it is going on or lies in a file: views stand on this and on nothing below it.
// One thread owns a Session.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/discovery/jobs.hpp"
#include "analysis/values/calls_part.hpp"
#include "analysis/values/collective_call.hpp"
#include "analysis/values/dag.hpp"
#include "analysis/values/density_part.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/mpi_call.hpp"
#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::session {

// How those do who produce the snapshots.
enum class Phase {
  opening,   // nobody has answered yet
  running,   // the job's aggregator is there, or nothing speaks against it
  finished,  // the job ended in order: no newer snapshot will come
  lost,      // the aggregator died, or nobody has answered for long
  stored,    // a file
  failed,    // could not be opened
};
const char* name_of(Phase phase);

// A part of the run's time axis (nanoseconds since its origin). Messages are in it by the time when the send began
// (or_end: or when the receive completed), collective calls when any part of them is.
struct TimeSpan {
  std::int64_t begin_ns = INT64_MIN;
  std::int64_t end_ns = INT64_MAX;  // not included
  bool or_end = false;
  bool has(std::int64_t ns) const { return ns >= begin_ns && ns < end_ns; }
  bool operator==(const TimeSpan&) const = default;
};

// How many MPI calls a dump has one by one.
struct CallCount {
  bool told = false;  // false: a running job, a dump of an earlier version
  std::uint64_t stored = 0;
  std::uint64_t not_stored = 0;  // by the policy, beyond the budget, or for lack of time
  std::uint64_t shed = 0;        // of these: for lack of time
};

class Session {
 public:
  virtual ~Session() = default;

  // A snapshot newer than all given out before, waiting at most `timeout`; empty when none came.
  virtual Result<std::optional<Snapshot>> newer(std::chrono::milliseconds timeout) = 0;
  // running, finished or lost.
  virtual Phase phase() = 0;
  // How a running job on another node was reached, e.g. "ssh to node7"; empty: it is here, or a file.
  virtual std::string way() const { return {}; }
  // The running job's name, or the endpoint that was given; empty: a file.
  virtual std::string job() const { return {}; }
  virtual bool live() const = 0;
  // False for a run that was cut off, for a file that is still being written, and when ranks are missing.
  virtual bool complete() const = 0;
  // False for the first two of these.
  virtual bool closed() const { return complete(); }

  // Stored messages, in the order in which they were matched; `visit` gets them in batches and returns false to stop.
  // Live sessions have none yet (bad_argument).
  virtual Status messages(const TimeSpan& span, const std::function<bool(std::span<const Message>)>& visit) = 0;
  virtual std::uint64_t message_count() const = 0;        // stored
  virtual std::uint64_t messages_not_stored() const = 0;  // counted, but beyond the dump's budget
  virtual std::uint64_t collectives_not_stored() const = 0;
  virtual Result<std::vector<Window>> windows() = 0;
  // Each rank's part in stored collective operations, in the order in which they were completed. As messages().
  virtual Status collectives(const TimeSpan& span,
                             const std::function<bool(std::span<const CollectiveCall>)>& visit) = 0;
  // Stored MPI calls, of each stored window by rank, thread and begin; those of which a part lies in the span. As
  // messages().
  virtual CallCount mpi_call_count() const { return {}; }
  virtual Status mpi_calls(const TimeSpan&, const std::function<bool(std::span<const MpiCall>)>&) { return {}; }
  // The dependency graph of a region, or of ranks: from the dump, or asked from the running job. Fails with not_found
  // (no such region; what there is, is in the message), unreachable.
  virtual Result<Dag> dag(const DagQuestion& question) = 0;
  // Messages per pair of ranks, by source, then destination: from the dump's summary (else its messages), or asked from
  // the running job. Fails with unreachable, not_found (a job that does not tell).
  virtual Result<std::vector<PairTraffic>> traffic() = 0;
  // A part of the density of calls, in full resolution, of a running job (a dump has it in its snapshot). Fails with
  // unreachable, not_found, wrong_version (a job of an earlier version).
  virtual Result<DensityPart> density(const DensityQuestion&) {
    return Error{ErrorCode::not_found, "the density of calls is in the summary"};
  }
  // The newest single calls of a running job. Fails as density().
  virtual Result<CallsPart> newest_calls(const CallsQuestion&) {
    return Error{ErrorCode::not_found, "single calls are in the dump"};
  }
};

// A running job. What is known of it tells an orderly end from a death.
struct LiveSource {
  std::string name;
  std::string endpoint;               // on this node, or as the user gave it
  std::optional<discovery::Job> job;  // as it was announced; one that is not here is reached by viewer/reach
  std::string via;                    // a host that finds the job itself, by ssh; empty: none
  // Between snapshots that come through a relay.
  std::chrono::milliseconds interval{1000};
  std::function<bool()> give_up;  // asked while a job elsewhere is being reached; may be none
};
// Waits for nobody when the job is here; else until it is reached, see viewer/reach/ways.hpp.
Result<std::unique_ptr<Session>> open_live(const LiveSource& source);

// A dump.
Result<std::unique_ptr<Session>> open_stored(const std::string& path);

}  // namespace pclscope::session
