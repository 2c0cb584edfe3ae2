// A file with the given text that goes away again.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace pclscope::test {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text = "") {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder ? folder : "/tmp") + "/pclscope-test-XXXXXX";
    const int file = ::mkstemp(path_.data());
    if (file >= 0) ::close(file);
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace pclscope::test
