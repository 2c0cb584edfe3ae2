#include "analysis/window/worst.hpp"

#include <algorithm>

namespace pclscope {

void WorstMessages::offer(Heap& heap, const Message& message, double ratio) const {
  if (count_ == 0 || (heap.size() >= count_ && heap.front().ratio >= ratio)) return;
  if (heap.size() >= count_) {
    std::pop_heap(heap.begin(), heap.end(), less_bad);
    heap.pop_back();
  }
  heap.push_back({ratio, message});
  std::push_heap(heap.begin(), heap.end(), less_bad);
}

void WorstMessages::close_window(std::int64_t end_ns) {
  for (const Entry& e : window_) offer(overall_, e.message, e.ratio);
  if (!window_.empty()) recent_.emplace_back(end_ns, std::move(window_));
  window_.clear();
  threshold_ = 0;
  while (!recent_.empty() && recent_.front().first < end_ns - memory_) recent_.pop_front();
}

std::vector<WorstMessage> WorstMessages::recent() const {
  Heap heap;
  for (const auto& [end, window] : recent_)
    for (const Entry& e : window) offer(heap, e.message, e.ratio);
  return sorted(std::move(heap));
}

std::vector<WorstMessage> WorstMessages::overall() const { return sorted(overall_); }

std::vector<WorstMessage> WorstMessages::sorted(Heap heap) {
  std::sort(heap.begin(), heap.end(), [](const Entry& a, const Entry& b) { return a.ratio > b.ratio; });
  std::vector<WorstMessage> list;
  for (const Entry& e : heap) {
    const Message& m = e.message;
    const BlockedSpan span = blocked_span(m);
    list.push_back({m.source, m.destination, m.tag, m.comm, m.bytes, static_cast<double>(m.send_begin) * 1e-9,
                    static_cast<double>(m.time()) * 1e-9, e.ratio, static_cast<double>(span.late_sender) * 1e-9,
                    static_cast<double>(span.late_receiver) * 1e-9, static_cast<double>(span.transfer) * 1e-9,
                    static_cast<double>(span.overlapped) * 1e-9});
  }
  return list;
}

}  // namespace pclscope
