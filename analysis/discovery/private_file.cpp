#include "analysis/discovery/private_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace pclscope::discovery {
namespace {

// Hidden, and of the same directory.
std::string draft_name(const std::string& path) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) number = static_cast<std::uint64_t>(::getpid());
  const std::size_t name = path.rfind('/') + 1;
  return path.substr(0, name) + "." + path.substr(name) + "." + std::to_string(number);
}

Error cannot_write(const std::string& path, int error) {
  return {error == ENOSPC || error == EDQUOT ? ErrorCode::no_space : ErrorCode::io,
          "cannot write " + path + ": " + std::strerror(error)};
}

}  // namespace

Status write_private(const std::string& path, const std::string& content, Existing existing) {
  const std::string draft = draft_name(path);
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return cannot_write(path, errno);
  errno = ENOSPC;  // what a short write means
  bool done =
      ::fchmod(fd, 0600) == 0 && ::write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size());
  int error = errno;
  if (::close(fd) != 0 && done) {  // a network file system may say so now only
    done = false;
    error = errno;
  }
  if (done && existing == Existing::replace) done = ::rename(draft.c_str(), path.c_str()) == 0;
  else if (done) done = ::link(draft.c_str(), path.c_str()) == 0 || errno == EEXIST;
  if (!done && error == ENOSPC) error = errno;
  ::unlink(draft.c_str());
  if (done) return {};
  return cannot_write(path, error);
}

std::string read_small(const std::string& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::string content(most, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return content;
}

}  // namespace pclscope::discovery
