// Where `pclscope watch` draws: in place on a terminal, one block after the other elsewhere.
#pragma once

#include <string>
#include <vector>

#include "viewer/views/watch_page.hpp"

namespace pclscope::commands {

class WatchScreen {
 public:
  WatchScreen(bool in_place, bool ascii) : in_place_(in_place), ascii_(ascii) {}
  ~WatchScreen() { leave(); }
  WatchScreen(const WatchScreen&) = delete;
  WatchScreen& operator=(const WatchScreen&) = delete;

  // The size of the page that fits now; terminals are resized.
  views::PageOptions options() const;
  // False when the output cannot be written.
  bool show(const std::vector<std::string>& lines);
  // A line in place of a page: in place again and again, elsewhere only once.
  bool waiting(const std::string& line);
  // The cursor comes back below the last page.
  void leave();

 private:
  bool in_place_;
  bool ascii_;
  bool entered_ = false;
  bool waited_ = false;
  unsigned blocks_ = 0;
};

}  // namespace pclscope::commands
