// Exact point-to-point matching: the k-th send on a channel pairs with the k-th receive, in posting order, that
// resolved to it. Channel = (communicator, source, destination, tag). What is not certain is counted as ambiguous,
// never paired. The rules, and why they are safe: docs/methods.md, "Matching".
//
// A receive may take a send that can be cancelled only when a cancel from before its completion would have been read:
// because the sender's rings were read beyond that time (ranks of one node: one clock), or because the completion was
// read in an earlier round and every ring has been read to its head since.
//
// Several nodes: each node's matcher reads the rings of its own ranks, pairs what they receive, and hands the sends to
// ranks elsewhere ("remote ranks") on to the matcher there: set_forward(), add_remote(). Rings are then read in epochs
// that all nodes go through together: see end_epoch().
//
// Owned by one thread. Memory: outstanding sends and receives, channels in use (idle ones are evicted).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/match/channel_table.hpp"
#include "analysis/match/entries.hpp"
#include "analysis/match/posted_table.hpp"
#include "analysis/match/wildcards.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/sender_state.hpp"
#include "analysis/values/tick_scale.hpp"
#include "interpose/record/event.hpp"

namespace pclscope {

// Every message counts once: matched + ambiguous + half_recorded + unrecorded + unmatched_sends, of messages whose both
// ends are in the application's world; foreign ones are counted beside these, each by the side that is recorded.
// - When the job has ended and every loss is summarised, that sum is the number of messages sent and not cancelled.
// - When events are lost without a summary, or the job was cut off, it is at least the number of sends that the record
//   tells (events and summaries) and that it does not tell to be cancelled; and at most, summed over the channels, the
//   larger of the sends and the receives that it tells: who is ambiguous on both sides of a channel may be one message.
// unmatched_receives are no messages.
struct MatchCounts {
  std::uint64_t matched = 0;
  std::uint64_t ambiguous = 0;  // messages: an uncertain send and an uncertain receive count once per channel
  std::uint64_t foreign = 0;
  std::uint64_t half_recorded = 0;    // one side left no event (or not of its completion)
  std::uint64_t unrecorded = 0;       // neither side did
  std::uint64_t unmatched_sends = 0;  // before finish(): in flight
  std::uint64_t unmatched_receives = 0;
  std::uint64_t contradictions = 0;  // channels whose record cannot be true: see Contradiction
};

// What cannot be true of a channel, whoever is wrong: the recording, the reading or the rules of pairing. From there on
// all its messages are ambiguous. One is a defect of this tool, or of the MPI library; none is known.
struct Contradiction {
  std::uint64_t comm = 0;
  std::int32_t source = 0, destination = 0, tag = 0;
  const char* what = "";
};

// A receive that was posted and is not complete.
struct Outstanding {
  std::int32_t source = 0;  // may be record::any_source
  std::int32_t tag = 0;     // may be record::any_tag
  std::uint64_t comm = 0;
  bool could_take_sent = false;  // a send that was read may be its message: it need not wait for another one
};

class Matcher {
 public:
  using Sink = std::function<void(std::span<Message>)>;

  // Messages come to `sink` in batches, during end_round() and finish(). Their inter_node flag is not set here.
  Matcher(std::int32_t ranks, Sink sink);

  void set_tick_scale(TickScale scale) { scale_ = scale; }
  // While `sink` runs: the numbers of its messages' sends, in their order.
  std::span<const std::uint64_t> batch_numbers() const { return batch_numbers_; }
  // A send_done event of a send to a rank here; `away`: of a rank of another node, Event::site as it stands.
  using SendDone = std::function<void(std::int32_t rank, const record::Event& event, bool away)>;
  void set_send_done(SendDone send_done) { send_done_ = std::move(send_done); }
  // Ranks of the same node (>= 0) share a clock.
  void set_node(std::int32_t rank, std::int32_t node);
  // Events of one thread of `rank` in ring order; threads of a rank in any interleaving.
  void add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);
  // Several threads of the rank may be in MPI at once. Known by itself once a second ring was read.
  void set_threads(std::int32_t rank, bool several);
  // What the headers of the rank's rings said after the rings were read: events dropped so far, and whether a thread is
  // in an interval without events of which its summary is still to come: once after each reading of the rings, before
  // end_round(). While something is missing, what it could decide waits.
  void note_drop(std::int32_t rank, std::uint64_t dropped_total);
  void note_muted(std::int32_t rank, bool muted);
  // See Measurement::end_round.
  void end_round(bool all_read = true);
  void finish();

