// Exact point-to-point matching: the k-th send on a channel pairs with the k-th receive, in posting order, that
// resolved to it. Channel = (communicator, source, destination, tag). What is not certain is counted as ambiguous,
// never paired. The rules, and why they are safe: docs/methods.md, "Matching".
//
// A receive may take a send that can be cancelled only when a cancel from before its completion would have been read:
// because the sender's rings were read beyond that time (ranks of one node: one clock), or because the completion was
// read in an earlier round and every ring has been read to its head since.
//
// Owned by one thread. Memory: outstanding sends and receives, channels in use (idle ones are evicted).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "analysis/match/channel_table.hpp"
#include "analysis/match/entries.hpp"
#include "analysis/match/message.hpp"
#include "analysis/match/posted_table.hpp"
#include "analysis/match/tick_scale.hpp"
#include "analysis/match/wildcards.hpp"
#include "interpose/record/event.hpp"

namespace pclscope {

struct MatchCounts {
  std::uint64_t matched = 0;
  std::uint64_t ambiguous = 0;  // messages: an uncertain send and an uncertain receive count once per channel
  std::uint64_t foreign = 0;
  std::uint64_t unmatched_sends = 0;  // before finish(): in flight
  std::uint64_t unmatched_receives = 0;
};

class Matcher {
 public:
  using Sink = std::function<void(std::span<const Message>)>;

  // Messages come to `sink` in batches, during end_round() and finish(). Their inter_node flag is not set here.
  Matcher(std::int32_t ranks, Sink sink);

  void set_tick_scale(TickScale scale) { scale_ = scale; }
  // Ranks of the same node (>= 0) share a clock.
  void set_node(std::int32_t rank, std::int32_t node);
  // Events of one thread of `rank` in ring order; threads of a rank in any interleaving.
  void add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);
  // Events of this rank were dropped, it need not be known where: its `lost` event comes only with the next event
  // that found room, which may be too late (a dropped cancel of a send).
  void note_drop(std::int32_t rank);
  // See Pipeline::end_round.
  void end_round(bool all_read = true);
  void finish();

  MatchCounts counts() const;
  std::size_t channels() const { return channels_.size(); }
  std::uint64_t entry_capacity() const { return sends_.capacity() + recvs_.capacity(); }

 private:
  // Events that were read before an earlier ordinal of the same rank (other threads' rings), by ordinal.
  using Parked = std::map<std::uint64_t, std::vector<record::Event>>;
  struct Rank {
    std::uint64_t next_send = 0;  // ordinals are dense
    std::uint64_t next_recv = 0;
    std::uint64_t read_until = 0;  // ticks: whatever of this rank is unread began later, on any of its threads
    std::vector<std::uint64_t> read_until_of_thread;
    std::int32_t node = -1;
    bool lossy = false;  // events are missing: all its later sends and receives are ambiguous
    PostedTable posted;
    Wildcards wildcards;
    Parked parked_sends, parked_recvs;
    std::size_t parked = 0;
  };
  // Receives from an ordinal on are ambiguous where a wildcard that completed unseen could have claimed the channel.
  struct Poison {
    std::int32_t rank;
    std::uint64_t comm;
    std::int32_t source, tag;  // may be any_
    std::uint64_t from;
    bool covers(const Channel& c) const;
  };
  struct Late {
    std::uint64_t ordinal;
    std::uint32_t entry;
    bool operator>(const Late& other) const { return ordinal > other.ordinal; }
  };

  // matcher.cpp: one event in its turn
  void take_event(std::int32_t rank, Rank& r, const record::Event& e);
  void take_send(std::int32_t rank, Rank& r, const record::Event& e);
  void take_post(std::int32_t rank, Rank& r, const record::Event& e);
  void take_blocking_receive(std::int32_t rank, Rank& r, const record::Event& e);
  void take_completion(std::int32_t rank, Rank& r, const record::Event& e);
  void take_removal(std::int32_t rank, Rank& r, const record::Event& e);
  void take_send_cancel(std::int32_t rank, const record::Event& e);
  bool is_rank(std::int32_t peer) const { return peer >= 0 && peer < static_cast<std::int32_t>(ranks_.size()); }
  std::uint32_t channel(std::uint64_t comm, std::int32_t source, std::int32_t destination, std::int32_t tag);
  void mark_dirty(std::uint32_t index);
  std::uint32_t new_receive(const record::Event& e, RecvState state);
  void resolve_wildcard(std::int32_t rank, Rank& r, std::uint32_t entry);

  // Takes an ordinal of its own: sends; receives as they are posted, complete at once, or are refused by MPI.
  static bool is_posting(const record::Event& e);

  // order.cpp: dense ordinals of several threads
  void take_out_of_turn(std::int32_t rank, Rank& r, const record::Event& e, bool is_send);
  void take_parked(std::int32_t rank, Rank& r);
  void flush_parked(std::int32_t rank, Rank& r);

  // pairing.cpp
  enum class Drain { between_rounds, end_of_round, end_of_job };
  void drain(std::uint32_t index, Drain when);
  void drain_dirty(Drain when);
  bool certain_pair(const Channel& c, const RecvEntry& recv, const SendEntry& send, Drain when) const;
  bool settled(const RecvEntry& recv, Drain when) const;
  bool later_receive_settled(const Channel& c, const RecvEntry& recv, Drain when) const;
  void note_read(Rank& r, std::uint32_t thread, std::uint64_t until);
  void give_up_sends(std::uint32_t index);
  std::uint32_t front(const Channel& c) const;
  void append(Channel& c, std::uint32_t entry);
  void insert(std::uint32_t index, std::uint32_t entry);
  void unlink(Channel& c, std::uint32_t entry);
  void pop_front(Channel& c);
  void hang_on(std::uint32_t index, std::uint32_t wildcard);
  void emit(const Channel& c, const SendEntry& send, const RecvEntry& recv);
  void flush_batch();
  void close_channel(std::uint32_t index);

  // doubt.cpp: what is not certain any more
  void lose(std::int32_t rank);
  void cut_sends(std::uint32_t index);
  void cut_receives(std::uint32_t index, Rank& r, std::uint64_t from, bool completed_only);
  void poison(std::int32_t rank, std::uint64_t comm, std::int32_t source, std::int32_t tag, std::uint64_t from);
  void ambiguous_send(Channel& c);
  void ambiguous_receive(Channel& c);
  bool sends_in_doubt(const Channel& c) const { return c.sends_ambiguous || ranks_[c.source].lossy; }
  bool receives_in_doubt(const Channel& c) const { return c.ambiguous_from != ~0ull || ranks_[c.destination].lossy; }

  Sink sink_;
  TickScale scale_;
  std::vector<Rank> ranks_;
  ChannelTable channels_;
  EntryPool<SendEntry> sends_;
  EntryPool<RecvEntry> recvs_;
  std::vector<std::vector<Late>> late_;  // min-heaps, Channel::late
  std::vector<std::uint32_t> late_free_;
  std::vector<Poison> poisons_;
  std::vector<std::uint32_t> dirty_, draining_;
  std::vector<Message> batch_;
  std::uint16_t round_ = 0;
  bool finished_ = false;
  MatchCounts counts_;
};

}  // namespace pclscope
