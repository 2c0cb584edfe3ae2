// A small simulator of MPI's matching rules, independent of the matcher under test: random programs on several ranks
// and threads, messages travelling on ordered wires, posted and unexpected queues. It writes the events that the
// preloaded library would write, each into its thread's ring, and keeps the true pairs: Event::site is the identity
// of a send or of a receive.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <random>
#include <vector>

#include "interpose/record/event.hpp"

namespace pclscope::test {

struct SimulatorOptions {
  int ranks = 3;
  int threads = 1;  // per rank
  int comms = 2;
  int tags = 3;
  int steps = 400;
  double wildcards = 0.3;  // share of receives
  double drops = 0;        // probability that a published event starts a burst of drops
  bool cancel = true;
  double send_cancels = 0.015;  // share of a thread's turns
  bool free_specific = false;
  bool free_wildcards = false;
  bool quiesce = true;  // in the end everything is completed or cancelled; else the job is cut off
};

struct Ring {
  int rank = 0, thread = 0;
  std::vector<record::Event> events;
  std::size_t read = 0;
  int dropping = 0;                                   // events still to be dropped in this burst
  std::uint64_t dropped = 0;                          // not yet told by a `lost` event
  std::uint64_t dropped_total = 0, dropped_seen = 0;  // the segment's counter; what the reader saw of it
};

class MpiSimulator {
 public:
  MpiSimulator(const SimulatorOptions& options, std::uint64_t seed);

  void step();  // one random thing happens somewhere
  bool done() const { return steps_left_ <= 0; }
  void finish();  // quiesce or cut off
  std::vector<Ring>& rings() { return rings_; }

  // True pairs, receive -> send, of receives whose completion or release was written.
  std::map<std::uint64_t, std::uint64_t> pairs() const;
  std::uint64_t sends_without_receive() const;
  std::uint64_t published_completions() const { return completions_; }
  std::mt19937_64& random() { return random_; }

 private:
  struct Send {
    std::uint64_t id = 0, comm = 0, ordinal = 0;
    int source = 0, destination = 0, tag = 0;
    bool matched = false, cancelled = false;
  };
  struct Recv {
    std::uint64_t id = 0, comm = 0, ordinal = 0;
    int rank = 0, source = 0, tag = 0;  // as posted
    Send* got = nullptr;
    bool cancelled = false, seen = false;
  };
  struct Actor {  // one thread
    int rank = 0;
    Ring* ring = nullptr;
    std::vector<record::Event> unpublished;  // of the call that just returned
    std::vector<Recv*> requests;
    std::vector<Send*> isends;
    Recv* blocked = nullptr;     // inside MPI_Recv
    Send* cancelling = nullptr;  // MPI_Cancel written, no effect yet
    Send* cancel_done = nullptr;
  };

  bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  int below(int n) { return std::uniform_int_distribution<>(0, n - 1)(random_); }
  void act(Actor& a);
  void publish(Actor& a);
  void push(Ring& ring, const record::Event& e);
  void send(Actor& a);
  void receive(Actor& a);
  void probe(Actor& a);
  void complete(Actor& a);
  void cancel_or_free(Actor& a);
  void cancel_send(Actor& a);
  void deliver();
  static bool fits(const Recv& r, const Send& s);
  void post(Recv* r);
  record::Event event(record::EventKind kind, std::uint64_t comm, std::uint64_t ordinal, int peer, int tag,
                      std::uint32_t flags, std::uint64_t id);

  SimulatorOptions options_;
  std::mt19937_64 random_;
  int steps_left_;
  std::uint64_t time_ = 0, ids_ = 0, completions_ = 0;
  std::vector<Ring> rings_;
  std::vector<Actor> actors_;
  std::vector<std::uint64_t> send_ordinals_, recv_ordinals_;
  std::deque<Send> sends_;
  std::deque<Recv> recvs_;
  std::map<std::tuple<int, int, std::uint64_t>, std::deque<Send*>> wires_;  // source, destination, comm
  std::vector<std::list<Recv*>> posted_;                                    // per rank
  std::vector<std::list<Send*>> unexpected_;
};

}  // namespace pclscope::test
