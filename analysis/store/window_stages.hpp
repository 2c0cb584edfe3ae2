// Windows for as long as a run takes, in bounded space. The first stage stores them as they are; each further one
// merges twice as many into one. A stage may use an eighth of the space that the stages before it have left, so that it
// lasts 1.75 times as long as the one before: the space is never used up, and windows stay short against the run.
// Private to analysis/store.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/values/snapshot.hpp"

namespace pclscope::store {

// `window` also covers `later`: sums are added, means weighted by messages; the regions by id, ascending when merged.
void merge(Window& window, const Window& later);

class WindowStages {
 public:
  explicit WindowStages(std::uint64_t share_bytes) : left_(share_bytes), stage_left_(share_bytes / 8) {}

  // A window that is to be stored now: `window` itself, or the last of those that make one.
  std::optional<Window> add(const Window& window);
  std::optional<Window> rest();                     // the end of the run: what waits for more
  void spent(std::uint64_t bytes);                  // on the window that was stored
  std::uint64_t factor() const { return factor_; }  // windows in one

 private:
  std::uint64_t left_, stage_left_;
  std::uint64_t factor_ = 1, gathered_ = 0;
  Window open_;
};

}  // namespace pclscope::store
