// Times of a dump of a job on several nodes, corrected when it is read.
#include "analysis/store/corrected.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "analysis/store/reader.hpp"
#include "analysis/store/writer.hpp"
#include "tests/analysis/store/sample_rows.hpp"

using namespace pclscope;
using namespace pclscope::store;
using namespace pclscope::testing;

namespace {

constexpr std::int64_t second = 1'000'000'000;

// Ranks 0, 1 on the root's node, 2 and 3 on n1, 4 on n2, 5 nowhere.
Snapshot three_nodes() {
  Snapshot s;
  s.application.nodes = {"n0", "n1", "n2"};
  s.application.node_of_rank = {0, 0, 1, 1, 2, -1};
  s.network.clocks = {{1, 5, 0.5, 0, 2e-6}, {2, 5, 0.5, 0, 3e-6}};
  return s;
}

Message message(std::int32_t source, std::int32_t destination, std::int64_t begin, std::int64_t end,
                std::uint32_t flags) {
  Message m;
  m.source = source, m.destination = destination, m.flags = flags;
  m.send_begin = begin, m.send_end = begin + 10;
  m.recv_post = end - 30, m.recv_wait = end - 20, m.recv_end = end;
  return m;
}

Message applied(const Snapshot& s, Message m) {
  CorrectedTimes(s).apply(m);
  return m;
}

}  // namespace

TEST_CASE("a job on one node: nothing to correct") {
  CHECK(CorrectedTimes().empty());
  CHECK(CorrectedTimes(Snapshot{}).empty());
  Snapshot one;
  one.application.nodes = {"n0"};
  one.application.node_of_rank = {0, 0};
  CHECK(CorrectedTimes(one).empty());
  const Message before = message(0, 1, 5, 4, message_flag::clock_violation);
  CHECK(applied(one, before) == before);
}

TEST_CASE("without corrections times and flags stay; between nodes both clocks' errors add up") {
  const Snapshot s = three_nodes();
  for (const std::uint32_t judged : {0u, message_flag::clock_violation, message_flag::clock_unclear}) {
    for (const auto& [source, destination, error_ns] :
         {std::tuple(0, 2, 2000u), {2, 4, 5000u}, {4, 0, 3000u}, {5, 4, 3000u}}) {
      Message expected = message(source, destination, second, second - 100, message_flag::inter_node | judged);
      expected.clock_error_ns = error_ns;
      const Message got =
          applied(s, message(source, destination, second, second - 100, message_flag::inter_node | judged));
      CHECK(got == expected);
    }
  }
  const Message inside = message(2, 3, second, second + 50, 0);
  CHECK(applied(s, inside) == inside);
}

