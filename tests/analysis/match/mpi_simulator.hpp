// A small simulator of MPI's matching rules, independent of the matcher under test: random programs on several ranks
// and threads, messages travelling on ordered wires, posted and unexpected queues. Calls take effect some time between
// their entry and their return, and what goes on in other threads meanwhile is concurrent. It writes the events that
// the preloaded library would write, each into its thread's ring, and keeps the true pairs: Event::site is the identity
// of a send or of a receive.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "interpose/record/event.hpp"
#include "tests/analysis/match/sim_recorder.hpp"

namespace pclscope::test {

struct SimulatorOptions {
  int ranks = 3;
  int threads = 1;             // per rank; more than one: MPI_THREAD_MULTIPLE
  bool one_at_a_time = false;  // several threads, but only one of a rank in MPI (their calls are never concurrent)
  int comms = 2;
  int tags = 3;
  int steps = 400;
  double wildcards = 0.3;  // share of receives
  double drops = 0;        // probability that a published event starts a burst of unaccounted drops
  double mutes = 0;        // probability that a thread's ring is full when it writes
  double pcontrol = 0;     // probability per step that a rank switches recording off or on
  double resumes = 0.3;    // probability that a muted thread finds room when it enters a call
  bool cancel = true;
  double send_cancels = 0.015;  // share of a thread's turns
  double probes = 0.05;
  bool free_specific = false;
  bool free_wildcards = false;
  bool quiesce = true;  // in the end everything is completed or cancelled; else the job is cut off
  bool coda = false;    // after that, with everything recorded again, a few more messages on every channel
};

class MpiSimulator {
 public:
  MpiSimulator(const SimulatorOptions& options, std::uint64_t seed);
  MpiSimulator(const MpiSimulator&) = delete;
  MpiSimulator& operator=(const MpiSimulator&) = delete;

  void step();  // one random thing happens somewhere
  bool done() const { return steps_left_ <= 0; }
  void finish();  // quiesce or cut off
  std::vector<Ring>& rings() { return rings_; }
  bool several_threads() const { return options_.threads > 1; }

  // True pairs, receive -> send, of receives whose completion or release was written (or would have been).
  std::map<std::uint64_t, std::uint64_t> pairs() const;
  // Of those: both sides left all their events, and no concurrent call of their channel makes them uncertain.
  std::set<std::uint64_t> certain() const;
  std::uint64_t sends_without_receive() const;
  std::uint64_t messages_sent() const;                        // cancelled ones not
  std::uint64_t out_of_order() const;                         // posts that were recorded as of unknown place
  std::uint64_t coda_begins() const { return coda_begins_; }  // identities from here on belong to the coda
  std::mt19937_64& random() { return random_; }

 private:
  struct Send {
    std::uint64_t id = 0, comm = 0;
    int source = 0, destination = 0, tag = 0;
    std::uint64_t ordinal = unnumbered;  // unnumbered: left no event
    bool blocking = false, to_nobody = false, matched = false, cancelled = false;
  };
  struct Recv {
    std::uint64_t id = 0, comm = 0;
    int rank = 0, source = 0, tag = 0;  // as posted
    std::uint64_t ordinal = unnumbered;
    bool probe = false, from_nobody = false;
    OutstandingReceive* unrecorded = nullptr;
    Unrecorded::Post post{};
    Send* got = nullptr;
    bool cancelled = false, seen = false, freed = false;
    bool recorded = false;  // its completion, too
    bool was_unrecorded = false;
  };
  enum class Phase { entered, effective };
  struct Actor {  // one thread
    int rank = 0;
    SimRecorder* recorder = nullptr;
    Phase phase = Phase::entered;
    Send* sending = nullptr;    // in a send call
    Recv* receiving = nullptr;  // in a blocking receive, a nonblocking one, or a matched probe
    bool blocking = false;      // of that
    std::uint64_t number = unnumbered;
    bool quiet = false;
    std::vector<Recv*> requests;
    std::vector<Send*> isends;
    Send* cancelling = nullptr;  // MPI_Cancel written, no effect yet
    Send* cancel_done = nullptr;
    bool in_call() const { return sending || receiving; }
  };

  bool chance(double p) { return p > 0 && std::uniform_real_distribution<>(0, 1)(random_) < p; }
  int below(int n) { return std::uniform_int_distribution<>(0, n - 1)(random_); }
  void act(Actor& a);
  void push(Ring& ring, const record::Event& e);
  void enter_send(Actor& a);
  void go_on_sending(Actor& a);
  void enter_receive(Actor& a);
  void enter_probe(Actor& a);
  void go_on_receiving(Actor& a);
  void return_posted(Actor& a, Recv& r);
  void return_received(Actor& a, Recv& r);
  bool take_unexpected(Recv& r);
  void complete(Actor& a);
  void end(Actor& a, Recv& r);
  void cancel_or_free(Actor& a);
  void cancel_send(Actor& a);
  void deliver();
  void deliver_all();
  void release_blocked(Actor& a);
  void play_coda();
  static bool fits(const Recv& r, const Send& s);
  void post(Recv* r);
  Send& new_send(int source, int destination, std::uint64_t comm, int tag);
  record::Event event(record::EventKind kind, const Send& s, std::uint32_t flags);
  record::Event event(record::EventKind kind, const Recv& r, std::uint32_t flags);

  SimulatorOptions options_;
  std::mt19937_64 random_;
  int steps_left_;
  std::uint64_t time_ = 0, ids_ = 0, coda_begins_ = ~std::uint64_t{0}, out_of_order_ = 0;
  SimRecorder::World world_;
  bool always_recorded_ = false;
  std::vector<Ring> rings_;
  std::deque<SimProcess> processes_;
  std::deque<SimRecorder> recorders_;
  std::vector<Actor> actors_;
  std::deque<Send> sends_;
  std::deque<Recv> recvs_;
  std::map<std::tuple<int, int, std::uint64_t>, std::deque<Send*>> wires_;  // source, destination, comm
  std::vector<std::list<Recv*>> posted_;                                    // per rank
  std::vector<std::list<Send*>> unexpected_;
};

}  // namespace pclscope::test
