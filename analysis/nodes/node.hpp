// One node's aggregator of a job on several nodes, without rings and without MPI: events of its ranks in, frames to the
// other nodes out (part.hpp has the picture). On node 0 also the root.
//
//   add(), set_dropped() ...      while the rings are read
//   take(link event)              whenever one came
//   end_epoch()                   when epoch_open(), and since then every ring was read to its head, and then its
//                                 header (set_dropped, set_muted); sends all that is to be sent
//   over()                        after every node said that its ranks are at their end, and all has reached the root
//
// Events, sites and times: on the job's axis as ticks (job_ticks()). One thread owns a Node. Memory: that of a
// Measurement, sends of one epoch to other nodes, and windows that wait for the slowest child in the tree.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "analysis/nodes/budget.hpp"
#include "analysis/nodes/link.hpp"
#include "analysis/nodes/report_sums.hpp"
#include "analysis/nodes/report_tree.hpp"
#include "analysis/nodes/root.hpp"
#include "analysis/pipeline/measurement.hpp"
#include "analysis/values/time_share.hpp"
#include "analysis/window/call_log.hpp"
#include "analysis/window/newest_calls.hpp"

namespace pclscope::nodes {

struct NodeOptions {
  Application application;   // ranks, command
  PipelineOptions analysis;  // of this node and of the root; callbacks for sites stand for local ids
  RootOptions root;
  bool everything = false;  // all messages and calls to the root, whatever the budget
  // The node's own id of a call site in a process of this node.
  std::function<std::uint32_t(std::int32_t rank, std::uint64_t address, std::uint16_t function)> site_of;
  std::function<std::int64_t(std::int32_t rank)> polled_ns = {};  // of a rank here: as Measured
  std::int64_t report_every_ns = 100'000'000;
  std::size_t sends_of_frame = 8192;  // sent before the epoch's end when there are so many
};

class Node {
 public:
  Node(Link& link, NodeOptions options);

  // --- from the rings ---
  void rank_here(std::int32_t rank, bool several_threads);
  // Of a rank here, in ring order. `clock_error_ns`: of their times.
  void add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events,
           std::uint32_t clock_error_ns);
  // Between epochs: pairs what can be paired at once.
  void pair() { measurement_.end_round(INT64_MIN / 2, false); }
  // Names, sites, statuses: goes up with the next report, then is empty again.
  Report& news() { return news_; }

  // --- from the link ---
  void take(LinkEvent&& event);

  // --- epochs ---
  bool epoch_open() const { return !waiting_ && !over_; }
  // Since epoch_open() all rings were read to their heads as of `read_until_ns`, and then the headers. `open`: ranks
  // here are not at their end.
  void end_epoch(std::int64_t read_until_ns, bool open);
  bool over() const { return over_; }
  bool root_died() const { return root_died_; }
  // Every node has said that its ranks are at their end.
  bool ending() const { return closing_; }
  std::int64_t closed_until_ns() const { return closed_ns_; }

  // On node 0: the newest single calls. Nodes send theirs from now on, until nobody has asked for a while. `running`:
  // of the ranks here, at `now_ns`; their sites are the node's.
  CallsPart calls(const CallsQuestion& question, std::vector<MpiCall> running, std::int64_t now_ns);

  Measurement& measurement() { return measurement_; }
  const Measurement& measurement() const { return measurement_; }
  const Measured& measured() const { return measured_; }
  // As the root says, with a number that grows when they change.
  const std::vector<std::int32_t>& region_of_rank() const { return region_of_rank_; }
  std::uint64_t regions_version() const { return regions_version_; }
  Root* root() { return root_.get(); }  // on node 0
  const Tree& tree() const { return reports_.tree(); }

