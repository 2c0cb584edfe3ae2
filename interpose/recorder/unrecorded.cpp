#include "interpose/recorder/unrecorded.hpp"

#include <stdlib.h>
#include <string.h>

#include "interpose/process/guard.hpp"

namespace pclscope {

using record::Event;
using record::EventKind;
namespace flag = record::flag;

namespace {

constexpr std::uint32_t ends_limit = 16384;
constexpr std::uint32_t communicators_limit = 4096;
constexpr std::uint32_t lost_numbers_limit = 1024;

std::atomic<bool> lock;  // guards the lists of outstanding receives of all threads, and what follows
std::atomic<std::uint64_t> first_number{0};  // receives with lower numbers were numbered in an earlier session
OutstandingReceive* unused = nullptr;
OutstandingReceive* blocks = nullptr;  // the first of each block: never given back, but known to leak checkers

Event blank(EventKind kind) {
  Event e{};
  e.kind = kind;
  e.peer = record::any_source;
  e.tag = record::any_tag;
  return e;
}

Event of_channel(EventKind kind, const ChannelCounts::Channel& c) {
  Event e = blank(kind);
  e.begin = c.begin;
  e.end = c.end;
  e.comm = c.comm;
  e.peer = c.peer;
  e.tag = c.tag;
  e.bytes = c.count;
  return e;
}

OutstandingReceive* take_unused() {
  if (unused == nullptr) {
    constexpr std::size_t some = 32;
    auto* more = static_cast<OutstandingReceive*>(aligned_alloc(64, some * sizeof(OutstandingReceive)));
    if (more == nullptr) return nullptr;
    more[0].next = blocks;
    blocks = more;
    for (std::size_t i = 1; i < some; ++i) {
      more[i].next = unused;
      unused = more + i;
    }
  }
  OutstandingReceive* receive = unused;
  unused = receive->next;
  return receive;
}

void give_back(OutstandingReceive* receive) {
  receive->next = unused;
  unused = receive;
}

}  // namespace

bool Unrecorded::List::add(const Event& event, std::uint32_t limit) {
  if (count == room) {
    const std::uint32_t larger = room == 0 ? 64 : 2 * room;
    if (room == limit) return false;
    auto* moved = static_cast<Event*>(aligned_alloc(64, larger * sizeof(Event)));
    if (moved == nullptr) return false;
    if (count != 0) memcpy(static_cast<void*>(moved), events, count * sizeof(Event));
    free(events);
    events = moved;
    room = larger;
  }
  events[count++] = event;
  return true;
}

void Unrecorded::List::give_memory_back() {
  free(events);
  *this = List();
}

void Unrecorded::give_memory_back() {
  sends_.give_memory_back();
  receives_.give_memory_back();
  ends_.give_memory_back();
  communicators_.give_memory_back();
  lost_numbers_.give_memory_back();
  life_sends_.give_memory_back();
  life_receives_.give_memory_back();
}

Unrecorded::Post Unrecorded::post(std::uint64_t counter) {
  if (shared_) return {counter, posts_.fetch_add(1, std::memory_order_relaxed) + 1};
  return {counter, next_order()};
}

void Unrecorded::received(std::uint64_t comm, std::int32_t peer, std::int32_t tag, const Post& post,
                          std::uint64_t end) {
  if (peer < 0) return;
  if (!receives_.add(comm, peer, tag, post.counter, end, post.order)) give_up();
  if (post.order > latest_) latest_ = post.order;
}

// The lock is held.
OutstandingReceive* Unrecorded::take_in(const Event& event, const Post& post, std::uint64_t end, std::uint64_t number,
                                        OutstandingReceive* previous) {
  OutstandingReceive* r = take_unused();
  if (r == nullptr) {
    give_up();
    life_give_up();
    return nullptr;
  }
  OutstandingReceive* next = previous != nullptr ? previous->next : first_;
  *r = {event, post.counter, end, post.order, number, false, this, previous, next};
  r->event.kind = EventKind::recv_post;
  r->event.flags |= flag::unrecorded;
  (previous != nullptr ? previous->next : first_) = r;
  (next != nullptr ? next->previous : last_) = r;
  ++outstanding_;
  return r;
}

OutstandingReceive* Unrecorded::outstanding(const Event& event, const Post& post, std::uint64_t end,
                                            std::uint64_t number) {
  SpinGuard guard(lock, shared_);
  return take_in(event, post, end, number, last_);
}

OutstandingReceive* Unrecorded::outstanding_earlier(const Event& event, const Post& post, OutstandingReceive* later) {
  OutstandingReceive* previous = later != nullptr ? later->previous : last_;
  while (previous != nullptr && previous->order > post.order) previous = previous->previous;
  return take_in(event, post, post.counter, OutstandingReceive::unnumbered, previous);
}

void Unrecorded::number_from(std::uint64_t first_receive) {
  first_number.store(first_receive, std::memory_order_release);
}

bool Unrecorded::is_numbered(const OutstandingReceive& receive) const {
  return receive.number != OutstandingReceive::unnumbered &&
         (!life_ || record::number_of(receive.number) >= first_number.load(std::memory_order_relaxed));
}

std::uint64_t Unrecorded::number_now(const OutstandingReceive* receive) {
  return receive != nullptr && receive->owner->is_numbered(*receive) ? receive->number : OutstandingReceive::unnumbered;
}

void Unrecorded::take_out(OutstandingReceive* receive) {
  (receive->previous != nullptr ? receive->previous->next : first_) = receive->next;
  (receive->next != nullptr ? receive->next->previous : last_) = receive->previous;
  --outstanding_;
}

bool Unrecorded::end(OutstandingReceive* receive, std::uint64_t& number, Post& post) {
  SpinGuard guard(lock, receive->owner->shared_);
  Unrecorded& owner = *receive->owner;
  const bool numbered = owner.is_numbered(*receive);
  number = receive->number;
  post = {receive->begin, receive->order};
  if (!numbered || owner.life_) owner.take_out(receive);
  give_back(receive);
  return numbered;
}

bool Unrecorded::let_go(OutstandingReceive* receive, std::uint64_t& number) {
  SpinGuard guard(lock, receive->owner->shared_);
  number = receive->number;
  receive->freed = true;
  if (number == OutstandingReceive::unnumbered) return false;
  give_back(receive);
  return true;
}

void Unrecorded::inherit(Unrecorded& ended) {
  SpinGuard guard(lock, shared_);
  life_exact_ = life_exact_ && ended.life_exact_ && life_sends_.add_all(ended.life_sends_) &&
                life_receives_.add_all(ended.life_receives_);
  if (ended.life_latest_ > life_latest_) life_latest_ = ended.life_latest_;
  ended.life_sends_.clear();
  ended.life_receives_.clear();
  for (OutstandingReceive* r = ended.first_; r != nullptr; r = r->next) r->owner = this;
  if (ended.first_ == nullptr) return;
  ended.first_->previous = last_;
  (last_ != nullptr ? last_->next : first_) = ended.first_;
  last_ = ended.last_;
  outstanding_ += ended.outstanding_;
  ended.first_ = ended.last_ = nullptr;
  ended.outstanding_ = 0;
}

void Unrecorded::forget_interval() {
  sends_.clear();
  receives_.clear();
  ends_.count = communicators_.count = lost_numbers_.count = 0;
  exact_ = true;
}

void Unrecorded::keep(const Event& event) {
  Event kept = event;
  const bool ends =
      kept.kind == EventKind::recv_done || kept.kind == EventKind::recv_cancelled || kept.kind == EventKind::recv_freed;
  if (ends) kept.flags |= flag::unrecorded;
  if (!ends_.add(kept, ends_limit)) give_up();
}

void Unrecorded::keep_communicator(const Event& event) { communicators_.add(event, communicators_limit); }

void Unrecorded::lost_number(std::uint64_t number, bool of_receives) {
  const std::uint32_t flags = of_receives ? flag::of_receives : 0;
  for (std::uint32_t i = lost_numbers_.count; i-- > 0 && i + 4 > lost_numbers_.count;) {
    Event& known = lost_numbers_.events[i];
    if (known.flags != flags || known.ordinal + known.bytes != number) continue;
    ++known.bytes;
    return;
  }
  Event e = blank(EventKind::lost_number);
  e.ordinal = number;
  e.bytes = 1;
  e.flags = flags;
  if (!lost_numbers_.add(e, lost_numbers_limit)) give_up();
}

bool Unrecorded::empty() const {
  SpinGuard guard(lock, shared_);
  if (!exact_ || sends_.size() + receives_.size() + ends_.count + communicators_.count + lost_numbers_.count != 0)
    return false;
  if (!life_) return outstanding_ == 0;
  for (const OutstandingReceive* r = last_; r != nullptr; r = r->previous) {
    if (!is_numbered(*r)) return false;
  }
  return true;
}

// Have receives that were posted later taken messages that this one could have taken? When looking through the channels
// takes too long: perhaps.
bool Unrecorded::may_be_out_of_order(const OutstandingReceive& receive, std::uint64_t counter,
                                     std::uint32_t& patience) const {
  // Other threads posted meanwhile, or while it was being posted, and their receives have lower numbers.
  if (!life_ && receive.end != counter) return true;
  if (shared_ && (receive.begin != counter || receive.end != counter)) return true;
  if (shared_) return posts_.load(std::memory_order_relaxed) != receive.order;
  if ((life_ ? life_latest_ : latest_) < receive.order) return false;
  const ChannelCounts& ended = completed();
  const Event& e = receive.event;
  if (e.peer != record::any_source && e.tag != record::any_tag) {
    const ChannelCounts::Channel* c = ended.find(e.comm, e.peer, e.tag);
    return c != nullptr && c->latest > receive.order;
  }
  if (patience < ended.size()) return true;
  patience -= ended.size();
  for (std::uint32_t i = 0; i < ended.size(); ++i) {
    const ChannelCounts::Channel& c = ended[i];
    if (c.latest > receive.order && c.comm == e.comm && (e.peer == record::any_source || e.peer == c.peer) &&
        (e.tag == record::any_tag || e.tag == c.tag))
      return true;
  }
  return false;
}

// Numbers them all, in the order of their posts. The lock is held.
Event* Unrecorded::write_outstanding(Event* at, std::atomic<std::uint64_t>& receives) {
  std::size_t count = 0;
  for (const OutstandingReceive* r = first_; r != nullptr; r = r->next) count += !is_numbered(*r);
  std::uint64_t number = receives.fetch_add(count, std::memory_order_acq_rel);
  const std::uint64_t counter = number;
  std::uint32_t patience = 1u << 20;
  Event* freed = at + count;
  for (OutstandingReceive* r = first_; r != nullptr;) {
    OutstandingReceive* next = r->next;
    if (!is_numbered(*r)) {
      *at = r->event;
      at->ordinal = number;
      if (may_be_out_of_order(*r, counter, patience)) at->flags |= flag::out_of_order;
      r->number = number++;
      if (r->freed) {
        *freed = *at;
        freed->kind = EventKind::recv_freed;
        freed->flags &= ~flag::out_of_order;
        ++freed;
        give_back(r);
      }
      ++at;
    }
    r = next;
  }
  if (!life_) {
    first_ = last_ = nullptr;
    outstanding_ = 0;
  }
  return freed;
}

Unrecorded::Summary Unrecorded::summary(std::uint64_t lost, std::atomic<std::uint64_t>& receives) {
  SpinGuard guard(lock, shared_);
  const std::size_t most = 1 + ends_.count + 2 * outstanding_ + receives_.size() + sends_.size() +
                           communicators_.count + lost_numbers_.count;
  auto* events = static_cast<Event*>(aligned_alloc(64, most * sizeof(Event)));
  if (events == nullptr) return {nullptr, 0};
  Event* at = events;
  *at = blank(EventKind::lost);
  at->peer = record::unknown_rank;
  at->ordinal = lost;
  at++->flags = exact_ ? flag::summarised : 0;
  const auto append = [&at](const List& list) {
    if (list.count != 0) memcpy(static_cast<void*>(at), list.events, list.count * sizeof(Event));
    at += list.count;
  };
  if (exact_) append(ends_);
  at = write_outstanding(at, receives);
  for (std::uint32_t i = 0; exact_ && i < receives_.size(); ++i)
    *at++ = of_channel(EventKind::unrecorded_receives, receives_[i]);
  for (std::uint32_t i = 0; exact_ && i < sends_.size(); ++i)
    *at++ = of_channel(EventKind::unrecorded_sends, sends_[i]);
  append(communicators_);
  if (exact_) append(lost_numbers_);
  forget_interval();
  return {events, static_cast<std::size_t>(at - events)};
}

Unrecorded::Summary Unrecorded::life_summary(const Start& start, std::atomic<std::uint64_t>& receives) {
  SpinGuard guard(lock, shared_);
  const std::size_t most = 3 + start.communicator_count + ends_.count + lost_numbers_.count + outstanding_ +
                           life_receives_.size() + life_sends_.size();
  auto* events = static_cast<Event*>(aligned_alloc(64, most * sizeof(Event)));
  if (events == nullptr) return {nullptr, 0};
  const bool exact = exact_ && life_exact_ && start.certain;
  Event* at = events;
  *at = blank(EventKind::lost);
  at->peer = record::unknown_rank;
  at++->flags = exact ? flag::summarised : 0;
  const auto skip = [&at](std::uint64_t count, std::uint32_t flags) {
    if (count == 0) return;
    *at = blank(EventKind::lost_number);
    at->bytes = count;
    at++->flags = flags;
  };
  if (start.opens) {
    skip(start.first_send, 0);
    skip(start.first_receive, flag::of_receives);
    for (std::size_t i = 0; i < start.communicator_count; ++i) *at++ = start.communicators[i];
  }
  // What this thread ended of receives that others had posted in this session.
  for (std::uint32_t i = 0; exact && i < ends_.count; ++i) *at++ = ends_.events[i];
  for (std::uint32_t i = 0; exact && i < lost_numbers_.count; ++i) *at++ = lost_numbers_.events[i];
  const std::uint64_t received = receives.load(std::memory_order_acquire);
  at = write_outstanding(at, receives);
  const auto total = [&](EventKind kind, ChannelCounts::Channel c, std::uint64_t begin, std::uint64_t end) {
    c.count -= c.end;
    if (c.count == 0) return;
    c.begin = begin;
    c.end = end;
    *at++ = of_channel(kind, c);
  };
  for (std::uint32_t i = 0; exact && i < life_receives_.size(); ++i)
    total(EventKind::unrecorded_receives, life_receives_[i], start.first_receive, received);
  for (std::uint32_t i = 0; exact && i < life_sends_.size(); ++i)
    total(EventKind::unrecorded_sends, life_sends_[i], start.first_send, start.sends);
  forget_interval();
  return {events, static_cast<std::size_t>(at - events)};
}

}  // namespace pclscope
