// Small traces by hand: what is a wait, whom it goes back to, and what an origin tells.
#include <catch2/catch.hpp>

#include "analysis/delay/delay_report.hpp"
#include "interpose/record/event.hpp"

using namespace pclscope;

namespace {

constexpr std::int64_t us = 1000;

// Small, eager, blocking on both sides; times in microseconds.
Message message(int from, int to, std::int64_t sent, std::int64_t wait, std::int64_t end, std::uint32_t send_site = 1,
                std::uint32_t recv_site = 2) {
  Message m;
  m.comm = 1;
  m.source = from;
  m.destination = to;
  m.bytes = 8;
  m.send_begin = sent * us;
  m.send_end = (sent + 1) * us;
  m.recv_post = m.recv_wait = wait * us;
  m.recv_end = end * us;
  m.send_site = send_site;
  m.recv_site = recv_site;
  return m;
}

CollectiveCall collective(std::uint64_t ordinal, int rank, std::int64_t begin, std::int64_t end, int awaited,
                          std::int64_t awaited_begin) {
  CollectiveCall c;
  c.comm = 1;
  c.ordinal = ordinal;
  c.rank = rank;
  c.awaited = awaited;
  c.shape = CollectiveShape::all_to_all;
  c.begin = begin * us;
  c.end = end * us;
  c.awaited_begin = (awaited < 0 ? begin : awaited_begin) * us;
  c.site = 9;
  return c;
}

DelayReport report(std::int32_t ranks, const std::vector<Message>& messages,
                   const std::vector<CollectiveCall>& collectives = {}) {
  return delays_of(ranks, messages, collectives, {});
}

}  // namespace

TEST_CASE("A late sender is the origin, at the call that it came late to") {
  const DelayReport r = report(2, {message(0, 1, 10, 10, 11, 5), message(0, 1, 1000, 20, 1001, 6)});
  REQUIRE(r.origins.size() == 1);
  const DelayOrigin& o = r.origins[0];
  CHECK(o.rank == 0);
  CHECK(o.site == 6);
  CHECK(o.after_site == 5);
  CHECK(o.waits == 1);
  CHECK(o.cost_s == Approx(980e-6));
  CHECK(o.direct_s == Approx(980e-6));
  CHECK(o.collective_s == 0);
  CHECK(o.worst_s == Approx(980e-6));
  CHECK(o.first_s == Approx(20e-6));
  CHECK(o.last_s == Approx(1000e-6));
  CHECK(o.victims == std::vector{1});
  CHECK(o.victim_s[0] == Approx(980e-6));
}

TEST_CASE("A copied message whose sender returned only when the receiver was in MPI: a late receiver") {
  const auto sent = [](std::int64_t returned, std::int64_t posted) {
    // Rank 1 computes from 11 on, for 1,000 us, then posts; rank 0 sent 10 us after its last message.
    Message m = message(0, 1, 20, posted, std::max(posted, returned) + 5, 5, 6);
    m.send_end = returned * us;
    return report(2, {message(0, 1, 10, 10, 11, 5, 6), m});
  };
  for (const auto& [returned, posted] : {std::pair(1015, 1010), std::pair(1010, 1015), std::pair(1100, 1000)}) {
    CAPTURE(returned, posted);
    const DelayReport r = sent(returned, posted);
    REQUIRE(r.origins.size() == 1);
    CHECK(r.origins[0].rank == 1);
    CHECK(r.origins[0].victims == std::vector{0});
    CHECK(r.totals.waited_s == Approx(1e-6 * (std::min(returned, posted) - 20)));
  }
  // It returned at once, or long before or after the receiver came, or what it took is short.
  for (const auto& [returned, posted] :
       {std::pair(21, 1010), std::pair(500, 1010), std::pair(1010, 500), std::pair(100, 100)}) {
    CAPTURE(returned, posted);
    CHECK(sent(returned, posted).totals.waits == 0);
  }
}

TEST_CASE("A wait that a wait caused goes back to where it began") {
  // 0 comes late to 1, therefore 1 comes late to 2, and 2 to 3.
  const DelayReport r =
      report(4, {message(0, 1, 10, 10, 11), message(1, 2, 12, 12, 13), message(2, 3, 14, 14, 15),
                 message(0, 1, 1000, 20, 1001, 7), message(1, 2, 1002, 20, 1003), message(2, 3, 1004, 20, 1005)});
  REQUIRE(!r.origins.empty());
  CHECK(r.origins[0].rank == 0);
  CHECK(r.origins[0].site == 7);
  CHECK(r.origins[0].cost_s == Approx(3 * 980e-6).epsilon(0.01));
  CHECK(r.origins[0].direct_s == Approx(980e-6));
  CHECK(r.origins[0].worst_s == Approx(r.origins[0].cost_s));
  CHECK(r.origins[0].waits == 3);
}

TEST_CASE("Receives of one Waitall wait once, for the sender that came last") {
  std::vector<Message> m = {message(0, 2, 10, 10, 11), message(1, 2, 10, 11, 12), message(0, 2, 500, 20, 1001),
                            message(1, 2, 1000, 20, 1001, 8)};
  for (std::size_t i : {2, 3}) m[i].recv_post = 19 * us;
  const DelayReport r = report(3, m);
  REQUIRE(r.origins.size() == 1);
  CHECK(r.origins[0].rank == 1);
  CHECK(r.origins[0].site == 8);
  CHECK(r.totals.waited_s == Approx(980e-6));
}

