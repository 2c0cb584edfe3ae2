// Findings of a whole run at once, from its messages and collectives: what a Pipeline finds of them window by window.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/attribute/attributor.hpp"
#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::attribute {

struct Replay {
  std::int32_t ranks = 0;
  std::span<const Message> messages;  // any order
  std::span<const CollectiveCall> collectives;
  std::vector<std::int32_t> node_of_rank;  // empty: all on one node
  std::int64_t window_ns = 100'000'000;
  std::function<std::optional<BetterMapping>()> find_mapping;
  std::function<void(std::int64_t now_ns, const Attribution&)>
      after_window;                               // as a live viewer would see it; may be empty
  Computing::InsideMpi inside_mpi = {};           // AttributorOptions
  std::span<const OffCoreSpan> off_core = {};     // outside MPI; of each rank in order
  std::vector<std::int32_t> region_of_rank = {};  // empty: none
  BeforeInit before_init_ns = {};                 // AttributorOptions
};

// Messages with ranks out of range are left out.
Attribution replay(const Replay& run);

}  // namespace pclscope::attribute
