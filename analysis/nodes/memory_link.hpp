// N endpoints of one link in memory: for tests and for the simulator of many nodes. Deterministic: what an endpoint
// sees depends only on the order of the calls. Messages of an epoch are there at once; what a node sends after its
// end_epoch() belongs to the next epoch and arrives behind the epoch's event, as over MPI.
//
// One thread owns the whole object. Unlike over MPI a node's events stay readable after it was killed: `closed` is the
// last.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "analysis/nodes/link.hpp"

namespace pclscope::nodes {

class MemoryLinks {
 public:
  explicit MemoryLinks(int nodes, int per_host = 1);
  ~MemoryLinks();

  Link& at(int node);
  // The aggregator of `node` dies: the others are told, epochs no longer wait for it, what it had not yet ended is lost
  // except what is there already.
  void kill(int node);
  void tell_clock(int node, const ClockUpdate& update);  // news of a node's clock
  void close();                                          // the link itself is gone, for everybody

  bool alive(int node) const;
  std::uint64_t epochs() const { return epochs_; }  // that are over

 private:
  class Endpoint;
  void deliver(int from, int to, std::vector<std::byte> bytes);
  void end_if_all_did();

  int per_host_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::uint64_t epochs_ = 0;
};

}  // namespace pclscope::nodes
