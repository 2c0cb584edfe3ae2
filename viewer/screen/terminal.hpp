// The terminal as a full-screen program uses it (ncurses): paints lines, reads keys, and gives the user's screen back.
//
// One at a time per process, used by one thread; signals for the terminal (window size, stop, continue) have to reach
// that thread: block them in others.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "viewer/screen/line.hpp"
#include "viewer/screen/model.hpp"

namespace pclscope::screen {

class Terminal {
 public:
  // Whether standard input and output are a terminal that can place its cursor (TERM).
  static bool usable();
  // Null when the terminal refuses.
  static std::unique_ptr<Terminal> open();
  ~Terminal();  // leaves the full screen
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool can_unicode() const { return can_unicode_; }
  std::size_t width() const;
  std::size_t height() const;
  void paint(const std::vector<Line>& lines);
  // The next key, waiting at most so long; Key::none also for keys that mean nothing.
  Key key(std::chrono::milliseconds timeout);
  // Control-D: nobody will press a key, leave with the run.
  bool input_ended() const { return input_ended_; }
  // Hung up.
  bool gone() const { return gone_; }

 private:
  Terminal(void* screen, bool can_unicode);
  void choose_colours();
  unsigned long attributes(Style style) const;

  void* screen_;
  bool can_unicode_;
  bool input_ended_ = false, gone_ = false;
  int empty_reads_ = 0;
  int colours_ = 0;  // 0: none are used
};

}  // namespace pclscope::screen
