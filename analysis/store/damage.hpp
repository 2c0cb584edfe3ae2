// HDF5 does not survive every file: of bytes that were changed behind its back it may crash, or never end. A program
// that shows dumps then has one line for its user in place of a signal.
#pragma once

#include <chrono>
#include <string>

namespace pclscope::store {

// For programs, called once at their begin (never in a library, nor in somebody's MPI process): from now on a signal
// that ends the process (SEGV, BUS, FPE, ILL, ABRT) while a dump is open, or after a damaged one was not opened, is
// told in one line on stderr that names the dump, and the status is 1. At other times, and when somebody else sends
// them, these signals do what they did. The calling thread gets a stack of its own for it.
void tell_of_crashes();

// From now on / no longer, a crash is taken for a matter of this dump; of several the newest is named, until it is
// closed. Any thread.
void dump_is_open(const std::string& path);
void dump_is_closed(const std::string& path);

// After tell_of_crashes(): when this thread has used its core for so long while it lives, the program ends in
// the same way.
class CpuLimit {
 public:
  explicit CpuLimit(std::chrono::milliseconds most);
  ~CpuLimit();
  CpuLimit(const CpuLimit&) = delete;
  CpuLimit& operator=(const CpuLimit&) = delete;

 private:
  void* timer_ = nullptr;
  bool has_timer_ = false;
};

}  // namespace pclscope::store
