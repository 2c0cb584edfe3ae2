// Random programs: what holds for all, and the same phases and steps as by definition.
#include <catch2/catch.hpp>
#include <random>

#include "analysis/logical/sums.hpp"
#include "tests/analysis/delay/random_programs.hpp"
#include "tests/analysis/logical/programs.hpp"
#include "tests/analysis/logical/random_records.hpp"
#include "tests/analysis/logical/reference.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::test;
using logical::Event;
using logical::Kind;
using logical::LogicalTime;
using logical::Phase;

namespace {

LogicalTime of(const RandomRecords& t) { return logical_time_of(t.ranks, t.messages, t.collectives); }

bool equal(const Event& a, const Event& b) {
  return a.begin == b.begin && a.end == b.end && a.step == b.step && a.site == b.site && a.partner == b.partner &&
         a.count == b.count && a.kind == b.kind && a.apart == b.apart && a.contradicts == b.contradicts;
}

std::vector<std::size_t> phase_of_events(const LogicalTime& t) {
  std::vector<std::size_t> of(t.events.size(), SIZE_MAX);
  for (std::size_t p = 0; p < t.phases.size(); ++p)
    for (const logical::Part& part : t.parts_of(t.phases[p]))
      for (std::uint32_t e = part.first; e < part.end; ++e) {
        CHECK(of[e] == SIZE_MAX);
        of[e] = p;
      }
  return of;
}

void check_rules(const LogicalTime& t) {
  const std::vector<std::size_t> phase_of = phase_of_events(t);
  std::size_t wrong = 0;
  for (std::uint32_t e = 0; e < t.events.size(); ++e) {
    REQUIRE(phase_of[e] != SIZE_MAX);
    const Event& event = t.events[e];
    const Phase& phase = t.phases[phase_of[e]];
    wrong += event.step < phase.first_step || event.step >= phase.first_step + phase.steps;
    wrong += t.lateness(phase, event) < 0 || t.entry_lateness(phase, event) < 0;
    wrong += event.contradicts;
    if (event.kind == Kind::receive) {
      for (const std::uint32_t send : t.partners_of(event))
        wrong += event.step <= t.events[send].step || phase_of[send] != phase_of[e];
    }
    if (e > 0 && t.rank_of[e - 1] == t.rank_of[e]) {
      wrong += t.events[e - 1].step >= event.step;
      const Phase& before = t.phases[phase_of[e - 1]];  // precedes this one
      wrong += phase_of[e - 1] != phase_of[e] && before.first_step + before.steps > phase.first_step;
    }
  }
  CHECK(wrong == 0);
  const auto before = logical::phases_before(t);
  std::size_t edges = 0;
  for (std::size_t p = 0; p < t.phases.size(); ++p)
    for (const std::uint32_t q : before[p]) {
      CHECK(t.phases[q].first_step + t.phases[q].steps <= t.phases[p].first_step);
      ++edges;
    }
  CHECK(edges >= t.phases.size() - std::min(t.phases.size(), t.first.size() - 1));  // who begins is another rank each
  for (const Phase& phase : t.phases) {
    std::vector<int> earliest(phase.steps);
    for (const logical::Part& part : t.parts_of(phase))
      for (std::uint32_t e = part.first; e < part.end; ++e)
        earliest[t.events[e].step - phase.first_step] += t.lateness(phase, t.events[e]) == 0;
    CHECK(std::count(earliest.begin(), earliest.end(), 0) == 0);  // no step is empty, its earliest event is not late
  }
}

void check_reference(const LogicalTime& t) {
  const std::vector<ReferencePhase> expected = reference_phases(t);
  REQUIRE(expected.size() == t.phases.size());
  const std::vector<std::size_t> phase_of = phase_of_events(t);
  for (const ReferencePhase& r : expected) {
    const Phase& phase = t.phases[phase_of[r.events[0]]];
    std::size_t events = 0;
    for (const logical::Part& part : t.parts_of(phase)) events += part.end - part.first;
    REQUIRE(events == r.events.size());
    for (std::size_t i = 0; i < r.events.size(); ++i) {
      REQUIRE(phase_of[r.events[i]] == phase_of[r.events[0]]);
      if (!r.steps.empty()) REQUIRE(t.events[r.events[i]].step == phase.first_step + r.steps[i]);
    }
  }
}

}  // namespace

