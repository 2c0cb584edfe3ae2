// Function, file and line of return addresses in one executable or shared library, by its debug information or,
// without, its symbols. Used by the program pclscope-lines alone: libdw gets files that nobody vouches for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "analysis/values/place.hpp"

namespace pclscope::callsite {

class LineFinder {
 public:
  // Null when the file cannot be read or is of another build than `build_id` (empty: any).
  static std::unique_ptr<LineFinder> open(const std::string& path, const std::string& build_id);
  ~LineFinder();

  // Where the call is written that returns to this link-time address. Of inlined functions the innermost, unless it is
  // MPI's own C++ binding.
  Place find(std::uint64_t return_address);

 private:
  struct State;
  explicit LineFinder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pclscope::callsite
