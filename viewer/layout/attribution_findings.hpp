// Findings from one snapshot to the next, and as rows of a list of which one is open.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope::layout {

// Live, findings change their order and their figures. Which of `now` is the one that was picked before: of the same
// cause, region and detail, that with a rank in common (if it has ranks) and the nearest begin. Nothing: it is gone.
std::optional<std::size_t> same_finding(const Finding& before, const std::vector<Finding>& now);

// The ranks of the job that a finding names: ascending, each once; those that the job does not have are left out.
std::vector<std::int32_t> ranks_of(const Finding& finding, std::int32_t ranks);

// Which region a finding is about, for all findings of a snapshot: the one where it is felt; of those felt all over
// the job the one in which it begins (but of mappings and of the network: they begin nowhere). -1: none.
std::vector<std::int32_t> regions_of(const Snapshot& snapshot);

// Rows of equal height but one, which is taller by `extra`.
struct RowStack {
  std::size_t count = 0;
  float height = 1;                 // of a closed row, above 0
  std::optional<std::size_t> open;  // this one is taller
  float extra = 0;
  float top(std::size_t row) const;  // row <= count
  float total() const { return top(count); }
  // The rows that a window from `from` to `to` shows: [first, last).
  struct Shown {
    std::size_t first = 0, last = 0;
  };
  Shown shown(float from, float to) const;
};

}  // namespace pclscope::layout
