// The nodes that are not simulated whole: ranks, rings and matching are made up, what they send is not.
//
// A stub tells real nodes what its ranks send them (the program knows), and up the tree what a
// leaf that is simulated whole reports at the same time, with the ranks, regions and nodes of the stub in place of
// the leaf's: patterns give every rank the same number of messages. Reports go through a real ReportTree and through
// real packing, stub by stub; raw messages obey a real TrafficBudget. What a stub receives is counted by nobody.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/nodes/budget.hpp"
#include "analysis/nodes/memory_link.hpp"
#include "analysis/nodes/node.hpp"
#include "benchmarks/scale/program.hpp"
#include "benchmarks/scale/sites.hpp"

namespace pclscope::benchmark {

struct Layout {
  int nodes = 0;
  std::int32_t ranks_per_node = 0;
  int node_of(std::int32_t rank) const { return rank / ranks_per_node; }
  std::int32_t first_rank(int node) const { return node * ranks_per_node; }
};

class Stub {
 public:
  // `real`: by node, whether it is simulated whole.
  Stub(nodes::Link& link, const Program& program, Layout layout, const std::vector<char>& real,
       std::uint64_t raw_limit);

  void listen();
  // `of_leaf`: what the leaf sent up in this epoch; `from`: that leaf.
  void end_epoch(int epoch, bool running, const std::vector<nodes::Report>& of_leaf, int from,
                 std::span<const std::int32_t> region_of_rank);

 private:
  struct Sender {  // the k-th partner of `rank` is on a real node
    std::int32_t rank;
    int k;
  };
  void tell_news();
  void forward_sends(int epoch);
  void add_messages(int epoch, bool inter_node, std::vector<Message>& into) const;
  void send_messages(int window, nodes::WindowPart& part);
  void send_collectives(int window);
  nodes::Report like(const nodes::Report& of_leaf, int from, std::span<const std::int32_t> region_of_rank);
  void send_up(std::int64_t now_ns);
  void send_orders();

  nodes::Link& link_;
  const Program& program_;
  Layout layout_;
  nodes::ReportTree tree_;
  nodes::TrafficBudget budget_;
  std::vector<std::pair<int, std::vector<Sender>>> senders_;  // by real node
  std::vector<nodes::PairSums> pairs_;                        // ascending, of messages to ranks here
  std::vector<std::byte> orders_;
  bool orders_changed_ = false, first_ = true;
  std::uint64_t message_bytes_ = 0, traffic_bytes_ = 0, collectives_left_out_ = 0;
  std::size_t bytes_of_raw_ = 0;  // the last one's
};

}  // namespace pclscope::benchmark
