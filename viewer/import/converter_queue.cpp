// What waits until it is known, in the order of each thread; and what was odd.
#include <algorithm>

#include "viewer/import/converter.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::importing {

using record::Event;
using record::EventKind;
namespace flag = record::flag;

bool Converter::is_known(const Queued& q) const {
  if (q.request == nullptr) return true;
  return q.post ? q.request->known : q.request->numbered || q.request->given_up;
}

// Numbers it as the rank's record would. What is not recorded (a post that was given up, that of a collective) leaves
// its number, or nothing.
void Converter::hand_on(Thread& t, Queued& q) {
  Rank& rank = ranks_[static_cast<std::size_t>(t.rank)];
  Event& e = q.event;
  Request* const request = q.request.get();
  const bool given_up = request != nullptr && request->given_up;
  if (q.post && given_up) return;
  switch (e.kind) {
    case EventKind::send: e.ordinal = rank.sends++; break;
    case EventKind::recv_post:
      e.ordinal = rank.receives++;
      e.comm = request->comm;
      e.peer = request->peer;
      e.tag = request->tag;
      e.flags |= request->flags;
      break;
    case EventKind::recv_done:
      if (given_up) e.flags &= ~(flag::posted | flag::nonblocking | flag::persistent);
      e.ordinal = request == nullptr || given_up ? rank.receives++ : request->number;
      break;
    case EventKind::none: e.ordinal = rank.collectives[request->comm]++; break;
    case EventKind::collective:
      e.ordinal = request == nullptr || given_up ? rank.collectives[e.comm]++ : request->number;
      break;
    case EventKind::send_done: e.ordinal = request->number; break;
    default: break;
  }
  if (q.post) {
    request->number = e.ordinal;
    request->numbered = true;
  }
  if (e.kind != EventKind::none) batch_.push_back(e);
}

void Converter::hand_on(Thread& t) {
  batch_.clear();
  while (!t.queue.empty() && is_known(t.queue.front())) {
    hand_on(t, t.queue.front());
    t.queue.pop_front();
    --held_;
  }
  if (!batch_.empty()) sink_(t.rank, t.thread, batch_);
}

void Converter::give_up_one() {
  const auto longest = std::max_element(threads_.begin(), threads_.end(), [](const Thread& a, const Thread& b) {
    return a.queue.size() < b.queue.size();
  });
  Queued& front = longest->queue.front();
  // Else the post is in another thread's queue, which is as long.
  if (!front.post && front.request != nullptr) front.request->given_up = true;
  else if (front.request != nullptr) front.request->given_up = front.request->known = true;
  ++oddities_.held_too_long;
  hand_on(*longest);
}

std::int64_t Converter::hand_on() {
  for (Thread& t : threads_) hand_on(t);
  while (held_ > most_) give_up_one();
  std::uint64_t until = latest_;
  for (const Thread& t : threads_)
    if (!t.queue.empty()) until = std::min(until, t.queue.front().event.begin);
  return static_cast<std::int64_t>(until) - static_cast<std::int64_t>(origin_ticks);
}

void Converter::finish() {
  for (Thread& t : threads_)
    if (t.function != 0 && kind_of(t.function) != CallKind::finalize) ++oddities_.open_calls;
  for (Rank& rank : ranks_)
    for (auto* open : {&rank.requests, &rank.operations}) {
      oddities_.never_complete += open->size();
      for (auto& [number, request] : *open) request->known = request->given_up = true;
    }
  // A completion may wait for a post in another thread's queue.
  for (std::size_t before = held_ + 1; held_ > 0 && held_ < before;) {
    before = held_;
    for (Thread& t : threads_) hand_on(t);
  }
}

std::vector<std::string> Oddities::words() const {
  std::vector<std::string> lines;
  const auto tell = [&](std::uint64_t count, const char* what) {
    if (count > 0) lines.push_back(text::format_count(count) + " " + what);
  };
  tell(backwards, "events are earlier than one before them on their location: taken as at its time");
  tell(unknown, "events are of kinds that are not known: passed over");
  tell(no_partner, "messages and operations name a rank that their communicator does not have");
  tell(no_comm, "events name a communicator that is not defined");
  tell(unposted,
       "receives and operations were complete but never posted: taken as posted by the call that completed them");
  tell(never_complete, "receives and operations were posted but never complete: left out");
  tell(held_too_long, "posts were outstanding for too long: taken as made by the call that completed them");
  tell(open_calls, "MPI calls did not return before the trace ended: left out");
  tell(not_entered, "returns are from functions that were not entered");
  return lines;
}

}  // namespace pclscope::importing
