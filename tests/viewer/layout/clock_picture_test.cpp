// Vector clocks of few ranks against the closure of happened-before, made event by event.
#include "viewer/layout/clock_picture.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "tests/analysis/logical/programs.hpp"
#include "tests/analysis/logical/random_records.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::test;
using layout::ClockEvent;
using layout::ClockPicture;
using layout::ClockRequest;

namespace {

using Run = std::shared_ptr<const session::LogicalRun>;

// Which events of a trace happened before which: the ties of program order, messages and collectives in a range of
// steps, and whatever follows from them. Events of one collective are one place.
struct Closure {
  const logical::LogicalTime& time;
  std::uint32_t first, last;
  std::vector<std::vector<bool>> before;

  Closure(const logical::LogicalTime& t, std::uint32_t from, std::uint32_t to) : time(t), first(from), last(to) {
    const std::size_t n = t.events.size();
    before.assign(n, std::vector<bool>(n, false));
    for (std::uint32_t a = 0; a < n; ++a)
      for (std::uint32_t b = 0; b < n; ++b) {
        if (a == b || !in(a) || !in(b)) continue;
        if (t.rank_of[a] == t.rank_of[b] && a < b) before[a][b] = true;
        if (t.events[b].kind == logical::Kind::receive && t.events[a].kind == logical::Kind::send)
          for (const std::uint32_t sent : t.partners_of(t.events[b]))
            if (sent == a && t.events[a].step < t.events[b].step) before[a][b] = true;
        if (together(a, b)) before[a][b] = true;
      }
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t a = 0; a < n; ++a)
        if (before[a][k])
          for (std::size_t b = 0; b < n; ++b)
            if (before[k][b]) before[a][b] = true;
  }
  bool in(std::uint32_t e) const { return time.events[e].step >= first && time.events[e].step <= last; }
  bool together(std::uint32_t a, std::uint32_t b) const {
    const logical::Event &x = time.events[a], &y = time.events[b];
    return x.kind == logical::Kind::collective && y.kind == x.kind && x.partner == y.partner && !x.apart && !y.apart;
  }
  bool strictly(std::uint32_t a, std::uint32_t b) const { return before[a][b] && !before[b][a]; }
  // Events of the rank that are at or before it.
  std::uint32_t count(std::uint32_t event, std::int32_t rank) const {
    std::uint32_t sum = 0;
    for (std::uint32_t a = 0; a < time.events.size(); ++a)
      sum += time.rank_of[a] == rank && (a == event ? in(a) : before[a][event]);
    return sum;
  }
};

std::uint32_t event_of(const logical::LogicalTime& time, const ClockPicture& picture, const ClockEvent& e) {
  const std::int32_t rank = picture.ranks[e.row];
  for (std::uint32_t i = 0; i < time.events.size(); ++i)
    if (time.rank_of[i] == rank && time.events[i].step == picture.steps[e.column]) return i;
  return logical::none;
}

ClockRequest request_of(Run run, std::vector<std::int32_t> ranks) {
  ClockRequest request;
  request.run = std::move(run);
  request.ranks = std::move(ranks);
  return request;
}

}  // namespace

TEST_CASE("clocks say what happened before what, of random programs and random parts of them") {
  const std::uint64_t seed = random_seed() + 5;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::size_t ordered = 0, concurrent = 0, collectives = 0;
  for (int round = 0; round < 60; ++round) {
    const RandomRecords records = random_records(random, 60, round % 2 == 0);
    const logical::LogicalTime time = logical_time_of(records.ranks, records.messages, records.collectives);
    const Run run = std::make_shared<const session::LogicalRun>(session::run_of(time, records.ranks));
    std::vector<std::int32_t> ranks;
    for (std::int32_t r = 0; r < records.ranks; ++r)
      if (random() % 3) ranks.push_back(r);
    if (ranks.size() < 2) ranks = {0, 1};
    ClockRequest request = request_of(run, ranks);
    if (round % 3 != 0) {
      request.from_ns = static_cast<std::int64_t>(random() % 1000);
      request.to_ns = request.from_ns + 1 + static_cast<std::int64_t>(random() % 800);
    }
    const ClockPicture picture = layout::clock_picture(request);
    REQUIRE(picture.ranks == ranks);
    REQUIRE(!picture.steps.empty());
    CHECK(picture.knows_others);
    const Closure closure(time, picture.steps.front(), picture.steps.back());
    std::vector<std::uint32_t> of;
    for (const ClockEvent& e : picture.events) {
      of.push_back(event_of(time, picture, e));
      REQUIRE(of.back() != logical::none);
      std::uint32_t others = 0;
      for (std::int32_t r = 0; r < records.ranks; ++r)
        if (!std::binary_search(ranks.begin(), ranks.end(), r)) others += closure.count(of.back(), r);
      REQUIRE(e.others == others);
      for (std::size_t row = 0; row < ranks.size(); ++row)
        REQUIRE(e.clock[row] == closure.count(of.back(), ranks[row]));
      const logical::Event& event = time.events[of.back()];
      CHECK(e.in_period == (event.begin < request.to_ns && event.end >= request.from_ns));
      collectives += event.kind == logical::Kind::collective;
    }
    for (std::uint32_t a = 0; a < of.size(); ++a)
      for (std::uint32_t b = 0; b < of.size(); ++b) {
        if (a == b) continue;
        REQUIRE(layout::happened_before(picture, a, b) == closure.strictly(of[a], of[b]));
        (closure.strictly(of[a], of[b]) ? ordered : concurrent) += 1;
      }
    // All events of the rows in these steps, and all their messages.
    std::size_t events = 0, messages = 0, loose = 0;
    for (std::uint32_t i = 0; i < time.events.size(); ++i) {
      const logical::Event& e = time.events[i];
      if (!closure.in(i) || !std::binary_search(ranks.begin(), ranks.end(), time.rank_of[i])) continue;
      ++events;
      for (const std::uint32_t other : time.partners_of(e)) {
        if (e.kind == logical::Kind::collective) continue;
        const bool shown = std::binary_search(ranks.begin(), ranks.end(), time.rank_of[other]);
        loose += !shown;
        messages += shown && e.kind == logical::Kind::send && closure.in(other);
      }
    }
    CHECK(picture.events.size() == events);
    CHECK(picture.messages.size() == messages);
    CHECK(picture.loose_ends.size() == loose);
  }
  CHECK(ordered > 1000);
  CHECK(concurrent > 1000);
  CHECK(collectives > 100);
}

