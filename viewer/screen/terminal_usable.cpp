// Apart from terminal.cpp: term.h makes macros of many short words, so it comes last.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "viewer/screen/terminal.hpp"
// clang-format off
#include <curses.h>
#include <term.h>
// clang-format on

namespace pclscope::screen {

bool Terminal::usable() {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) return false;
  const char* name = std::getenv("TERM");
  if (name == nullptr || *name == 0 || std::strcmp(name, "dumb") == 0) return false;
  int error = 0;
  if (::setupterm(nullptr, STDOUT_FILENO, &error) != OK) return false;
  const char* place_cursor = ::tigetstr("cup");
  const bool can = place_cursor != nullptr && place_cursor != reinterpret_cast<char*>(-1);
  ::del_curterm(cur_term);
  return can;
}

}  // namespace pclscope::screen
