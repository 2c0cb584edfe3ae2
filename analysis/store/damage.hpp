// HDF5 does not survive every file: of bytes that were changed behind its back it may crash, or never end. A program
// that shows dumps then has one line for its user in place of a signal.
#pragma once

#include <string>

namespace pclscope::store {

// For programs, called once at their begin (never in a library, nor in somebody's MPI process): from now on a signal
// that ends the process (SEGV, BUS, FPE, ILL, ABRT) while a dump is open, or after one could not be opened, is told in
// one line on stderr that names the dump, and the status is 1. At other times these signals do what they did. The
// calling thread gets a stack of its own for it.
void tell_of_crashes();

// From now on / no longer, a crash is taken for a matter of this dump; of several the newest is named. Any thread.
void dump_is_open(const std::string& path);
void dump_is_closed();

// After tell_of_crashes(): when this thread has used `most_s` seconds of its core while it lives, the program ends in
// the same way.
class CpuLimit {
 public:
  explicit CpuLimit(int most_s);
  ~CpuLimit();
  CpuLimit(const CpuLimit&) = delete;
  CpuLimit& operator=(const CpuLimit&) = delete;

 private:
  void* timer_ = nullptr;
  bool has_timer_ = false;
};

}  // namespace pclscope::store