TEST_CASE("corrections are linear between their points, constant outside, of each side's own node") {
  Snapshot s = three_nodes();
  s.network.corrections = {{1, 10, 1e-3, 1e-6}, {1, 20, 3e-3, 2e-6}};
  const CorrectedTimes times(s);
  const auto shift_of = [&](std::int64_t at) {
    Message m = message(2, 0, at, at + second, message_flag::inter_node);
    const std::int64_t end = m.recv_end, post = m.recv_post;
    times.apply(m);
    CHECK(m.recv_end == end);  // the root's axis is the job's
    CHECK(m.recv_post == post);
    CHECK(std::abs(m.send_end - m.send_begin - 10) <= 1);
    return m.send_begin - at;
  };
  CHECK(shift_of(0) == 1'000'000);
  CHECK(shift_of(10 * second) == 1'000'000);
  CHECK(shift_of(15 * second) == 2'000'000);
  CHECK(shift_of(17'500'000'000) == 2'500'000);
  CHECK(shift_of(20 * second) == 3'000'000);
  CHECK(shift_of(90 * second) == 3'000'000);
  // Error bars likewise: 1.5 us in the middle; node 2 was not estimated anew, so its last bound stays.
  CHECK(applied(s, message(2, 0, 15 * second, 15 * second + 9, message_flag::inter_node)).clock_error_ns == 1500);
  CHECK(applied(s, message(4, 2, 15 * second, 15 * second, message_flag::inter_node)).clock_error_ns == 4500);
  // Both ends on one node move alike, and have no error between them.
  const Message inside = applied(s, message(2, 3, 15 * second, 15 * second + 700, 0));
  CHECK(inside.clock_error_ns == 0);
  CHECK(std::abs(inside.time() - 700) <= 1);
}

TEST_CASE("corrected times are judged anew: violation, unclear, or in order") {
  Snapshot s = three_nodes();
  s.network.corrections = {{1, 0, -1e-3, 1e-6}};  // node 1 was a millisecond ahead
  const auto judge = [&](std::int64_t time_ns, std::uint32_t flags) {
    const std::uint32_t between = message_flag::inter_node | flags;
    const Message m = applied(s, message(2, 0, 7 * second, 7 * second - 1'000'000 + time_ns, between));
    CHECK(m.time() == time_ns);
    return m.flags & ~message_flag::inter_node;
  };
  for (const std::uint32_t before : {0u, message_flag::clock_violation, message_flag::clock_unclear}) {
    CHECK(judge(500, before) == 0);
    CHECK(judge(0, before) == 0);
    CHECK(judge(-1, before) == message_flag::clock_unclear);
    CHECK(judge(-1000, before) == message_flag::clock_unclear);  // within the error bar
    CHECK(judge(-1001, before) == message_flag::clock_violation);
  }
  CHECK(judge(-1, message_flag::delayed) == (message_flag::delayed | message_flag::clock_unclear));
  CHECK(judge(-9, message_flag::unseen_completion) == message_flag::unseen_completion);  // there are no times to judge
  // On the same node the clock is one: flags stay.
  CHECK(applied(s, message(2, 3, 9, 3, message_flag::clock_violation)).flags == message_flag::clock_violation);
}

TEST_CASE("collective calls: one's own times by one's own clock, the last one's begin by its") {
  Snapshot s = three_nodes();
  s.network.corrections = {{1, 0, 1e-3, 0}, {2, 0, -2e-3, 0}};
  CollectiveCall c;
  c.rank = 2, c.awaited = 4, c.begin = second, c.awaited_begin = second + 100, c.end = second + 500;
  CollectiveCall other = c;
  CorrectedTimes(s).apply(other);
  CHECK(other.begin == c.begin + 1'000'000);
  CHECK(other.end == c.end + 1'000'000);
  CHECK(other.awaited_begin == c.awaited_begin - 2'000'000);
  CollectiveCall alone = c;
  alone.awaited = -1, alone.awaited_begin = alone.begin;
  CorrectedTimes(s).apply(alone);
  CHECK(alone.awaited_begin == alone.begin);
}

TEST_CASE("whatever a damaged dump says: no crash, and rows of unknown ranks stay") {
  const double bad[] = {
      std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1e300, 1e300, 1e10, -5, 0};
  const std::int64_t when[] = {INT64_MIN, -1, 0, 1, second, INT64_MAX};
  for (std::uint64_t seed = 1; seed <= 300; seed++) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto any = [&] {
      return random() % 3 == 0 ? static_cast<double>(random() % 100) : bad[random() % std::size(bad)];
    };
    Snapshot s = three_nodes();
    for (std::uint64_t i = random() % 20; i > 0; i--)
      s.network.corrections.push_back({static_cast<std::int32_t>(random() % 3), any(), any(), any()});
    for (ClockState& clock : s.network.clocks) clock.error_s = any();
    const CorrectedTimes times(s);
    for (int i = 0; i < 50; i++) {
      Message m = message_of(random());
      m.source = static_cast<std::int32_t>(random() % 8) - 1,
      m.destination = static_cast<std::int32_t>(random() % 8) - 1;
      for (std::int64_t* time : {&m.send_begin, &m.recv_end}) *time = when[random() % std::size(when)];
      const Message before = m;
      times.apply(m);
      CHECK(m.clock_error_ns <= 4'000'000'000u);
      if (before.source > 4 || before.source < 0) CHECK(m.send_begin == before.send_begin);
      CollectiveCall c = collective_of(random());
      c.rank = before.source, c.awaited = before.destination, c.begin = before.send_begin, c.end = before.recv_end;
      times.apply(c);
    }
  }
}

TEST_CASE("the reader gives corrected rows, h5py the stored ones") {
  const TemporaryDirectory directory;
  auto writer = std::move(*Writer::create(directory / "run.h5", {}));
  const std::vector<Message> rows = {
      message(0, 2, second, second + 400, message_flag::inter_node),
      message(2, 0, second, second - 400, message_flag::inter_node | message_flag::clock_unclear)};
  REQUIRE(writer->append(rows));
  Snapshot s = three_nodes();
  REQUIRE(writer->summarize(s));
  REQUIRE(writer->flush());
  CHECK((*Reader::open(directory / "run.h5"))->messages(0, 2)->at(1).flags == rows[1].flags);  // not estimated anew yet
  s.network.corrections = {{1, 0, -1e-6, 1e-7}, {1, 100, -1e-6, 1e-7}};
  REQUIRE(writer->summarize(s));
  REQUIRE(writer->close());
  const auto read = *(*Reader::open(directory / "run.h5"))->messages(0, 2);
  REQUIRE(read.size() == 2);
  for (const Message& m : read) CHECK(m.clock_error_ns == 100);
  CHECK(read[0].time() == 400 - 1000);
  CHECK(read[0].flags == (message_flag::inter_node | message_flag::clock_violation));
  CHECK(read[1].time() == -400 + 1000);
  CHECK(read[1].flags == message_flag::inter_node);
}
