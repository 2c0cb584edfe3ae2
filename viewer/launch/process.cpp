#include "viewer/launch/process.hpp"

#include <sys/types.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>

namespace pclscope::launch {

bool process_alive(std::uint32_t pid) {
  if (pid == 0 || (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH)) return false;
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  if (!std::getline(file, stat)) return false;
  const auto name_end = stat.rfind(')');  // the name may contain anything
  if (name_end == std::string::npos || name_end + 2 >= stat.size()) return false;
  const char state = stat[name_end + 2];
  return state != 'Z' && state != 'X';
}

}  // namespace pclscope::launch
