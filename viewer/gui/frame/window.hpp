// The window on the user's screen (GLFW, OpenGL 3), and the picture without one.
#pragma once

#include <functional>
#include <vector>

#include "analysis/discovery/jobs.hpp"
#include "viewer/gui/frame/view_options.hpp"
#include "viewer/session/feed.hpp"

namespace pclscope::gui {

// Which of several jobs: the user chooses in the window.
struct JobChoice {
  std::vector<discovery::Job> jobs;                   // at first
  std::function<std::vector<discovery::Job>()> list;  // again; called in another thread
  std::function<session::Feed::Open(const discovery::Job&)> open;
};

// These return the exit status; what went wrong has been said.
int show_window(const ViewOptions& options, session::Feed::Open open);
int show_window(const ViewOptions& options, const JobChoice& choice);
int make_screenshot(const ViewOptions& options, session::Feed::Open open);

}  // namespace pclscope::gui
