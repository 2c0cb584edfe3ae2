// What a command writes: complete or nothing. It grows under a name of its own beside the final one, and gets that at
// the end; what is unfinished when a Output is destroyed is removed.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "analysis/values/result.hpp"

namespace pclscope::exporting {

class Output {
 public:
  // Fails with in_use (`path` exists, and not `force`; or it is no file where a file is wanted, or of a folder's kind),
  // not_found (no such directory), not_permitted. `folder`: what will be written is one.
  static Result<Output> begin(const std::string& path, bool folder, bool force);
  ~Output();
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;

  const std::string& path() const { return growing_; }  // where to write
  Status finish();                                      // gives it its name

 private:
  Output(std::string path, std::string growing, bool folder);
  std::string path_, growing_;
  bool folder_;
};

// A file that is written from its begin to its end, with errors in words.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  void write(std::string_view bytes);  // what fails is told by status()
  Status status() const;
  Status close();  // everything is on the disk

 private:
  std::string path_;
  std::FILE* file_ = nullptr;
  int error_ = 0;
};

// "cannot write x.csv: the disk is full", for an errno.
Error not_written(const std::string& path, int error);

}  // namespace pclscope::exporting
