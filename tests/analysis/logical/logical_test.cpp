// Phases, steps and lateness worked out on paper.
#include <catch2/catch.hpp>

#include "analysis/logical/sums.hpp"
#include "tests/analysis/logical/programs.hpp"

using namespace pclscope;
using namespace pclscope::test;
using logical::Event;
using logical::Kind;
using logical::LogicalTime;
using logical::Phase;

namespace {

using Steps = std::vector<std::uint32_t>;
constexpr std::int64_t ms = 1'000'000;

// Of the rank's events in the phase.
std::vector<std::int64_t> lateness_of(const LogicalTime& t, std::size_t phase, std::int32_t rank) {
  std::vector<std::int64_t> all;
  for (const logical::Part& part : t.parts_of(t.phases[phase]))
    for (std::uint32_t e = part.first; part.rank == rank && e < part.end; ++e)
      all.push_back(t.lateness(t.phases[phase], t.events[e]));
  return all;
}

Message message(std::int32_t source, std::int32_t destination, std::int64_t sent, std::int64_t received) {
  Message m;
  m.source = source;
  m.destination = destination;
  m.send_begin = sent;
  m.send_end = sent + 1;
  m.recv_post = m.recv_wait = received - 1;
  m.recv_end = received;
  return m;
}
CollectiveCall collective(std::int32_t rank, std::uint64_t ordinal, std::int64_t begin, std::int64_t end) {
  CollectiveCall c;
  c.rank = rank;
  c.ordinal = ordinal;
  c.begin = begin;
  c.end = end;
  return c;
}

}  // namespace

TEST_CASE("Nothing, and one message") {
  CHECK(logical_time_of(3, {}).phases.empty());
  CHECK(logical_time_of(0, {}).phases.empty());
  const std::vector<Message> one = {message(2, 0, 10, 30)};
  const LogicalTime t = logical_time_of(3, one);
  REQUIRE(t.phases.size() == 1);
  CHECK(t.phases[0].steps == 2);
  CHECK(ranks_of(t, t.phases[0]) == std::vector<std::int32_t>{0, 2});
  CHECK(steps_of_rank(t, 2) == Steps{0});
  CHECK(steps_of_rank(t, 0) == Steps{1});
  CHECK(t.events[0].partner == 1);
  CHECK(t.events[1].partner == 0);
}

