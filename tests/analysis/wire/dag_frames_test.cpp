// Frames with questions about order and dependency graphs: equal on the other side, and harmless when damaged.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "analysis/wire/decode.hpp"
#include "analysis/wire/encode.hpp"
#include "analysis/wire/frame.hpp"
#include "tests/analysis/wire/random_dag.hpp"

using namespace pclscope;
using namespace pclscope::wire;
using pclscope::testing::random_dag;

namespace {

using Bytes = std::vector<std::uint8_t>;

// What every reader of a graph relies on.
bool sound(const Dag& dag) {
  const auto nodes = static_cast<std::int64_t>(dag.nodes.size());
  for (const DagEdge& e : dag.edges) {
    if (e.from < 0 || e.from >= e.to || e.to >= nodes || !std::isfinite(e.ratio)) return false;
  }
  for (const DagNode& n : dag.nodes) {
    if (n.layer < 0 || n.layer > nodes || !std::isfinite(n.begin_s) || !std::isfinite(n.end_s)) return false;
    for (const auto* list : {&n.received, &n.sent}) {
      for (const DagMessage& m : *list) {
        if (m.other_node < -1 || m.other_node >= nodes || !std::isfinite(m.begin_s + m.time_s + m.ratio)) return false;
      }
    }
  }
  return std::isfinite(dag.from_s) && std::isfinite(dag.to_s);
}

}  // namespace

TEST_CASE("graphs come back equal") {
  Encoder encoder;
  for (std::uint64_t seed = 1; seed <= 100; seed++) {
    INFO("seed " << seed);
    const Dag before = random_dag(seed, static_cast<std::int32_t>(seed % 40));
    const auto after = decode_dag(encoder.dag(before));
    REQUIRE(after);
    REQUIRE(*after == before);
    REQUIRE(sound(*after));
  }
  CHECK(*decode_dag(encoder.dag(Dag{})) == Dag{});
  CHECK(decode_dag(encoder.answer(1, AnswerStatus::here)).error().code == ErrorCode::damaged);
  CHECK(decode_answer(encoder.dag(Dag{})).error().code == ErrorCode::damaged);
}

TEST_CASE("questions for graphs come back, ranks in order and everything in bounds") {
  Encoder encoder;
  DagQuestion asked;
  asked.region = 7;
  asked.ranks = {5, 6, 7, 2, 2, 9};
  asked.from_ns = -5;
  asked.to_ns = INT64_MAX;
  asked.most_messages = 4'000'000'000u;
  const auto question = decode_question(encoder.question_dag(77, asked));
  REQUIRE(question);
  CHECK(question->id == 77);
  REQUIRE(question->kind == QuestionKind::dag);
  CHECK(question->dag.region == 7);
  CHECK(question->dag.ranks == std::vector<std::int32_t>{2, 5, 6, 7, 9});
  CHECK(question->dag.from_ns == -5);
  CHECK(question->dag.to_ns == INT64_MAX);
  CHECK(question->dag.most_messages == limit::dag_messages);
  asked.region = -500;
  CHECK(decode_question(encoder.question_dag(1, asked))->dag.region == -1);
  asked.ranks = {-1};
  CHECK(decode_question(encoder.question_dag(1, asked)).error().code == ErrorCode::damaged);
  asked.ranks.resize(limit::question_ranks + 1);
  for (std::size_t i = 0; i < asked.ranks.size(); i++) asked.ranks[i] = static_cast<std::int32_t>(i);
  const auto small = encoder.question_dag(1, asked);
  CHECK(small.size() < 200);  // one range
  CHECK(decode_question(small).error().code == ErrorCode::damaged);
}

TEST_CASE("numbers of a graph that are not finite become 0, partners that do not exist -1") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Dag before = random_dag(3, 10);
  before.from_s = nan;
  before.nodes[0].begin_s = -std::numeric_limits<double>::infinity();
  before.nodes[0].layer = -3;
  before.nodes[1].layer = 1000;
  before.nodes[2].sent.assign(2, {10, 0, 0, 0, nan, nan, nan});
  before.nodes[2].sent[1].other_node = -7;
  before.edges[0].ratio = nan;
  before.ranks[0].load_balance = nan;
  before.ranks[0].compute_node = -9;
  Encoder encoder;
  const auto after = decode_dag(encoder.dag(before));
  REQUIRE(after);
  CHECK(sound(*after));
  CHECK(after->nodes[2].sent[0].other_node == -1);
  CHECK(after->nodes[2].sent[1].other_node == -1);
  CHECK(after->ranks[0].load_balance == 0);
  CHECK(after->ranks[0].compute_node == -1);
}

TEST_CASE("a graph whose edges lead backwards or nowhere is refused") {
  Encoder encoder;
  for (const auto& [from, to] : {std::pair(1, 1), std::pair(2, 1), std::pair(-1, 1), std::pair(0, 10)}) {
    Dag dag = random_dag(3, 10);
    dag.edges.push_back({from, to, 1, 1, 1});
    const auto decoded = decode_dag(encoder.dag(dag));
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code == ErrorCode::damaged);
  }
}

#ifdef PCLSCOPE_UNDER_SANITIZER
constexpr int mutants = 40;  // per graph: frames of a damaged length cost a quarter of a gigabyte of checked memory
#else
constexpr int mutants = 400;
#endif

TEST_CASE("mutated graphs and questions: an error or something sound") {
  std::mt19937_64 random(20240607);
  Encoder encoder;
  std::size_t refused = 0, accepted = 0;
  DagQuestion asked;
  for (int r = 0; r < 40; r += 2) asked.ranks.push_back(r);
  const auto question_frame = encoder.question_dag(1, asked);
  const Bytes question(question_frame.begin(), question_frame.end());
  for (int round = 0; round < 25; round++) {
    const auto made = encoder.dag(random_dag(random(), 30));
    const Bytes whole(made.begin(), made.end());
    for (int i = 0; i < mutants; i++) {
      Bytes frame = i % 4 == 3 ? question : whole;
      if (i % 8 == 0) frame.resize(header_bytes + random() % (frame.size() - header_bytes));
      for (std::uint64_t flips = 1 + random() % 8; flips > 0 && frame.size() > header_bytes; flips--) {
        std::uint8_t& byte = frame[header_bytes + random() % (frame.size() - header_bytes)];
        byte = i % 2 ? static_cast<std::uint8_t>(random()) : static_cast<std::uint8_t>(byte ^ (1u << random() % 8));
      }
      if (const auto q = decode_question(frame); q && q->dag.ranks.size() > limit::question_ranks)
        FAIL("too many ranks");
      const auto decoded = decode_dag(frame);
      decoded ? accepted++ : refused++;
      if (decoded && !sound(*decoded)) FAIL("round " << round << ", " << i << " is not sound");
    }
  }
  CHECK(refused > 2 * mutants);
  CHECK(accepted > 2 * mutants);
}

TEST_CASE("10,000 events to the wire and back") {
  const Dag dag = random_dag(5, 10'000);  // 10,000 messages, so 20,000 events
  Encoder encoder;
  const auto began = std::chrono::steady_clock::now();
  const auto frame = encoder.dag(dag);
  const std::size_t size = frame.size();
  const auto back = decode_dag(frame);
  const double took_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  REQUIRE(back);
  CHECK(*back == dag);
  WARN("10,000 messages: " << size / 1024 << " KiB, encoded and decoded in " << took_ms << " ms");
}
