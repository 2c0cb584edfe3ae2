// How an aggregator hands its last snapshot to the `pclscope run` that started it: a job may be over before anybody who
// subscribes has been served, and its dump may be cut off, or none.
#pragma once

#include <optional>
#include <string>

#include "analysis/values/snapshot.hpp"

namespace pclscope::wire {

// The reader's side: a file without a name, in memory. Nothing of it stays. Other processes of this user on this node
// open it by path().
class LastWords {
 public:
  LastWords();
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;
  std::string path() const;  // empty: the system gives no such file
  // Nothing when nobody has written a whole snapshot.
  std::optional<Snapshot> read() const;

 private:
  int file_;
};

// The aggregator's. False when there is no such file any more: whoever made it may be gone, and what else has its
// number now is left alone.
bool write_last_words(const std::string& path, const Snapshot& snapshot);

}  // namespace pclscope::wire
