// `--describe FILE`: what is shown, for scripts. Replaced whole, so that a reader never sees half of it.
#pragma once

#include <chrono>
#include <string>

#include "viewer/gui/frame/app.hpp"

namespace pclscope::gui {

class DescriptionFile {
 public:
  explicit DescriptionFile(std::string path) : path_(std::move(path)) {}
  void write(const App& app);  // when it has changed, ten times a second at most

 private:
  std::string path_;  // empty: nothing is written
  std::string last_;
  std::chrono::steady_clock::time_point due_{};
};

}  // namespace pclscope::gui
