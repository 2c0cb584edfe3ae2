// Dependency graphs from stored messages, and how they are printed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/viewer/hand_made.hpp"
#include "tests/viewer/memory_session.hpp"
#include "viewer/session/cut_regions.hpp"
#include "viewer/session/stored_dag.hpp"
#include "viewer/views/dag_rows.hpp"

using namespace pclscope;
using Catch::Contains;

namespace {

// Rank r sends to r + 1, one after the other: 100 hops, 1 ms each, 2 us on the way. Ranks 0..5 around and around.
std::vector<Message> relay() {
  std::vector<Message> messages;
  for (int i = 0; i < 100; ++i) {
    Message m;
    m.source = i % 6;
    m.destination = (i + 1) % 6;
    m.tag = i;
    m.bytes = 8;
    m.send_begin = m.send_end = 1'000'000LL * i;
    m.recv_post = m.recv_wait = m.send_begin;
    m.recv_end = m.send_begin + 2000;
    m.send_site = 3;
    messages.push_back(m);
  }
  return messages;
}

DagQuestion between(std::int64_t from_ms, std::int64_t to_ms) {
  DagQuestion q;
  q.from_ns = from_ms * 1'000'000;
  q.to_ns = to_ms * 1'000'000;
  return q;
}

session::Json printed(const Dag& dag, const std::vector<std::string>& nodes = {"n1", "n2"}) {
  CallSite line;
  line.id = 3;
  line.file = "/src/relay.c";
  line.line = 7;
  std::string text;
  REQUIRE(views::write_dag_json(dag, nodes, views::Sites({line}), [&](const std::string& piece) {
    text += piece;
    return true;
  }));
  return session::Json::parse(text);
}

}  // namespace

TEST_CASE("the graph of a period from stored messages: a chain stays a chain") {
  test::MemorySession session(relay());
  const auto dag = session::stored_dag(session, test::hand_made_snapshot(), between(10, 20));
  REQUIRE(dag);
  CHECK(dag->messages == 10);
  CHECK_FALSE(dag->partial);
  CHECK(dag->edges.size() == 10);
  std::int32_t layers = 0;
  for (const DagNode& n : dag->nodes) layers = std::max(layers, n.layer);
  CHECK(layers == 10);
  // 2 us with a criterion of 2 us.
  CHECK(dag->edges[0].ratio == Approx(1));
}

TEST_CASE("a region's graph has the messages inside it") {
  test::MemorySession session(relay());
  DagQuestion question = between(0, 100);
  question.region = 7;  // ranks 3-5
  const auto dag = session::stored_dag(session, test::hand_made_snapshot(), question);
  REQUIRE(dag);
  CHECK(dag->region == 7);
  // 3 -> 4 for i = 3, 9 .. 99 and 4 -> 5 for i = 4 .. 94
  CHECK(dag->messages == 17 + 16);
  question.region = 3;
  CHECK(session::stored_dag(session, test::hand_made_snapshot(), question).error().code == ErrorCode::not_found);
  question.region = -1;
  question.ranks = {0, 1};
  CHECK(session::stored_dag(session, test::hand_made_snapshot(), question)->messages == 17);
  question.ranks = {77};
  CHECK(session::stored_dag(session, test::hand_made_snapshot(), question)->messages == 0);
}

TEST_CASE("a graph that is cut short says so") {
  test::MemorySession session(relay());
  DagQuestion question = between(0, 100);
  question.most_messages = 30;
  const auto dag = session::stored_dag(session, test::hand_made_snapshot(), question);
  REQUIRE(dag);
  CHECK(dag->messages == 30);
  CHECK(dag->messages_missing == 70);
  CHECK(dag->partial);
  CHECK_THAT(dag->why_partial, Contains("70 more messages"));
  session.not_stored = 5;
  question.most_messages = 1000;
  const auto whole = session::stored_dag(session, test::hand_made_snapshot(), question);
  CHECK(whole->partial);
  CHECK_THAT(whole->why_partial, Contains("not in the dump"));
}

TEST_CASE("a graph as JSON and as lines") {
  test::MemorySession session(relay());
  const auto dag = session::stored_dag(session, test::hand_made_snapshot(), between(10, 20));
  REQUIRE(dag);
  const session::Json json = printed(*dag);
  CHECK(json["region"].is_null());
  CHECK(json["messages"] == 10);
  CHECK(json["partial"] == false);
  CHECK(json["why_partial"].is_null());
  CHECK(json["from_s"] == 0.01);
  REQUIRE(json["nodes"].size() == dag->nodes.size());
  CHECK(json["nodes"][0]["sent"][0]["peer"] == dag->nodes[0].sent[0].peer);
  CHECK(json["nodes"][0]["sent"][0]["site"] == "/src/relay.c:7");
  CHECK(json["nodes"][1]["received"][0]["site"].is_null());
  CHECK(json["edges"].size() == 10);
  CHECK(json["ranks"][0]["node"] == "n1");
  const auto lines = views::dag_lines(*dag, 0);
  CHECK_THAT(lines[0], Contains("10 messages of 6 ranks") && Contains("11 nodes, 10 edges, 11 layers"));
  CHECK(lines.size() == 2 + 11);
  CHECK_THAT(lines[3], Contains(":1>1"));
}

TEST_CASE("an empty graph is printed too") {
  CHECK(printed(Dag{})["nodes"].empty());
  CHECK(views::dag_lines(Dag{}, 80).size() == 1);
}

TEST_CASE("another cut of the tree has the latencies of the stored messages") {
  // Ranks 0-2 and 3-5 are near each other; the two groups are far apart.
  Snapshot s = test::hand_made_snapshot();
  s.dendrogram.method = "free-energy";
  s.dendrogram.leaf_of_rank = {0, 1, 2, 3, 4, 5};
  s.dendrogram.merges = {{0, 1, 0.25}, {3, 4, 0.5}, {6, 2, 0.75}, {7, 5, 1.0}, {8, 9, 3.0}};
  s.criteria[0].transfer_median_s = 1e-6;
  test::MemorySession session(relay());
  const auto two = session::cut_regions(session, s, 2, 0);
  REQUIRE(two);
  REQUIRE(two->regions.size() == 2);
  CHECK(two->regions[0].ranks == std::vector<std::int32_t>{0, 1, 2});
  CHECK(two->regions[1].ranks == std::vector<std::int32_t>{3, 4, 5});
  CHECK(two->regions[1].messages == 17 + 16);
  CHECK(two->regions[1].mean_latency_ratio == Approx(1));
  CHECK(two->regions[1].mean_transfer_ratio == Approx(2));
  REQUIRE(two->links.size() == 1);
  CHECK(two->links[0].messages == 17 + 16);  // 2 -> 3 and 5 -> 0
  CHECK(two->links[0].transfer_s == Approx(33 * 2e-6));
  CHECK(session::cut_regions(session, s, 1, 0)->regions.size() == 1);
  CHECK(session::cut_regions(session, s, 100, 0)->regions.size() == 6);
  CHECK(session::cut_regions(session, s, std::nullopt, 0.8)->regions.size() == 3);
  s.dendrogram.merges[0].left = 99;
  CHECK_FALSE(session::cut_regions(session, s, 2, 0));
  s.dendrogram = {};
  CHECK(session::cut_regions(session, s, 2, 0).error().code == ErrorCode::not_found);
}
