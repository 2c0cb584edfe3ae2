#include "analysis/blocked/process_tasks.hpp"

#include <dirent.h>

#include <cstdio>

namespace pclscope::blocked {

std::uint32_t process_tasks(std::uint32_t pid) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%u/task", pid);
  DIR* tasks = ::opendir(path);
  if (tasks == nullptr) return 0;
  std::uint32_t count = 0;
  while (const dirent* entry = ::readdir(tasks)) count += entry->d_name[0] != '.';
  ::closedir(tasks);
  return count;
}

}  // namespace pclscope::blocked
