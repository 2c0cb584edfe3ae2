// The worker's end of the link between the nodes' aggregators: frames over the socket to its anchor, which relays them
// (relay.hpp). What the anchor says of the job itself comes by the same way: word().
//
// With one node there is nobody to talk to: messages to oneself come back, epochs end at once. One thread owns it.
#pragma once

#include <chrono>
#include <deque>

#include "analysis/aggregator/frame_socket.hpp"
#include "analysis/nodes/link.hpp"
#include "analysis/values/tick_scale.hpp"
#include "interpose/record/segment.hpp"

namespace pclscope::aggregator {

enum class Word {
  none,
  finished,           // every process of the job is in MPI_Finalize (attached: or asked to end): finish in order
  stopped,            // the launcher ends the job, or the anchor is gone
  nothing_to_record,  // the application never called MPI_Init, or refused
};

class WorkerLink : public nodes::Link {
 public:
  // `control`: socket to the anchor, -1: none (attached on one node). The other two: as the options say.
  WorkerLink(int control, int nodes, int per_host = 1);
  ~WorkerLink() override;
  WorkerLink(const WorkerLink&) = delete;
  WorkerLink& operator=(const WorkerLink&) = delete;

  // Waits until the anchor has told which node this is (once the application has entered MPI_Init), at most `limit`.
  // False: not yet, or a word came instead. With one node: true at once.
  bool await_hello(std::chrono::milliseconds limit);
  bool known() const { return self_ >= 0; }

  int nodes() const override { return nodes_; }
  int self() const override { return self_; }  // -1 before hello
  // Where this node's axis begins, as the anchors agreed; 0: not known.
  std::uint64_t origin_ticks() const { return origin_ticks_; }
  int per_host() const override { return per_host_; }
  void send(int node, std::vector<std::byte> bytes) override;
  void end_epoch(const nodes::EpochWord& word) override;
  bool next(nodes::LinkEvent& event) override;  // moves bytes both ways, too
  nodes::LinkTraffic traffic() const override { return traffic_; }
  // Readable when something came, or when what could not be sent can go on. -1 without an anchor.
  int descriptor() const override { return wait_; }

  // What the anchor said of the job; the first word stays. Looks at the socket.
  Word word();
  // True when the other nodes cannot be reached any more, or there is no anchor left.
  bool closed() const { return closed_; }
  // The anchor said so: it left with the application, or MPI failed. Not because it gave this worker up.
  bool lost() const { return lost_; }

  // The worker's clock: from now on the anchor measures it against the root's, and `clock` events come.
  void tell_clock(record::ClockSource source, const TickScale& scale);
  // Ends no more epochs: the anchor need not wait for this worker any longer. Waits up to `limit` until all is sent.
  void done(std::chrono::milliseconds limit = std::chrono::milliseconds(2'000));
  // With one node: the ranks may leave, nothing of them is needed any more but their rings.
  void tell_found();
  // Asks that all aggregators of the job finish in order (attached jobs): each gets the word `finished`.
  void ask_finish();

 private:
  bool alone() const { return nodes_ == 1; }
  void pump();
  void take(Frame frame);
  void next_epoch(const nodes::EpochWord& word);
  void close();
  void watch_writing();
  nodes::LinkEvent& event(nodes::LinkEvent::Kind kind, int node = -1);

  FrameSocket socket_;
  int nodes_, per_host_;
  int self_ = -1;
  std::uint64_t origin_ticks_ = 0;
  int wait_ = -1;         // epoll
  bool writing_ = false;  // the epoll waits for room, too
  bool closed_ = false, lost_ = false;
  bool gone_ = false;  // the anchor
  bool done_ = false, told_found_ = false;
  bool ended_ = false;  // this node's epoch, not yet everybody's
  Word word_ = Word::none;
  std::deque<nodes::LinkEvent> events_;
  std::vector<std::vector<std::byte>> later_;  // to oneself, of the next epoch
  nodes::LinkTraffic traffic_;
};

}  // namespace pclscope::aggregator
