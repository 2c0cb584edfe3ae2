#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "analysis/wire/jobs.hpp"

namespace pclscope::wire {
namespace {

// Whether others can put something in the place of an entry of ours: where they may write, unless (sticky, as /tmp)
// only the owner of an entry may remove it.
bool keeps_entries(const struct stat& directory) {
  const bool others_write = (directory.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return S_ISDIR(directory.st_mode) && (!others_write || (directory.st_mode & S_ISVTX) != 0);
}

bool is_own_directory(const char* path) {
  struct stat found {};
  return path && path[0] == '/' && ::stat(path, &found) == 0 && found.st_uid == ::geteuid() && keeps_entries(found);
}

// In /tmp anybody may have put anything under this name: a symbolic link, a directory of theirs.
Status make_private(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{ErrorCode::io, "cannot create " + path + ": " + std::strerror(errno)};
  }
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0)
    return Error{ErrorCode::io, "cannot use " + path + ": " + std::strerror(errno)};
  if (!S_ISDIR(found.st_mode) || found.st_uid != ::geteuid()) {
    return Error{ErrorCode::not_permitted, path + " is not a directory of yours, maybe somebody else made it: set " +
                                               "XDG_RUNTIME_DIR to a directory that only you can enter"};
  }
  if ((found.st_mode & 077) != 0) {
    return Error{ErrorCode::not_permitted, "others can enter " + path + ": chmod 700 it, or remove it"};
  }
  return {};
}

}  // namespace

Result<std::string> runtime_directory() {
  const char* session = std::getenv("XDG_RUNTIME_DIR");
  if (is_own_directory(session)) {
    const std::string path = std::string(session) + "/pclscope";
    if (const Status made = make_private(path); !made) return made.error();
    return path;
  }
  struct stat shared {};
  if (::stat("/tmp", &shared) != 0 || !keeps_entries(shared)) {
    return Error{ErrorCode::not_permitted,
                 "others can replace what is in /tmp: set XDG_RUNTIME_DIR to a directory that " +
                     std::string("only you can enter")};
  }
  const std::string path = "/tmp/pclscope-" + std::to_string(::geteuid());
  if (const Status made = make_private(path); !made) return made.error();
  return path;
}

}  // namespace pclscope::wire
