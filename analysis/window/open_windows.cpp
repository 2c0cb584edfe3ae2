#include "analysis/window/open_windows.hpp"

#include <algorithm>

namespace pclscope {

namespace {
constexpr std::size_t bytes_ahead = 1024;  // of a window's buffer, which is larger than the caches
}

std::vector<Message>& OpenWindows::buffer(std::int64_t window) {
  auto it = open_.find(window);
  if (it == open_.end()) {
    it = open_.emplace(window, std::vector<Message>()).first;
    if (!spare_.empty()) {
      it->second = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  cached_begin_ = window * length_;
  cached_ = &it->second;
  return it->second;
}

void OpenWindows::add(std::span<const Message> messages) {
  for (const Message& m : messages) {
    const std::uint64_t into = static_cast<std::uint64_t>(m.recv_end) - static_cast<std::uint64_t>(cached_begin_);
    if (cached_ && into < static_cast<std::uint64_t>(length_)) [[likely]] {
      cached_->push_back(m);
      const char* const behind = reinterpret_cast<const char*>(cached_->data() + cached_->size()) + bytes_ahead;
      __builtin_prefetch(behind, 1);
      __builtin_prefetch(behind + 64, 1);
      continue;
    }
    std::int64_t window = window_of(m.recv_end);
    if (any_closed_ && window < first_open_) {
      ++late_;
      window = first_open_;
    }
    newest_ = std::max(newest_, window);
    buffer(window).push_back(m);
  }
  held_ += messages.size();
}

bool OpenWindows::close(std::int64_t now_ns, Closed& closed) {
  const std::int64_t last_due = window_of(now_ns - allowance_) - 1;
  if (held_ > most_ || (!open_.empty() && open_.begin()->first <= last_due)) return close_any(closed);
  if (last_due < 0 || (any_reported_ && last_due <= last_reported_)) return false;
  // Over without a message. Only the newest of several is told, the others count as skipped.
  closed.messages.clear();
  report(last_due, closed);
  if (any_closed_) first_open_ = std::max(first_open_, last_due + 1);
  return true;
}

bool OpenWindows::close_any(Closed& closed) {
  if (open_.empty()) return false;
  auto oldest = open_.begin();
  closed.messages = std::move(oldest->second);
  held_ -= closed.messages.size();
  report(oldest->first, closed);
  first_open_ = any_closed_ ? std::max(first_open_, oldest->first + 1) : oldest->first + 1;
  any_closed_ = true;
  open_.erase(oldest);
  cached_ = nullptr;
  return true;
}

void OpenWindows::report(std::int64_t window, Closed& closed) {
  closed.begin_ns = window * length_;
  closed.skipped = any_reported_ ? std::max<std::int64_t>(window - last_reported_ - 1, 0) : 0;
  last_reported_ = any_reported_ ? std::max(last_reported_, window) : window;
  any_reported_ = true;
}

std::int64_t OpenWindows::earliest_end_ns() const {
  std::int64_t earliest = INT64_MAX;
  for (const auto& [window, messages] : open_)
    for (const Message& m : messages) earliest = std::min(earliest, m.recv_end);
  return earliest;
}

void OpenWindows::recycle(std::vector<Message>&& buffer) {
  if (spare_.size() >= 4) return;
  buffer.clear();
  spare_.push_back(std::move(buffer));
}

}  // namespace pclscope
