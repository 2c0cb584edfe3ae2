// A job for tests: what its ranks did goes to a Matcher and a Blocked as if read from rings, and their current-call
// slots are set by hand. Time is in nanoseconds, one tick each.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/blocked/blocked.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope::test {

using blocked::Blocked;
using blocked::ThreadView;
using record::any_source;
using record::any_tag;
using record::EventKind;
using F = record::Function;
using Ranks = std::vector<std::int32_t>;
using Cycles = std::vector<Ranks>;

inline constexpr std::int64_t s = 1'000'000'000;

class Job {
 public:
  explicit Job(int ranks)
      : matcher_(ranks, [](std::span<const Message>) {}),
        blocked(ranks, s / 10, matcher_),
        numbers_(static_cast<std::size_t>(ranks)) {
    for (int r = 0; r < ranks; ++r) add_thread(r, 0);
  }

  record::SegmentHeader& header(int rank, std::uint32_t thread = 0) {
    for (const ThreadView& v : views_)
      if (v.rank == rank && v.thread == thread) return const_cast<record::SegmentHeader&>(*v.header);
    return add_thread(rank, thread);
  }

  // --- what was done before: events ---
  Job& send(int from, int to, int tag, std::uint64_t comm = 1, std::uint32_t flags = 0) {
    return put(from, EventKind::send, F::Send, comm, to, tag, numbers_[at(from)].sends++, flags);
  }
  Job& isend(int from, int to, int tag) { return send(from, to, tag, 1, record::flag::nonblocking); }
  Job& irecv(int rank, int source, int tag, std::uint64_t comm = 1) {
    return put(rank, EventKind::recv_post, F::Irecv, comm, source, tag, numbers_[at(rank)].receives++,
               record::flag::nonblocking);
  }
  Job& received(int rank, int source, int tag, std::uint64_t comm = 1) {
    return put(rank, EventKind::recv_done, F::Recv, comm, source, tag, numbers_[at(rank)].receives++);
  }
  Job& completed(int rank, std::uint64_t number, int source, int tag) {
    return put(rank, EventKind::recv_done, F::Wait, 1, source, tag, number, record::flag::posted);
  }
  Job& collective(int rank, std::uint64_t number, std::uint64_t comm = 1, F function = F::Barrier,
                  std::uint32_t flags = 0) {
    return put(rank, EventKind::collective, function, comm, -1, any_tag, number, flags);
  }
  Job& made(const Ranks& ranks, std::uint64_t comm, std::uint32_t flags = 0) {
    for (const int r : ranks) put(r, EventKind::comm_created, F::Comm_split, comm, 0, any_tag, 1, flags, ranks.size());
    return *this;
  }
  // It has posted so many collectives, the newest of them nonblocking.
  Job& posted(int rank, std::uint64_t count, std::uint64_t comm = 1) {
    auto& place = header(rank).posted[record::posted_place(comm)];
    place.count = count;
    place.comm = comm;
    return *this;
  }
  Job& sync(int rank, F function, int peer, std::uint64_t number, int window, std::uint64_t exclusive = 0) {
    return put(rank, EventKind::rma_sync, function, 1, peer, window, number, 0, exclusive);
  }
  Job& lost(int rank, std::uint64_t count, std::uint32_t flags) {
    return put(rank, EventKind::lost, F::none, 0, 0, 0, count, flags);
  }

  // --- what they are inside now ---
  Job& in(int rank, F function, int peer, int tag = 2, std::uint64_t comm = 1, std::vector<std::uint64_t> awaited = {},
          std::uint32_t thread = 0) {
    record::SegmentHeader& h = header(rank, thread);
    h.call_since = static_cast<std::uint64_t>(now_);
    h.call_site = 0x1000u + static_cast<unsigned>(rank);
    h.call_comm = comm;
    h.call_peer = peer;
    h.call_tag = tag;
    h.call_awaited = static_cast<std::uint32_t>(awaited.size());
    for (std::size_t i = 0; i < awaited.size() && i < record::awaited_limit; ++i) {
      h.awaited[i] = awaited[i];
      h.awaited_comm[i] = 1;  // of collectives
    }
    h.call_function = static_cast<std::uint32_t>(function);
    now_ += 1000;
    return *this;
  }
  Job& recv(int rank, int source, int tag = 2, std::uint64_t comm = 1) { return in(rank, F::Recv, source, tag, comm); }
  Job& out(int rank, std::uint32_t thread = 0) {
    header(rank, thread).call_function = 0;
    return *this;
  }
  Job& finish(int rank) {
    header(rank).state = record::ProcessState::finalizing;
    return *this;
  }

  // --- what is reported ---
  const std::vector<Deadlock>& after(std::int64_t ns) {
    now_ += ns;
    matcher_.end_round();
    blocked.sample(views_, now_);
    blocked.look(views_, all_found);
    return blocked.deadlocks();
  }
  Cycles cycles(std::int64_t ns = s) {
    Cycles out;
    for (const Deadlock& d : after(ns)) {
      out.emplace_back();
      for (const DeadlockMember& m : d.members) out.back().push_back(m.rank);
    }
    return out;
  }
  // `alive_until_ns`: of its process, which has died.
  RankSummary summary(int rank, std::int64_t alive_until_ns = INT64_MAX) {
    Snapshot snapshot;
    snapshot.ranks.resize(numbers_.size());
    blocked.fill(snapshot, [&](std::int32_t) { return alive_until_ns; });
    return snapshot.ranks[at(rank)];
  }

  bool all_found = true;
  std::vector<ThreadView> views_;

 private:
  struct Numbers {
    std::uint64_t sends = 0, receives = 0;
  };
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  record::SegmentHeader& add_thread(int rank, std::uint32_t thread) {
    headers_.push_back(std::make_unique<record::SegmentHeader>());
    record::SegmentHeader& h = *headers_.back();
    h.threads = record::Threads::one_at_a_time;
    h.state = record::ProcessState::running;
    views_.push_back({rank, thread, &h, false});
    return h;
  }
  Job& put(int rank, EventKind kind, F function, std::uint64_t comm, int peer, int tag, std::uint64_t ordinal,
           std::uint32_t flags = 0, std::uint64_t bytes = 8) {
    record::Event e{};
    e.begin = static_cast<std::uint64_t>(now_);
    e.end = e.begin + 500;
    now_ += 1000;
    e.kind = kind;
    e.function = static_cast<std::uint16_t>(function);
    e.comm = comm;
    e.peer = peer;
    e.tag = tag;
    e.ordinal = ordinal;
    e.flags = flags;
    e.bytes = bytes;
    matcher_.add(rank, 0, {&e, 1});
    blocked.add(rank, 0, {&e, 1});
    return *this;
  }

  Matcher matcher_;

 public:
  Blocked blocked;

 private:
  std::vector<Numbers> numbers_;
  std::vector<std::unique_ptr<record::SegmentHeader>> headers_;
  std::int64_t now_ = s;
};

inline std::uint64_t receive(std::uint64_t number) { return record::awaited_receive | number; }
inline std::uint64_t sent(std::uint64_t number) { return record::awaited_send | number; }

}  // namespace pclscope::test
