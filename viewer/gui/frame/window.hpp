// The window on the user's screen (GLFW, OpenGL 3), and the picture without one.
#pragma once

#include "viewer/gui/frame/view_options.hpp"
#include "viewer/session/feed.hpp"

namespace pclscope::gui {

// Both return the exit status; what went wrong has been said.
int show_window(const ViewOptions& options, session::Feed::Open open);
int make_screenshot(const ViewOptions& options, session::Feed::Open open);

}  // namespace pclscope::gui
