#include "interpose/unrecorded.hpp"

#include <stdlib.h>
#include <string.h>

#include "interpose/guard.hpp"

namespace pclscope {

using record::Event;
using record::EventKind;
namespace flag = record::flag;

namespace {

constexpr std::uint32_t ends_limit = 16384;
constexpr std::uint32_t communicators_limit = 4096;
constexpr std::uint32_t lost_numbers_limit = 1024;

std::atomic<bool> lock;  // guards the lists of outstanding receives of all threads, and what follows
std::atomic<std::uint64_t> posts{0};
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

std::uint32_t ChannelCounts::place(std::uint64_t comm, std::int32_t peer, std::int32_t tag) const {
  const std::uint64_t mixed = (comm ^ static_cast<std::uint32_t>(peer) * 0xBF58476D1CE4E5B9u) * 0x9E3779B97F4A7C15u +
                              static_cast<std::uint32_t>(tag) * 0x94D049BB133111EBu;
  std::uint32_t i = static_cast<std::uint32_t>((mixed * 0x9E3779B97F4A7C15u) >> 40) & (slots - 1);
  while (slots_[i].count != 0 && (slots_[i].comm != comm || slots_[i].peer != peer || slots_[i].tag != tag))
    i = (i + 1) & (slots - 1);
  return i;
}

ChannelCounts::Channel* ChannelCounts::place_for(std::uint64_t comm, std::int32_t peer, std::int32_t tag,
                                                 std::uint64_t begin) {
  if (slots_ == nullptr) {
    slots_ = static_cast<Channel*>(calloc(slots, sizeof(Channel)));
    used_ = static_cast<std::uint16_t*>(malloc(limit * sizeof *used_));
    if (slots_ == nullptr || used_ == nullptr) {
      give_memory_back();
      return nullptr;
    }
  }
  const std::uint32_t slot = place(comm, peer, tag);
  Channel& c = slots_[slot];
  if (c.count == 0) {
    if (size_ == limit) return nullptr;
    c = {comm, peer, tag, 0, begin, 0, 0};
    used_[size_++] = static_cast<std::uint16_t>(slot);
  }
  return &c;
}

const ChannelCounts::Channel* ChannelCounts::find(std::uint64_t comm, std::int32_t peer, std::int32_t tag) const {
  if (slots_ == nullptr) return nullptr;
  const Channel& c = slots_[place(comm, peer, tag)];
  return c.count != 0 ? &c : nullptr;
}

void ChannelCounts::clear() {
  for (std::uint32_t i = 0; i < size_; ++i) slots_[used_[i]].count = 0;
  size_ = 0;
  last_ = nullptr;
}

void ChannelCounts::give_memory_back() {
  free(slots_);
  free(used_);
  *this = ChannelCounts();
}

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
}

Unrecorded::Post Unrecorded::post(std::uint64_t counter) {
  if (shared_) return {counter, posts.fetch_add(1, std::memory_order_relaxed) + 1};
  const std::uint64_t order = posts.load(std::memory_order_relaxed) + 1;
  posts.store(order, std::memory_order_relaxed);
  return {counter, order};
}

void Unrecorded::received(std::uint64_t comm, std::int32_t peer, std::int32_t tag, const Post& post,
                          std::uint64_t end) {
  if (peer < 0) return;
  if (!receives_.add(comm, peer, tag, post.counter, end, post.order)) give_up();
  if (post.order > latest_) latest_ = post.order;
}

OutstandingReceive* Unrecorded::outstanding(const Event& event, const Post& post, std::uint64_t end) {
  SpinGuard guard(lock, shared_);
  OutstandingReceive* r = take_unused();
  if (r == nullptr) {
    give_up();
    return nullptr;
  }
  *r = {event, post.counter, end, post.order, OutstandingReceive::unnumbered, false, this, last_, nullptr};
  r->event.kind = EventKind::recv_post;
  r->event.flags |= flag::unrecorded;
  (last_ != nullptr ? last_->next : first_) = r;
  last_ = r;
  ++outstanding_;
  return r;
}

bool Unrecorded::end(OutstandingReceive* receive, std::uint64_t& number, Post& post) {
  SpinGuard guard(lock, receive->owner->shared_);
  number = receive->number;
  post = {receive->begin, receive->order};
  if (number == OutstandingReceive::unnumbered) {
    Unrecorded& owner = *receive->owner;
    (receive->previous != nullptr ? receive->previous->next : owner.first_) = receive->next;
    (receive->next != nullptr ? receive->next->previous : owner.last_) = receive->previous;
    --owner.outstanding_;
  }
  give_back(receive);
  return number != OutstandingReceive::unnumbered;
}

bool Unrecorded::let_go(OutstandingReceive* receive, std::uint64_t& number) {
  SpinGuard guard(lock, receive->owner->shared_);
  number = receive->number;
  receive->freed = true;
  if (number == OutstandingReceive::unnumbered) return false;
  give_back(receive);
  return true;
}

void Unrecorded::keep(const Event& event) {
  Event kept = event;
  const bool ends = kept.kind == EventKind::recv_done || kept.kind == EventKind::recv_cancelled ||
                    kept.kind == EventKind::recv_freed;
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
  return exact_ && sends_.size() + receives_.size() + ends_.count + communicators_.count + lost_numbers_.count == 0 &&
         outstanding_ == 0;
}

// Have receives that were posted later taken messages that this one could have taken? When looking through the channels
// takes too long: perhaps.
bool Unrecorded::may_be_out_of_order(const OutstandingReceive& receive, std::uint64_t counter,
                                     std::uint32_t& patience) const {
  // Other threads posted meanwhile, or while it was being posted, and their receives have lower numbers.
  if (receive.end != counter || (shared_ && receive.begin != counter)) return true;
  if (shared_) return posts.load(std::memory_order_relaxed) != receive.order;
  if (latest_ < receive.order) return false;
  const Event& e = receive.event;
  if (e.peer != record::any_source && e.tag != record::any_tag) {
    const ChannelCounts::Channel* c = receives_.find(e.comm, e.peer, e.tag);
    return c != nullptr && c->latest > receive.order;
  }
  if (patience < receives_.size()) return true;
  patience -= receives_.size();
  for (std::uint32_t i = 0; i < receives_.size(); ++i) {
    const ChannelCounts::Channel& c = receives_[i];
    if (c.latest > receive.order && c.comm == e.comm && (e.peer == record::any_source || e.peer == c.peer) &&
        (e.tag == record::any_tag || e.tag == c.tag))
      return true;
  }
  return false;
}

// Numbers them all, in the order of their posts. The lock is held.
Event* Unrecorded::write_outstanding(Event* at, std::atomic<std::uint64_t>& receives) {
  std::uint64_t number = receives.fetch_add(outstanding_, std::memory_order_acq_rel);
  const std::uint64_t counter = number;
  std::uint32_t patience = 1u << 20;
  Event* freed = at + outstanding_;
  for (OutstandingReceive* r = first_; r != nullptr;) {
    OutstandingReceive* next = r->next;
    *at = r->event;
    at->ordinal = r->number = number++;
    if (may_be_out_of_order(*r, counter, patience)) at->flags |= flag::out_of_order;
    if (r->freed) {
      *freed = *at;
      freed->kind = EventKind::recv_freed;
      freed->flags &= ~flag::out_of_order;
      ++freed;
      give_back(r);
    }
    ++at;
    r = next;
  }
  first_ = last_ = nullptr;
  outstanding_ = 0;
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
  for (std::uint32_t i = 0; exact_ && i < sends_.size(); ++i) *at++ = of_channel(EventKind::unrecorded_sends, sends_[i]);
  append(communicators_);
  if (exact_) append(lost_numbers_);
  sends_.clear();
  receives_.clear();
  ends_.count = communicators_.count = lost_numbers_.count = 0;
  exact_ = true;
  return {events, static_cast<std::size_t>(at - events)};
}

}  // namespace pclscope
