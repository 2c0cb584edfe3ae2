// Events of a trace, in order of time, become what a live job records (interpose/record/FORMAT.md). Knows nothing of
// libotf2.
//
// A trace tells whom a nonblocking receive is from, and which communicator a nonblocking collective is on, only when it
// is complete; a record tells it when it is posted, and in that order. So a thread's events behind such a post wait
// until it is known. There are at most `most_held` waiting events; then the oldest post of the longest queue is taken
// to be posted by the call that will complete it. Memory: those, and a few hundred bytes per thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interpose/record/event.hpp"
#include "viewer/import/call_places.hpp"
#include "viewer/import/functions.hpp"
#include "viewer/import/trace.hpp"

namespace pclscope::importing {

// What was not as it should be.
struct Oddities {
  std::uint64_t backwards = 0;       // events earlier than one before them of their location: taken as of its time
  std::uint64_t unknown = 0;         // of kinds that are not known
  std::uint64_t no_partner = 0;      // messages and roots of ranks that their communicator does not have
  std::uint64_t no_comm = 0;         // on communicators that are not defined
  std::uint64_t unposted = 0;        // receives that were complete but never posted
  std::uint64_t never_complete = 0;  // receives and collectives that were posted
  std::uint64_t held_too_long = 0;   // posts that were given up
  std::uint64_t open_calls = 0;      // MPI calls that never returned
  std::uint64_t not_entered = 0;     // returns from what was not entered
  std::vector<std::string> words() const;
};

// Ticks of the events: nanoseconds since the trace's first moment, plus this. 0 means "never" in many a place.
inline constexpr std::uint64_t origin_ticks = std::uint64_t{1} << 20;
inline constexpr std::int64_t most_ns = 4'000'000'000'000'000'000;  // 126 years: later ones are not believed
// Roots of collectives that are no ranks (OTF2_COLLECTIVE_ROOT_*), and operations that are no data's.
inline constexpr std::uint32_t none_of_these = 0xfffffffdu, root_is_self = 0xfffffffeu;
inline constexpr int last_data_operation = 16;

class Converter {
 public:
  using Sink = std::function<void(std::int32_t rank, std::uint32_t thread, std::span<const record::Event>)>;
  static constexpr std::size_t most_held = 4'000'000;

  Converter(const Trace& trace, CallPlaces& places, Sink sink, std::size_t most = most_held);

  // --- one event each; `time` in ticks. Locations that are no rank's thread are passed over ---
  struct At {
    std::uint64_t location, time;
  };
  void enter(At at, std::uint32_t region, std::uint32_t context);  // context: undefined, or of the call
  void leave(At at, std::uint32_t region);
  void send(At at, std::uint32_t comm, std::uint32_t receiver, std::uint32_t tag, std::uint64_t bytes);
  void isend(At at, std::uint32_t comm, std::uint32_t receiver, std::uint32_t tag, std::uint64_t bytes,
             std::uint64_t request);
  void isend_complete(At at, std::uint64_t request);
  void post(At at, std::uint64_t request, bool of_collective);  // of a receive, or a nonblocking collective
  void receive(At at, std::uint32_t comm, std::uint32_t sender, std::uint32_t tag, std::uint64_t bytes,
               bool first_come);
  void receive_posted(At at, std::uint32_t comm, std::uint32_t sender, std::uint32_t tag, std::uint64_t bytes,
                      std::uint64_t request);
  void cancelled(At at, std::uint64_t request);
  void collective(At at, int op, std::uint32_t comm, std::uint32_t root, std::uint64_t bytes);
  void collective_posted(At at, std::uint32_t comm, std::uint32_t root, std::uint64_t bytes, std::uint64_t request);
  void one_sided(At at, std::uint32_t window, std::uint32_t target, std::uint64_t bytes);
  void unknown() { ++oddities_.unknown; }

  // Hands on what is known, and returns until when (ns) all of it was: no event before that will come.
  std::int64_t hand_on();
  bool holds() const { return held_ > 0; }
  void finish();
  const Oddities& oddities() const { return oddities_; }
  std::uint64_t mpi_events() const { return mpi_events_; }

 private:
  struct Request {  // a posted receive or collective
    bool known = false, given_up = false, numbered = false;
    std::uint64_t number = 0;
    std::uint64_t begin = 0, site = 0;  // of a collective: of the call that posted it
    std::uint16_t function = 0;
    std::uint64_t comm = 0;  // once it is known
    std::int32_t peer = 0, tag = 0;
    std::uint32_t flags = 0;
  };
  struct Sent {  // nonblocking
    record::Event event;
    std::shared_ptr<Request> request;
  };
  struct Queued {
    record::Event event;
    std::shared_ptr<Request> request;  // that the event is of
    bool post = false;                 // it is its post
  };
  struct Thread {
    std::int32_t rank = 0;
    std::uint32_t thread = 0;
    std::uint64_t last = 0;                // ticks of its newest event
    std::vector<std::uint32_t> functions;  // entered and not left: regions
    std::vector<std::uint32_t> places;     // of each: what CallPlaces calls it
    // The MPI call that it is inside.
    std::uint16_t function = 0;
    std::uint32_t nested = 0;  // further MPI regions in it
    std::uint64_t begin = 0, site = 0;
    std::vector<Queued> call;  // its events, whose end is not known
    std::deque<Queued> queue;  // not handed on
  };
  struct Envelope {  // as the trace says it
    std::uint32_t comm, partner, tag;
    std::uint64_t bytes;
  };
  struct Rank {
    std::uint64_t sends = 0, receives = 0;
    std::unordered_map<std::uint64_t, std::uint64_t> collectives;            // by communicator
    std::unordered_map<std::uint64_t, std::shared_ptr<Request>> requests;    // receives
    std::unordered_map<std::uint64_t, std::shared_ptr<Request>> operations;  // collective
    std::unordered_map<std::uint64_t, Sent> sent, sent_before;               // nonblocking: newer ones, and older ones
  };

  Thread* thread_at(At at);  // nullptr: none of a rank. Sets now_
  const TraceComm* comm_at(std::uint32_t reference);
  std::int32_t peer_in(const Thread& t, const TraceComm* comm, std::uint32_t rank);
  record::Event event_of(const Thread& t, record::EventKind kind, const TraceComm* comm) const;
  record::Event message_event(Thread& t, record::EventKind kind, record::Function otherwise, const Envelope& of);
  void put(Thread& t, Queued queued);
  void end_call(Thread& t, std::uint64_t end);
  void know_comm(Thread& t, const TraceComm* comm);
  void hand_on(Thread& t);
  void hand_on(Thread& t, Queued& queued);
  bool is_known(const Queued& queued) const;
  void give_up_one();

  const Trace& trace_;
  CallPlaces& places_;
  Sink sink_;
  std::size_t most_;
  std::vector<Thread> threads_;
  std::unordered_map<std::uint64_t, std::size_t> index_;  // of threads, by location
  std::uint64_t last_location_ = ~std::uint64_t{0};
  std::size_t last_index_ = 0;
  std::vector<Rank> ranks_;
  std::vector<record::Event> batch_;
  std::uint64_t now_ = 0;     // ticks of the event that is being taken
  std::uint64_t latest_ = 0;  // and of the latest
  std::size_t held_ = 0;      // in queues
  std::size_t sent_ = 0;      // in all ranks' `sent`, with those that are complete
  std::uint64_t mpi_events_ = 0;
  Oddities oddities_;
};

}  // namespace pclscope::importing
