#include "tests/analysis/match/sim_recorder.hpp"

#include <algorithm>
#include <cstdlib>

namespace pclscope::test {

using record::EventKind;
namespace flag = record::flag;

SimRecorder::SimRecorder(SimProcess& process, Ring& ring, const World& world)
    : process_(process), ring_(ring), world_(world), accounts_(std::make_unique<Unrecorded>(process.multiple)) {
  process.recorders.push_back(this);
}

std::uint64_t SimRecorder::number(std::atomic<std::uint64_t>& counter, std::uint64_t& bound) {
  if (bound == unnumbered) bound = counter;
  return counter++;
}
std::uint64_t SimRecorder::number_send() { return number(process_.sends, sending_); }
std::uint64_t SimRecorder::number_receive() { return number(process_.receives, receiving_); }
std::uint64_t SimRecorder::send_ordinal(std::uint64_t number) const {
  return process_.multiple ? record::make_ordinal(number, process_.sends - number - 1) : number;
}
std::uint64_t SimRecorder::receive_ordinal(std::uint64_t number) const {
  return process_.multiple ? record::make_ordinal(number, process_.receives - number - 1) : number;
}

void SimRecorder::see_bounds() {
  sends_begin_ = process_.sends;
  receives_begin_ = process_.receives;
  for (const SimRecorder* other : process_.recorders) {
    if (other == this) continue;
    sends_begin_ = std::min(sends_begin_, other->sending_);
    receives_begin_ = std::min(receives_begin_, other->receiving_);
  }
}

void SimRecorder::mute() {
  see_bounds();
  muted_ = ring_.muted = true;
}

void SimRecorder::missed(std::uint64_t events) {
  if (process_.off) return;
  lost_ += events;
  ring_.dropped_total += events;
}

bool SimRecorder::write(const Event& event) {
  if (!muted_ && (process_.off || world_.full())) mute();
  if (!muted_) {
    world_.push(ring_, event);
    return true;
  }
  absorb(event);
  return keeps_number(event);
}

bool SimRecorder::keeps_number(const Event& event) const {
  return event.kind == EventKind::recv_post && process_.multiple && event.flags & flag::matched_probe;
}

void SimRecorder::absorb(const Event& e) {
  missed(1);
  const std::uint64_t number = record::number_of(e.ordinal);
  switch (e.kind) {
    case EventKind::send:
      accounts_->lost_number(number, false);
      return accounts_->sent(e.comm, e.peer, e.tag, number, process_.sends);
    case EventKind::recv_post: return keeps_number(e) ? accounts_->keep(e) : accounts_->lost_number(number, true);
    case EventKind::recv_done:
      if (e.flags & flag::posted) return accounts_->keep(e);
      accounts_->lost_number(number, true);
      return accounts_->received(e.comm, e.peer, e.tag, accounts_->post(number), process_.receives);
    case EventKind::recv_cancelled:
    case EventKind::recv_freed:
    case EventKind::send_cancel_request:
    case EventKind::send_cancelled:
    case EventKind::send_not_cancelled: return accounts_->keep(e);
    case EventKind::unrecorded_receives:
      return accounts_->received(e.comm, e.peer, e.tag, accounts_->post(e.begin), e.end);
    default: return;
  }
}

void SimRecorder::count_send(std::uint64_t comm, int peer, int tag) {
  missed(1);
  accounts_->sent(comm, peer, tag, process_.multiple ? sends_begin_ : process_.sends.load(), process_.sends);
}
Unrecorded::Post SimRecorder::posting() {
  return accounts_->post(process_.multiple ? receives_begin_ : process_.receives.load());
}
void SimRecorder::count_receive(std::uint64_t comm, int peer, int tag, const Unrecorded::Post& post) {
  if (muted_) {
    missed(1);
    return accounts_->received(comm, peer, tag, post, process_.receives);
  }
  Event e{};
  e.begin = post.counter;
  e.end = process_.receives;
  e.comm = comm;
  e.bytes = 1;
  e.peer = peer;
  e.tag = tag;
  e.kind = EventKind::unrecorded_receives;
  if (peer >= 0) write(e);
}
OutstandingReceive* SimRecorder::outstanding(const Event& event, const Unrecorded::Post& post) {
  missed(1);
  return accounts_->outstanding(event, post, process_.receives);
}

void SimRecorder::try_to_resume(bool whatever_it_takes) {
  if (!muted_ || (process_.off && !whatever_it_takes)) return;
  std::size_t room = whatever_it_takes ? ~std::size_t{0} : world_.room();
  for (;;) {
    for (; next_ < summary_.size(); --room) {
      if (room == 0) return;
      Event e = summary_[next_++];
      if (e.kind != EventKind::unrecorded_sends && e.kind != EventKind::unrecorded_receives)
        e.begin = e.end = world_.now();
      world_.push(ring_, e);
    }
    if (lost_ == 0 && accounts_->empty()) break;
    const Unrecorded::Summary made = accounts_->summary(lost_, process_.receives);
    summary_.assign(made.events, made.events + made.count);
    std::free(made.events);
    next_ = 0;
    lost_ = 0;
    see_bounds();
  }
  muted_ = ring_.muted = false;
}

}  // namespace pclscope::test
