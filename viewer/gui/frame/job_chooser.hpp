// A list of running jobs to choose from, where `pclscope view` was not told which one. UI thread only; the list itself
// is made in a thread of its own, since the files of other nodes may take their time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/discovery/jobs.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/layout/latest.hpp"

namespace pclscope::gui {

class JobChooser {
 public:
  using List = std::function<std::vector<discovery::Job>()>;
  // `first`: what is there at first. `list` is called again and again, in another thread; `wake` in any.
  JobChooser(std::vector<discovery::Job> first, List list, std::function<void()> wake);

  // Between ImGui::NewFrame and ImGui::Render. `now_realtime_ns`: for how long jobs run.
  void frame(float width, float height, float scale, std::int64_t now_realtime_ns);
  void escape() { close_ = true; }
  const std::optional<discovery::Job>& chosen() const { return chosen_; }
  bool wants_to_close() const { return close_; }
  std::string description() const;  // JSON: {"jobs": {NAME: where}, "marked": NAME}

 private:
  void follow();  // the newest list
  void keys();
  void draw_table(float scale, std::int64_t now_realtime_ns);

  std::vector<discovery::Job> jobs_;  // newest first
  std::size_t marked_ = 0;            // the one that Enter takes
  std::optional<discovery::Job> chosen_;
  bool close_ = false;
  std::vector<Mark> marks_;
  double asked_at_s_ = 0;
  std::shared_ptr<const std::vector<discovery::Job>> taken_;
  layout::Latest<int, std::vector<discovery::Job>> lists_;  // last: its thread ends first
};

}  // namespace pclscope::gui