TEST_CASE("Computation that both did is not a delay") {
  // Rank 0 computes 309 us and then 700 us, rank 1 computes 249 us and 660 us, then waits 100 us for it.
  const std::vector<Message> messages = {message(0, 1, 0, 0, 1),
                                         message(0, 0, 1, 1, 2, 3, 3),
                                         message(1, 1, 1, 1, 2, 3, 3),
                                         message(0, 0, 311, 311, 312, 4, 4),
                                         message(1, 1, 251, 251, 252, 4, 4),
                                         message(0, 0, 1012, 1012, 1013, 5, 5),
                                         message(1, 1, 912, 912, 913, 5, 5),
                                         message(0, 1, 1014, 914, 1015)};
  const DelayReport r = report(2, messages);
  REQUIRE(r.origins.size() >= 2);
  for (const DelayOrigin& o : r.origins) {
    CHECK(o.rank == 0);
    if (o.cost_s < 5e-6) continue;  // the microseconds that the calls themselves take
    CHECK(o.after_site == o.site - 1);
    CHECK(o.cost_s == Approx(o.site == 4 ? 60e-6 : 40e-6).epsilon(0.05));
  }
}

TEST_CASE("Small sends do not wait for their receiver; large and synchronous ones do; Sendrecv for what comes last") {
  Message m = message(0, 1, 20, 1000, 1002);
  const std::vector<Message> before = {message(1, 0, 10, 9, 11)};
  const auto waited = [&](const Message& late, std::vector<Message> more = {}) {
    more.insert(more.end(), before.begin(), before.end());
    more.push_back(late);
    const DelayReport r = report(2, more);
    double sum = 0;
    for (const DelayOrigin& o : r.origins)
      if (o.rank == 1) sum += o.cost_s;
    return sum;
  };
  CHECK(waited(m) == Approx(0).margin(2e-6));
  m.send_end = 1002 * us;
  m.bytes = 1 << 20;
  CHECK(waited(m) == Approx(980e-6).epsilon(0.01));
  m.bytes = 8;
  m.flags = record::flag::synchronous;
  CHECK(waited(m) == Approx(980e-6).epsilon(0.01));
  Message other_half = message(0, 0, 19, 20, 1002);
  other_half.flags = message_flag::sendrecv_receive;
  m.flags |= message_flag::sendrecv_send;
  CHECK(waited(m, {other_half}) == Approx(980e-6).epsilon(0.01));
  m.bytes = 1 << 20;
  m.flags = record::flag::nonblocking;
  CHECK(waited(m) == Approx(0).margin(2e-6));
  m.flags = record::flag::buffered;
  CHECK(waited(m) == Approx(0).margin(2e-6));
}

TEST_CASE("Ranks that wait in a collective wait for the last that comes") {
  std::vector<CollectiveCall> c;
  for (int rank = 0; rank < 4; ++rank) c.push_back(collective(0, rank, rank, 5, rank == 3 ? -1 : 3, 3));
  for (int rank = 0; rank < 4; ++rank)
    c.push_back(collective(1, rank, rank == 2 ? 1000 : 100, 1002, rank == 2 ? -1 : 2, 1000));
  const DelayReport r = report(4, {}, c);
  REQUIRE(!r.origins.empty());
  CHECK(r.origins[0].rank == 2);
  CHECK(r.origins[0].site == 9);
  CHECK(r.origins[0].after_site == 9);
  CHECK(r.origins[0].cost_s == Approx(3 * 900e-6).epsilon(0.001));
  CHECK(r.origins[0].collective_s == r.origins[0].cost_s);
  CHECK(r.origins[0].victims.size() == 3);
  for (CollectiveCall& call : c) call.nonblocking = true;  // overlaps with computation: no wait
  CHECK(report(4, {}, c).totals.waits == 0);
  for (CollectiveCall& call : c) call.nonblocking = false, call.awaited = -1, call.shape = CollectiveShape::unknown;
  CHECK(report(4, {}, c).totals.waits == 0);
}

TEST_CASE("Messages without times, to oneself, and of ranks that do not exist make no waits") {
  Message m = message(0, 1, 1000, 20, 1001);
  m.flags = message_flag::unseen_completion;
  CHECK(report(2, {m}).totals.waits == 0);
  m.flags = message_flag::clock_violation;
  CHECK(report(2, {m}).totals.waits == 0);
  CHECK(report(2, {message(1, 1, 1000, 20, 1001)}).totals.waits == 0);
  Delays delays(2);
  const std::vector<Message> strangers = {message(0, 2, 1000, 20, 1001), message(-1, 0, 1000, 20, 1001)};
  delays.add(strangers, std::vector{collective(0, 7, 1, 2, 0, 1)}, INT64_MAX);
  delays.finish();
  CHECK(delays.refused() == 3);
  CHECK(delays.list(10).empty());
  CHECK(delays.caused_s(-1) == 0);
  CHECK(delays.caused_s(2) == 0);
}

TEST_CASE("Time inside MPI that is no wait is told apart from computation") {
  // 0 receives a large message for 900 us, then answers: nobody computed.
  const DelayReport r = report(3, {message(0, 1, 10, 10, 11), message(2, 0, 20, 20, 920), message(0, 1, 921, 20, 922)});
  CHECK(r.totals.inside_mpi_s == Approx(899e-6).epsilon(0.01));
  CHECK(r.totals.attributed_s < 20e-6);
}
