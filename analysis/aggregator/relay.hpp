// The anchor's side of the link between the nodes' aggregators: moves frames between its worker's socket and MPI.
//
// A node whose worker is gone goes on taking part in epochs with neutral words, so that the others are not held up;
// what comes for it is dropped. When every node's worker has left, the reduction says so to all anchors in the same
// epoch, and the relay is over() everywhere without further talk.
//
// One thread owns it. Only the constructor waits (for the other anchors); turn() never does, rest() a little.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "analysis/aggregator/clock_sync.hpp"
#include "analysis/aggregator/frame_socket.hpp"
#include "analysis/aggregator/relay_exchange.hpp"

namespace pclscope::aggregator {

class Relay {
 public:
  // Collective over `tools`, the anchors in the order of their nodes, `per_host` of each. `socket`: to the worker;
  // closed: there is none. Says hello to the worker, and where its axis begins (time_origin.hpp). `clocks`: measure
  // them (ClockSync), once the worker has told its clock.
  Relay(MPI_Comm tools, FrameSocket& socket, std::uint64_t origin_ticks, int per_host, bool clocks = true);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  int node() const { return exchange_.self(); }

  // Of the one of a machine that measures its clock: each estimate, before the worker gets it.
  std::function<void(nodes::ClockUpdate& news)> on_clock;
  void tell_clock(const nodes::ClockUpdate& news);  // to the worker

  // Moves on what can; true when something moved, or a clock is being measured: call again at once.
  bool turn();
  // Sleeps until the worker says something, or a short while (longer the longer nothing happened).
  void rest();

  // The application's processes of this node are done. When those of all nodes are, the worker is told (`finished`): so
  // that all nodes end together, and none has to wait in its last epochs for another that still computes.
  void finish();
  bool all_finished() const { return all_finished_; }
  // Everybody should finish (attached jobs); asked_to_finish() becomes true on all nodes.
  void ask_finish() { ask_ = true; }
  bool asked_to_finish() const { return asked_; }

  // The worker need not be waited for any more: it is dead, or too slow. The others are told, unless it has `left` in
  // order.
  void give_up_worker(bool left = false);
  bool worker_done() const { return !worker_; }
  bool awaits_worker() const { return worker_ && !exchange_.ended(); }  // to end its epoch
  bool root_died() const { return root_died_; }                         // its worker

  std::uint64_t epochs() const { return epochs_; }  // that are over

  // Every node's worker has left, and nothing is under way any more; or MPI failed.
  bool over() const { return over_; }

 private:
  bool read_worker();
  void take(Frame frame);
  void end_neutral_epoch();
  void told(const RelayWord& reduced, const std::vector<int>& died);
  void end();
  bool reading() const;
  void test_barrier();
  void tell_finished();

  FrameSocket& socket_;
  RelayExchange exchange_;
  MPI_Comm ends_ = MPI_COMM_NULL;  // for the barrier of those who finished
  MPI_Comm clocks_ = MPI_COMM_NULL;
  std::unique_ptr<ClockSync> clock_;
  MPI_Request finishing_ = MPI_REQUEST_NULL;
  std::int64_t delay_ns_;
  bool worker_ = true;     // it ends epochs by itself
  bool finished_ = false;  // finish() was called
  bool all_finished_ = false;
  bool lost_worker_ = false;  // it left before all finished
  bool ask_ = false, asked_ = false;
  bool root_died_ = false;
  bool over_ = false;
  std::uint64_t epochs_ = 0;
};

}  // namespace pclscope::aggregator
