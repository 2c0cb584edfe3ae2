// Who waits for a rank while it computes, directly or through others that wait for it: those could take a part of what
// only it computes.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/whatif/graph.hpp"

namespace pclscope::whatif {

class Waiters {
 public:
  struct Wait {
    std::int32_t rank = 0;
    std::int64_t ns = 0;  // of the piece
  };

  explicit Waiters(const Graph& graph);
  // During the piece of computation before the call; each rank once, by rank.
  std::vector<Wait> during(std::uint32_t call) const;

 private:
  struct Span {
    std::int64_t begin = 0, end = 0;
  };
  struct Waiter {
    std::int32_t rank = 0;
    std::vector<Span> spans;  // in order, apart
  };
  struct Visit {
    std::int32_t rank = 0;
    Span span;
  };

  const Graph& graph_;
  std::vector<std::vector<Waiter>> of_;  // by the rank that is waited for
};

}  // namespace pclscope::whatif
