// Long work shows how far it is, on a terminal, and ends in order when somebody interrupts it.
#pragma once

#include <chrono>
#include <string>

#include "analysis/values/result.hpp"

namespace pclscope::exporting {

// One at a time. Takes SIGINT, SIGTERM and SIGHUP while it lives.
class LongWork {
 public:
  explicit LongWork(std::string what);  // "writing run.otf2"
  ~LongWork();
  LongWork(const LongWork&) = delete;

  // `share` in [0, 1], as often as you like. False: somebody wants it to stop.
  bool go_on(double share);
  bool interrupted() const;

 private:
  void clear();
  std::string what_;
  bool terminal_, shown_ = false;
  std::chrono::steady_clock::time_point begun_, next_;
};

inline Error stopped() { return Error{ErrorCode::bad_argument, "interrupted: nothing was written"}; }

}  // namespace pclscope::exporting
