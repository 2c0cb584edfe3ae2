#include "analysis/window/period_list.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope {

void PeriodList::Growing::start(const Entry& window, PeriodKind kind) {
  period = {};
  ratio_sum = log_sum = ratio_messages = 0;
  middle.clear();
  period.kind = kind;
  period.begin_s = window.begin_s;
  period.begin_ratio = window.sums.level();
  add(window);
}

void PeriodList::Growing::add(const Entry& window) {
  const RegionWindow& w = window.sums;
  period.end_s = window.end_s;
  ++period.windows;
  period.messages += w.messages;
  period.bytes += w.bytes;
  period.delayed += w.delayed;
  period.end_ratio = w.level();
  period.late_sender_s += w.late_sender_s;
  period.late_receiver_s += w.late_receiver_s;
  period.transfer_s += w.transfer_s;
  ratio_sum += w.mean_ratio * static_cast<double>(w.messages);
  if (w.level() > 0) log_sum += std::log(w.level()) * static_cast<double>(w.messages);
  ratio_messages += static_cast<double>(w.messages);
  middle.add([&] { return static_cast<float>(w.level()); });
}

Period PeriodList::Growing::done() const {
  Period p = period;
  p.mean_ratio = ratio_messages > 0 ? ratio_sum / ratio_messages : 0;
  p.typical_ratio = p.mean_ratio > 0 ? std::exp(log_sum / ratio_messages) : 0;
  if (const auto* nearest = middle.nearest()) p.middle_ratio = static_cast<double>(nearest->second);
  return p;
}

void PeriodList::add(const Entry& window, PeriodKind kind, bool apart) {
  if (!begins(kind, apart)) return current_.add(window);
  if (any_) close();
  any_ = true;
  current_.start(window, kind);
}

namespace {
// `b` follows `a`; together they are something other. The middle is that of the longer one.
void merge(Period& a, const Period& b) {
  const double messages = static_cast<double>(a.messages) + static_cast<double>(b.messages);
  if (messages > 0)
    a.mean_ratio =
        (a.mean_ratio * static_cast<double>(a.messages) + b.mean_ratio * static_cast<double>(b.messages)) / messages;
  if (a.typical_ratio > 0 && b.typical_ratio > 0)
    a.typical_ratio *= std::pow(b.typical_ratio / a.typical_ratio, static_cast<double>(b.messages) / messages);
  else a.typical_ratio = std::max(a.typical_ratio, b.typical_ratio);
  if (b.windows > a.windows) a.middle_ratio = b.middle_ratio;
  a.kind = PeriodKind::other;
  a.end_s = b.end_s;
  a.windows += b.windows;
  a.messages += b.messages;
  a.bytes += b.bytes;
  a.delayed += b.delayed;
  a.end_ratio = b.end_ratio;
  a.late_sender_s += b.late_sender_s;
  a.late_receiver_s += b.late_receiver_s;
  a.transfer_s += b.transfer_s;
}
}  // namespace

void PeriodList::close() {
  closed_.push_back(current_.done());
  while (closed_.size() + 1 > limit_ && closed_.size() >= 2) {
    merge(closed_[0], closed_[1]);
    closed_.erase(closed_.begin() + 1);
    // Two others are never neighbours.
    while (closed_.size() >= 2 && closed_[1].kind == PeriodKind::other) {
      merge(closed_[0], closed_[1]);
      closed_.erase(closed_.begin() + 1);
    }
  }
}

std::vector<Period> PeriodList::newest(std::size_t count, const std::vector<Undecided>& more, bool open) const {
  std::vector<Period> tail;
  if (any_) {
    Growing last = current_;
    bool undecided = false;
    for (const Undecided& u : more) {
      if (u.kind != last.period.kind || (u.apart && u.kind != PeriodKind::other)) {
        tail.push_back(last.done());
        tail.back().open = undecided;
        last.start(*u.window, u.kind);
      } else {
        last.add(*u.window);
      }
      undecided = true;
    }
    tail.push_back(last.done());
    tail.back().open = undecided || open;
  } else if (!more.empty()) {
    PeriodList fresh(limit_);
    fresh.add(*more.front().window, more.front().kind, false);
    tail = fresh.newest(SIZE_MAX, {more.begin() + 1, more.end()}, open);
    for (Period& p : tail) p.open = true;
  }
  std::vector<Period> list;
  const std::size_t older = std::min(closed_.size(), count > tail.size() ? count - tail.size() : 0);
  list.assign(closed_.end() - static_cast<std::ptrdiff_t>(older), closed_.end());
  const std::size_t from = tail.size() > count ? tail.size() - count : 0;
  list.insert(list.end(), tail.begin() + static_cast<std::ptrdiff_t>(from), tail.end());
  return list;
}

}  // namespace pclscope
