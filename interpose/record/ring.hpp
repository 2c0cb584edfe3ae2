// Single-producer single-consumer ring of events over a segment in shared memory.
// RingWriter: one thread of the recording process. RingReader: the aggregator. Each keeps its own index privately and
// looks at the other's seldom, so that the warm path touches one line of the ring and publishes one index.
// Ordering: events are written, then `head` is stored with release; the reader loads it with acquire, copies, then
// stores `tail` with release. A slot is reused only after the writer has seen (acquire) a tail beyond it.
// Growth: half full, the writer goes on in the segment's next ring and never comes back. Events are numbered through
// all rings; `begins` of the new one is stored before the first `head` that counts an event in it. The reader takes
// what is left in the old one first, as it goes by numbers.
#pragma once

#include <cstdint>
#include <span>

#include "interpose/record/bell.hpp"
#include "interpose/record/segment.hpp"

namespace pclscope::record {

class RingWriter {
 public:
  // Takes the memory of the segment's ring number `ring` (from 1). False: it cannot be had, and is not asked for again.
  using Grow = bool (*)(SegmentHeader* segment, std::uint32_t ring);

  RingWriter() = default;
  // `bell`: rung when the ring is a quarter full, and again until it is read. Null: never. `grow`: asked when it is
  // half full. Null: the ring stays as it is.
  explicit RingWriter(SegmentHeader* segment, Bell* bell = nullptr, Grow grow = nullptr)
      : segment_(segment),
        bell_(bell),
        ring_(segment_ring(segment, segment->capacity, 0)),
        mask_(segment->capacity - 1),
        look_(0),
        grow_(grow) {}

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
  std::uint64_t capacity() const { return mask_ + 1; }  // of the ring that is written now
  // Free slots of it, as the reader says now.
  std::uint64_t room() {
    const std::uint64_t used = used_at(segment_->tail.load(std::memory_order_acquire));
    return used <= mask_ ? mask_ + 1 - used : 0;
  }

 private:
  // How far the reader is: each time another quarter of the ring has been written. False: the ring is full.
  [[gnu::noinline, gnu::cold]] bool look() {
    const std::uint64_t tail = segment_->tail.load(std::memory_order_acquire);
    if (head_ - tail >= quarter() && bell_ != nullptr) ring_bell(*bell_);
    if (grow_ != nullptr && used_at(tail) > mask_ / 2) grow();
    const std::uint64_t used = used_at(tail), full = mask_ + 1;
    if (used >= full) return false;
    const std::uint64_t left = full - used, next = used < quarter() ? quarter() - used : quarter();
    look_ = head_ + (next < left ? next : left);
    return true;
  }
  void grow() {
    if (number_ == segment_->growths || !grow_(segment_, number_ + 1)) {
      grow_ = nullptr;
      return;
    }
    ++number_;
    mask_ = 2 * mask_ + 1;
    ring_ = segment_ring(segment_, segment_->capacity, number_);
    begin_ = head_;
    segment_->begins[number_ - 1].store(begin_, std::memory_order_relaxed);
  }
  std::uint64_t quarter() const { return mask_ < 3 ? 1 : (mask_ + 1) / 4; }
  // Slots of this ring that are not read yet.
  std::uint64_t used_at(std::uint64_t tail) const { return head_ - (tail > begin_ ? tail : begin_); }

  static constexpr std::uint64_t ahead = 12;  // events; more than one exchange with a few neighbours
  SegmentHeader* segment_ = nullptr;
  Bell* bell_ = nullptr;
  Event* ring_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t head_ = 0;
  std::uint64_t look_ = ~std::uint64_t{0};  // where the next look at the tail is due
  Grow grow_ = nullptr;
  std::uint64_t begin_ = 0;   // number of the first event in this ring
  std::uint32_t number_ = 0;  // of this ring
};

class RingReader {
 public:
  RingReader() = default;
  // `capacity` (of the first ring) and `growths` are those of the mapped file's verified size, never read again from
  // memory that a dying writer may scribble on.
  RingReader(SegmentHeader* segment, std::uint64_t capacity, std::uint32_t growths = 0)
      : segment_(segment),
        capacity_(capacity),
        growths_(growths),
        tail_(segment->tail.load(std::memory_order_relaxed)) {}

  // The longest contiguous run of unread events, at most `limit`; empty when there is none. Valid until release().
  std::span<const Event> peek(std::uint64_t limit) const {
    const std::uint64_t head = segment_->head.load(std::memory_order_acquire);
    const std::uint32_t ring = ring_of_tail();
    const std::uint64_t next = begin_of(ring + 1), size = capacity_ << ring;
    std::uint64_t count = (head < next ? head : next) - tail_;
    if (count > size) count = 0;  // a broken index: never read beyond the ring
    const std::uint64_t first = tail_ & (size - 1);
    count = count < size - first ? count : size - first;
    return {segment_ring(segment_, capacity_, ring) + first, static_cast<std::size_t>(count < limit ? count : limit)};
  }
  void release(std::uint64_t count) {
    tail_ += count;
    ring_ = ring_of_tail();
    segment_->tail.store(tail_, std::memory_order_release);
  }
  std::uint64_t consumed() const { return tail_; }
  // The ring that is read now: those before it are empty for good.
  std::uint32_t ring() const { return ring_; }
  // The one that is written now, as far as the writer has said.
  std::uint32_t newest() const {
    std::uint32_t ring = ring_;
    while (begin_of(ring + 1) != none) ++ring;
    return ring;
  }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  // Number of the first event of a ring after the first; `none`: it is not in use.
  std::uint64_t begin_of(std::uint32_t ring) const {
    const std::uint64_t begin = ring > growths_ ? 0 : segment_->begins[ring - 1].load(std::memory_order_relaxed);
    return begin != 0 ? begin : none;
  }
  // After head was loaded: whatever ring its events are in has told where it begins.
  std::uint32_t ring_of_tail() const {
    std::uint32_t ring = ring_;
    while (begin_of(ring + 1) <= tail_) ++ring;
    return ring;
  }

  SegmentHeader* segment_ = nullptr;
  std::uint64_t capacity_ = 0;
  std::uint32_t growths_ = 0;
  std::uint32_t ring_ = 0;
  std::uint64_t tail_ = 0;
};

}  // namespace pclscope::record
