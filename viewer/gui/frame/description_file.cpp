#include "viewer/gui/frame/description_file.hpp"

#include <cstdio>
#include <fstream>

namespace pclscope::gui {

void DescriptionFile::write(const std::function<std::string()>& describe) {
  const auto now = std::chrono::steady_clock::now();
  if (path_.empty() || now < due_) return;
  due_ = now + std::chrono::milliseconds(100);
  std::string text = describe();
  if (text == last_) return;
  const std::string part = path_ + ".part";
  std::ofstream(part, std::ios::binary) << text;
  if (std::rename(part.c_str(), path_.c_str()) == 0) last_ = std::move(text);
}

}  // namespace pclscope::gui