  // --- several nodes (remote.cpp) ---
  // Sends to ranks that are not here, and what becomes of them, go to `forward` in the sender's order.
  using Forward = std::function<void(std::int32_t rank, std::uint8_t thread, const record::Event& event)>;
  void set_forward(Forward forward);  // from now on no rank is here but those of set_here()
  void set_here(std::int32_t rank);
  // What the other node's matcher handed to its `forward`: of one rank in that order. Event::site stands as it is.
  // `clock_error_ns` goes into the message, with set_clock_error() of the receiver's side.
  void add_remote(std::int32_t rank, std::uint8_t thread, const record::Event& event, std::uint32_t clock_error_ns);
  void set_clock_error(std::uint32_t ns) { clock_error_ = ns; }
  // Of ranks here: what changed since the last call. Read after the rings, with everything handed to `forward` before.
  std::vector<SenderState> sender_news();
  void set_sender(const SenderState& state);  // of a remote rank; `lossy` before its sends, the rest after them
  // Since the epoch before was over on all nodes, the rings here were read to their heads, and then their headers
  // (note_drop(), note_muted()). What is read from now on belongs to the next epoch. Before sender_news().
  void end_epoch();
  // All nodes have ended the epoch, and all that they forwarded in it is here.
  void epoch_over();
  // No rank here will write any more: what is still missing is lost. Before the last end_epoch().
  void last_events();
  // A remote rank of which nothing more will be forwarded: its node's aggregator is dead.
  void set_gone(std::int32_t rank);

  MatchCounts counts() const;
  const std::optional<Contradiction>& contradiction() const { return contradiction_; }  // the first

  // queries.cpp: what ranks wait for, from the events read so far. They walk lists: for ranks that seem stuck. When in
  // doubt the answer is the one that says that nobody is stuck.
  // Something the rank did before is still to be told: what follows does not know it.
  bool is_behind(std::int32_t rank) const;
  // The receive with this posting number; nothing when it is complete or not known.
  std::optional<Outstanding> outstanding_receive(std::int32_t rank, std::uint64_t number) const;
  // The send with this number of `rank` is paired, or a receive is posted that may take it.
  bool send_taken(std::int32_t rank, std::uint64_t number) const;
  // A further message of this channel to `rank` would find a receive that is posted.
  bool receive_would_take(std::int32_t rank, std::int32_t source, std::uint64_t comm, std::int32_t tag) const;
  // A send to `rank` that was read fits this pattern and no receive has it. `posted_too`: posted receives that are not
  // complete do not have theirs (one of them may be the one that asks).
  bool message_waits(std::int32_t rank, std::int32_t source, std::uint64_t comm, std::int32_t tag,
                     bool posted_too) const;
  // More receives of this channel are complete than sends were read: one that is going on has been received.
  bool received_ahead(std::int32_t rank, std::int32_t source, std::uint64_t comm, std::int32_t tag) const;
  // Of receives whose completion was read, and that are not paired, the earliest that completed at `from` or later: its
  // message was sent, but that was not told yet. Channels in doubt, which may never be paired, do not count, nor those
  // with sends, whose pairing waits for something else.
  struct Unpaired {
    std::uint64_t end = ~std::uint64_t{0};  // ticks; without any the largest
    std::uint64_t looked_at = 0;            // what it cost: channels and receives
  };
  Unpaired earliest_unpaired(std::uint64_t from) const;
  // Visits the sends that were read and are not paired: rank, number, destination, communicator, tag; and whether a
  // receive is posted that may take it. One walk over all of them.
  using VisitSend = std::function<void(std::int32_t, std::uint64_t, std::int32_t, std::uint64_t, std::int32_t, bool)>;
  void outstanding_sends(const std::function<bool(std::int32_t rank)>& wanted, const VisitSend& visit) const;

  // Visits what receives of the wanted ranks may take, or have taken before its send was read: rank, source,
  // communicator, tag, perhaps any. One walk over all channels. False when not all is known of some of them.
  using VisitTaking = std::function<void(std::int32_t, std::int32_t, std::uint64_t, std::int32_t)>;
  bool takings(const std::function<bool(std::int32_t rank)>& wanted, const VisitTaking& visit) const;

  std::size_t channels() const { return channels_.size(); }
  std::uint64_t entry_capacity() const { return sends_.capacity() + recvs_.capacity(); }

