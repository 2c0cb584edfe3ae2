#include "viewer/commands/watch_screen.hpp"

#include "viewer/commands/command_line.hpp"

namespace pclscope::commands {

views::PageOptions WatchScreen::options() const {
  views::PageOptions options = page_options(ascii_);
  // In a file or a pipe nothing need be cut.
  if (!output_is_terminal()) options.width = std::max<std::size_t>(options.width, 160);
  if (in_place_ && options.height > 1) --options.height;  // the cursor's line: a full last line would scroll
  return options;
}

bool WatchScreen::show(const std::vector<std::string>& lines) {
  std::string text;
  if (in_place_) {
    if (!entered_) text += "\x1b[?25l\x1b[2J";  // hides the cursor, clears once
    entered_ = true;
    text += "\x1b[H";
    for (const std::string& line : lines) text += line + "\x1b[K\n";  // each line overwrites, its rest is cleared
    text += "\x1b[J";
    return print(text);
  }
  if (blocks_++ > 0) text += "\n";
  for (const std::string& line : lines) text += line + "\n";
  return print(text);
}

bool WatchScreen::waiting(const std::string& line) {
  if (!in_place_ && waited_) return true;
  waited_ = true;
  return show({line});
}

void WatchScreen::leave() {
  if (in_place_ && entered_) print("\x1b[?25h");
  entered_ = false;
}

}  // namespace pclscope::commands