TEST_CASE("Figure 7's three processes have the clocks of the text book") {
  // 0 tells 1, 1 tells 2, 2 tells 0; meanwhile 0 does something that nobody is told of.
  Program p(3);
  call(p, 0, K::send, site::send, 1);
  call(p, 0, K::send, site::send, 2);
  call(p, 1, K::recv, site::recv, 0);
  call(p, 1, K::send, site::send, 2);
  call(p, 2, K::recv, site::recv, 1);
  call(p, 2, K::recv, site::recv, 0);
  call(p, 2, K::send, site::send, 0);
  call(p, 0, K::recv, site::recv, 2);
  const Run run = std::make_shared<const session::LogicalRun>(session::run_of(logical_time_of(p), 3));
  const ClockPicture picture = layout::clock_picture(request_of(run, {0, 1, 2}));
  std::vector<std::vector<std::vector<std::uint32_t>>> clocks(3);
  for (const ClockEvent& e : picture.events) clocks[e.row].push_back(e.clock);
  using Clocks = std::vector<std::vector<std::uint32_t>>;
  CHECK(clocks[0] == Clocks{{1, 0, 0}, {2, 0, 0}, {3, 2, 3}});
  CHECK(clocks[1] == Clocks{{1, 1, 0}, {1, 2, 0}});
  CHECK(clocks[2] == Clocks{{1, 2, 1}, {2, 2, 2}, {2, 2, 3}});
  CHECK(picture.messages.size() == 4);
  CHECK(picture.contradictions == 0);
}

TEST_CASE("one rank brings those that it exchanges messages with, no rank the latest one") {
  constexpr std::int32_t late = 21;
  const logical::LogicalTime time = logical_time_of(exchange(
      {{4, 4, 4}}, 5, [](std::int32_t r, int i) { return 1'000'000 + (r == late && i == 1 ? 9'000'000 : 0); }));
  const Run run = std::make_shared<const session::LogicalRun>(session::run_of(time, 64));
  ClockRequest request = request_of(run, {late});
  request.most_ranks = 7;
  CHECK(layout::clock_picture(request).ranks == std::vector<std::int32_t>{5, 17, 20, late, 22, 25, 37});
  request.most_ranks = 3;
  const ClockPicture three = layout::clock_picture(request);
  CHECK(three.ranks.size() == 3);
  CHECK(std::binary_search(three.ranks.begin(), three.ranks.end(), late));
  request.ranks = {};
  request.to_ns = 10'500'000;  // then only it, and those that it has told
  CHECK(layout::clock_picture(request).ranks.size() == 3);
  request.ranks = {0, 1, 2, 3, 4, 5, 6, 7};
  request.focus = 6;
  const ClockPicture some = layout::clock_picture(request);
  CHECK(some.ranks == std::vector<std::int32_t>{5, 6, 7});
  CHECK(some.ranks_left_out == 5);
}

TEST_CASE("columns are those of the period and around it, at least as many as are asked for") {
  const logical::LogicalTime time =
      logical_time_of(exchange({{4, 4, 4}}, 40, [](std::int32_t, int) { return 1'000'000; }));
  const Run run = std::make_shared<const session::LogicalRun>(session::run_of(time, 64));
  ClockRequest request = request_of(run, {20, 21});
  request.columns = 12;
  request.from_ns = 20'000'000;
  request.to_ns = request.from_ns + 1;
  const ClockPicture few = layout::clock_picture(request);
  CHECK(few.steps.size() == 12);
  request.to_ns = request.from_ns + 5'000'000;
  const ClockPicture more = layout::clock_picture(request);
  CHECK(more.steps.size() > 24);
  CHECK(std::all_of(more.events.begin(), more.events.end(),
                    [](const ClockEvent& e) { return e.clock.size() == 2 && e.others > 0; }) == false);
  CHECK(more.steps_left_out == 0);
  request.from_ns = INT64_MIN, request.to_ns = INT64_MAX;
  const ClockPicture all = layout::clock_picture(request);
  CHECK(all.steps.size() == 256);
  CHECK(all.steps_left_out > 0);
  request.from_ns = request.to_ns = INT64_MAX;  // behind the end: the last ones
  CHECK(layout::clock_picture(request).steps.back() == run->steps - 1);
  CHECK(layout::clock_picture({}).events.empty());
}
