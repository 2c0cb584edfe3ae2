// Logical time after Isaacs, Gamblin, Bhatele, Bremer, Schulz and Hamann ("Combing the Communication Hairball", IEEE
// TVCG 2014, their tool is Ravel): the events of a run in phases and steps, and how late each was in its step.
// Definitions: docs/methods.md, "Logical time".
//
// Times are nanoseconds since the time origin. All is made of matched messages and complete collective operations; the
// order in which they are given does not matter. Plain values, owned by who asked; no errors but Result's.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::logical {

inline constexpr std::uint32_t none = UINT32_MAX;

enum class Kind : std::uint8_t { send, receive, collective };

// A call that sends, that completes receives, or a rank's part in a collective operation. MPI_Sendrecv is two events.
struct Event {
  std::int64_t begin = 0;     // entry of the call; of a nonblocking collective: from when on it could only wait
  std::int64_t end = 0;       // its return
  std::uint32_t step = none;  // of the run
  std::uint32_t site = 0;     // id in the store's /sites, 0 unknown
  // The event at the other end of its message; with several, where they begin in LogicalTime::partners; of a
  // collective: which of LogicalTime's operations.
  std::uint32_t partner = none;
  std::uint32_t count : 27 = 0;       // of partners
  std::uint32_t unpaired : 1 = 0;     // a send: the receive of one of its messages is not known
  std::uint32_t contradicts : 1 = 0;  // a receive that would have to come before its send: its step does not follow it
  std::uint32_t apart : 1 = 0;        // of a collective whose members left before others came: each has its own step
  Kind kind : 2 = Kind::send;
  float wait_ns = 0;        // for another rank, as far as its messages or its operation tell: exact to a ten-millionth
  std::uint32_t bytes = 0;  // of its messages; of a collective this rank's part. most_bytes: that or more
};
static_assert(sizeof(Event) == 40);
inline constexpr std::uint32_t most_bytes = UINT32_MAX;

// The events of one rank in a phase.
struct Part {
  std::int32_t rank = 0;
  std::uint32_t first = 0, end = 0;  // of LogicalTime::events
};

struct Phase {
  std::uint32_t first_step = 0;
  std::uint32_t steps = 0;       // it has those from first_step on; none of them is empty
  std::uint32_t first_part = 0;  // of LogicalTime::parts, by rank
  std::uint32_t parts = 0;
  std::uint32_t first_row = 0;  // of LogicalTime::earliest
  bool incomplete = false;      // has events that are unpaired, or contradict others
};

// The earliest entry and return of a step's events.
struct Earliest {
  std::int64_t begin = INT64_MAX;
  std::int64_t end = INT64_MAX;
};

struct LogicalTime {
  std::vector<Event> events;                // by rank, then program order
  std::vector<std::uint32_t> first;         // of each rank, and the end
  std::vector<std::int32_t> rank_of;        // of each event
  std::vector<std::uint32_t> partners;      // ascending in each event
  std::vector<std::uint32_t> first_member;  // of each operation in `members`, and the end
  std::vector<std::uint32_t> members;       // events, ascending
  std::vector<Phase> phases;                // by first step, then least rank
  std::vector<Part> parts;
  std::vector<Earliest> earliest;  // of the phases' steps, one phase after the other
  std::uint64_t left_out = 0;      // messages and collective calls with ranks out of range

  std::span<const std::uint32_t> partners_of(const Event& e) const {
    return e.count == 0   ? std::span<const std::uint32_t>()
           : e.count == 1 ? std::span(&e.partner, 1)
                          : std::span(partners).subspan(e.partner, e.count);
  }
  std::span<const std::uint32_t> members_of(std::uint32_t operation) const {
    return std::span(members).subspan(first_member[operation], first_member[operation + 1] - first_member[operation]);
  }
  std::span<const Part> parts_of(const Phase& p) const { return std::span(parts).subspan(p.first_part, p.parts); }
  const Earliest& earliest_of(const Phase& p, const Event& e) const {
    return earliest[p.first_row + (e.step - p.first_step)];
  }
  // The metric of the paper: how much later the call returned than the first of its step in this phase.
  std::int64_t lateness(const Phase& p, const Event& e) const { return e.end - earliest_of(p, e).end; }
  // The same of its entry, which tells who came late to a collective that all leave at once.
  std::int64_t entry_lateness(const Phase& p, const Event& e) const { return e.begin - earliest_of(p, e).begin; }
};

// What was sent before it is added, in any order and in as many pieces as one likes; 64 bytes for each message while
// they are gathered, up to 160 while logical time is made. Fails with bad_argument: more than 2^30 messages, or as many
// collective calls.
class Records {
 public:
  explicit Records(std::int32_t ranks);
  void reserve(std::size_t messages) { messages_.reserve(messages); }  // that will come, about
  // For each id of a site one of those that are the same line of the source, called from the same place: compilers copy
  // loops. Sites beyond are lines of their own.
  void same_lines(std::vector<std::uint32_t> line_of_site) { line_of_site_ = std::move(line_of_site); }
  void add(std::span<const Message> messages);
  void add(std::span<const CollectiveCall> calls);  // those that are no collective operations are passed over
  std::size_t messages() const { return messages_.size(); }
  std::size_t collectives() const { return collectives_.size(); }
  Result<LogicalTime> logical_time() &&;

 private:
  friend class Trace;
  friend class Stream;
  bool fits() const;
  static Error too_many();
  struct Sent {
    std::int64_t send_begin, send_end, recv_wait, recv_end;
    std::int32_t source, destination;
    std::uint32_t send_site, recv_site;
    float send_wait, recv_wait_ns;  // below 0: a Sendrecv's send, of which the wait of its receive is to be taken off
    std::uint32_t bytes;
    bool seen;  // its receive
  };
  struct Called {
    std::uint64_t comm, ordinal;
    std::int64_t begin, end;
    std::int32_t rank;
    std::uint32_t site;
    float wait;
    std::uint32_t bytes;
  };
  std::int32_t ranks_;
  std::uint64_t left_out_ = 0;
  std::vector<std::uint32_t> line_of_site_;
  std::vector<Sent> messages_;
  std::vector<Called> collectives_;
};

}  // namespace pclscope::logical
