// How the aggregators of a job's nodes reach each other: messages to single nodes (sparse: nobody talks to everybody),
// grouped in epochs. An epoch ends for everybody together: then all that any node sent in it has been received.
// The aggregator's link goes over MPI (analysis/aggregator/), the simulator's and the tests' stays in memory.
//
// One thread owns a Link. Nodes are numbered as the aggregators' ranks: 0 is the root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pclscope::nodes {

// What each node says of an epoch of its own.
struct EpochWord {
  std::int64_t read_until_ns = 0;  // its rings were read to their heads as of then (job's axis); reduced: the minimum
  std::uint32_t open = 0;          // 1: its ranks are not at their end; reduced: the sum over all living nodes
  bool operator==(const EpochWord&) const = default;
};

// A node's clock against the root's, as measured: at local time `at_ns` the job's axis shows at_ns + offset_ns, and
// runs faster by `drift` (s/s). |error of the offset at at_ns| <= error_ns, |error of the drift there| <= drift_error.
struct ClockUpdate {
  std::int64_t at_ns = 0;  // local axis (TickClock)
  double offset_ns = 0;
  double drift = 0;
  double error_ns = 0;
  double drift_error = 0;
  std::int64_t from_ns = INT64_MIN;  // applied from then on (local axis), by all aggregators of a machine alike
  bool operator==(const ClockUpdate&) const = default;
};

struct LinkEvent {
  enum class Kind : std::uint8_t {
    message,  // `node` sent `bytes`
    epoch,    // the epoch that end_epoch() ended is over on all nodes: `word` is reduced
    clock,    // `clock` is news of this node's clock
    died,     // the aggregator of `node` is no more (told once); epochs go on without it
    closed,   // the link itself is gone: no more epochs, nothing more arrives
  };
  Kind kind = Kind::message;
  int node = -1;
  std::vector<std::byte> bytes;
  EpochWord word;
  ClockUpdate clock;
};

struct LinkTraffic {
  std::uint64_t messages = 0;  // sent to other nodes
  std::uint64_t bytes = 0;     // of those
};

class Link {
 public:
  virtual ~Link() = default;
  virtual int nodes() const = 0;
  virtual int self() const = 0;
  // Aggregators of each machine, numbered one after the other. To this folder each is a node; whoever names a machine,
  // or asks whether a message left one, goes by host_of().
  virtual int per_host() const { return 1; }
  int host_of(int node) const { return node / per_host(); }
  int hosts() const { return nodes() / per_host(); }
  // Queues a message; never waits, never fails. What is for a dead node vanishes. To oneself it is delivered too.
  virtual void send(int node, std::vector<std::byte> bytes) = 0;
  // What was sent since the last call is one epoch. The next call only after its LinkEvent::epoch.
  virtual void end_epoch(const EpochWord& word) = 0;
  // The next event, false when there is none now.
  virtual bool next(LinkEvent& event) = 0;
  virtual LinkTraffic traffic() const = 0;
  // Readable when next() may have something new; -1: there is nothing to wait on.
  virtual int descriptor() const { return -1; }
};

}  // namespace pclscope::nodes
