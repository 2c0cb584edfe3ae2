// Recorders of a process that was only preloaded: dormant until an aggregator attaches, recording while it stays,
// dormant again. FORMAT.md, "Sessions".
#include <stdlib.h>

#include <new>

#include "interpose/recorder/recorder.hpp"
#include "interpose/recorder/requests.hpp"
#include "interpose/recorder/segments.hpp"

namespace pclscope {

namespace {

// Stands for the segment of a dormant thread: written to by nobody on purpose, read by nobody.
constinit record::SegmentHeader nowhere{};

}  // namespace

bool Recorder::start_dormant() {
  void* memory = malloc(sizeof(Unrecorded));
  if (memory == nullptr) return false;
  accounts_ = new (memory) Unrecorded(process.multiple, true);
  header_ = &nowhere;
  session_ = 0;
  muted_ = true;
  detour_.store(true, std::memory_order_relaxed);
  return true;
}

// Nothing is kept, unless other threads are in a session already and it is the end of a receive of theirs.
bool Recorder::absorb_dormant(EventKind kind, Function function, Site site, std::uint64_t comm, std::uint64_t bytes,
                              std::uint64_t ordinal, std::int32_t peer, std::int32_t tag, std::uint32_t flags) {
  const bool ends = (kind == EventKind::recv_done && (flags & flag::posted) != 0) ||
                    kind == EventKind::recv_cancelled || kind == EventKind::recv_freed;
  if (!ends || process.open_session.load(std::memory_order_acquire) == 0 ||
      record::number_of(ordinal) < process.first_receive)
    return false;
  accounts_->keep({0, 0, site, comm, bytes, ordinal, peer, tag, kind, static_cast<std::uint16_t>(function), flags});
  return false;
}

void Recorder::wake_receives() {
  if (!asleep_) return;
  asleep_ = false;
  keep_asleep(*accounts_);
}

// MPI_Pcontrol(0) puts off entering a session, not leaving one.
void Recorder::follow(std::uint32_t word) {
  wake_receives();
  if (session_ != 0) leave_session();
  const bool wanted = (word & 1) != 0;
  if (wanted && process.off.load(std::memory_order_relaxed)) return;
  seen_ = word;
  if (wanted) join(word);
}

void Recorder::leave_session() {
  close_session(session_);
  fall_asleep();
}

void Recorder::fall_asleep() {
  if (session_ == 0) return;
  session_ = 0;
  muted_ = true;
  detour_.store(true, std::memory_order_relaxed);
  record::SegmentHeader* segment = header_;
  header_ = &nowhere;
  ring_ = record::RingWriter();
  segment->state.store(record::ProcessState::left, std::memory_order_release);
  remove_segment(segment);
  free(summary_.events);
  summary_ = {};
  summary_next_ = 0;
  lost_ = 0;
  waited_in_vain_ = false;
  accounts_->forget_interval();
}

void Recorder::drop_next() {
  if (next_segment_ != nullptr) remove_segment(next_segment_);
  next_segment_ = nullptr;
}

// The thread's first events of the session are the totals of all that it did before.
void Recorder::join(std::uint32_t word) {
  bool opened = false, certain = true;
  record::SegmentHeader* segment = enter_session(*this, word, opened, certain);
  if (segment == nullptr) return;  // no room in /dev/shm (said so), or that session is over
  // In a call that began before, numbers of this session were taken: nobody will tell of them.
  if (!opened && (sends_until_ > process.first_send || receives_until_ > process.first_receive)) certain = false;
  open(segment);
  header_->muted.store(1, std::memory_order_seq_cst);
  session_ = word;
  record::Event* communicators = nullptr;
  std::size_t count = 0;
  if (opened) certain &= tell_communicators(communicators, count);
  summary_ =
      accounts_->life_summary({process.first_send, process.first_receive, process.sends.load(std::memory_order_acquire),
                               communicators, count, opened, certain},
                              process.receives);
  free(communicators);
  summary_next_ = 0;
  lost_ = 0;
  if (summary_.events == nullptr) return leave_session();
  see_bounds();
  if (!process.off.load(std::memory_order_relaxed)) resume();
}

void Recorder::lose_track_for_life() {
  accounts_->life_give_up();
  if (session_ != 0) lose_track();
}

}  // namespace pclscope
