// A fresh directory that is the session's runtime directory for the life of this object. What nodes share lies in the
// same place.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace pclscope::testing {

class PrivateDirectory {
 public:
  PrivateDirectory() {
    char name[] = "/tmp/pcl-test-XXXXXX";
    path_ = ::mkdtemp(name);
    if (const char* before = std::getenv("XDG_RUNTIME_DIR")) before_ = before;
    ::setenv("XDG_RUNTIME_DIR", path_.c_str(), 1);
    if (const char* before = std::getenv("PCLSCOPE_SHARED")) shared_before_ = before;
    ::setenv("PCLSCOPE_SHARED", (path_ + "/pclscope").c_str(), 1);
    ::unsetenv("PCLSCOPE_KEY_FILE");
  }
  ~PrivateDirectory() {
    before_.empty() ? ::unsetenv("XDG_RUNTIME_DIR") : ::setenv("XDG_RUNTIME_DIR", before_.c_str(), 1);
    shared_before_.empty() ? ::unsetenv("PCLSCOPE_SHARED") : ::setenv("PCLSCOPE_SHARED", shared_before_.c_str(), 1);
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  PrivateDirectory(const PrivateDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string before_, shared_before_;
};

}  // namespace pclscope::testing
