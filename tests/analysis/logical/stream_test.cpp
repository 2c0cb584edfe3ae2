// Records that come while a run goes on: the same phases and steps as of all at once, and bounded memory.
#include "analysis/logical/stream.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <tuple>

#include "tests/analysis/delay/random_programs.hpp"
#include "tests/analysis/logical/programs.hpp"
#include "tests/analysis/logical/random_records.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::test;
using logical::LogicalTime;

namespace {

// What a phase is, wherever it is stored: its steps, and each event by rank, time and step.
using Told = std::vector<std::tuple<std::int32_t, std::int64_t, std::int64_t, std::uint32_t>>;
using AllTold = std::map<std::tuple<std::uint32_t, std::int32_t, std::uint32_t>, Told>;

void tell(const LogicalTime& t, AllTold& to) {
  for (const logical::Phase& p : t.phases) {
    Told told;
    for (const logical::Part& part : t.parts_of(p))
      for (std::uint32_t e = part.first; e < part.end; ++e)
        told.emplace_back(part.rank, t.events[e].begin, t.lateness(p, t.events[e]), t.events[e].step);
    const bool is_new = to.emplace(std::tuple(p.first_step, t.parts_of(p)[0].rank, p.steps), told).second;
    CHECK(is_new);
  }
}

std::int64_t first_moment(const Message& m) { return std::min(m.send_begin, m.recv_end); }

// In order of their ends, in pieces; `until` is the earliest moment of what is still to come.
AllTold streamed(RandomRecords r, std::size_t piece, std::size_t most_pending, std::size_t* largest = nullptr) {
  std::sort(r.messages.begin(), r.messages.end(),
            [](const Message& a, const Message& b) { return a.recv_end < b.recv_end; });
  // The calls of an operation together, when the first of them ends.
  std::map<std::uint64_t, std::int64_t> first_end;
  for (const CollectiveCall& c : r.collectives) {
    std::int64_t& end = first_end.try_emplace(c.ordinal, c.end).first->second;
    end = std::min(end, c.end);
  }
  std::sort(r.collectives.begin(), r.collectives.end(), [&](const CollectiveCall& a, const CollectiveCall& b) {
    return std::tuple(first_end[a.ordinal], a.ordinal) < std::tuple(first_end[b.ordinal], b.ordinal);
  });
  std::vector<std::int64_t> to_come(r.messages.size() + 1, INT64_MAX);
  for (std::size_t i = r.messages.size(); i-- > 0;) to_come[i] = std::min(to_come[i + 1], first_moment(r.messages[i]));
  logical::Stream stream(r.ranks, most_pending);
  AllTold told;
  std::size_t calls = 0;
  for (std::size_t i = 0; i < r.messages.size(); i += piece) {
    const std::size_t end = std::min(i + piece, r.messages.size());
    stream.add(std::span(r.messages).subspan(i, end - i));
    std::int64_t until = std::min(to_come[end], r.messages[end - 1].recv_end);
    const std::size_t first = calls;
    while (calls < r.collectives.size() && first_end[r.collectives[calls].ordinal] <= until) ++calls;
    stream.add(std::span(r.collectives).subspan(first, calls - first));
    const auto time = stream.advance(until);
    REQUIRE(time);
    tell(*time, told);
    if (largest) *largest = std::max(*largest, stream.pending());
  }
  stream.add(std::span(r.collectives).subspan(calls));
  const auto last = stream.finish();
  REQUIRE(last);
  tell(*last, told);
  CHECK(stream.pending() == 0);
  CHECK(stream.came_too_late() == 0);
  return told;
}

AllTold at_once(const RandomRecords& r) {
  AllTold told;
  tell(logical_time_of(r.ranks, r.messages, r.collectives), told);
  return told;
}

}  // namespace

TEST_CASE("Random programs in pieces: the same phases, steps and lateness as at once") {
  const std::uint64_t seed = random_seed();
  CAPTURE(seed);
  for (std::uint64_t i = 0; i < 300; ++i) {
    CAPTURE(i);
    std::mt19937_64 random(seed + i);
    const RandomRecords r = random_records(random, 20 + static_cast<int>(i), i % 3 == 2);
    CHECK(streamed(r, 1 + i % 7, SIZE_MAX) == at_once(r));
  }
}

TEST_CASE("Ranks that do alike, in pieces: the same, and few records are kept") {
  const std::uint64_t seed = random_seed();
  CAPTURE(seed);
  for (std::uint32_t i = 0; i < 40; ++i) {
    CAPTURE(i);
    const Outcome o = simulate(random_program(static_cast<std::uint32_t>(seed) + i, RandomPrograms{7, 40, true}));
    const RandomRecords r{static_cast<std::int32_t>(o.end_ns.size()), o.messages, o.collectives};
    CHECK(streamed(r, 5, SIZE_MAX) == at_once(r));
  }
  const Grid grid{{4, 4, 4}};
  const Outcome o = simulate(exchange(grid, 60, [](std::int32_t r, int i) { return 1'000'000 + (r * 31 + i) % 999; }));
  const RandomRecords r{grid.size(), o.messages, o.collectives};
  std::size_t largest = 0;
  CHECK(streamed(r, 100, SIZE_MAX, &largest) == at_once(r));
  CHECK(largest < 4 * 6 * 48 + 100);  // of 60 exchanges of 288 messages
}

TEST_CASE("A rank that is silent for long holds up phases only until there are too many records") {
  Program p(5);
  for (std::int32_t r = 0; r < 5; ++r) {
    if (r == 0) p.call(0, K::send, site::task_send, 1);
    if (r == 1) p.call(1, K::recv, site::recv, 0);
    for (int i = 0; i < 300 && r > 0; ++i) {
      p.compute(r, 1'000'000);
      p.call(r, K::irecv, site::irecv, 1 + (r + 2) % 4);
      p.call(r, K::isend, site::isend, 1 + r % 4);
      p.call(r, K::waitall, site::irecv);
    }
    p.call(r, K::allreduce, site::allreduce);
  }
  const Outcome o = simulate(p);
  const RandomRecords r{5, o.messages, o.collectives};
  std::size_t largest = 0;
  const AllTold expected = at_once(r);
  CHECK(expected.size() == 300);
  CHECK(streamed(r, 20, 100, &largest) == expected);
  CHECK(largest < 150);
  largest = 0;
  CHECK(streamed(r, 20, SIZE_MAX, &largest) == expected);
  CHECK(largest > 1000);
}

TEST_CASE("What comes too late is counted, and changes nothing that was handed out") {
  const auto message = [](std::int64_t sent, std::int64_t received) {
    Message m;
    m.source = 0, m.destination = 1;
    m.send_begin = sent, m.send_end = sent + 1;
    m.recv_wait = received - 1, m.recv_end = received;
    return m;
  };
  logical::Stream stream(2, SIZE_MAX);
  const std::vector<Message> first = {message(10, 20), message(30, 40), message(50, 60)};
  stream.add(first);
  const auto early = stream.advance(55);
  REQUIRE(early);
  CHECK(early->phases.size() == 1);  // the second may go on
  const std::vector<Message> late = {message(35, 70), message(80, 90)};
  stream.add(late);
  CHECK(stream.came_too_late() == 1);
  const auto rest = stream.finish();
  REQUIRE(rest);
  CHECK(rest->phases.size() == 3);
  CHECK(rest->phases[0].first_step == 2);
}