TEST_CASE("Each repetition of a shift without a border is a phase of one send and one receive") {
  Program p(9);
  for (int i = 0; i < 4; ++i)
    for (std::int32_t r = 0; r < 9; ++r) {
      p.compute(r, (r * 7 + i * 5) % 11 * ms);
      if (r + 1 < 9) call(p, r, K::send, site::send, r + 1);
      if (r > 0) call(p, r, K::recv, site::recv, r - 1);
    }
  const LogicalTime t = logical_time_of(p);
  REQUIRE(t.phases.size() == 4);
  for (std::int32_t r = 0; r < 9; ++r)
    CHECK(steps_of_rank(t, r) == (r == 0   ? Steps{0, 2, 4, 6}
                                  : r == 8 ? Steps{1, 3, 5, 7}
                                           : Steps{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_CASE("A token in a ring: one event in each step") {
  Program p(5);
  for (int i = 0; i < 7; ++i)
    for (std::int32_t r = 0; r < 5; ++r) {
      if (r == 0) call(p, r, K::send, site::send, 1);
      call(p, r, K::recv, site::recv, (r + 4) % 5);
      if (r != 0) call(p, r, K::send, site::send, (r + 1) % 5);
    }
  const LogicalTime t = logical_time_of(p);
  std::vector<int> in_step(2 * 5 * 7);
  for (const Event& e : t.events) {
    REQUIRE(e.step < in_step.size());
    ++in_step[e.step];
  }
  CHECK(std::count(in_step.begin(), in_step.end(), 1) == 2 * 5 * 7);
  for (const Phase& phase : t.phases) CHECK(logical::sum_of(t, phase).lateness.sum_ns == 0);
}

TEST_CASE("A send at the very moment at which the receive before it returned comes after it") {
  // A token goes round by a clock that ticks in steps: each rank sends on in the tick in which it has received.
  std::vector<Message> token;
  for (int i = 0; i < 12; ++i) token.push_back(message(i % 4, (i + 1) % 4, 100 * i + 100, 100 * i + 200));
  const LogicalTime t = logical_time_of(4, token);
  std::vector<std::uint32_t> steps;
  for (const Event& e : t.events) steps.push_back(e.step);
  std::sort(steps.begin(), steps.end());
  REQUIRE(steps.size() == 24);
  for (std::uint32_t i = 0; i < 24; ++i) CHECK(steps[i] == i);
}

TEST_CASE("A halo with a late rank: lateness spreads along messages, and ends when all have waited") {
  // 5 x 5 ranks, periodic; the receives of an iteration end in one Waitall. Rank 12 computes 100 ms longer in the
  // third.
  constexpr std::int32_t n = 5, late = 12, iterations = 8;
  constexpr std::int64_t planted = 100 * ms;
  const auto at = [](std::int32_t x, std::int32_t y) { return (y + n) % n * n + (x + n) % n; };
  Program p(n * n);
  for (int i = 0; i < iterations; ++i)
    for (std::int32_t y = 0; y < n; ++y)
      for (std::int32_t x = 0; x < n; ++x) {
        const std::int32_t r = at(x, y);
        const std::array<std::int32_t, 4> to = {at(x + 1, y), at(x - 1, y), at(x, y + 1), at(x, y - 1)};
        p.compute(r, ms + (r == late && i == 2 ? planted : 0));
        for (const int d : {1, 0, 3, 2}) p.call(r, K::irecv, site::irecv, to[static_cast<std::size_t>(d)]);
        for (const std::int32_t neighbour : to) p.call(r, K::isend, site::isend, neighbour);
        p.call(r, K::waitall, site::irecv);
      }
  const LogicalTime t = logical_time_of(p);
  REQUIRE(t.phases.size() == iterations);
  for (std::int32_t r = 0; r < n * n; ++r)
    for (std::uint32_t i = 0; i < iterations; ++i) {
      const Steps steps = steps_of_rank(t, r);
      for (std::uint32_t k = 0; k < 5; ++k) REQUIRE(steps[5 * i + k] == 5 * i + k);
    }
  for (std::size_t i = 0; i < 2; ++i) CHECK(logical::sum_of(t, t.phases[i]).lateness.sum_ns == 0);
  // Its sends are as late as it computed longer; the four that wait for them as late, by when their message was sent
  // (the k-th 200 ns after the one before, the last one of all others 600 ns after the first). All others are in time.
  using Lateness = std::vector<std::int64_t>;
  for (std::int32_t r = 0; r < n * n; ++r) {
    Lateness expected(5);
    const std::array<std::int32_t, 4> neighbours = {13, 11, 17, 7};
    const auto nth = std::find(neighbours.begin(), neighbours.end(), r) - neighbours.begin();
    if (r == late) expected = {planted, planted, planted, planted, planted - 600 + 200 + 200 - 1400};
    else if (nth < 4) expected[4] = planted + 200 * nth - 600;
    CHECK(lateness_of(t, 2, r) == expected);
  }
  const logical::PhaseSum sum = logical::sum_of(t, t.phases[2]);
  CHECK(sum.lateness.rank == late);
  CHECK(sum.lateness.site == site::isend);
  CHECK(sum.entry.rank == late);
  CHECK(sum.messages == 4 * n * n);
  CHECK(sum.lateness.sum_ns == 9 * planted - 1600 - 4 * 600 + 200 * (1 + 2 + 3));
  // Two steps further ranks are away by two at most; then everybody waited for somebody who had.
  const auto count_late = [&](std::size_t phase) {
    int count = 0;
    for (std::int32_t r = 0; r < n * n; ++r) count += lateness_of(t, phase, r).back() > planted / 2;
    return count;
  };
  CHECK(count_late(2) == 1 + 4);
  CHECK(count_late(3) == 1 + 4 + 8);
  CHECK(count_late(4) == 1 + 4 + 8 + 8);
  CHECK(count_late(5) == 0);
  CHECK(logical::sum_of(t, t.phases[6]).lateness.most_ns < 10'000);
}

TEST_CASE("Regions that only a barrier connects are phases of their own, compared with nobody else") {
  Program p(6);
  for (std::int32_t r = 0; r < 6; ++r) {
    for (int i = 0; i < 5; ++i) {
      const std::int32_t first = r < 3 ? 0 : 3, next = first + (r - first + 1) % 3, last = first + (r - first + 2) % 3;
      p.compute(r, r < 3 ? ms : 9 * ms);
      p.call(r, K::irecv, site::irecv, last);
      p.call(r, K::isend, site::isend, next);
      p.call(r, K::waitall, site::irecv);
    }
    p.call(r, K::allreduce, site::allreduce);
  }
  const LogicalTime t = logical_time_of(p);
  REQUIRE(t.phases.size() == 9);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(t.phases[i].parts == 3);
    CHECK(t.phases[i].first_step == i / 2 * 2);
    CHECK(logical::sum_of(t, t.phases[i]).lateness.sum_ns == 0);
  }
  // The last exchange of both and what connects them.
  CHECK(t.phases[8].parts == 6);
  CHECK(t.phases[8].steps == 3);
  const std::vector<logical::StepSum> steps = logical::steps_of(t, t.phases[8]);
  CHECK(steps[2].collectives == 6);
  CHECK(steps[2].lateness.sum_ns == 0);
  CHECK(steps[2].entry.most_ns == 5 * 8 * ms);
}

TEST_CASE("A rank that has nothing to do for long does not hold up the phases of others") {
  // Rank 0 writes files while the others exchange; all meet in the end.
  Program p(5);
  for (std::int32_t r = 0; r < 5; ++r) {
    for (int i = 0; i < 20 && r > 0; ++i) {
      const std::int32_t next = 1 + r % 4, last = 1 + (r + 2) % 4;
      p.compute(r, ms);
      p.call(r, K::irecv, site::irecv, last);
      p.call(r, K::isend, site::isend, next);
      p.call(r, K::waitall, site::irecv);
    }
    p.call(r, K::allreduce, site::allreduce);
  }
  const LogicalTime t = logical_time_of(p);
  REQUIRE(t.phases.size() == 20);
  for (std::size_t i = 0; i < 19; ++i) CHECK(t.phases[i].parts == 4);
  CHECK(t.phases[19].parts == 5);
  CHECK(t.phases[19].steps == 3);
}

TEST_CASE("Iterations that send twice from one line in one go") {
  Program p(4);
  for (int i = 0; i < 6; ++i)
    for (std::int32_t r = 0; r < 4; ++r) {
      for (int field = 0; field < 2; ++field) {
        call(p, r, K::irecv, site::irecv, (r + 3) % 4);
        call(p, r, K::isend, site::isend, (r + 1) % 4);
      }
      call(p, r, K::waitall, site::irecv);
    }
  const LogicalTime t = logical_time_of(p);
  REQUIRE(t.phases.size() == 6);
  for (const Phase& phase : t.phases) CHECK(phase.steps == 3);
}

TEST_CASE("Collectives on the same line are phases, and the one who comes last is named by its entry") {
  Program p(4);
  for (int i = 0; i < 6; ++i)
    for (std::int32_t r = 0; r < 4; ++r) {
      p.compute(r, r == 2 && i == 3 ? 7 * ms : ms);
      p.call(r, K::allreduce, site::allreduce);
    }
  const LogicalTime t = logical_time_of(p);
  REQUIRE(t.phases.size() == 6);
  for (const Phase& phase : t.phases) CHECK(phase.steps == 1);
  const logical::PhaseSum sum = logical::sum_of(t, t.phases[3]);
  CHECK(sum.collectives == 1);
  CHECK(sum.lateness.rank == -1);
  CHECK(sum.entry.rank == 2);
  CHECK(sum.entry.most_ns == 6 * ms);
  CHECK(sum.entry.site == site::allreduce);
}

TEST_CASE("Copies of a loop that the compiler made are the same line") {
  std::vector<Message> m;
  for (int i = 0; i < 6; ++i) m.push_back(message(0, 1, 100 * i, 100 * i + 50));
  for (std::size_t i = 0; i < 6; ++i) m[i].send_site = i % 2 ? 3 : 4;
  CHECK(logical_time_of(2, m).phases.size() == 3);
  logical::Records records(2);
  records.same_lines({0, 1, 2, 3, 3});
  records.add(m);
  CHECK(std::move(records).logical_time()->phases.size() == 6);
}

TEST_CASE("Calls that send or receive several messages are one event") {
  // Rank 0: Startall of two sends at 10. Rank 2: one Waitall until 50 for both and one of rank 1.
  std::vector<Message> m = {message(0, 2, 10, 50), message(0, 2, 10, 50), message(1, 2, 20, 50)};
  const LogicalTime t = logical_time_of(3, m);
  REQUIRE(t.events.size() == 3);
  CHECK(t.events[0].count == 2);
  CHECK(t.events[2].count == 3);
  const auto partners = t.partners_of(t.events[2]);
  CHECK(std::vector(partners.begin(), partners.end()) == std::vector<std::uint32_t>{0, 0, 1});
  CHECK(logical::sum_of(t, t.phases[0]).messages == 3);
  CHECK(t.phases.size() == 1);
}

TEST_CASE("Several threads: events of one rank in the order in which messages can depend on each other") {
  // One thread of rank 1 waits from 0 to 100 for a message, others send and receive meanwhile.
  std::vector<Message> m = {message(0, 1, 90, 100), message(1, 2, 10, 20), message(2, 1, 30, 40)};
  m[0].recv_wait = 0;
  m[2].recv_wait = 5;
  const LogicalTime t = logical_time_of(3, m);
  CHECK(steps_of_rank(t, 1) == Steps{0, 3, 4});
  CHECK(steps_of_rank(t, 2) == Steps{1, 2});
  CHECK(steps_of_rank(t, 0) == Steps{0});
}

TEST_CASE("What is missing or contradictory is marked, and everything else is in order") {
  std::vector<Message> m = {message(0, 1, 10, 20), message(0, 1, 30, 40)};
  m.push_back(message(0, 1, 50, 60));
  m.back().flags = message_flag::unseen_completion;
  m.push_back(message(0, 7, 50, 60));
  m.push_back(message(-1, 0, 50, 60));
  const LogicalTime t = logical_time_of(2, m);
  CHECK(t.left_out == 2);
  REQUIRE(t.events.size() == 5);
  CHECK(t.events[2].unpaired);
  CHECK(t.events[2].count == 0);
  REQUIRE(t.phases.size() == 2);
  CHECK(t.phases.back().incomplete);
  CHECK_FALSE(t.phases.front().incomplete);
  // Damaged clocks: each received before it was sent.
  const std::vector<Message> damaged = {message(0, 1, 20, 5), message(1, 0, 20, 5)};
  const LogicalTime d = logical_time_of(2, damaged);
  CHECK(std::count_if(d.events.begin(), d.events.end(), [](const Event& e) { return e.contradicts; }) == 1);
  for (const Event& e : d.events) CHECK(e.step != logical::none);
}

TEST_CASE("A member that leaves a broadcast early may send what another one receives before it comes") {
  // Rank 0: Bcast from 0 to 1, then a send; rank 1 receives it until 20, then comes to the Bcast.
  const std::vector<Message> m = {message(0, 1, 10, 20)};
  const std::vector<CollectiveCall> c = {collective(0, 1, 0, 1), collective(1, 1, 30, 31)};
  const LogicalTime t = logical_time_of(2, m, c);
  REQUIRE(t.phases.size() == 1);
  CHECK(steps_of_rank(t, 0) == Steps{0, 1});
  CHECK(steps_of_rank(t, 1) == Steps{2, 3});
  CHECK(t.events[0].apart);
  CHECK_FALSE(t.phases[0].incomplete);
}
