#include "viewer/launch/hosts_file.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pclscope::launch {

Result<HostsFile> HostsFile::write(const std::string& lines) {
  if (lines.empty()) return HostsFile("");
  const char* directory = ::getenv("TMPDIR");
  std::string path =
      std::string(directory != nullptr && *directory != 0 ? directory : "/tmp") + "/pclscope-hosts-XXXXXX";
  const int fd = ::mkstemp(path.data());
  if (fd < 0) return Error{ErrorCode::io, "cannot write a file of hosts, " + path + ": " + std::strerror(errno)};
  HostsFile file(path);
  std::size_t written = 0;
  while (written < lines.size()) {
    const ssize_t some = ::write(fd, lines.data() + written, lines.size() - written);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) break;
    written += static_cast<std::size_t>(some);
  }
  const int error = errno;
  ::close(fd);
  if (written < lines.size()) return Error{ErrorCode::io, "cannot write " + path + ": " + std::strerror(error)};
  return file;
}

HostsFile::~HostsFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace pclscope::launch
