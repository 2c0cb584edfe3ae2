#include "analysis/order/event_order.hpp"

#include <functional>
#include <queue>
#include <tuple>
#include <utility>

namespace pclscope {

namespace {

constexpr std::uint64_t most_steps = 1 << 24;  // spent on finding cycles

struct Event {
  Position position;
  std::uint32_t number;   // EventOfMessage
  std::uint32_t process;  // index into the ascending ranks
};

auto tie_breakers(const Message& m, bool receive) {
  return receive
             ? std::make_tuple(m.recv_post, m.source, m.tag, m.comm, m.send_begin, m.bytes, m.send_end, m.recv_wait)
             : std::make_tuple(m.send_end, m.destination, m.tag, m.comm, m.recv_end, m.bytes, m.recv_post, m.recv_wait);
}

std::vector<std::int32_t> ranks_of(std::span<const Message> messages) {
  std::vector<std::int32_t> ranks;
  ranks.reserve(2 * messages.size());
  for (const Message& m : messages) {
    ranks.push_back(m.source);
    ranks.push_back(m.destination);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// Kahn's algorithm on groups of simultaneous events: a group of sends is ready when it is its process's next, a group
// of receives when in addition all its sends are out.
class Sorter {
 public:
  explicit Sorter(std::span<const Message> messages);
  LogicalOrder run();

 private:
  struct Process {
    std::size_t next = 0, next_end = 0, end = 0;  // the next group, and the end of all, in events_
    std::uint32_t waiting = 0;                    // sends that the next group needs
    std::uint64_t walk = 0;                       // the walk that came by
    std::uint32_t left_by = 0;                    // message along which the walk went on
  };
  struct Ready {
    Position position;
    std::uint32_t process;
    bool operator>(const Ready& o) const { return std::tie(position, process) > std::tie(o.position, o.process); }
  };

  void open_group(std::uint32_t process);
  void emit_group(std::uint32_t process);
  void send_is_out(std::uint32_t message);
  void break_cycle();
  void leave_out(std::uint32_t message);
  bool awaited(const Event& e) const { return (e.number & 1) && !sent_[e.number >> 1] && !left_out_[e.number >> 1]; }

  std::vector<Event> events_;         // by process and position
  std::vector<std::uint32_t> place_;  // of event `number` in events_
  std::vector<Process> processes_;
  std::vector<char> sent_, left_out_;  // by message
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  std::uint32_t first_unfinished_ = 0;
  std::uint64_t walk_ = 0, steps_ = 0;
  LogicalOrder order_;
};

Sorter::Sorter(std::span<const Message> messages) {
  const std::size_t count = messages.size();
  const std::vector<std::int32_t> ranks = ranks_of(messages);
  const auto process_of = [&](std::int32_t rank) {
    return static_cast<std::uint32_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
  };
  events_.reserve(2 * count);
  for (std::uint32_t i = 0; i < count; ++i) {
    events_.push_back({send_position(messages[i]), 2 * i, process_of(messages[i].source)});
    events_.push_back({receive_position(messages[i]), 2 * i + 1, process_of(messages[i].destination)});
  }
  std::sort(events_.begin(), events_.end(), [&](const Event& a, const Event& b) {
    if (a.process != b.process) return a.process < b.process;
    if (a.position != b.position) return a.position < b.position;
    const bool receive = a.number & 1;  // so is b: positions tell
    return tie_breakers(messages[a.number >> 1], receive) < tie_breakers(messages[b.number >> 1], receive);
  });
  place_.resize(2 * count);
  processes_.resize(ranks.size());
  for (std::size_t i = 0; i < events_.size(); ++i) {
    place_[events_[i].number] = static_cast<std::uint32_t>(i);
    if (i == 0 || events_[i].process != events_[i - 1].process)
      processes_[events_[i].process].next = processes_[events_[i].process].next_end = i;
    processes_[events_[i].process].end = i + 1;
  }
  sent_.resize(count);
  left_out_.resize(count);
  order_.events.reserve(2 * count);
}

void Sorter::open_group(std::uint32_t process) {
  Process& p = processes_[process];
  p.waiting = 0;
  p.next = p.next_end;
  if (p.next == p.end) return;
  while (p.next_end < p.end && events_[p.next_end].position == events_[p.next].position)
    p.waiting += awaited(events_[p.next_end++]);
  if (p.waiting == 0) ready_.push({events_[p.next].position, process});
}

void Sorter::emit_group(std::uint32_t process) {
  const std::size_t begin = processes_[process].next, end = processes_[process].next_end;
  for (std::size_t i = begin; i < end; ++i) {
    if (left_out_[events_[i].number >> 1]) continue;
    order_.events.push_back({events_[i].number});
    if ((events_[i].number & 1) == 0) send_is_out(events_[i].number >> 1);
  }
  open_group(process);
}

void Sorter::send_is_out(std::uint32_t message) {
  sent_[message] = 1;
  const std::uint32_t at = place_[2 * message + 1];
  Process& p = processes_[events_[at].process];
  if (at < p.next || at >= p.next_end) return;
  if (--p.waiting == 0) ready_.push({events_[at].position, events_[at].process});
}

void Sorter::leave_out(std::uint32_t message) {
  left_out_[message] = 1;
  order_.unordered.push_back(message);
  const Event& e = events_[place_[2 * message + 1]];
  if (--processes_[e.process].waiting == 0) ready_.push({e.position, e.process});
}

// Every unfinished process waits for another one's send: follow one of each until a process comes again, and leave
// out the message that the one with the least position of the cycle waits for.
void Sorter::break_cycle() {
  while (processes_[first_unfinished_].next == processes_[first_unfinished_].end) ++first_unfinished_;
  std::uint32_t at = first_unfinished_;
  const auto awaited_message = [&](std::uint32_t process) {
    std::size_t i = processes_[process].next;
    for (; !awaited(events_[i]); ++i) ++steps_;
    return events_[i].number >> 1;
  };
  if (steps_ > most_steps) {
    for (std::size_t i = processes_[at].next, end = processes_[at].next_end; i < end; ++i)
      if (awaited(events_[i])) leave_out(events_[i].number >> 1);
    return;
  }
  const auto step = [&](std::uint32_t process) { return events_[place_[2 * processes_[process].left_by]].process; };
  for (++walk_; processes_[at].walk != walk_; at = step(at), ++steps_) {
    processes_[at].walk = walk_;
    processes_[at].left_by = awaited_message(at);
  }
  std::uint32_t earliest = at;
  for (std::uint32_t p = step(at); p != at; p = step(p))
    if (std::make_pair(events_[processes_[p].next].position, p) <
        std::make_pair(events_[processes_[earliest].next].position, earliest))
      earliest = p;
  leave_out(processes_[earliest].left_by);
}

LogicalOrder Sorter::run() {
  std::size_t finished = 0;
  for (std::uint32_t p = 0; p < processes_.size(); ++p) open_group(p);
  while (finished < processes_.size()) {
    if (ready_.empty()) {
      break_cycle();
      continue;
    }
    const std::uint32_t process = ready_.top().process;
    ready_.pop();
    emit_group(process);
    finished += processes_[process].next == processes_[process].end;
  }
  std::sort(order_.unordered.begin(), order_.unordered.end());
  return std::move(order_);
}

}  // namespace

LogicalOrder logical_order(std::span<const Message> messages) {
  return Sorter(messages.first(std::min<std::size_t>(messages.size(), INT32_MAX))).run();
}

}  // namespace pclscope
