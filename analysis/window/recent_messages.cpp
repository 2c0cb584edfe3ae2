#include "analysis/window/recent_messages.hpp"

#include <algorithm>

namespace pclscope {

namespace {
constexpr std::size_t at_once = 128;  // messages
}

std::shared_ptr<const KeptWindow> keep_window(std::int64_t begin_ns, std::int64_t end_ns,
                                              std::span<const Message> messages, std::size_t limit) {
  auto kept = std::make_shared<KeptWindow>();
  kept->begin_ns = begin_ns;
  kept->end_ns = end_ns;
  const std::size_t own = kept->bytes();
  if (own > limit) return nullptr;
  kept->first_ns = INT64_MAX;
  kept->last_ns = INT64_MIN;
  while (!messages.empty()) {  // in parts that stay in the nearest cache
    const auto part = messages.first(std::min(at_once, messages.size()));
    messages = messages.subspan(part.size());
    if (!kept->messages.append(part, limit - own)) return nullptr;
    for (const Message& m : part) {
      kept->first_ns = std::min({kept->first_ns, m.send_begin, m.recv_end});
      kept->last_ns = std::max({kept->last_ns, m.recv_end, m.send_begin});
    }
  }
  kept->messages.close();
  return kept;
}

void RecentMessages::add(std::int64_t end_ns, std::shared_ptr<const KeptWindow> window) {
  if (!window || window->bytes() > largest_window()) {  // what is older is of no use behind the gap
    while (!windows_.empty()) drop_oldest();
    complete_from_ = std::max(complete_from_, end_ns);
    return;
  }
  while (!windows_.empty() && bytes_ + window->bytes() > budget_ - largest_window()) drop_oldest();
  bytes_ += window->bytes();
  messages_ += window->messages.count();
  windows_.push_back(std::move(window));
}

void RecentMessages::drop_oldest() {
  const KeptWindow& oldest = *windows_.front();
  complete_from_ = std::max(complete_from_, oldest.end_ns);
  bytes_ -= oldest.bytes();
  messages_ -= oldest.messages.count();
  windows_.pop_front();
}

void RecentMessages::between(std::int64_t from_ns, std::int64_t to_ns,
                             const std::function<void(const Message&)>& take) const {
  for (const auto& window : windows_)
    if (window->first_ns < to_ns && window->last_ns >= from_ns)
      window->messages.each([&](const Message& m) {
        if (m.send_begin < to_ns && m.recv_end >= from_ns) take(m);
      });
}

}  // namespace pclscope
