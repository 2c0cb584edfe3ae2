#include "analysis/nodes/packing.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "tests/analysis/nodes/packing_values.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::nodes;
using namespace pclscope::nodes::test;

namespace {

// What order is kept: that of each rank.
std::map<std::int32_t, std::vector<RankEvent>> by_rank(const std::vector<RankEvent>& sends) {
  std::map<std::int32_t, std::vector<RankEvent>> ranks;
  for (const RankEvent& h : sends) ranks[h.rank].push_back(h);
  return ranks;
}
void check_same_events(const std::vector<RankEvent>& a, const std::vector<RankEvent>& b) {
  REQUIRE(a.size() == b.size());
  const auto ranks_a = by_rank(a), ranks_b = by_rank(b);
  REQUIRE(ranks_a.size() == ranks_b.size());
  for (const auto& [rank, sends] : ranks_a) {
    INFO("rank " << rank);
    REQUIRE(ranks_b.count(rank) == 1);
    REQUIRE(same(sends, ranks_b.at(rank)));
  }
}

template <class T>
T round_trip(const T& value) {
  const std::vector<std::byte> frame = pack(value);
  T back;
  REQUIRE(unpack(frame, back));
  return back;
}

}  // namespace

TEST_CASE("sends come back as they were, in the order of each rank") {
  const auto seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    const SendRecords sends = any_send_records(random, round % 10 == 0 ? 3000 : 60);
    const SendRecords back = round_trip(sends);
    REQUIRE(back.clock_error_ns == sends.clock_error_ns);
    REQUIRE(back.senders == sends.senders);
    check_same_events(sends.events, back.events);
  }
}

TEST_CASE("a rank's threads stay in the rank's order, and its channels may be more than are remembered") {
  SendRecords sends;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    RankEvent h{};
    h.rank = static_cast<std::int32_t>(i % 3);
    h.thread = static_cast<std::uint8_t>(i % 2);
    h.event.kind = record::EventKind::send;
    h.event.ordinal = i;
    h.event.peer = static_cast<std::int32_t>(i * 7919 % 1000);
    sends.events.push_back(h);
  }
  check_same_events(sends.events, round_trip(sends).events);
}

TEST_CASE("raw messages come back as it was, messages in their order") {
  const auto seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    const RawMessages raw = any_raw(random, round % 10 == 0 ? 3000 : 60);
    const RawMessages back = round_trip(raw);
    REQUIRE(back.node == raw.node);
    REQUIRE(back.window_ns == raw.window_ns);
    REQUIRE(back.messages == raw.messages);
    REQUIRE(back.calls == raw.calls);
    REQUIRE(back.calls_left_out == raw.calls_left_out);
    REQUIRE(back.calls_shed == raw.calls_shed);
    check_same_events(raw.collectives, back.collectives);
  }
}

TEST_CASE("reports come back as they were") {
  const auto seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 400; ++round) {
    const Report report = any_report(random, round % 4);
    REQUIRE(same(round_trip(report), report));
  }
  REQUIRE(same(round_trip(Report{}), Report{}));
  const Report large = any_report(random, 300);
  REQUIRE(same(round_trip(large), large));
}

TEST_CASE("orders come back as they were") {
  const auto seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 400; ++round) {
    const Orders orders = any_orders(random, round % 4 == 0 ? 400 : 5);
    const Orders back = round_trip(orders);
    REQUIRE(back.version == orders.version);
    REQUIRE(back.node_of_rank == orders.node_of_rank);
    REQUIRE(back.region_of_rank == orders.region_of_rank);
    REQUIRE(back.criteria == orders.criteria);
    REQUIRE(back.raw_bytes_per_s == orders.raw_bytes_per_s);
    REQUIRE(back.calls == orders.calls);
  }
}

TEST_CASE("newest calls come back as they were") {
  const auto seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 400; ++round) {
    const NewestOfNode newest = any_newest(random, round % 4 == 0 ? 400 : 5);
    const NewestOfNode back = round_trip(newest);
    REQUIRE(back.node == newest.node);
    REQUIRE(back.whole_from_ns == newest.whole_from_ns);
    REQUIRE(back.left_out == newest.left_out);
    REQUIRE(back.calls == newest.calls);
  }
}

TEST_CASE("what is not finite is sent as zero") {
  Report report;
  report.pairs.push_back({1, 2, {}});
  report.pairs[0].sums.ratio = std::numeric_limits<double>::quiet_NaN();
  report.functions.push_back({});
  report.functions[0].history_share = {0.5f, std::numeric_limits<float>::infinity()};
  report.clocks.push_back({});
  report.clocks[0].drift = -std::numeric_limits<double>::infinity();
  const Report back = round_trip(report);
  CHECK(back.pairs[0].sums.ratio == 0);
  CHECK(back.functions[0].history_share == std::vector<float>{0.5f, 0});
  CHECK(back.clocks[0].drift == 0);
}

TEST_CASE("a frame tells its kind") {
  CHECK(kind_of(pack(SendRecords{})) == FrameKind::sends);
  CHECK(kind_of(pack(Report{})) == FrameKind::report);
  CHECK(kind_of(pack(RawMessages{})) == FrameKind::raw);
  CHECK(kind_of(pack(Orders{})) == FrameKind::orders);
  CHECK(kind_of(pack(NewestOfNode{})) == FrameKind::calls);
  CHECK(!kind_of({}));
  CHECK(!kind_of(std::vector<std::byte>(1)));
  CHECK(!kind_of(std::vector<std::byte>(2)));  // version 0
  std::vector<std::byte> frame = pack(Orders{});
  frame[0] = std::byte{5};
  CHECK(!kind_of(frame));
  SendRecords sends;
  CHECK(!unpack(pack(RawMessages{}), sends));
}
