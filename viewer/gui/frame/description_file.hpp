// `--describe FILE`: what is shown, for scripts. Replaced whole, so that a reader never sees half of it.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace pclscope::gui {

class DescriptionFile {
 public:
  explicit DescriptionFile(std::string path) : path_(std::move(path)) {}
  // When it has changed, ten times a second at most.
  void write(const std::function<std::string()>& describe);

 private:
  std::string path_;  // empty: nothing is written
  std::string last_;
  std::chrono::steady_clock::time_point due_{};
};

}  // namespace pclscope::gui
