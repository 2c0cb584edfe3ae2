// The viewer's side of the wire. One thread owns a Subscriber.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/calls_part.hpp"
#include "analysis/values/dag.hpp"
#include "analysis/values/density_part.hpp"
#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"
#include "analysis/wire/frame_link.hpp"

namespace pclscope::wire {

class Subscriber {
 public:
  // Does not wait for the other side to be there. Fails with bad_argument; over tcp also when the key file is missing
  // (not_found), open to others (not_permitted) or damaged.
  static Result<std::unique_ptr<Subscriber>> connect(const std::string& endpoint);
  // Over a link that is there.
  explicit Subscriber(std::unique_ptr<FrameLink> link);
  ~Subscriber();

  // Whether somebody who may be believed answers at all: with the newest snapshot, or that there is none yet. Fails as
  // ask().
  Result<std::optional<Snapshot>> reach(std::chrono::milliseconds timeout);
  // The link; nothing else may be asked of the subscriber afterwards.
  std::unique_ptr<FrameLink> take_link();
  // As the link says.
  bool open() const;
  bool paced() const;

  // Asks for the newest snapshot. Fails with unreachable (nobody answered in time, or the job has published nothing
  // yet), wrong_version, damaged, not_ours, not_permitted (over ipc: another user answers).
  Result<Snapshot> ask(std::chrono::milliseconds timeout);
  // Asks for the dependency graph of a region, or of ranks, in a period. Fails as above, with bad_argument when the
  // question is too long, and with not_found when the job cannot answer: its reason is the message.
  Result<Dag> ask_dag(const DagQuestion& question, std::chrono::milliseconds timeout);
  // Asks for the messages per pair of ranks so far. Fails as ask_dag().
  Result<std::vector<PairTraffic>> ask_traffic(std::chrono::milliseconds timeout);
  // Asks for the density of calls in a period. Fails as ask_dag(); with wrong_version when the job does not know the
  // question.
  Result<DensityPart> ask_density(const DensityQuestion& question, std::chrono::milliseconds timeout);
  // Asks for the newest single calls. Fails as ask_density(), with bad_argument when the question is too long.
  Result<CallsPart> ask_calls(const CallsQuestion& question, std::chrono::milliseconds timeout);
  // The newest published snapshot; older ones waiting are skipped. Empty when no new one came in time.
  Result<std::optional<Snapshot>> next(std::chrono::milliseconds timeout);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pclscope::wire
