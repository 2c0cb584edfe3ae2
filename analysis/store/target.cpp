#include "analysis/store/target.hpp"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "analysis/store/commit_file.hpp"

namespace pclscope::store {

Error system_error(const std::string& path, int error) {
  const std::string what = "cannot write " + path + ": ";
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return {ErrorCode::no_space, what + std::strerror(error)};
    case EACCES:
    case EPERM:
    case EROFS: return {ErrorCode::not_permitted, what + std::strerror(error) + "; choose another --dump path"};
    case ENOENT:
    case ENOTDIR: return {ErrorCode::not_found, what + "no such directory; create it or choose another --dump path"};
    default: return {ErrorCode::io, what + std::strerror(error)};
  }
}

Result<std::string> resolve_target(const std::string& path) {
  if (path.empty() || path.back() == '/') {
    return Error{ErrorCode::bad_argument, "dump path '" + path + "' names no file"};
  }
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT && ::lstat(path.c_str(), &found) != 0) return path;
    return system_error(path, errno);
  }
  if (!S_ISREG(found.st_mode)) {
    return Error{ErrorCode::bad_argument, "cannot write " + path + ": exists and is not a regular file"};
  }
  if (::access(path.c_str(), W_OK) != 0) return system_error(path, errno);
  if (const auto existing = CommitFile::open(path); existing && existing->is_being_written()) {
    return Error{ErrorCode::in_use, "cannot write " + path + ": another job is writing it; choose another --dump path"};
  }
  char real[PATH_MAX];
  return std::string(::realpath(path.c_str(), real) ? real : path.c_str());
}

std::string draft_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  std::uint64_t number = 0;  // a name that nobody can have taken in advance, in /tmp for example
  if (::getrandom(&number, sizeof number, 0) != sizeof number) number = static_cast<std::uint64_t>(::getpid());
  return directory + ".pclscope-" + std::to_string(number) + ".partial";
}

}  // namespace pclscope::store
