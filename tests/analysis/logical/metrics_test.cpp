// Waits and bytes of events: by hand, and of random programs the waits of all events are those that the rest of the
// analysis counts (docs/methods.md, "Blocked time").
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <tuple>

#include "analysis/logical/clusters.hpp"
#include "analysis/window/call_waits.hpp"
#include "tests/analysis/logical/programs.hpp"
#include "tests/analysis/logical/random_records.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::test;
using logical::Event;
using logical::Kind;
using logical::LogicalTime;

namespace {

struct Times {
  std::int64_t begin, end;
};

Message sent(std::int32_t from, std::int32_t to, Times send, std::int64_t post, Times receive, std::uint64_t bytes) {
  Message m;
  m.source = from, m.destination = to;
  m.send_begin = send.begin, m.send_end = send.end;
  m.recv_post = post, m.recv_wait = receive.begin, m.recv_end = receive.end;
  m.bytes = bytes;
  return m;
}

const Event& event_of(const LogicalTime& time, std::int32_t rank, Kind kind) {
  for (std::uint32_t i = time.first[static_cast<std::size_t>(rank)]; i < time.first[static_cast<std::size_t>(rank) + 1];
       ++i)
    if (time.events[i].kind == kind) return time.events[i];
  FAIL("no such event");
  return time.events[0];
}

// Seconds become what they were.
std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

}  // namespace

TEST_CASE("a receive waits until its message is sent, a blocking send until its receive is posted") {
  const std::vector<Message> m = {sent(0, 1, {40, 45}, 10, {10, 60}, 1000), sent(2, 3, {10, 80}, 50, {50, 85}, 64)};
  const LogicalTime t = logical_time_of(4, m);
  CHECK(event_of(t, 0, Kind::send).wait_ns == 0);
  CHECK(event_of(t, 0, Kind::send).bytes == 1000);
  CHECK(event_of(t, 1, Kind::receive).wait_ns == 30);
  CHECK(event_of(t, 1, Kind::receive).bytes == 1000);
  CHECK(event_of(t, 2, Kind::send).wait_ns == 40);
  CHECK(event_of(t, 3, Kind::receive).wait_ns == 0);
  std::vector<Message> free = m;
  free[1].flags = record::flag::nonblocking;
  CHECK(event_of(logical_time_of(4, free), 2, Kind::send).wait_ns == 0);
  free[0].flags = message_flag::clock_violation;  // nothing is known of its time
  CHECK(event_of(logical_time_of(4, free), 1, Kind::receive).wait_ns == 0);
}

