// Messages of known communication patterns, with times as ranks of about the same speed would have.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/values/message.hpp"

namespace pclscope::benchmark {

struct MessageTrace {
  std::string name;
  int ranks = 0;
  std::vector<Message> messages;  // by the end of their receives
};

// `ranks` is a square of a power of two. At least `messages` messages, up to the end of the round.
MessageTrace halo_trace(int ranks, std::size_t messages);       // 4 neighbours on a torus, one Waitall
MessageTrace cg_trace(int ranks, std::size_t messages);         // NPB CG: exchanges along the row, and a transpose
MessageTrace irregular_trace(int ranks, std::size_t messages);  // to anybody, received one by one, some much later
MessageTrace master_worker_trace(int ranks, std::size_t messages);

}  // namespace pclscope::benchmark
