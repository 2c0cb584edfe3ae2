// `pclscope watch` on a whole terminal: a run's feed, the model, the picture and the keys, until the user leaves.
#pragma once

#include <chrono>
#include <csignal>
#include <string>

#include "viewer/screen/terminal.hpp"
#include "viewer/session/feed.hpp"

namespace pclscope::screen {

struct FullScreenOptions {
  std::string name;  // of the job or file
  bool ascii = false;
  std::chrono::milliseconds interval{1000};          // between pictures of new data; keys are answered at once
  Page page = Page::overview;                        // shown first
  const volatile std::sig_atomic_t* stop = nullptr;  // not 0: leave
};

// Returns when the user leaves, the terminal has gone, *stop is set, the run cannot be opened at all, or, once the
// terminal's input has ended, when the run has. What was known of the run then tells how it went.
session::FeedState watch_full_screen(Terminal& terminal, session::Feed::Open open, const FullScreenOptions& options);

}  // namespace pclscope::screen
