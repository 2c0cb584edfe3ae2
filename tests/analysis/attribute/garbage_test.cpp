// Whatever comes in: finite findings, few of them, in bounded time; and the same through a Pipeline.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>

#include "analysis/attribute/replay.hpp"
#include "analysis/pipeline/pipeline.hpp"
#include "interpose/record/functions.hpp"
#include "tests/analysis/attribute/exchange.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

void check_sane(const Attribution& a, std::int32_t ranks) {
  CHECK(a.findings.size() <= 33);
  CHECK(a.slices.size() <= 256);
  CHECK(a.transfer_lines.size() <= 16);
  for (const Finding& f : a.findings) {
    for (const double v : {f.begin_s, f.end_s, f.score, f.confidence, f.lost_s}) CHECK(std::isfinite(v));
    CHECK(f.confidence >= 0);
    CHECK(f.confidence <= 1);
    CHECK(f.lost_s >= 0);
    CHECK(f.score >= 0);
    CHECK(f.end_s >= f.begin_s);
    CHECK(f.ranks.size() <= 64);
    CHECK(f.nodes.size() % 2 == 0);
    for (const std::int32_t r : f.ranks) CHECK((r >= 0 && r < ranks));
    for (const std::string& e : f.evidence) CHECK(e.find("nan") == std::string::npos);
  }
  for (const AttributionSlice& s : a.slices) {
    CHECK(std::isfinite(s.begin_s));
    for (const double v :
         {s.length_s, s.load_balance, s.wait_s, s.blocked_s, s.collective_s, s.transfer_s, s.excess_transfer_s}) {
      CHECK(std::isfinite(v));
      CHECK(v >= 0);
    }
  }
  for (const TransferLine& l : a.transfer_lines)
    for (const float v : l.normalised) CHECK(std::isfinite(v));
}

std::int64_t any_time(std::mt19937_64& random) {
  switch (random() % 8) {
    case 0: return 0;
    case 1: return static_cast<std::int64_t>(random());
    case 2: return INT64_MIN + static_cast<std::int64_t>(random() % 3);
    case 3: return INT64_MAX - static_cast<std::int64_t>(random() % 3);
    case 4: return static_cast<std::int64_t>(1'000'000'000) * s_ns;
    default: return static_cast<std::int64_t>(random() % 20) * s_ns + static_cast<std::int64_t>(random() % 1000) * us;
  }
}

Message any_message(std::mt19937_64& random, std::int32_t ranks) {
  Message m;
  m.source = static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks + 2)) - 1;
  m.destination = static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks + 2)) - 1;
  m.flags = static_cast<std::uint32_t>(random());
  m.bytes = random() % 3 == 0 ? 0 : random() >> (random() % 64);
  m.send_begin = any_time(random);
  m.send_end = any_time(random);
  m.recv_post = any_time(random);
  m.recv_wait = any_time(random);
  m.recv_end = any_time(random);
  m.send_site = random() % 5;
  m.recv_site = random();
  return m;
}

CollectiveCall any_call(std::mt19937_64& random, std::int32_t ranks) {
  CollectiveCall c;
  c.comm = random() % 2;
  c.ordinal = random() % 10;
  c.rank = static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks + 2)) - 1;
  c.awaited = static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks + 2)) - 1;
  c.shape = static_cast<CollectiveShape>(random() % 5);
  c.nonblocking = random() % 4 == 0;
  constexpr record::Function edges[] = {record::Function::Init, record::Function::Finalize};
  if (random() % 4 == 0) c.function = static_cast<std::uint16_t>(edges[random() % 2]);
  c.begin = any_time(random);
  c.end = any_time(random);
  c.awaited_begin = any_time(random);
  return c;
}

Application job(std::int32_t ranks, const std::vector<std::int32_t>& nodes) {
  Application a;
  a.ranks = ranks;
  a.node_of_rank = nodes;
  for (std::int32_t n = 0; n <= 2; ++n) a.nodes.push_back("node" + std::to_string(n + 1));
  return a;
}

}  // namespace

TEST_CASE("Random messages and collectives with any times and ranks give finite findings") {
  for (std::uint32_t seed = 1; seed <= test::thinned(60u); ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::int32_t ranks = 1 + static_cast<std::int32_t>(random() % 9);
    std::vector<Message> messages;
    std::vector<CollectiveCall> calls;
    for (int i = 0; i < 400; ++i) {
      messages.push_back(any_message(random, ranks));
      calls.push_back(any_call(random, ranks));
    }
    std::vector<std::int32_t> nodes(static_cast<std::size_t>(ranks));
    for (std::int32_t& n : nodes) n = static_cast<std::int32_t>(random() % 4) - 1;
    std::vector<std::int64_t> at_work(static_cast<std::size_t>(ranks));  // until MPI_Init
    for (std::int64_t& ns : at_work) ns = random() % 3 == 0 ? -1 : static_cast<std::int64_t>(random() >> 1);
    const auto of_rank = [&](std::int32_t rank) { return at_work.at(static_cast<std::size_t>(rank)); };
    check_sane(attribute::replay({ranks, messages, calls, nodes, 100 * ms, {}, {}, {}, {}, {}, of_rank}), ranks);
  }
}

