#include "analysis/aggregator/worker_link.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <utility>

namespace pclscope::aggregator {

using nodes::LinkEvent;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

WorkerLink::WorkerLink(int control, int nodes, int per_host)
    : socket_(control), nodes_(nodes < 1 ? 1 : nodes), per_host_(per_host < 1 ? 1 : per_host) {
  if (alone()) self_ = 0;
  if (control < 0) {
    closed_ = !alone();
    return;
  }
  wait_ = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event what{};
  what.events = EPOLLIN;
  if (wait_ >= 0) ::epoll_ctl(wait_, EPOLL_CTL_ADD, control, &what);
}

WorkerLink::~WorkerLink() {
  if (wait_ >= 0) ::close(wait_);
}

bool WorkerLink::await_hello(milliseconds limit) {
  const auto end = Clock::now() + limit;
  for (pump(); !known() && !closed_ && word_ == Word::none; pump()) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd channel{wait_, POLLIN, 0};
    ::poll(&channel, 1, static_cast<int>(left));
  }
  return known();
}

void WorkerLink::send(int node, std::vector<std::byte> bytes) {
  if (closed_ || node < 0 || node >= nodes_) return;
  if (node == self_) {
    if (ended_) later_.push_back(std::move(bytes));
    else event(LinkEvent::Kind::message, node).bytes = std::move(bytes);
    return;
  }
  ++traffic_.messages;
  traffic_.bytes += bytes.size();
  socket_.queue(FrameKind::message, node, std::move(bytes));
}

void WorkerLink::end_epoch(const nodes::EpochWord& word) {
  if (closed_) return;
  if (alone()) {
    event(LinkEvent::Kind::epoch).word = word;
    return;
  }
  ended_ = true;
  socket_.queue_value(FrameKind::end_epoch, word);
  pump();
}

bool WorkerLink::next(LinkEvent& event) {
  if (events_.empty()) pump();
  if (events_.empty()) return false;
  event = std::move(events_.front());
  events_.pop_front();
  return true;
}

Word WorkerLink::word() {
  if (word_ == Word::none) pump();
  return word_;
}

void WorkerLink::tell_clock(record::ClockSource source, const TickScale& scale) {
  if (alone() || closed_) return;
  socket_.queue_value(FrameKind::clock,
                      ClockFrame{static_cast<std::uint32_t>(source), 0, scale.origin_ticks, scale.ns_per_tick});
}

void WorkerLink::done(milliseconds limit) {
  if (alone() || done_) return;
  done_ = true;
  socket_.queue(FrameKind::done);
  const auto end = Clock::now() + limit;
  for (pump(); socket_.unsent() > 0 && !socket_.closed() && Clock::now() < end; pump()) {
    pollfd channel{wait_, POLLIN, 0};
    ::poll(&channel, 1, 10);
  }
}

void WorkerLink::tell_found() {
  if (!alone() || told_found_) return;
  told_found_ = true;
  socket_.queue(FrameKind::found);
  pump();
}

void WorkerLink::ask_finish() {
  if (!alone()) socket_.queue(FrameKind::ask_finish);
  pump();
}

LinkEvent& WorkerLink::event(LinkEvent::Kind kind, int node) {
  LinkEvent& event = events_.emplace_back();
  event.kind = kind;
  event.node = node;
  return event;
}

// Sends what can go, takes what has come. One burst at a time: whoever calls wants to work in between.
void WorkerLink::pump() {
  if (socket_.descriptor() < 0) return;
  socket_.flush();
  Frame frame;
  for (int i = 0; i < 256 && socket_.next(frame); ++i) take(std::move(frame));
  watch_writing();
  if (!socket_.closed() || gone_) return;
  gone_ = true;
  if (word_ == Word::none) word_ = Word::stopped;
  if (wait_ >= 0)
    ::epoll_ctl(wait_, EPOLL_CTL_DEL, socket_.descriptor(), nullptr);  // else it would be readable for ever
  close();
}

void WorkerLink::take(Frame frame) {
  switch (frame.kind) {
    case FrameKind::hello:
      if (const auto hello = frame.as<HelloFrame>(); !known() && hello.nodes == nodes_) {
        self_ = hello.index;
        origin_ticks_ = hello.origin_ticks;
      }
      break;
    case FrameKind::finished:
      if (word_ == Word::none) word_ = Word::finished;
      break;
    case FrameKind::nothing_to_record:
      if (word_ == Word::none) word_ = Word::nothing_to_record;
      break;
    case FrameKind::message: event(LinkEvent::Kind::message, frame.node).bytes = std::move(frame.bytes); break;
    case FrameKind::epoch: next_epoch(frame.as<nodes::EpochWord>()); break;
    case FrameKind::died: event(LinkEvent::Kind::died, frame.node); break;
    case FrameKind::clock_news: event(LinkEvent::Kind::clock).clock = frame.as<nodes::ClockUpdate>(); break;
    case FrameKind::lost:
      lost_ = true;
      close();
      break;
    default: break;
  }
}

void WorkerLink::next_epoch(const nodes::EpochWord& word) {
  event(LinkEvent::Kind::epoch).word = word;
  ended_ = false;
  for (auto& bytes : std::exchange(later_, {})) event(LinkEvent::Kind::message, self_).bytes = std::move(bytes);
}

// With one node the anchor's end takes nothing from us: epochs go on.
void WorkerLink::close() {
  if (closed_ || alone()) return;
  closed_ = true;
  event(LinkEvent::Kind::closed);
}

void WorkerLink::watch_writing() {
  const bool wanted = socket_.unsent() > 0 && !socket_.closed();
  if (wait_ < 0 || gone_ || wanted == writing_) return;
  writing_ = wanted;
  epoll_event what{};
  what.events = EPOLLIN | (wanted ? std::uint32_t{EPOLLOUT} : 0u);
  ::epoll_ctl(wait_, EPOLL_CTL_MOD, socket_.descriptor(), &what);
}

}  // namespace pclscope::aggregator