TEST_CASE("Random programs: order of messages, ranks and phases; earliest events; as by definition") {
  const std::uint64_t seed = random_seed();
  CAPTURE(seed);
  std::size_t phases = 0, apart = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    CAPTURE(i);
    std::mt19937_64 random(seed + i);
    const LogicalTime t = of(random_records(random, 10 + static_cast<int>(i % 50), i % 4 == 3));
    check_rules(t);
    check_reference(t);
    phases += t.phases.size();
    apart += static_cast<std::size_t>(
        std::count_if(t.events.begin(), t.events.end(), [](const Event& e) { return bool(e.apart); }));
  }
  CHECK(phases > 400);  // there is something to find
  CHECK(apart > 0);
}

TEST_CASE("Collectives from one line that a closure meets in another order than their ranks: as by definition") {
  std::mt19937_64 random(221824);
  const LogicalTime t = of(random_records(random, 52, false));
  check_rules(t);
  check_reference(t);
}

TEST_CASE("Random programs of ranks that do alike: the same") {
  const std::uint64_t seed = random_seed();
  CAPTURE(seed);
  for (std::uint32_t i = 0; i < 100; ++i) {
    CAPTURE(i);
    const Outcome o = simulate(random_program(static_cast<std::uint32_t>(seed) + i, RandomPrograms{7, 5, true}));
    const LogicalTime t = logical_time_of(static_cast<std::int32_t>(o.end_ns.size()), o.messages, o.collectives);
    check_rules(t);
    if (t.events.size() <= 180) check_reference(t);
  }
}

TEST_CASE("The order in which records arrive does not matter") {
  const std::uint64_t seed = random_seed();
  CAPTURE(seed);
  for (std::uint64_t i = 0; i < 200; ++i) {
    CAPTURE(i);
    std::mt19937_64 random(seed + i);
    RandomRecords trace = random_records(random, 150, i % 2 == 1);
    const LogicalTime a = of(trace);
    std::shuffle(trace.messages.begin(), trace.messages.end(), random);
    std::shuffle(trace.collectives.begin(), trace.collectives.end(), random);
    const LogicalTime b = of(trace);
    REQUIRE(a.events.size() == b.events.size());
    CHECK(std::equal(a.events.begin(), a.events.end(), b.events.begin(), equal));
    CHECK(a.partners == b.partners);
    REQUIRE(a.phases.size() == b.phases.size());
    for (std::size_t p = 0; p < a.phases.size(); ++p) {
      CHECK(a.phases[p].first_step == b.phases[p].first_step);
      CHECK(a.phases[p].steps == b.phases[p].steps);
      const auto x = a.parts_of(a.phases[p]), y = b.parts_of(b.phases[p]);
      CHECK(std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const logical::Part& s, const logical::Part& r) {
        return s.rank == r.rank && s.first == r.first && s.end == r.end;
      }));
    }
  }
}

TEST_CASE("Any times and ranks: every event has a step") {
  const std::uint64_t seed = random_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto time = [&]() -> std::int64_t {
    const auto any = static_cast<std::int64_t>(random());
    return random() % 4 == 0 ? any : any % 200;
  };
  for (int round = 0; round < 300; ++round) {
    RandomRecords t;
    t.ranks = 5;
    t.messages.resize(random() % 60);
    for (Message& m : t.messages) {
      m.source = static_cast<std::int32_t>(random() % 6) - 1;
      m.destination = static_cast<std::int32_t>(random() % 6) - 1;
      m.flags = static_cast<std::uint32_t>(random());
      for (std::int64_t Message::*at :
           {&Message::send_begin, &Message::send_end, &Message::recv_post, &Message::recv_wait, &Message::recv_end})
        m.*at = time();
      m.send_site = random();
    }
    t.collectives.resize(random() % 30);
    for (CollectiveCall& c : t.collectives) {
      c.ordinal = random() % 9;
      c.rank = static_cast<std::int32_t>(random() % 7) - 1;
      c.shape = static_cast<CollectiveShape>(random() % 11);
      c.nonblocking = random() % 4 == 0;
      c.completing = time();
      c.begin = time();
      c.end = time();
    }
    const LogicalTime l = of(t);
    phase_of_events(l);
    CHECK(std::all_of(l.events.begin(), l.events.end(), [](const Event& e) { return e.step != logical::none; }));
    for (const Phase& p : l.phases) CHECK(logical::sum_of(l, p).lateness.sum_ns >= 0);
  }
}
