// A discrete-event simulator of message-passing programs, to know on paper what a delay costs: the same program runs
// with and without it. Communication takes `latency_ns`; calls cost `call_ns`. Small sends are copied at once, `ssend`
// waits for its receiver. Receives of a channel (source, destination, tag) match in order. No wildcards.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"

namespace pclscope::test {

struct Operation {
  enum class Kind { compute, send, ssend, isend, irecv, recv, waitall, allreduce, bcast } kind = Kind::compute;
  std::int64_t ns = 0;     // compute
  std::int32_t peer = -1;  // bcast: root
  std::int32_t tag = 0;
  std::uint32_t site = 0;
};

class Program {
 public:
  explicit Program(std::int32_t ranks) : operations_(static_cast<std::size_t>(ranks)) {}
  std::int32_t ranks() const { return static_cast<std::int32_t>(operations_.size()); }
  const std::vector<std::vector<Operation>>& operations() const { return operations_; }

  void compute(std::int32_t rank, std::int64_t ns) { add(rank, {Operation::Kind::compute, ns}); }
  void call(std::int32_t rank, Operation::Kind kind, std::uint32_t site, std::int32_t peer = -1, std::int32_t tag = 0) {
    add(rank, {kind, 0, peer, tag, site});
  }

 private:
  void add(std::int32_t rank, const Operation& o) { operations_[static_cast<std::size_t>(rank)].push_back(o); }
  std::vector<std::vector<Operation>> operations_;
};

struct Outcome {
  std::vector<Message> messages;            // by completion
  std::vector<CollectiveCall> collectives;  // by end
  std::vector<double> waited_s;             // per rank
  std::vector<std::int64_t> end_ns;         // per rank
};

inline constexpr std::int64_t latency_ns = 2000;
inline constexpr std::int64_t call_ns = 200;

struct Speeds {
  std::int64_t latency_ns = test::latency_ns;
  std::int64_t call_ns = test::call_ns;
  std::int64_t post_ns = test::call_ns;  // of Irecv, whose return leaves no trace
  // Nothing: `latency_ns` for every message, and 8 bytes. Those of 1,024 bytes or more move once the receive is posted.
  std::function<std::int64_t(std::int32_t from, std::int32_t to, std::uint64_t bytes)> transfer_ns = {};
  std::function<std::uint64_t(std::int32_t tag)> bytes = {};
};
// Throws std::logic_error when the program deadlocks.
Outcome simulate(const Program& program, const Speeds& speeds = {});

}  // namespace pclscope::test
