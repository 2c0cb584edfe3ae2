// Random programs: what holds for all, and the same phases and steps as by definition.
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "analysis/logical/sums.hpp"
#include "tests/analysis/delay/random_programs.hpp"
#include "tests/analysis/logical/programs.hpp"
#include "tests/analysis/logical/reference.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::test;
using logical::Event;
using logical::Kind;
using logical::LogicalTime;
using logical::Phase;

namespace {

struct Trace {
  std::int32_t ranks = 0;
  std::vector<Message> messages;
  std::vector<CollectiveCall> collectives;
};

// Whatever may happen: sends, calls that receive some of what is there, of anybody, collectives of some ranks that
// leave when they like, threads (calls that overlap). Time goes on with every entry and return.
Trace random_trace(std::mt19937_64& random, int operations, bool early_leaves) {
  Trace t;
  t.ranks = 2 + static_cast<std::int32_t>(random() % 7);
  const auto any_rank = [&] { return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(t.ranks)); };
  std::map<std::int32_t, std::vector<std::size_t>> on_the_way;
  std::int64_t now = 0;
  std::uint64_t ordinal = 0;
  const auto next = [&] { return now += 1 + static_cast<std::int64_t>(random() % 50); };
  const auto receive = [&](std::int32_t rank) {
    std::vector<std::size_t>& there = on_the_way[rank];
    std::shuffle(there.begin(), there.end(), random);
    std::size_t count = std::min<std::size_t>(there.size(), 1 + random() % 3);
    const std::int64_t end = next();
    const std::int64_t begin = end - static_cast<std::int64_t>(random() % 30);
    for (; count > 0; --count, there.pop_back()) {
      Message& m = t.messages[there.back()];
      m.recv_end = end;
      m.recv_wait = begin;
    }
  };
  for (int i = 0; i < operations; ++i) {
    const std::uint64_t what = random() % 10;
    if (what < 5) {
      Message m;
      m.source = any_rank();
      m.destination = any_rank();
      m.send_begin = next();
      m.send_end = m.send_begin + static_cast<std::int64_t>(random() % 30);
      m.send_site = 1 + random() % 2;
      on_the_way[m.destination].push_back(t.messages.size());
      t.messages.push_back(m);
    } else if (what < 9) {
      receive(any_rank());
    } else {
      const std::int64_t entered = next();
      for (std::int32_t r = 0; r < t.ranks; ++r) {
        if (r > 1 && random() % 2) continue;
        CollectiveCall c;
        c.rank = r;
        c.ordinal = ordinal;
        c.site = 5 + ordinal % 2;
        c.begin = entered + (early_leaves ? 1 : -1) * static_cast<std::int64_t>(random() % 100);
        c.end = early_leaves ? c.begin + static_cast<std::int64_t>(random() % 90) : next();
        t.collectives.push_back(c);
      }
      ++ordinal;
    }
  }
  for (std::int32_t r = 0; r < t.ranks; ++r)
    while (!on_the_way[r].empty()) receive(r);
  return t;
}

LogicalTime of(const Trace& t) { return logical_time_of(t.ranks, t.messages, t.collectives); }

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
    const LogicalTime t = of(random_trace(random, 10 + static_cast<int>(i % 50), i % 4 == 3));
    check_rules(t);
    check_reference(t);
    phases += t.phases.size();
    apart += static_cast<std::size_t>(
        std::count_if(t.events.begin(), t.events.end(), [](const Event& e) { return bool(e.apart); }));
  }
  CHECK(phases > 400);  // there is something to find
  CHECK(apart > 0);
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
    Trace trace = random_trace(random, 150, i % 2 == 1);
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
    Trace t;
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