TEST_CASE("Nothing at all, one rank, messages to oneself, a silent rank: no finding or none") {
  CHECK(attribute::replay({0, {}, {}, {}, 100 * ms, {}, {}}).findings.empty());
  CHECK(attribute::replay({1, {}, {}, {}, 100 * ms, {}, {}}).findings.empty());
  std::vector<Message> own(100);
  for (std::size_t i = 0; i < own.size(); ++i)
    own[i].recv_end = own[i].recv_wait = static_cast<std::int64_t>(i) * 50 * ms;
  CHECK(attribute::replay({1, own, {}, {}, 100 * ms, {}, {}}).findings.empty());
  Exchange x;
  x.ranks = 5;
  x.edges = {{0, 1}, {1, 2}, {2, 3}};  // 4 is silent
  const Run r = run(x);
  const Attribution a = attribute::replay({5, r.messages, {}, {}, 100 * ms, {}, {}});
  REQUIRE(!a.findings.empty());
  CHECK(a.findings[0].cause == Cause::none);
}

TEST_CASE("A pipeline tells what the replay of the same messages tells") {
  Exchange x;
  x.ranks = 9;
  x.edges = ring_edges(9);
  x.steps = 500;
  x.nodes = {0, 0, 0, 1, 1, 1, 2, 2, 2};
  x.compute = [](std::int32_t r, std::int64_t now) { return r == 6 && now > 2 * s_ns ? 18 * ms : 10 * ms; };
  Run r = run(x);
  std::stable_sort(r.messages.begin(), r.messages.end(),
                   [](const Message& a, const Message& b) { return a.recv_end < b.recv_end; });
  const Attribution replayed = attribute::replay({9, r.messages, {}, x.nodes, 100 * ms, {}, {}});
  Pipeline pipeline(job(9, x.nodes), {});
  pipeline.add_messages(r.messages);
  pipeline.finish();
  const Snapshot s = pipeline.snapshot();
  REQUIRE(!s.attribution.findings.empty());
  const Finding &a = s.attribution.findings[0], &b = replayed.findings[0];
  CHECK(a.cause == Cause::late_sender);
  CHECK(a.ranks == std::vector<std::int32_t>{6});
  CHECK(a.cause == b.cause);
  CHECK(a.ranks == b.ranks);
  CHECK(a.begin_s == Approx(b.begin_s).margin(0.1));
  CHECK(a.lost_s == Approx(b.lost_s).epsilon(0.05));
  std::uint64_t messages = 0;
  for (const AttributionSlice& slice : s.attribution.slices) messages += slice.intra_messages + slice.inter_messages;
  CHECK(messages == s.messages.matched);
}

TEST_CASE("Garbage through a pipeline: finite findings") {
  for (std::uint32_t seed = 1; seed <= test::thinned(20u); ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    PipelineOptions options;
    Pipeline pipeline(job(6, {0, 0, 1, 1, -1, 2}), options);
    std::vector<Message> messages;
    for (int i = 0; i < 500; ++i) messages.push_back(any_message(random, 4));
    for (Message& m : messages) m.recv_end = std::clamp<std::int64_t>(m.recv_end, -10 * s_ns, 1000 * s_ns);
    pipeline.add_messages(messages);
    check_sane(pipeline.snapshot().attribution, 6);
    pipeline.finish();
    check_sane(pipeline.snapshot().attribution, 6);
  }
}

TEST_CASE("Thousands of ranks: findings in a moment") {
  Exchange x;
  x.ranks = test::thinned(2000, 500);
  x.edges = ring_edges(x.ranks);
  x.steps = 150;
  x.compute = [](std::int32_t r, std::int64_t) { return r % 100 == 3 ? 20 * ms : 10 * ms; };
  const Run r = run(x);
  const Attribution a = attribute::replay({x.ranks, r.messages, {}, {}, 100 * ms, {}, {}});
  REQUIRE(!a.findings.empty());
  CHECK(a.findings[0].cause == Cause::late_sender);
  CHECK(std::all_of(a.findings[0].ranks.begin(), a.findings[0].ranks.end(),
                    [](std::int32_t rank) { return rank % 100 == 3; }));
  check_sane(a, x.ranks);
}
