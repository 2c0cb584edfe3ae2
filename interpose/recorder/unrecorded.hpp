// What a thread keeps of the calls that leave no event of their own, while its ring is full or MPI_Pcontrol(0) is in
// force: just what matching must know. summary() turns it into the events of FORMAT.md, "Not recorded, but accounted
// for". Knows nothing of MPI. Owner: one thread, but for the outstanding receives, which any thread may complete: those
// are guarded by one lock for the process (taken under MPI_THREAD_MULTIPLE only).
// In a process that records in sessions (FORMAT.md, "Sessions") it keeps besides, for life, the totals of every channel
// and all outstanding receives, recorded or not: with them a session begins.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/record/event.hpp"

namespace pclscope {

// Messages per channel: open addressing, at most half full, memory taken at the first use, doubled up to the limit.
class ChannelCounts {
 public:
  struct Channel {
    std::uint64_t comm;
    std::int32_t peer;
    std::int32_t tag;
    std::uint64_t count;       // 0: a free slot
    std::uint64_t begin, end;  // the process's counter at the first and at the last. For life: end = sends cancelled
    std::uint64_t latest;      // receives: when the last posted of them was posted (Unrecorded::Post::order)
  };
  static constexpr std::uint32_t limit = 4096;  // of one interval
  static constexpr std::uint32_t life_limit = 262144;

  explicit ChannelCounts(std::uint32_t most = limit) : most_(most) {}

  // False when there is no room for another channel.
  bool add(std::uint64_t comm, std::int32_t peer, std::int32_t tag, std::uint64_t begin, std::uint64_t end,
           std::uint64_t order) {
    if (last_ == nullptr || last_->comm != comm || last_->peer != peer || last_->tag != tag) {
      last_ = place_for(comm, peer, tag, begin);
      if (last_ == nullptr) return false;
    }
    ++last_->count;
    if (begin < last_->begin) last_->begin = begin;
    if (end > last_->end) last_->end = end;
    if (order > last_->latest) last_->latest = order;
    return true;
  }
  // The same without an interval.
  bool add_for_life(std::uint64_t comm, std::int32_t peer, std::int32_t tag, std::uint64_t order) {
    Channel*& recent = recent_[static_cast<std::uint32_t>(peer * 5 + tag) % recent_channels];
    Channel* c = recent;
    if (c == nullptr || c->tag != tag || c->peer != peer || c->comm != comm) [[unlikely]] {
      c = place_for(comm, peer, tag, 0);
      if (c == nullptr) return false;
      recent = c;
    }
    ++c->count;
    if (order > c->latest) c->latest = order;
    return true;
  }
  // Others' messages as well. False when there is no room for all of them.
  bool add_all(const ChannelCounts& other);
  // Of a channel that is there: one message was cancelled. For life only.
  void take_back(std::uint64_t comm, std::int32_t peer, std::int32_t tag);
  const Channel* find(std::uint64_t comm, std::int32_t peer, std::int32_t tag) const;
  std::uint32_t size() const { return size_; }
  const Channel& operator[](std::uint32_t i) const { return slots_[used_[i]]; }
  void clear();
  void give_memory_back();

 private:
  static constexpr std::uint32_t first_slots = 256;
  static constexpr std::uint32_t recent_channels = 16;  // a power of two
  bool grow();
  std::uint32_t place(std::uint64_t comm, std::int32_t peer, std::int32_t tag) const;
  Channel* place_for(std::uint64_t comm, std::int32_t peer, std::int32_t tag, std::uint64_t begin);

  Channel* slots_ = nullptr;
  std::uint32_t* used_ = nullptr;  // slots in order of their first use
  std::uint32_t slot_count_ = 0;   // a power of two
  std::uint32_t size_ = 0;
  std::uint32_t most_;       // channels
  Channel* last_ = nullptr;  // of the newest message
  Channel* recent_[recent_channels] = {};
};

// A receive that was posted while nothing was recorded. It is numbered when its thread records again, if it is still
// outstanding then.
struct OutstandingReceive {
  static constexpr std::uint64_t unnumbered = ~std::uint64_t{0};
  record::Event event;  // its recv_post to come
  std::uint64_t begin;  // the process's receive counter before and after the post
  std::uint64_t end;
  std::uint64_t order;  // among all receives posted while nothing was recorded
  std::uint64_t number;
  bool freed;  // by MPI_Request_free: completes unseen
  class Unrecorded* owner;
  OutstandingReceive* previous;
  OutstandingReceive* next;
};

class Unrecorded {
 public:
  // When a receive was posted: counter of the process's receives, and the order among the unrecorded ones.
  struct Post {
    std::uint64_t counter;
    std::uint64_t order;
  };

  explicit Unrecorded(bool several_threads, bool for_life = false) : shared_(several_threads), life_(for_life) {}

  Post post(std::uint64_t counter);
  // The order of a post where no other thread posts.
  static std::uint64_t next_order() {
    const std::uint64_t order = posts_.load(std::memory_order_relaxed) + 1;
    posts_.store(order, std::memory_order_relaxed);
    return order;
  }
  // Blocking, or complete at once. `begin`, `end`: the counter before and after.
  void sent(std::uint64_t comm, std::int32_t peer, std::int32_t tag, std::uint64_t begin, std::uint64_t end) {
    if (peer < 0) return;  // nobody, or somebody outside: no pair
    if (!sends_.add(comm, peer, tag, begin, end, 0)) give_up();
  }
  void received(std::uint64_t comm, std::int32_t peer, std::int32_t tag, const Post& post, std::uint64_t end);

