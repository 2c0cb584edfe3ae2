// pclscope view: starts pclscope-view, which alone needs OpenGL.
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "analysis/installation/installation.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/commands.hpp"

namespace pclscope::commands {

int view(const std::vector<std::string>& words) {
  if (own_folder().empty()) return fail(could_not, "cannot find out where pclscope itself lies: is /proc mounted?");
  const std::string program = program_part("pclscope-view");
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  if (errno == ENOENT) {
    return fail(could_not, "this pclscope has no viewer (" + program +
                               "): build it where libimgui-dev and libglfw3-dev are, or use pclscope watch");
  }
  return fail(could_not, "cannot start " + program + ": " + std::strerror(errno));
}

}  // namespace pclscope::commands
