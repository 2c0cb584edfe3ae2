// Single-producer single-consumer ring of events over a segment in shared memory.
// RingWriter: one thread of the recording process. RingReader: the aggregator. Each keeps its own index privately and
// looks at the other's seldom, so that the warm path touches one line of the ring and publishes one index.
// Ordering: events are written, then `head` is stored with release; the reader loads it with acquire, copies, then
// stores `tail` with release. A slot is reused only after the writer has seen (acquire) a tail beyond it.
#pragma once

#include <cstdint>
#include <span>

#include "interpose/record/bell.hpp"
#include "interpose/record/segment.hpp"

namespace pclscope::record {

class RingWriter {
 public:
  RingWriter() = default;
  // `bell`: rung when the ring is a quarter full, and again until it is read. Null: never.
  explicit RingWriter(SegmentHeader* segment, Bell* bell = nullptr)
      : segment_(segment), bell_(bell), ring_(segment_ring(segment)), mask_(segment->capacity - 1), look_(0) {}

  // The slot for the next event, or nullptr when the ring is full.
  Event* claim() {
    if (head_ >= look_ && !look()) [[unlikely]]
      return nullptr;
    return ring_ + (head_ & mask_);
  }
  // Makes the claimed event visible.
  void publish() {
    segment_->head.store(++head_, std::memory_order_release);
    // The reader has had this line since it was last written: asked for early, its store does not hold up MPI's own.
    asm volatile("prefetchw %0" ::"m"(ring_[(head_ + ahead) & mask_]));
  }

  std::uint64_t written() const { return head_; }  // events ever
  SegmentHeader* segment() const { return segment_; }
  std::uint64_t capacity() const { return mask_ + 1; }
  // Free slots, as the reader says now.
  std::uint64_t room() {
    const std::uint64_t used = head_ - segment_->tail.load(std::memory_order_acquire);
    return used <= mask_ ? mask_ + 1 - used : 0;
  }

 private:
  // How far the reader is: each time another quarter of the ring has been written. False: the ring is full.
  [[gnu::noinline, gnu::cold]] bool look() {
    const std::uint64_t tail = segment_->tail.load(std::memory_order_acquire);
    const std::uint64_t used = head_ - tail, full = mask_ + 1, quarter = full < 4 ? 1 : full / 4;
    if (used >= quarter && bell_ != nullptr) ring_bell(*bell_);
    if (used >= full) return false;
    const std::uint64_t left = full - used, next = used < quarter ? quarter - used : quarter;
    look_ = head_ + (next < left ? next : left);
    return true;
  }

  static constexpr std::uint64_t ahead = 12;  // events; more than one exchange with a few neighbours
  SegmentHeader* segment_ = nullptr;
  Bell* bell_ = nullptr;
  Event* ring_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t head_ = 0;
  std::uint64_t look_ = ~std::uint64_t{0};  // where the next look at the tail is due
};

class RingReader {
 public:
  RingReader() = default;
  // `capacity` comes from the mapped file's verified size, never from memory that a dying writer may scribble on.
  RingReader(SegmentHeader* segment, std::uint64_t capacity)
      : segment_(segment),
        ring_(segment_ring(segment)),
        mask_(capacity - 1),
        tail_(segment->tail.load(std::memory_order_relaxed)) {}

  // The longest contiguous run of unread events, at most `limit`; empty when there is none. Valid until release().
  std::span<const Event> peek(std::uint64_t limit) const {
    const std::uint64_t head = segment_->head.load(std::memory_order_acquire);
    std::uint64_t count = head - tail_;
    if (count > mask_ + 1) count = 0;  // a broken index: never read beyond the ring
    const std::uint64_t first = tail_ & mask_;
    count = count < mask_ + 1 - first ? count : mask_ + 1 - first;
    return {ring_ + first, static_cast<std::size_t>(count < limit ? count : limit)};
  }
  void release(std::uint64_t count) {
    tail_ += count;
    segment_->tail.store(tail_, std::memory_order_release);
  }
  std::uint64_t consumed() const { return tail_; }

 private:
  SegmentHeader* segment_ = nullptr;
  Event* ring_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t tail_ = 0;
};

}  // namespace pclscope::record
