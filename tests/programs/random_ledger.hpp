// What one thread of the random program really sent and received: the oracle, written as binary columns that
// tests/system/oracle.py reads. And the clock, and whether recording is switched on.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "random_plan.hpp"

namespace chaos {

// In front of every payload that is not empty.
struct Header {
  std::int64_t number = -1;  // of the send: thread << 40 | how-manieth of that thread
  std::int32_t source = -1;  // world rank
  std::int32_t label = -1;   // of the communicator
  std::int32_t tag = -1;
  std::int32_t bytes = -1;
};
static_assert(sizeof(Header) == header_bytes);

struct Sent {
  std::int64_t before, after;  // ticks around the call that started it
  std::int64_t number;
  std::int32_t label, destination, tag, bytes;
  std::int32_t interval;  // of recording: even while switched on
  std::int32_t thread;
  std::int32_t how, unused;
};

inline constexpr std::int64_t empty_message = -1;  // no payload: the channel's order tells which it was
inline constexpr std::int64_t nothing = -2;        // cancelled
inline constexpr std::int32_t unseen = -1;         // interval of a completion that nobody observed
struct Received {                                  // in posting order of the thread
  std::int64_t before, after;                      // ticks around the call that posted it
  std::int64_t wait_before, wait_after;  // ticks around the call that completed it; the same for a blocking one
  std::int64_t number;                   // of the send
  std::int32_t label, source, tag, bytes;
  std::int32_t posted, done;  // intervals
  std::int32_t thread, how;
};
static_assert(sizeof(Sent) == 56 && sizeof(Received) == 72);

// When a receive completed, as far as the program knows.
struct Completion {
  std::int64_t before = 0, after = 0;
  std::int32_t interval = unseen;
};

// Recording on and off, as this process asked for it with MPI_Pcontrol.
extern std::atomic<int> interval;
std::int64_t ticks(bool tsc);

class Ledger {
 public:
  Ledger(const Options& options, int rank, int thread) : options_(options), rank_(rank), thread_(thread) {}

  std::int64_t now() const { return ticks(options_.tsc); }
  std::int64_t next_number() const { return std::int64_t{thread_} << 40 | static_cast<std::int64_t>(sent_.size()); }
  Header sent(const Planned& message, int label, int how);  // before the call; its times follow
  void sent_between(std::size_t first, std::int64_t before);
  std::size_t sends() const { return sent_.size(); }

  std::size_t posting(int label, int how);  // before the call; the index of the receive
  void posted_between(std::size_t first, std::int64_t before);
  std::size_t receives() const { return received_.size(); }
  Completion completed(std::int64_t before) const { return {before, now(), interval.load()}; }  // after the call
  void got(std::size_t index, const Header& header, const Completion& completion);
  void took_nothing(std::size_t index) { received_[index].number = nothing; }

  std::uint64_t count() const { return got_; }
  std::uint64_t checksum() const { return checksum_; }
  void append(std::vector<Sent>& sent, std::vector<Received>& received) const;

 private:
  const Options& options_;
  int rank_, thread_;
  std::vector<Sent> sent_;
  std::vector<Received> received_;
  std::uint64_t got_ = 0, checksum_ = 0;
};

// DIRECTORY/sent.R, received.R, comms.R
void write_oracle(const std::string& directory, int rank, const std::vector<const Ledger*>& ledgers,
                  const std::string& communicators);

}  // namespace chaos
