// Random programs run in real time on processes whose clocks disagree, and the brute-force answer to what happened
// before what.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "analysis/values/message.hpp"

namespace pclscope::order_test {

struct TraceShape {
  int ranks = 3;
  int steps = 50;            // calls of all ranks together
  std::int64_t skew_ns = 0;  // clocks differ by up to this
  bool several = true;       // some calls start or complete several messages, some ranks send to themselves
};

struct Trace {
  // A call: events of one process that share a position. In the order in which they were made.
  struct Call {
    int process;
    int previous = -1;                // of the process
    std::vector<int> sent, received;  // messages
  };
  int ranks = 0;
  std::vector<Message> messages;  // in the order in which they were received
  std::vector<Call> calls;
  std::vector<int> sent_by, received_by;  // call of each message
  std::int64_t end_ns = 0;                // no event is later on any clock
};

Trace random_trace(const TraceShape& shape, std::mt19937_64& random);

// before(a, b): call a happened before call b, over program order and the messages marked in `known`.
class Closure {
 public:
  Closure(const Trace& trace, const std::vector<char>& known);
  bool before(int a, int b) const { return a != b && (reach_[b][a / 64] >> (a % 64) & 1); }

 private:
  std::vector<std::vector<std::uint64_t>> reach_;
};

// Damaged data: times, ranks, tags and flags of any size.
std::vector<Message> garbage(std::size_t count, int ranks, std::mt19937_64& random);

}  // namespace pclscope::order_test
