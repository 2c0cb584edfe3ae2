// The newest messages, in memory, for questions about the running job (the DAG of a region in a period). Whole
// windows, oldest dropped first. Memory: at most the budget, for any input: three quarters for windows kept, a
// quarter for the one that is being packed; a window that does not fit into that is not kept at all. Threads: none.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>

#include "analysis/window/packed_messages.hpp"

namespace pclscope {

// One closed window. Shared by those who keep it; each counts its bytes.
struct KeptWindow {
  std::int64_t begin_ns = 0, end_ns = 0;  // receives completed in [begin, end); late ones before it
  std::int64_t first_ns = 0;              // all times of its messages lie between these
  std::int64_t last_ns = 0;
  PackedMessages messages;
  std::size_t bytes() const { return sizeof *this + 64 + messages.bytes(); }
};

// nullptr when it would take more than `limit` bytes.
std::shared_ptr<const KeptWindow> keep_window(std::int64_t begin_ns, std::int64_t end_ns,
                                              std::span<const Message> messages, std::size_t limit);

class RecentMessages {
 public:
  explicit RecentMessages(std::size_t budget_bytes) : budget_(budget_bytes) {}

  std::size_t budget() const { return budget_; }
  std::size_t largest_window() const { return budget_ / 4; }  // bytes
  // The next window with messages; nullptr: it was too large to be kept.
  void add(std::int64_t end_ns, std::shared_ptr<const KeptWindow> window);
  void add(std::int64_t begin_ns, std::int64_t end_ns, std::span<const Message> messages) {
    if (!messages.empty()) add(end_ns, keep_window(begin_ns, end_ns, messages, largest_window()));
  }

  // Every kept message that is under way at some time in [from, to): its send begins before `to`, its receive ends at
  // `from` or later. Window by window, within one in the order of matching.
  void between(std::int64_t from_ns, std::int64_t to_ns, const std::function<void(const Message&)>& take) const;
  // All messages whose receive ended at this time or later, up to the newest window, are here. INT64_MIN: all there
  // were.
  std::int64_t complete_from_ns() const { return complete_from_; }
  std::size_t bytes() const { return bytes_; }
  std::uint64_t messages() const { return messages_; }

 private:
  void drop_oldest();

  std::size_t budget_, bytes_ = 0;
  std::deque<std::shared_ptr<const KeptWindow>> windows_;
  std::int64_t complete_from_ = INT64_MIN;
  std::uint64_t messages_ = 0;
};

}  // namespace pclscope
