// Messages waiting for their window to close. A window is [k, k + 1) * length, by the end of the receive. It closes
// when `now` is past its end by the allowance: messages that complete in another rank's ring are read a little later.
// When messages of a window are known to be missing it waits longer (Measurement): `now` does not move on then.
// A message of a window that is closed already goes to the oldest open one and is counted as late.
// Memory: the messages of the open windows, at most `most`; beyond, the oldest window is closed early.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/values/message.hpp"

namespace pclscope {

class OpenWindows {
 public:
  static constexpr std::size_t limit = 1'000'000;

  struct Closed {
    std::int64_t begin_ns = 0;
    std::int64_t skipped = 0;       // windows without a message since the one closed before
    std::vector<Message> messages;  // in the order in which they were matched; may be none
  };

  OpenWindows(std::int64_t length_ns, std::int64_t allowance_ns, std::size_t most = limit)
      : length_(length_ns), allowance_(allowance_ns), most_(most) {}

  void add(std::span<const Message> messages);
  // The oldest window that is over at `now_ns`, or that must make room; false when there is none (any more).
  bool close(std::int64_t now_ns, Closed& closed);
  // A window with messages is over at `now_ns`.
  bool is_due(std::int64_t now_ns) const {
    return !open_.empty() && open_.begin()->first < window_of(now_ns - allowance_);
  }
  // The oldest window with messages, whatever the time.
  bool close_any(Closed& closed);
  // For messages from a file: windows before that of the newest message may close.
  std::int64_t newest_begin_ns() const { return newest_ * length_; }
  // Gives a buffer back for reuse.
  void recycle(std::vector<Message>&& buffer);

  std::uint64_t late() const { return late_; }
  std::int64_t length_ns() const { return length_; }
  std::int64_t allowance_ns() const { return allowance_; }
  std::size_t messages() const { return held_; }
  std::int64_t earliest_end_ns() const;  // of the messages held; INT64_MAX without

 private:
  std::int64_t window_of(std::int64_t time) const {
    return time >= 0 ? time / length_ : -((-time + length_ - 1) / length_);
  }
  void report(std::int64_t window, Closed& closed);
  std::vector<Message>& buffer(std::int64_t window);

  std::int64_t length_, allowance_;
  std::size_t most_;
  std::map<std::int64_t, std::vector<Message>> open_;  // by window number
  std::vector<Message>* cached_ = nullptr;             // of the open window that begins at
  std::int64_t cached_begin_ = 0;
  // Until a window with messages has closed, older messages are welcome: rings may hold much when they are found.
  bool any_closed_ = false;
  std::int64_t first_open_ = 0;  // once any_closed_: windows before it are closed
  bool any_reported_ = false;
  std::int64_t last_reported_ = 0;
  std::int64_t newest_ = 0;
  std::vector<std::vector<Message>> spare_;
  std::size_t held_ = 0;
  std::uint64_t late_ = 0;
};

}  // namespace pclscope
