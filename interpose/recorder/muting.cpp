// Recorders that write no events: what they account for, and how they come back. FORMAT.md, "Not recorded, but
// accounted for".
#include <stdlib.h>

#include <new>

#include "interpose/recorder/recorder.hpp"

namespace pclscope {

using record::Event;

// The thread has its recorder in another place from now on, so that the warm path of its calls stays one branch.
void Recorder::mute() {
  if (session_ == 0) return;  // dormant: muted as it is
  if (accounts_ == nullptr) {
    void* memory = malloc(sizeof(Unrecorded));
    if (memory == nullptr) {
      go_quiet();
      return;
    }
    accounts_ = new (memory) Unrecorded(process.multiple);
  }
  if (!muted_) see_bounds();
  muted_ = true;
  // Before any call that leaves no event: what other threads record after it is not to be paired before the summary.
  header().muted.store(1, std::memory_order_seq_cst);
  detour_.store(true, std::memory_order_relaxed);
  if (this_thread.recorder == this) this_thread.recorder = nullptr;
  this_thread.muted = this;
}

void Recorder::see_bounds() { lowest_under_way(this, sends_begin_, receives_begin_); }

void Recorder::count_lost(std::uint64_t events) {
  if (quiet_ || session_ == 0) return;
  lost_ += events;
  std::atomic<std::uint64_t>& dropped = header().dropped;
  dropped.store(dropped.load(std::memory_order_relaxed) + events, std::memory_order_relaxed);
}

void Recorder::count_send_here(std::uint64_t comm, std::int32_t peer, std::int32_t tag) {
  missed(1);
  if (accounts_ == nullptr) return;
  const std::uint64_t counter = process.sends.load(std::memory_order_acquire);
  accounts_->sent(comm, peer, tag, process.multiple ? sends_begin_ : counter, counter);
}

Unrecorded::Post Recorder::posting() {
  if (accounts_ == nullptr) return {0, 0};
  return accounts_->post(process.multiple ? receives_begin_ : process.receives.load(std::memory_order_relaxed));
}

// A recording thread may complete a receive that a muted one posted: an event by itself then.
void Recorder::count_receive(std::uint64_t comm, std::int32_t peer, std::int32_t tag, const Unrecorded::Post& post) {
  if (process.attachable) accounts_->life_received(comm, peer, tag, post.order);
  count_unrecorded(comm, peer, tag, post);
}

void Recorder::count_unrecorded(std::uint64_t comm, std::int32_t peer, std::int32_t tag, const Unrecorded::Post& post) {
  if (session_ == 0) return;
  const std::uint64_t counter = process.receives.load(std::memory_order_acquire);
  if (muted_) {
    missed(1);
    accounts_->received(comm, peer, tag, post, counter);
  } else if (peer >= 0) {
    write(EventKind::unrecorded_receives, Function::none, post.counter, counter, 0, comm, 1, 0, peer, tag, 0);
  }
}

OutstandingReceive* Recorder::outstanding(const Event& event, const Unrecorded::Post& post, std::uint64_t number) {
  if (number == OutstandingReceive::unnumbered) missed(1);
  if (accounts_ == nullptr) return nullptr;
  return accounts_->outstanding(event, post, process.receives.load(std::memory_order_acquire), number);
}

void Recorder::lose_track() {
  // Now, not with the next summary: what follows would be paired meanwhile.
  const std::uint64_t t = muted_ || quiet_ ? 0 : now();
  if (t != 0 && write(EventKind::lost, Function::none, t, t, 0, 0, 0, 0, record::unknown_rank, record::any_tag, 0))
    return;
  if (accounts_ != nullptr) accounts_->give_up();
}

bool Recorder::absorb(EventKind kind, Function function, Site site, std::uint64_t comm, std::uint64_t bytes,
                      std::uint64_t ordinal, std::int32_t peer, std::int32_t tag, std::uint32_t flags) {
  if (quiet_ || accounts_ == nullptr || kind == EventKind::call_path) return false;
  if (session_ == 0) [[unlikely]]
    return absorb_dormant(kind, function, site, comm, bytes, ordinal, peer, tag, flags);
  missed(1);
  const Event event = {0, 0, site, comm, bytes, ordinal, peer, tag, kind, static_cast<std::uint16_t>(function), flags};
  const std::uint64_t number = record::number_of(event.ordinal);
  switch (event.kind) {
    case EventKind::send:
      accounts_->lost_number(number, false);
      if ((event.flags & flag::failed) == 0)
        accounts_->sent(event.comm, event.peer, event.tag, number, process.sends.load(std::memory_order_acquire));
      return false;
    case EventKind::recv_post:
      // Under MPI_THREAD_MULTIPLE the post of a matched probe was written at its entry: this is its end.
      if (process.multiple && (event.flags & flag::matched_probe) != 0) {
        accounts_->keep(event);
        return true;
      }
      accounts_->lost_number(number, true);
      return false;
    case EventKind::recv_done:
      if ((event.flags & flag::posted) != 0) {
        accounts_->keep(event);
      } else {
        accounts_->lost_number(number, true);
        accounts_->received(event.comm, event.peer, event.tag, accounts_->post(number),
                            process.receives.load(std::memory_order_acquire));
      }
      return false;
    case EventKind::recv_cancelled:
    case EventKind::recv_freed:
    case EventKind::send_cancel_request:
    case EventKind::send_cancelled:
    case EventKind::send_not_cancelled: accounts_->keep(event); return false;
    case EventKind::unrecorded_receives:
      lose_track();  // muted while it told of another thread's receive: its place is gone
      return false;
    case EventKind::comm_created:
    case EventKind::comm_freed: accounts_->keep_communicator(event); return false;
    default: return false;
  }
}

// Not at the first free slot: a thread that records one event and is muted again would only cost time.
bool Recorder::try_to_resume() {
  if (!muted_ || session_ == 0 || process.off.load(std::memory_order_relaxed)) return false;
  const std::uint64_t pending = summary_.count - summary_next_;
  std::uint64_t wanted = ring_.capacity() / 4;
  if (pending > wanted) wanted = ring_.capacity() / 2;
  if (ring_.room() >= wanted) return resume();
  if (consumer_gone() || ((++checks_ & 0xfff) == 0 && consumer_dead())) go_quiet();
  return false;
}

bool Recorder::resume() {
  for (;;) {
    if (!pour()) return false;
    if (lost_ == 0 && accounts_->empty()) break;
    summary_ = accounts_->summary(lost_, process.receives);
    summary_next_ = 0;
    if (summary_.events == nullptr) return false;
    lost_ = 0;
    see_bounds();
  }
  muted_ = waited_in_vain_ = false;
  header().muted.store(0, std::memory_order_release);
  detour_.store(false, std::memory_order_relaxed);
  if (!process.attachable) {
    this_thread.recorder = this;
    this_thread.muted = nullptr;
  }
  if (process.off.load(std::memory_order_seq_cst)) detour_.store(true, std::memory_order_relaxed);
  return true;
}

// Writes what there is room for. True when nothing is left.
bool Recorder::pour() {
  const std::uint64_t t = now();
  while (summary_next_ < summary_.count) {
    Event* slot = ring_.claim();
    if (slot == nullptr) return false;
    *slot = summary_.events[summary_next_++];
    if (slot->kind != EventKind::unrecorded_sends && slot->kind != EventKind::unrecorded_receives)
      slot->begin = slot->end = t;
    ring_.publish();
  }
  free(summary_.events);
  summary_ = {};
  summary_next_ = 0;
  return true;
}

void Recorder::settle() {
  if (quiet_) return;
  if (process.attachable && session_ != process.open_session.load()) follow(process.session->load());
  if (session_ == 0) return;
  Recorder* const mine = this_thread.recorder;
  Recorder* const mine_muted = this_thread.muted;
  if (accounts_ != nullptr && (muted_ || !process.attachable)) {
    muted_ = true;
    while (!resume() && summary_.events != nullptr && wait_for_room(true)) {}
    if (muted_) missed(summary_.count - summary_next_);
  }
  if (!muted_ && !quiet_ && ring_.room() == 0) wait_for_room(true);  // for the last event
  if (mine != this && mine_muted != this) {                          // another thread's, which will not call again
    this_thread.recorder = mine;
    this_thread.muted = mine_muted;
  }
}

}  // namespace pclscope
