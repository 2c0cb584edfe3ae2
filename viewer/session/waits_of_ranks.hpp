// When ranks waited inside MPI, and for whom: from stored messages and collective calls. A rank that waits for the
// sends of several messages in one call has a wait for each; they begin together.
//
// First add(), then settle(), then the questions, which are thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/wait_state.hpp"

namespace pclscope::session {

struct RankWaiting {
  std::int64_t begin = 0, end = 0;  // ns
  std::int32_t rank = 0;            // who waited
  std::int32_t awaited = -1;        // for whom
  WaitState state = WaitState::none;
};

class WaitsOfRanks {
 public:
  // Waits shorter than this are left out.
  explicit WaitsOfRanks(std::int64_t least_ns = 1) : least_ns_(least_ns) {}

  void add(const Message& message);
  void add(const CollectiveCall& call);
  void settle();

  // By begin.
  std::span<const RankWaiting> of(std::int32_t rank) const;

  struct Inside {
    std::int64_t waited_ns = 0;            // no moment twice
    const RankWaiting* longest = nullptr;  // none: it waited for nobody
  };
  // Of a call.
  Inside inside(std::int32_t rank, std::int64_t begin_ns, std::int64_t end_ns) const;

 private:
  void put(const RankWaiting& wait);

  std::int64_t least_ns_;
  std::vector<RankWaiting> waits_;   // by rank, begin
  std::vector<std::size_t> places_;  // of each rank's first, and the end
};

}  // namespace pclscope::session
