// A program that works on another node: ssh or srun, with our end of its input, output and errors.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "analysis/values/result.hpp"

namespace pclscope::reach {

class FarProgram {
 public:
  FarProgram() = default;
  FarProgram(const FarProgram&) = delete;
  FarProgram& operator=(const FarProgram&) = delete;
  // Closes its input, gives it a moment, then ends it and all that it started.
  ~FarProgram();

  // In a session of its own, so that it can ask nobody for a password. The first argument is looked for in PATH.
  Status start(const std::vector<std::string>& arguments);
  int channel() const { return channel_; }  // its standard input and output, a stream socket
  // All that it said on standard error; waits a moment for its end.
  std::string last_words();
  // Reads its output until it has ended, or the deadline, which another thread may bring forward. False: the deadline.
  // Its exit status; 128 + a signal's number.
  bool finish(const std::atomic<std::chrono::steady_clock::time_point>& deadline, std::string& output,
              std::string& errors, int& status);

 private:
  bool ended(std::chrono::milliseconds patience);
  int channel_ = -1, errors_ = -1, status_ = 0;
  pid_t pid_ = 0;
};

// Programs say the reason last. Free of control characters.
std::string last_line(std::string text);
// What to do about what ssh or srun said, with it. `host` empty: nothing is known.
std::string advice(const std::string& said, const std::string& host);

}  // namespace pclscope::reach