  // For life, whether there are events or not.
  void life_sent(std::uint64_t comm, std::int32_t peer, std::int32_t tag) {
    if (peer >= 0 && !life_sends_.add_for_life(comm, peer, tag, 0)) life_exact_ = false;
  }
  void life_unsent(std::uint64_t comm, std::int32_t peer, std::int32_t tag) { life_sends_.take_back(comm, peer, tag); }
  void life_received(std::uint64_t comm, std::int32_t peer, std::int32_t tag, std::uint64_t order) {
    if (peer < 0) return;
    if (!life_receives_.add_for_life(comm, peer, tag, order)) life_exact_ = false;
    if (order > life_latest_) life_latest_ = order;
  }
  void life_give_up() { life_exact_ = false; }
  // Takes over what the recorder of a thread that ended kept.
  void inherit(Unrecorded& ended);
  // A session begins in this process: receives with lower numbers have none any more.
  static void number_from(std::uint64_t first_receive);
  // The intervals of the session that ended.
  void forget_interval();

  // A receive that stays outstanding; `event` tells comm, peer, tag, flags, function and site of its recv_post. nullptr
  // without memory (then nothing is known any more).
  OutstandingReceive* outstanding(const record::Event& event, const Post& post, std::uint64_t end,
                                  std::uint64_t number = OutstandingReceive::unnumbered);
  // The same for receives that were kept elsewhere, the latest post first: `later` is what was returned for the last
  // one, nullptr for the first.
  OutstandingReceive* outstanding_earlier(const record::Event& event, const Post& post, OutstandingReceive* later);
  // Its number, if it has one in this session.
  static std::uint64_t number_now(const OutstandingReceive* receive);
  // It ended, in whatever thread. True when it was numbered: its end is an event as ever. Else it is as if it had been
  // posted and completed now, `received` says on which channel (not at all when it took no message).
  static bool end(OutstandingReceive* receive, std::uint64_t& number, Post& post);
  // It will complete unseen. True when it was numbered: that is an event as ever.
  static bool let_go(OutstandingReceive* receive, std::uint64_t& number);

  // The end of something that was recorded, or a communicator: written as it is.
  void keep(const record::Event& event);
  void keep_communicator(const record::Event& event);
  // An event that had a number.
  void lost_number(std::uint64_t number, bool of_receives);
  // From here on nobody knows what is missing.
  void give_up() { exact_ = false; }

  bool empty() const;

  struct Summary {
    record::Event* events;  // malloc'ed
    std::size_t count;
  };
  // Hands out everything and starts anew. `lost`: events that are missing. Outstanding receives take their numbers from
  // `receives`. {nullptr, 0} without memory: then all is kept, and the next try may succeed.
  Summary summary(std::uint64_t lost, std::atomic<std::uint64_t>& receives);
  // The first of a session: everything since MPI_Init, in place of the thread's first call in the session.
  struct Start {
    std::uint64_t first_send, first_receive;  // counters when the session began in this process
    std::uint64_t sends;                      // counter now
    const record::Event* communicators;       // told by the thread that opened the session
    std::size_t communicator_count;
    bool opens;    // this thread opened it
    bool certain;  // else `lost` comes without `summarised`
  };
  Summary life_summary(const Start& start, std::atomic<std::uint64_t>& receives);

  void give_memory_back();

 private:
  struct List {
    record::Event* events = nullptr;
    std::uint32_t count = 0;
    std::uint32_t room = 0;
    bool add(const record::Event& event, std::uint32_t limit);
    void give_memory_back();
  };
  OutstandingReceive* take_in(const record::Event& event, const Post& post, std::uint64_t end, std::uint64_t number,
                              OutstandingReceive* previous);
  record::Event* write_outstanding(record::Event* at, std::atomic<std::uint64_t>& receives);
  bool may_be_out_of_order(const OutstandingReceive& receive, std::uint64_t counter, std::uint32_t& patience) const;

  bool is_numbered(const OutstandingReceive& receive) const;
  void take_out(OutstandingReceive* receive);
  const ChannelCounts& completed() const { return life_ ? life_receives_ : receives_; }

  static inline std::atomic<std::uint64_t> posts_{0};
  const bool shared_;
  const bool life_;
  bool life_exact_ = true;
  ChannelCounts life_sends_{ChannelCounts::life_limit}, life_receives_{ChannelCounts::life_limit};
  std::uint64_t life_latest_ = 0;
  bool exact_ = true;
  ChannelCounts sends_, receives_;
  List ends_, communicators_, lost_numbers_;
  std::uint64_t latest_ = 0;             // order of the latest post among the completed receives
  OutstandingReceive* first_ = nullptr;  // unnumbered (for life: all), in the order of their posts
  OutstandingReceive* last_ = nullptr;
  std::size_t outstanding_ = 0;
};

}  // namespace pclscope
