// The aggregator's side of the wire (ZeroMQ, FlatBuffers; protocol: FORMAT.md beside this file).
// One thread owns a Publisher. It never blocks: a slow or dead viewer loses snapshots, the aggregator nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/values/calls_part.hpp"
#include "analysis/values/dag.hpp"
#include "analysis/values/density_part.hpp"
#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::wire {

struct CurveKeys;

class Publisher {
 public:
  // `endpoint`: "ipc:///path/job" (sockets /path/job.pub and /path/job.ask, mode 0600) or "tcp://host:port"
  // (PUB on port, ROUTER on port + 1; encrypted, for owners of the user's key file only). Fails with in_use,
  // bad_argument, not_permitted, damaged (the key file), io.
  static Result<std::unique_ptr<Publisher>> bind(const std::string& endpoint);
  // At one more endpoint, which may be "tcp://*:0": a port of the system's choice. The endpoint as it was bound, e.g.
  // "tcp://*:40123". `keys`: for tcp, read already; none: they are read. Fails as bind().
  Result<std::string> also_bind(const std::string& endpoint, const CurveKeys* keys = nullptr);
  // The first one, as it was bound.
  const std::string& endpoint() const;
  ~Publisher();  // removes ipc files

  // Sends the snapshot to all subscribers and keeps it for those that come later.
  void publish(const Snapshot& snapshot);
  // Builds the graph that somebody asks for; an Error's message goes to the asker. Ranks are ascending and may not
  // exist.
  using DagHandler = std::function<Result<Dag>(const DagQuestion&)>;
  // Messages per pair of ranks so far.
  using TrafficHandler = std::function<std::vector<PairTraffic>()>;
  // A part of the density of calls, in a few milliseconds at most.
  using DensityHandler = std::function<DensityPart(const DensityQuestion&)>;
  // The newest single calls, in a few tens of milliseconds at most. Ranks are ascending and may not exist.
  using CallsHandler = std::function<CallsPart(const CallsQuestion&)>;
  // Before somebody who joins or asks gets the newest snapshot: may publish() a newer one.
  using Refresh = std::function<void()>;
  // Lets new viewers in and answers questions that arrived; malformed ones are dropped and counted. Call it at least
  // every 50 ms. At most one graph (or traffic, part of the density, single calls) per call, and these take a fifth of
  // the time at most, of density and single calls alone a twentieth: others wait, the 16th and later are refused.
  // Without a handler all are.
  void serve(const DagHandler& handler = {}, const TrafficHandler& traffic = {}, const Refresh& refresh = {},
             const DensityHandler& density = {}, const CallsHandler& calls = {});
  // A viewer is there that gets what is published, as of the last serve() or publish().
  bool watched() const;
  std::uint64_t malformed() const;

 private:
  struct State;
  explicit Publisher(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pclscope::wire
