#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "analysis/wire/jobs.hpp"

namespace pclscope::wire {
namespace {

bool is_own_directory(const char* path) {
  struct stat found {};
  return path && path[0] == '/' && ::stat(path, &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == ::geteuid();
}

// In /tmp anybody may have put anything under this name: a symbolic link, a directory of theirs.
Status make_private(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{ErrorCode::io, "cannot create " + path + ": " + std::strerror(errno)};
  }
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0)
    return Error{ErrorCode::io, "cannot use " + path + ": " + std::strerror(errno)};
  if (!S_ISDIR(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & 077) != 0) {
    return Error{ErrorCode::not_permitted,
                 path + " must be a directory of yours that nobody else can enter: remove it or chmod 700"};
  }
  return {};
}

}  // namespace

Result<std::string> runtime_directory() {
  const char* session = std::getenv("XDG_RUNTIME_DIR");
  const std::string path =
      is_own_directory(session) ? std::string(session) + "/pclscope" : "/tmp/pclscope-" + std::to_string(::geteuid());
  if (const Status made = make_private(path); !made) return made.error();
  return path;
}

}  // namespace pclscope::wire
