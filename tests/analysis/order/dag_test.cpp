// The dependency graph against Algorithm 2 as printed, run naively over the order in which the calls were really
// made.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "analysis/order/dag_builder.hpp"
#include "analysis/order/dag_links.hpp"
#include "random_trace.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::order_test;

namespace {

std::vector<std::int32_t> nodes_of(int ranks, int per_node = 2) {
  std::vector<std::int32_t> result;
  for (int i = 0; i < ranks; ++i) result.push_back(i / per_node);
  return result;
}

double ratio_of(const Message& m) { return static_cast<double>(m.bytes % 7) / 2; }

Dag graph(const std::vector<Message>& messages, const std::vector<std::int32_t>& compute_nodes,
          DagQuestion question = {}) {
  return build_dag(question, {messages, compute_nodes, ratio_of, 0});
}

// Content of a node, by which the two are compared: rank, messages received and sent (as sets, calls have no order).
struct Content {
  int rank = 0;
  std::multiset<double> received, sent;  // when the message's send began, and its bytes
  auto operator<=>(const Content&) const = default;
};

double mark(double begin_s, std::uint64_t bytes) { return begin_s * 1e9 + static_cast<double>(bytes) / 1e4; }

// Algorithm 2 of the paper, word by word. Returns each rank's nodes in order, and between which nodes messages run.
struct Naive {
  std::vector<Content> nodes;
  std::map<std::pair<int, int>, int> edges;
  std::map<int, std::vector<int>> of_rank;

  explicit Naive(const Trace& trace) {
    std::vector<int> sent_in(trace.messages.size());
    for (const Trace::Call& call : trace.calls) {
      for (const int m : call.sent) {
        if (of_rank[call.process].empty()) make(call.process);
        const int node = of_rank[call.process].back();
        nodes[node].sent.insert(mark_of(trace.messages[m]));
        sent_in[m] = node;
      }
      for (const int m : call.received) {
        if (of_rank[call.process].empty() || !nodes[of_rank[call.process].back()].sent.empty()) make(call.process);
        const int node = of_rank[call.process].back();
        nodes[node].received.insert(mark_of(trace.messages[m]));
        ++edges[{sent_in[m], node}];
      }
    }
  }
  void make(int rank) {
    of_rank[rank].push_back(static_cast<int>(nodes.size()));
    nodes.push_back({rank, {}, {}});
  }
  static double mark_of(const Message& m) { return mark(static_cast<double>(m.send_begin) * 1e-9, m.bytes); }
};

Content content(const DagNode& node) {
  Content c{node.rank, {}, {}};
  for (const DagMessage& m : node.received) c.received.insert(mark(m.begin_s, m.bytes));
  for (const DagMessage& m : node.sent) c.sent.insert(mark(m.begin_s, m.bytes));
  return c;
}

std::vector<int> longest_paths(const Dag& dag) {
  std::vector<int> layer(dag.nodes.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (const DagEdge& e : dag.edges)
      if (layer[e.to] < layer[e.from] + 1) {
        layer[e.to] = layer[e.from] + 1;
        changed = true;
      }
  }
  return layer;
}

// What holds for every graph.
void check_consistent(const Dag& dag) {
  std::uint64_t in_edges = 0, sent = 0, received = 0;
  const int count = static_cast<int>(dag.nodes.size());
  std::map<std::pair<int, int>, std::uint64_t> by_nodes;
  for (int i = 0; i < count; ++i) {
    const DagNode& node = dag.nodes[i];
    sent += node.sent.size();
    received += node.received.size();
    for (const DagMessage& m : node.sent) {
      REQUIRE((m.other_node >= i && m.other_node < count));
      REQUIRE(dag.nodes[m.other_node].rank == m.peer);
      ++by_nodes[{i, m.other_node}];
    }
    for (const DagMessage& m : node.received) REQUIRE((m.other_node >= 0 && m.other_node <= i));
    for (const auto* list : {&node.sent, &node.received})
      for (const DagMessage& m : *list)
        REQUIRE((std::isfinite(m.ratio) && m.ratio >= 0 && std::isfinite(m.time_s) && std::isfinite(m.begin_s)));
    REQUIRE((std::isfinite(node.begin_s) && std::isfinite(node.end_s) && node.begin_s <= node.end_s));
  }
  for (const DagEdge& e : dag.edges) {
    REQUIRE(e.from < e.to);
    REQUIRE(by_nodes[{e.from, e.to}] == e.messages);
    in_edges += e.messages;
  }
  REQUIRE(sent == dag.messages);
  REQUIRE(received == dag.messages);
  REQUIRE(in_edges + messages_inside(dag) == dag.messages);
  std::map<int, int> last;  // a rank's nodes: none without events, each but the first begins with a receive
  for (const DagNode& node : dag.nodes) {
    REQUIRE_FALSE((node.received.empty() && node.sent.empty()));
    if (last[node.rank]++ > 0) REQUIRE_FALSE(node.received.empty());
  }
  const std::vector<int> layers = longest_paths(dag);
  for (int i = 0; i < count; ++i) REQUIRE(dag.nodes[i].layer == layers[i]);
  REQUIRE(dag.partial == !dag.why_partial.empty());
  REQUIRE(dag.partial == (dag.messages_missing > 0));
}

Message message(int source, int destination, std::int64_t begin, std::int64_t end, std::uint64_t bytes = 0) {
  Message m;
  m.source = source;
  m.destination = destination;
  m.send_begin = m.send_end = begin;
  m.recv_post = m.recv_wait = m.recv_end = end;
  m.bytes = bytes;
  return m;
}

}  // namespace

