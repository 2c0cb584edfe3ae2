// Where the window's own settings lie: $XDG_CONFIG_HOME/pclscope (or ~/.config/pclscope).
#pragma once

#include <string>

namespace pclscope::gui {

struct Settings {
  std::string file;        // ImGui's ini; empty: nowhere to write
  bool first_run = false;  // it was not there: show the hint
};
Settings find_settings();

}  // namespace pclscope::gui