 private:
  // Events that were read before an earlier ordinal of the same rank (other threads' rings), by ordinal.
  struct ParkedEvent {
    record::Event event;
    std::uint8_t thread;
  };
  using Parked = std::map<std::uint64_t, std::vector<ParkedEvent>>;
  struct Thread {
    std::uint64_t read_until = 0;
    bool in_summary = false;  // its last event belongs to the summary of an unrecorded interval
  };
  // Several threads: a receive of unknown place: those it could come before, up to its number, are uncertain.
  struct OutOfPlace {
    std::uint64_t comm;
    std::int32_t source, tag;  // may be any_
    std::uint64_t number;
  };
  // What a special channel must remember of those that are paired.
  struct Races {
    std::uint64_t send_end = 0, recv_end = 0;  // sends (receives) with lower numbers are concurrent with paired ones
    std::uint8_t send_thread = 0, recv_thread = 0;  // of those, if it is one: see many_threads
    bool cancellable = false;                       // of the paired sends up to send_end, some could be cancelled
    std::uint32_t cancelling = 0;  // paired sends under an undecided MPI_Cancel: an unpaired one may be meant
  };
  struct Rank {
    std::uint64_t next_send = 0;  // ordinals are dense
    std::uint64_t next_recv = 0;
    std::uint64_t read_until = 0;  // ticks: whatever of this rank is unread began later, on any of its threads
    std::vector<Thread> threads;
    std::int32_t node = -1;
    bool away = false;     // its rings are read by another aggregator, here or on another node
    bool gone = false;     // and by nobody any more
    bool lossy = false;    // events are missing: all its later sends and receives are ambiguous
    bool several = false;  // threads may be in MPI at once
    bool finalized = false;
    bool muted = false;                   // as told
    bool was_muted = false;               // as told the time before: its summary has been read only now
    std::uint64_t dropped = 0, told = 0;  // events: by the headers, by `lost` events
    std::uint32_t summaries = 0;          // threads whose summary is being read
    std::uint64_t summary_recv = 0;       // and the first receive of it: unrecorded ones told later may precede it
    std::uint64_t owing_since = ~0ull;    // sends and receives read when it began to owe something; ~0: it does not
    // Several threads: no unrecorded send (receive) still to be told comes before these numbers.
    std::uint64_t told_sends = 0, told_recvs = 0;
    std::uint64_t marked_sends = 0, marked_recvs = 0;            // the same once the next round has been read
    std::uint64_t latest_send_begin = 0, latest_recv_begin = 0;  // of those that had their turn, ticks
    std::vector<OutOfPlace> out_of_place;
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
    std::uint64_t place;
    std::uint32_t entry;
    bool operator>(const Late& other) const { return place > other.place; }
  };

  enum class Drain { between_rounds, end_of_round, end_of_job };

  // matcher.cpp, receives.cpp: one event in its turn
  void read(std::int32_t rank, Rank& r, const record::Event& e);
  void read_receive_end(std::int32_t rank, Rank& r, const record::Event& e);
  void take_event(std::int32_t rank, Rank& r, const record::Event& e);
  void take_send(std::int32_t rank, Rank& r, const record::Event& e);
  void forward_send(std::int32_t rank, const Rank& r, const record::Event& e);
  void take_post(std::int32_t rank, Rank& r, const record::Event& e);
  void take_blocking_receive(std::int32_t rank, Rank& r, const record::Event& e);
  void take_resolution(std::int32_t rank, Rank& r, const record::Event& e);
  void take_completion(std::int32_t rank, Rank& r, const record::Event& e, bool alone = false);
  void take_unknown_message(std::int32_t rank, Rank& r, const record::Event& e, std::uint32_t entry);
  void take_removal(std::int32_t rank, Rank& r, const record::Event& e);
  void take_send_cancel(std::int32_t rank, const record::Event& e);
  void withdraw(std::uint32_t entry);
  bool is_rank(std::int32_t peer) const { return peer >= 0 && peer < static_cast<std::int32_t>(ranks_.size()); }
  std::uint32_t channel(std::uint64_t comm, std::int32_t source, std::int32_t destination, std::int32_t tag) {
    bool made;
    const std::uint32_t index = channels_.find_or_make(comm, source, destination, tag, made);
    channels_[index].used = true;
    if (made) [[unlikely]]
      begin_channel(index);
    return index;
  }
  void begin_channel(std::uint32_t index);
  void mark_dirty(std::uint32_t index);
  std::uint32_t new_receive(const record::Event& e, RecvState state);
  void resolve_wildcard(Rank& r, std::uint32_t entry);

  // Takes a number of its own: sends; receives as they are posted, complete at once, or are refused by MPI.
  static bool is_posting(const record::Event& e);

  // unrecorded.cpp: intervals without events
  void take_unrecorded_sends(std::int32_t rank, Rank& r, const record::Event& e);
  void take_unrecorded_receives(std::int32_t rank, Rank& r, const record::Event& e);
  void take_lost_number(std::int32_t rank, Rank& r, const record::Event& e);
  static void follow_summary(Rank& r, Thread& thread, const record::Event& e);
  bool owes(const Rank& r) const { return r.muted || r.was_muted || r.dropped > r.told || r.summaries > 0; }
  void note_owing(std::int32_t rank);
  void mark_round();
  void make_special(std::uint32_t index);