TEST_CASE("the graph is that of Algorithm 2 run over the real order of events, and has no cycle") {
  for (std::uint64_t seed = 1; seed <= test::thinned(2000u); ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const int ranks = 1 + static_cast<int>(random() % (seed % 10 == 0 ? 64 : 8));
    TraceShape shape{ranks, 5 + static_cast<int>(random() % (seed % 10 == 0 ? 600 : 80)),
                     static_cast<std::int64_t>(random() % 2 * 50'000), true};
    const Trace trace = random_trace(shape, random);
    std::vector<Message> shuffled = trace.messages;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    const Dag dag = graph(shuffled, nodes_of(ranks));
    REQUIRE(dag == graph(trace.messages, nodes_of(ranks)));
    REQUIRE_FALSE(dag.partial);
    REQUIRE(dag.messages == trace.messages.size());
    check_consistent(dag);

    const Naive naive(trace);
    REQUIRE(dag.nodes.size() == naive.nodes.size());
    std::map<int, std::size_t> met;
    std::vector<int> naive_of(dag.nodes.size());
    for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
      const int rank = dag.nodes[i].rank;
      naive_of[i] = naive.of_rank.at(rank).at(met[rank]++);  // a rank's nodes in their order
      REQUIRE(content(dag.nodes[i]) == naive.nodes[naive_of[i]]);
    }
    std::map<std::pair<int, int>, int> edges;
    for (const DagEdge& e : dag.edges) edges[{naive_of[e.from], naive_of[e.to]}] = static_cast<int>(e.messages);
    REQUIRE(edges == naive.edges);
  }
}

TEST_CASE("PCLVis's Figure 7 as far as its text tells, as a graph") {
  // Process 3 sends to 2, which sends to 1 and back to 3; 1 answers 2. Ranks are one less.
  const std::vector<Message> messages = {message(2, 1, 10, 20, 8), message(1, 0, 30, 45, 16), message(1, 2, 40, 70, 24),
                                         message(0, 1, 50, 60, 32)};
  const Dag dag = graph(messages, {0, 0, 1});
  REQUIRE(dag.nodes.size() == 5);  // 3 sends; 2 receives and sends twice; 1 receives and sends; 2 receives; 3 receives
  const std::vector<std::int32_t> expected_ranks = {2, 1, 0, 1, 2}, expected_layers = {0, 1, 2, 3, 2};
  for (int i = 0; i < 5; ++i) {
    CHECK(dag.nodes[i].rank == expected_ranks[i]);
    CHECK(dag.nodes[i].layer == expected_layers[i]);
  }
  REQUIRE(dag.edges.size() == 4);
  CHECK(dag.edges[0] == DagEdge{0, 1, 1, 8, 0.5});
  CHECK(dag.edges[1] == DagEdge{1, 2, 1, 16, 1});
  CHECK(dag.edges[2] == DagEdge{1, 4, 1, 24, 1.5});
  CHECK(dag.edges[3] == DagEdge{2, 3, 1, 32, 2});
  CHECK(dag.nodes[1].received.size() == 1);
  CHECK(dag.nodes[1].sent.size() == 2);
  CHECK(dag.nodes[1].begin_s == Approx(20e-9));
  CHECK(dag.nodes[1].end_s == Approx(40e-9));
  CHECK(dag.nodes[1].sent[0].time_s == Approx(15e-9));
  // mc = 2 (rank 0), 4 (rank 1), 2 (rank 2): mean 8/3, mean deviation 8/9.
  REQUIRE(dag.ranks.size() == 3);
  CHECK(dag.ranks[0].messages == 2);
  CHECK(dag.ranks[1].messages == 4);
  CHECK(dag.ranks[0].load_balance == Approx(0.75));
  CHECK(dag.ranks[1].load_balance == Approx(1.5));
  // Ranks 0 and 1 received 0.5, 1 and 2; rank 2 received 1.5.
  CHECK(dag.ranks[0].node_ratio == Approx(3.5 / 3));
  CHECK(dag.ranks[1].node_ratio == Approx(3.5 / 3));
  CHECK(dag.ranks[2].node_ratio == Approx(1.5));
}

TEST_CASE("a node that began early but waits for a later one comes after it") {
  // Rank 1's only node begins with an early receive and ends with one that depends on everything else.
  const std::vector<Message> messages = {message(0, 1, 1, 5), message(0, 2, 10, 20), message(2, 1, 30, 40)};
  const Dag dag = graph(messages, {0, 0, 0});
  REQUIRE(dag.nodes.size() == 3);
  CHECK(dag.nodes[2].rank == 1);
  CHECK(dag.nodes[2].received.size() == 2);
  check_consistent(dag);
}

TEST_CASE("period, ranks and limit choose messages") {
  const std::vector<Message> messages = {message(0, 1, 0, 10), message(1, 2, 20, 30), message(0, 2, 40, 50),
                                         message(2, 2, 60, 70), message(3, 0, 80, 90)};
  const std::vector<std::int32_t> nodes = {0, 0, 0, 0};
  DagQuestion question;
  question.from_ns = 30;
  question.to_ns = 60;
  Dag dag = graph(messages, nodes, question);
  CHECK(dag.messages == 2);  // received at 30; sent at 40; not sent at 60
  CHECK(dag.from_s == Approx(30e-9));
  CHECK(dag.to_s == Approx(60e-9));
  question = {};
  question.region = 4;
  question.ranks = {0, 2, 3};
  dag = graph(messages, nodes, question);
  CHECK(dag.messages == 3);
  CHECK(dag.region == 4);
  CHECK(dag.ranks.size() == 3);
  CHECK(dag.from_s == Approx(40e-9));
  CHECK(dag.to_s == Approx(90e-9));
  question.ranks = {1, 3};  // asked about, and silent
  dag = graph(messages, nodes, question);
  CHECK(dag.nodes.empty());
  CHECK(dag.ranks.size() == 2);
  CHECK(dag.ranks[0].load_balance == 0);
  CHECK_FALSE(dag.partial);
  question.ranks = {};  // a region that has none
  CHECK(graph(messages, nodes, question).messages == 0);
  question.region = -1;
  question.most_messages = 3;
  dag = graph(messages, nodes, question);
  CHECK(dag.messages == 3);
  CHECK(dag.messages_missing == 2);
  CHECK(dag.partial);
  CHECK(dag.why_partial == "beyond the limit of 3 messages (choose a shorter period): 2");
  CHECK(dag.nodes[0].begin_s == 0);
  question.most_messages = 0;
  CHECK(graph(messages, nodes, question).messages == 0);
  question = {};
  question.from_ns = 10;
  question.to_ns = -10;
  CHECK(graph(messages, nodes, question).messages == 0);
}

TEST_CASE("what is missing is said") {
  std::vector<Message> messages = {message(0, 1, 0, 10), message(0, 1, 20, 30), message(0, 7, 1, 2),
                                   message(-1, 0, 1, 2), message(1, 1, 9, 8)};
  messages[1].flags = message_flag::unseen_completion;
  const std::vector<std::int32_t> nodes = {0, -1};
  const Dag dag = build_dag({}, {messages, nodes, {}, 5});
  CHECK(dag.messages == 1);
  CHECK(dag.messages_missing == 9);
  CHECK(dag.why_partial ==
        "messages no longer kept: 5; messages of unknown end (received by a freed request): 1; "
        "messages of ranks that the job does not have: 2; messages received before they could be sent: 1");
  check_consistent(dag);
  CHECK(dag.ranks[1].compute_node == -1);
  CHECK(dag.ranks[1].node_ratio == 0);
}

TEST_CASE("no messages, no ranks, ratios that are no numbers") {
  const Dag empty = build_dag({}, {});
  CHECK(empty.nodes.empty());
  CHECK_FALSE(empty.partial);
  CHECK((empty.from_s == 0 && empty.to_s == 0));
  const std::vector<Message> messages = {message(0, 1, 0, 10), message(1, 0, 20, 30)};
  const std::vector<std::int32_t> nodes = {0, 1};
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::nan(""), infinity, -1.0, -infinity}) {
    const Dag dag = build_dag({}, {messages, nodes, [&](const Message&) { return bad; }, 0});
    check_consistent(dag);
    CHECK(dag.ranks[1].node_ratio == 0);
    CHECK(dag.edges[0].ratio == 0);
  }
}

