// What another placement would bring in the time of the run: a replay in the background, and its words.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "viewer/gui/placement/placement_work.hpp"
#include "viewer/gui/placement/run_calls.hpp"
#include "viewer/layout/latest.hpp"

namespace pclscope::gui {

// UI thread only.
class GainPanel {
 public:
  // The run's calls, read when somebody first asks.
  RunCalls& run() { return run_; }
  const RunCalls& run() const { return run_; }
  // Of the ranks being as in `placed`, against the run as it was; null: nothing is asked. In each frame.
  void follow(const Scene& scene, const session::NetworkCasePtr& placed);
  bool busy() const { return replayer_ && replayer_->busy(); }
  // Beside a table that ends at `left` where there is room, else the first two lines below it, at `below`; to `right`.
  // Returns where that ends.
  float draw(const Scene& scene, layout::Point beside, layout::Point below, float right,
             std::vector<Mark>& marks) const;

 private:
  std::vector<std::string> lines() const;

  RunCalls run_;
  session::NetworkCasePtr placed_;
  std::unique_ptr<layout::Latest<GainQuestion, GainAnswer>> replayer_;
  GainQuestion asked_;
  std::shared_ptr<const GainAnswer> gain_;  // of placed_; null: not there
};

}  // namespace pclscope::gui
