#include "analysis/discovery/directories.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "interpose/record/shared_folder.hpp"

namespace pclscope::discovery {
namespace {

bool is_own_directory(const char* path) {
  struct stat found {};
  return path && path[0] == '/' && ::stat(path, &found) == 0 && found.st_uid == ::geteuid() &&
         record::keeps_entries(found);
}

// `instead`: what to do where the directory is refused.
Status make_private(const std::string& path, const std::string& instead) {
  switch (record::make_private(path.c_str())) {
    case record::Made::failed:
      return Error{errno == ENOSPC || errno == EDQUOT ? ErrorCode::no_space : ErrorCode::io,
                   "cannot create " + path + ": " + std::strerror(errno)};
    case record::Made::not_ours:
      return Error{ErrorCode::not_permitted,
                   path + " is not a directory of yours, maybe somebody else made it: set " + instead};
    case record::Made::open_to_others:
      return Error{ErrorCode::not_permitted, "others can enter " + path + ": chmod 700 it, or remove it"};
    case record::Made::good: break;
  }
  return {};
}

std::string home_directory() {
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/') return home;
  char buffer[4096];
  passwd entry{}, *found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer, sizeof buffer, &found) == 0 && found != nullptr &&
      found->pw_dir[0] == '/')
    return found->pw_dir;
  return {};
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

Result<std::string> runtime_directory() {
  constexpr char instead[] = "XDG_RUNTIME_DIR to a directory that only you can enter";
  const char* session = std::getenv("XDG_RUNTIME_DIR");
  if (is_own_directory(session)) {
    const std::string path = std::string(session) + "/pclscope";
    if (const Status made = make_private(path, instead); !made) return made.error();
    return path;
  }
  struct stat shared {};
  if (::stat("/tmp", &shared) != 0 || !record::keeps_entries(shared)) {
    return Error{ErrorCode::not_permitted, std::string("others can replace what is in /tmp: set ") + instead};
  }
  const std::string path = "/tmp/pclscope-" + std::to_string(::geteuid());
  if (const Status made = make_private(path, instead); !made) return made.error();
  return path;
}

Result<std::string> shared_directory() {
  constexpr char instead[] = "PCLSCOPE_SHARED to a directory that only you can enter, on all nodes the same";
  const char* given = std::getenv(record::shared_variable);
  if (given != nullptr && std::strcmp(given, "none") == 0)
    return Error{ErrorCode::not_found, "PCLSCOPE_SHARED is none: nothing is shared between nodes"};
  std::string path;
  if (given != nullptr && *given != 0) {
    path = without_slashes(given);
    if (path[0] != '/' || path == "/") {
      return Error{ErrorCode::bad_argument, "PCLSCOPE_SHARED is '" + std::string(given) +
                                                "': write an absolute path of a directory of yours, or none"};
    }
  } else {
    const std::string home = without_slashes(home_directory());
    if (home.empty() || home == "/") {
      return Error{ErrorCode::not_found,
                   "you have no home directory here: set PCLSCOPE_SHARED to a directory of yours"};
    }
    path = home + "/" + record::shared_name;
  }
  const std::string parent = path.substr(0, path.rfind('/') + 1);
  struct stat above {};
  if (::stat(parent.c_str(), &above) != 0) {
    const bool no_home = errno == ENOENT && (given == nullptr || *given == 0);
    return Error{no_home ? ErrorCode::not_found : ErrorCode::io,
                 "cannot use " + parent + ": " + std::strerror(errno) + "; set " + instead};
  }
  if (!record::can_hold_shared(above)) {
    return Error{ErrorCode::not_permitted,
                 "others can replace what is in " + parent + ": chmod go-w it, or set " + instead};
  }
  if (const Status made = make_private(path, instead); !made) return made.error();
  return path;
}

}  // namespace pclscope::discovery