  // races.cpp: pairs on special channels
  enum class Verdict { wait, exact, ambiguous, half, neither };
  Verdict judge(std::uint32_t index, std::uint32_t entry, std::uint32_t sent, Drain when);
  Verdict races_of_receive(std::uint32_t index, std::uint32_t entry, Drain when);
  Verdict races_of_send(std::uint32_t index, std::uint32_t sent, Drain when);
  void pair_special(std::uint32_t index, std::uint32_t entry, std::uint32_t sent, Verdict verdict);
  void remember_send(const Channel& c, Races& races, const SendEntry& send, Verdict verdict);
  void remember_receive(const Channel& c, Races& races, const RecvEntry& recv);
  void cancel_of_paired(std::uint32_t index, const record::Event& e);
  bool may_forget(std::uint32_t index) const;
  static bool same_thread(std::uint8_t a, std::uint8_t b) { return a == b && a != many_threads; }

  // order.cpp: dense ordinals of several threads
  void take_out_of_turn(std::int32_t rank, Rank& r, const record::Event& e, bool is_send);
  void take_parked(std::int32_t rank, Rank& r);
  void flush_parked(std::int32_t rank, Rank& r);

  // pairing.cpp
  void drain(std::uint32_t index, Drain when);
  void sweep();
  void drain_dirty(Drain when);
  bool certain_pair(const Channel& c, const RecvEntry& recv, Drain when) const;
  bool settled(const RecvEntry& recv, Drain when) const;
  bool later_receive_settled(const Channel& c, const RecvEntry& recv, Drain when) const;
  void note_read(Rank& r, std::uint32_t thread, std::uint64_t until);
  void take_send_out(Channel& c, std::uint32_t before, std::uint32_t at);
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

  // queries.cpp
  bool spare_send(const Channel& c, std::uint32_t end) const;
  std::int64_t undelivered(const Channel& c) const;
  std::uint64_t sends_of(const Channel& c) const;
  std::uint64_t receives_of(const Channel& c, std::uint32_t end = no_index) const;
  bool wildcard_covers(const Channel& c) const;

  // doubt.cpp: what is not certain any more
  void mark_lossy(std::int32_t rank);
  void cut_sends(std::uint32_t index);
  void cut_receives(std::uint32_t index, Rank& r, std::uint64_t from, bool completed_only);
  void poison(std::int32_t rank, std::uint64_t comm, std::int32_t source, std::int32_t tag, std::uint64_t from);
  void ambiguous_sends(Channel& c, std::uint64_t count = 1);
  void ambiguous_receives(Channel& c, std::uint64_t count = 1);
  void ambiguous_send_cancelled(Channel& c);
  void give_send(std::uint32_t entry);
  void give_receive(std::uint32_t entry);
  const char* contradiction_of(const Channel& c, const SendEntry& send, const RecvEntry& recv) const;
  void contradict(std::uint32_t index, const char* what);
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
  std::unordered_map<std::uint32_t, Races> races_;  // by channel
  std::vector<std::int32_t> several_;               // ranks with several threads
  std::vector<std::int32_t> owing_;                 // ranks that may owe something
  std::vector<std::uint32_t> dirty_, draining_;
  std::uint64_t unrecorded_sends_ = 0, unrecorded_receives_ = 0;  // beyond one per entry
  std::uint8_t thread_ = 0;                                       // whose events are being taken
  static constexpr std::size_t batch_size = 256;  // messages handed on at once: stays in the nearest cache
  std::vector<Message> batch_{batch_size};        // the first ones, being filled
  std::size_t batched_ = 0;
  std::vector<std::uint64_t> batch_numbers_ = std::vector<std::uint64_t>(batch_size);  // of their sends
  SendDone send_done_;
  Forward forward_;
  std::vector<SenderState> told_states_;            // by rank, as handed out by sender_news()
  std::vector<std::int32_t> here_;                  // ascending; few of the job's
  std::uint32_t half_error_ = 0, clock_error_ = 0;  // ns
  bool epochs_ = false;                             // several nodes
  std::uint8_t round_ = 0;                          // several nodes: the newest epoch that is over
  std::uint8_t read_round_ = 0;                     // to which what is read now belongs
  bool finished_ = false;
  MatchCounts counts_;
  std::optional<Contradiction> contradiction_;
};

}  // namespace pclscope