TEST_CASE("load balance is the formula of the paper, over the ranks that communicated") {
  std::mt19937_64 random(2);
  const Trace trace = random_trace({20, 300, 0, true}, random);
  DagQuestion question;
  for (int i = 0; i < 22; ++i) question.ranks.push_back(i);  // 20 and 21 are silent
  const Dag dag = graph(trace.messages, nodes_of(22), question);
  REQUIRE(dag.ranks.size() == 22);
  std::vector<double> counts(22);
  for (const Message& m : trace.messages) {
    ++counts[m.source];
    ++counts[m.destination];
  }
  const double active =
      static_cast<double>(std::count_if(counts.begin(), counts.end(), [](double c) { return c > 0; }));
  const double mean = std::accumulate(counts.begin(), counts.end(), 0.0) / active;
  double deviation = 0;
  for (const double c : counts) deviation += c > 0 ? std::abs(c - mean) / active : 0;
  for (int i = 0; i < 22; ++i) {
    CHECK(static_cast<double>(dag.ranks[i].messages) == counts[i]);
    CHECK(dag.ranks[i].load_balance == Approx(counts[i] > 0 ? std::abs(counts[i] - mean) / deviation : 0));
  }
}

TEST_CASE("graphs of damaged messages are consistent") {
  for (std::uint64_t seed = 1; seed <= test::thinned(500u); ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const int ranks = 1 + static_cast<int>(random() % 10);
    const std::vector<Message> messages = garbage(random() % 200, ranks, random);
    DagQuestion question;
    if (random() % 2) question.ranks = {static_cast<int>(random() % 20) - 5, 2, 1, 2, INT32_MAX};
    if (random() % 3 == 0) question.from_ns = static_cast<std::int64_t>(random());
    if (random() % 3 == 0) question.most_messages = random() % 100;
    check_consistent(graph(messages, nodes_of(ranks), question));
  }
}

TEST_CASE("100,000 events make a graph without quadratic work") {
  std::mt19937_64 random(4);
  const Trace trace = random_trace({64, 80'000, 10'000, true}, random);
  REQUIRE(trace.messages.size() > 50'000);
  const Dag dag = graph(trace.messages, nodes_of(64));  // quadratic would run into the test's time limit
  CHECK(dag.messages == trace.messages.size());
}
