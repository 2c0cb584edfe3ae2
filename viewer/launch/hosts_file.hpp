// A file of hosts for as long as a launcher needs it.
#pragma once

#include <string>

#include "analysis/values/result.hpp"

namespace pclscope::launch {

class HostsFile {
 public:
  // In TMPDIR, or /tmp, mode 0600; none when there are no lines. Fails with io.
  static Result<HostsFile> write(const std::string& lines);
  HostsFile(HostsFile&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  HostsFile& operator=(HostsFile&&) = delete;
  ~HostsFile();  // removes it

  const std::string& path() const { return path_; }

 private:
  explicit HostsFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace pclscope::launch
