// The aggregator's side of the wire (ZeroMQ, FlatBuffers; protocol: FORMAT.md beside this file).
// One thread owns a Publisher. It never blocks: a slow or dead viewer loses snapshots, the aggregator nothing.
#pragma once

#include <memory>
#include <string>

#include "analysis/result.hpp"
#include "analysis/snapshot.hpp"

namespace pclscope::wire {

class Publisher {
 public:
  // `endpoint`: "ipc:///path/job" (sockets /path/job.pub and /path/job.ask, mode 0600) or "tcp://host:port"
  // (PUB on port, ROUTER on port + 1; encrypted, for owners of the user's key file only). Fails with in_use,
  // bad_argument, not_permitted, damaged (the key file), io.
  static Result<std::unique_ptr<Publisher>> bind(const std::string& endpoint);
  ~Publisher();  // removes ipc files

  // Sends the snapshot to all subscribers and keeps it for those that come later.
  void publish(const Snapshot& snapshot);
  // Lets new viewers in and answers questions that arrived; malformed ones are dropped and counted. Call it at least
  // every 50 ms.
  void serve();
  std::uint64_t malformed() const;

 private:
  struct State;
  explicit Publisher(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pclscope::wire