TEST_CASE("a call that receives several waits once, for what was sent last, and has the bytes of all") {
  const std::vector<Message> m = {sent(0, 2, {40, 45}, 5, {10, 60}, 1000), sent(1, 2, {50, 55}, 5, {10, 60}, 24)};
  const LogicalTime t = logical_time_of(3, m);
  CHECK(event_of(t, 2, Kind::receive).wait_ns == 40);
  CHECK(event_of(t, 2, Kind::receive).bytes == 1024);
  // More than fits.
  const std::vector<Message> large = {sent(0, 2, {40, 45}, 5, {10, 60}, 3'000'000'000),
                                      sent(1, 2, {50, 55}, 5, {10, 60}, 3'000'000'000)};
  CHECK(event_of(logical_time_of(3, large), 2, Kind::receive).bytes == logical::most_bytes);
}

TEST_CASE("a Sendrecv waits for what it receives, and beyond that for the receive of what it sends") {
  // Rank 1 is in its Sendrecv from 10 to 100: what it receives is sent at 40, what it sends is awaited from 70 on.
  std::vector<Message> m = {sent(0, 1, {40, 45}, 10, {10, 100}, 8), sent(1, 2, {10, 100}, 70, {70, 90}, 16)};
  m[0].flags = message_flag::sendrecv_receive;
  m[1].flags = message_flag::sendrecv_send;
  LogicalTime t = logical_time_of(3, m);
  CHECK(event_of(t, 1, Kind::receive).wait_ns == 30);
  CHECK(event_of(t, 1, Kind::send).wait_ns == 30);
  m[1].recv_post = 20;  // before the message that it waited for
  t = logical_time_of(3, m);
  CHECK(event_of(t, 1, Kind::receive).wait_ns == 30);
  CHECK(event_of(t, 1, Kind::send).wait_ns == 0);
}

TEST_CASE("in a collective a rank waits for the last one that it needs") {
  std::vector<CollectiveCall> calls(2);
  for (std::int32_t r = 0; r < 2; ++r) {
    CollectiveCall& c = calls[static_cast<std::size_t>(r)];
    c.rank = r;
    c.shape = CollectiveShape::all_to_all;
    c.begin = r == 0 ? 10 : 70;
    c.end = 100;
    c.awaited = r == 0 ? 1 : -1;
    c.awaited_begin = 70;
    c.bytes = 8u << r;
  }
  const LogicalTime t = logical_time_of(2, {}, calls);
  CHECK(event_of(t, 0, Kind::collective).wait_ns == 60);
  CHECK(event_of(t, 1, Kind::collective).wait_ns == 0);
  CHECK(event_of(t, 0, Kind::collective).bytes == 8);
  CHECK(event_of(t, 1, Kind::collective).bytes == 16);
}

TEST_CASE("random programs: waits of all events are the blocked time of their calls, bytes those of their messages") {
  const std::uint64_t seed = random_seed() + 20261126;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  double all = 0;
  for (int round = 0; round < 200; ++round) {
    RandomRecords records = random_records(random, 200, false);
    std::vector<Message>& messages = records.messages;
    std::map<std::tuple<std::int32_t, std::int64_t, std::int64_t>, int> completed;  // by each call
    for (const Message& m : messages) ++completed[{m.destination, m.recv_wait, m.recv_end}];
    for (Message& m : messages) {
      m.bytes = random() % 100'000;
      // Posted by the call itself, as MPI_Recv does: then it completes nothing else.
      const bool may_post = completed[{m.destination, m.recv_wait, m.recv_end}] == 1;
      m.recv_post = m.recv_wait - static_cast<std::int64_t>(random() % 40 + (may_post ? 0 : 1));
      if (m.recv_end == 0) m.flags = message_flag::unseen_completion;
      else if (random() % 8 == 0) m.flags = message_flag::clock_unclear;
      else if (random() % 3 == 0) m.flags = record::flag::nonblocking;
    }
    // Sendrecvs behind all: of a rank with its neighbour and the one before.
    std::int64_t now = 1'000'000;
    for (int i = 0; i < 40; ++i, now += 1000) {
      const auto rank = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(records.ranks));
      const auto at = [&] { return now + static_cast<std::int64_t>(random() % 300); };
      const std::int64_t begin = at(), end = now + 600;
      Message in = sent((rank + 1) % records.ranks, rank, {at(), now + 310}, begin, {begin, end}, 8);
      in.flags = message_flag::sendrecv_receive | record::flag::nonblocking;
      const std::int64_t post = at();
      Message out = sent(rank, (rank + 1) % records.ranks, {begin, end}, post, {post, now + 700 + i}, 16);
      out.flags = message_flag::sendrecv_send;
      messages.push_back(in);
      messages.push_back(out);
    }
    CallWaits calls;
    std::int64_t expected = 0;
    for (const Message& m : messages) {
      const BlockedTime told = calls.add(m);
      expected += told.late_sender + told.late_receiver;
    }
    calls.close(INT64_MAX, [&](const CallWaits::Of&, const BlockedTime& told) {
      expected += told.late_sender + told.late_receiver;
    });
    for (const CollectiveCall& c : records.collectives) expected += c.wait();
    const LogicalTime time = logical_time_of(records.ranks, messages, records.collectives);
    double waited = 0;
    std::uint64_t sent_bytes = 0, expected_bytes = 0;
    for (const Event& e : time.events) {
      if (e.wait_ns < 0 || e.wait_ns > static_cast<float>(e.end - e.begin)) FAIL("a wait longer than its call");
      waited += static_cast<double>(e.wait_ns);
      if (e.kind == Kind::send) sent_bytes += e.bytes;
    }
    for (const Message& m : messages) expected_bytes += m.bytes;
    CHECK(static_cast<std::int64_t>(waited) == expected);
    CHECK(sent_bytes == expected_bytes);
    all += waited;
    // By metric: what the event has.
    for (const logical::Phase& phase : time.phases)
      for (const logical::Part& part : time.parts_of(phase)) {
        const Event& e = time.events[part.first];
        CHECK(nanoseconds(value_of(time, phase, e, logical::Metric::wait)) == std::llround(e.wait_ns));
        CHECK(value_of(time, phase, e, logical::Metric::bytes) == e.bytes);
        const auto series = series_of(time, phase, part, logical::Metric::bytes);
        CHECK(series.values.front() == e.bytes);
      }
  }
  CHECK(all > 10'000);
}