 private:
  PipelineOptions named(PipelineOptions options);
  std::uint64_t raw_share(std::uint64_t bytes_per_s) const;
  Measurement::Hooks hooks();
  void name(std::span<Message> messages);
  void route(std::int32_t rank, std::uint8_t thread, const record::Event& event);
  void collect(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);
  void collect(const CollectiveCall& call);
  void take_window(const OpenWindows::Closed& closed);
  void take_message(int from, std::span<const std::byte> bytes);
  void take_sends(int from, std::span<const std::byte> bytes);
  void take_queued_sends();
  void apply(const Orders& orders);
  void epoch_over(const EpochWord& word);
  void node_died(int node);
  void send(int node, std::vector<std::byte> bytes);
  void route_waiting();
  void forward_sends();
  void forward_sends_to(int node, SendRecords& sends);
  void send_raw();
  void send_calls(std::int64_t until_ns);
  void send_calls(std::span<const MpiCall> calls);
  void keep_newest(bool on);
  void settle_newest();
  void send_newest(std::span<const MpiCall> calls);
  void take_newest(const NewestOfNode& newest);
  void newest_complete_until(std::int64_t read_until_ns);
  void send_report();
  void send_orders(std::int64_t now_ns);
  void send_orders_to(const std::vector<int>& children);

  Link& link_;
  NodeOptions options_;
  int self_;
  std::vector<std::int32_t> node_of_rank_;  // -1 not known
  std::vector<char> here_;
  struct Unrouted {  // to ranks that have not shown up anywhere
    std::int32_t rank;
    std::uint8_t thread;
    record::Event event;
  };
  std::vector<Unrouted> unrouted_;
  std::map<int, SendRecords> sends_;             // of this epoch, by destination
  std::set<int> contacted_;                      // whoever knows `unusual_`
  std::map<std::int32_t, SenderState> unusual_;  // ranks here of which other nodes must know more than the sends
  std::uint32_t clock_error_ = 0;
  RawMessages calls_;                // collectives of this epoch
  std::optional<CallLog> call_log_;  // where the root keeps single calls
  TimeShare calls_time_;             // for it
  std::uint64_t calls_left_out_ = 0, told_calls_left_out_ = 0;
  std::optional<NewestCalls> newest_;                     // while somebody asks for them
  std::uint64_t newest_left_out_ = 0;                     // for the sake of the traffic budget
  NewestOfNode told_newest_;                              // counts only
  std::map<std::int32_t, NewestOfNode> newest_of_nodes_;  // root: counts only
  TimeShare::Clock::time_point newest_asked_{};           // root
  struct QueuedSends {
    int from;
    std::vector<std::byte> bytes;
  };
  std::vector<QueuedSends> queued_sends_;  // until the epoch is over: a sender's state comes with its last frame
  std::vector<int> died_;                  // in this epoch
  std::vector<RawMessages> queued_raw_;    // root: until the epoch is over
  std::vector<Report> queued_reports_;
  Report news_, own_;
  ReportTree reports_;
  Orders orders_;  // all of the newest
  bool orders_changed_ = false;
  TrafficBudget budget_;
  LinkTraffic told_traffic_;
  std::int64_t closed_ns_ = INT64_MIN, told_closed_ns_ = INT64_MIN, read_until_ns_ = INT64_MIN,
               next_report_ns_ = INT64_MIN;
  std::int64_t read_before_ns_[2] = {INT64_MIN, INT64_MIN};  // read_until of the last two epochs
  int waited_ = 0;                                           // epochs, at the end, for places of ranks
  int ending_ = -1;                                          // epochs still to go; -1: ranks are running
  bool closing_ = false;                                     // all ranks are at their end; sends may still come
  bool waiting_ = false, over_ = false, root_died_ = false;
  std::unique_ptr<Root> root_;
  std::vector<std::int32_t> region_of_rank_;  // as the root says; -1 none
  std::uint64_t regions_version_ = 0;
  UnsentSums unsent_;
  Measured measured_;
  Measurement measurement_;  // its callbacks use the members above
};

}  // namespace pclscope::nodes
