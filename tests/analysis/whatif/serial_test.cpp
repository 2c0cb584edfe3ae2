// What only some ranks compute while others wait for them: shared with those. And what holds the end of a prediction.
#include <catch2/catch.hpp>

#include "analysis/whatif/path.hpp"
#include "analysis/whatif/waiters.hpp"
#include "analysis/whatif/whatif.hpp"
#include "tests/analysis/delay/random_programs.hpp"
#include "tests/analysis/whatif/replaying.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::test;
using whatif::Change;

namespace {

double length_s(const Program& p) {
  const Outcome o = simulate(p);
  return static_cast<double>(*std::max_element(o.end_ns.begin(), o.end_ns.end())) * 1e-9;
}

WhatIf answer(const Program& p, const Change& change, std::int64_t from = 0) {
  const Outcome o = simulate(p);
  const std::vector<std::int32_t> nodes(static_cast<std::size_t>(p.ranks()));
  const auto w = whatif::what_if({p.ranks(), o.messages, o.collectives, nodes}, from, INT64_MAX / 4, change);
  REQUIRE(w);
  return *w;
}

// All compute, a tree of receives to rank 0, which computes alone, and a tree back. Lines 10 to 13.
Program solver(std::int32_t ranks, std::int64_t all_ns, std::int64_t alone_ns) {
  Program p(ranks);
  for (int step = 0; step < 40; ++step)
    for (std::int32_t r = 0; r < ranks; ++r) {
      p.compute(r, all_ns);
      for (std::int32_t h = ranks / 2; h >= 1; h /= 2)
        if (r < h) p.call(r, K::recv, 10, r + h, 1);
        else if (r < 2 * h) p.call(r, K::send, 11, r - h, 1);
      if (r == 0) p.compute(r, alone_ns);
      for (std::int32_t h = 1; h < ranks; h *= 2)
        if (r < h) p.call(r, K::send, 12, r + h, 2);
        else if (r < 2 * h) p.call(r, K::recv, 13, r - h, 2);
    }
  return p;
}

Change of(Change::Kind kind, std::vector<std::int32_t> named) {
  return {kind, kind == Change::Kind::delays ? named : std::vector<std::int32_t>(), {}, named};
}

}  // namespace

TEST_CASE("A serial section of one rank for which all wait, through a tree: equal load shares it among all") {
  for (const std::int32_t ranks : {4, 8}) {
    const WhatIf w = answer(solver(ranks, ms, 6 * ms), of(Change::Kind::balanced, {0}));
    CHECK(w.predicted_s == Approx(length_s(solver(ranks, ms, 6 * ms / ranks)) - 0.001).epsilon(0.01));
    CHECK(w.as == "equally at each place, what only some ranks compute shared with those that wait for them");
  }
}

TEST_CASE("Without the delays of a rank whose section is serial: shared, though elsewhere it is as its peers are") {
  // Most of what rank 0 computes lies where its peers compute, too: that alone gained nothing.
  // Before the first call nothing is known.
  const WhatIf w = answer(solver(8, 5 * ms, 4 * ms), of(Change::Kind::delays, {0}));
  CHECK(w.predicted_s == Approx(length_s(solver(8, 5 * ms, ms / 2)) - 0.005).epsilon(0.01));
  CHECK(w.as == "as its peers do there, what only it computes shared with those that wait for it");
  // A rank that computes less than others in all.
  Program p(4), shared(4);
  for (int step = 0; step < 40; ++step)
    for (std::int32_t r = 0; r < 4; ++r) {
      if (r > 0) p.compute(r, 9 * ms), shared.compute(r, 9 * ms);
      for (Program* one : {&p, &shared}) one->call(r, K::allreduce, 1);
      if (r == 0) p.compute(r, 4 * ms), shared.compute(r, ms);
      for (Program* one : {&p, &shared}) one->call(r, K::allreduce, 2);
    }
  const WhatIf little = answer(p, of(Change::Kind::delays, {0}));
  CHECK(little.predicted_s == Approx(length_s(shared)).epsilon(0.02));
  CHECK(little.as == "what only it computes shared with those that wait for it");
}

TEST_CASE("Two ranks work on when the others have come to a barrier: shared by all four, not by one's waiters alone") {
  Program p(4), shared(4);
  for (std::int32_t r = 0; r < 4; ++r) {
    for (int step = 0; step < 40; ++step) {
      for (Program* one : {&p, &shared}) {
        if (r < 2) one->call(r, K::irecv, 1, r ^ 1, 0);
        if (r < 2) one->compute(r, (one == &p ? 10 * ms : 5 * ms) * (step < 20 ? 19 : 20) / 20);
        if (r < 2) one->call(r, K::isend, 2, r ^ 1, 0);
        if (r < 2) one->call(r, K::waitall, 1);
      }
    }
    for (Program* one : {&p, &shared}) one->call(r, K::allreduce, 3);
  }
  // Of ranks that only wait, some microseconds between calls are no measure.
  for (std::int32_t r = 2; r < 4; ++r)
    for (Program* one : {&p, &shared}) one->compute(r, 1000), one->call(r, K::allreduce, 4);
  for (std::int32_t r = 0; r < 2; ++r)
    for (Program* one : {&p, &shared}) one->call(r, K::allreduce, 4);
  // A twentieth less before the period: no calm.
  CHECK(answer(p, of(Change::Kind::delays, {0, 1})).predicted_s == Approx(length_s(shared)).epsilon(0.02));
  const WhatIf later = answer(p, of(Change::Kind::delays, {0, 1}), 200 * ms);
  CHECK(later.gain_s() == Approx(0.095).epsilon(0.02));  // half of 190 ms
}

TEST_CASE("Who computes something else first takes a part that lets both end at once") {
  Program p(2), even(2);  // 6 and 2 ms at different lines, then both wait: 4 and 4
  for (int step = 0; step < 40; ++step)
    for (std::int32_t r = 0; r < 2; ++r) {
      p.compute(r, r == 0 ? 6 * ms : 2 * ms);
      even.compute(r, 4 * ms);
      for (Program* one : {&p, &even}) one->call(r, K::allreduce, r == 0 ? 1 : 2);
    }
  CHECK(answer(p, of(Change::Kind::balanced, {})).predicted_s == Approx(length_s(even)).epsilon(0.02));
}

TEST_CASE("Who waits for a rank while it computes, directly and through others") {
  const whatif::Graph g = graph_of(solver(8, ms, 6 * ms));
  const whatif::Waiters waiters(g);
  std::uint32_t longest = g.first(0);
  for (std::uint32_t c = g.first(0); c < g.end(0); ++c)
    if (g.gap(c) > g.gap(longest)) longest = c;
  const auto waits = waiters.during(longest);
  REQUIRE(waits.size() == 7);
  for (std::size_t i = 0; i < waits.size(); ++i) {
    CHECK(waits[i].rank == static_cast<std::int32_t>(i) + 1);
    CHECK(waits[i].ns == Approx(6 * ms).epsilon(0.01));
  }
}

TEST_CASE("The path of a prediction: computation of others, of those named, and waits that are not told") {
  Program both(4);  // ranks 1 and 3 as slow as each other, at other lines: taking one away gains nothing
  for (int step = 0; step < 40; ++step)
    for (std::int32_t r = 0; r < 4; ++r) {
      both.compute(r, r % 2 == 1 ? 9 * ms : 3 * ms);
      both.call(r, K::allreduce, 1);
    }
  const WhatIf one = answer(both, of(Change::Kind::delays, {1}));
  CHECK(one.gain_s() == Approx(0).margin(0.001));
  CHECK(one.others_s == Approx(39 * 0.009).epsilon(0.02));  // none before the first call
  CHECK(one.named_s + one.untold_s == Approx(0).margin(0.001));
  const WhatIf as_named = answer(both, of(Change::Kind::delays, {1, 3}));
  CHECK(as_named.gain_s() > 0.2);
  // An Iallreduce that both post at once ends when rank 1, which computes, comes to its Wait: nobody has come late.
  std::vector<CollectiveCall> calls;
  for (std::uint64_t step = 0; step < 40; ++step)
    for (std::int32_t r = 0; r < 2; ++r) {
      CollectiveCall c;
      c.comm = 1;
      c.ordinal = step + 1;
      c.rank = r;
      c.shape = CollectiveShape::all_to_all;
      c.nonblocking = true;
      c.begin = c.awaited_begin = static_cast<std::int64_t>(step) * 6 * ms;
      c.end = c.begin + 6 * ms - 1000;
      c.completing = r == 1 ? 1000 : 4 * ms;
      c.site = 7;
      calls.push_back(c);
    }
  const std::vector<std::int32_t> nodes(2);
  const auto w = whatif::what_if({2, {}, calls, nodes}, 0, INT64_MAX / 4, of(Change::Kind::delays, {1}));
  REQUIRE(w);
  CHECK(w->gain_s() == Approx(0).margin(0.001));
  CHECK(w->untold_s == Approx(0.16).epsilon(0.02));
  CHECK(w->others_s == Approx(0.08).epsilon(0.02));
}

TEST_CASE("Random programs: the path fills the replay from its begin to its end") {
  const auto seed = static_cast<std::uint32_t>(random_seed());
  CAPTURE(seed);
  constexpr RandomPrograms programs{9, 40, true};
  for (std::uint32_t i = 0; i < 100; ++i) {
    const whatif::Graph g = graph_of(random_program(seed + i, programs));
    const auto ranks = whatif::stretches(g, always);
    whatif::Trace trace;
    const std::vector<std::int64_t> lags = lags_of(g);
    const whatif::Times times = whatif::replay(g, ranks, gaps_of(g), lags, &trace);
    const std::int32_t named[] = {0};
    const whatif::PathSums sums = whatif::path_of(g, ranks, lags, times, trace, named);
    std::int64_t first = INT64_MAX, latest = INT64_MIN;  // first calls
    for (const whatif::Stretch& s : ranks)
      if (s.first < s.end) first = std::min(first, s.start), latest = std::max(latest, s.start);
    const double on_path = sums.named_s + sums.others_s + sums.inside_s + sums.untold_s;
    CAPTURE(i);
    CHECK(on_path <= static_cast<double>(times.end - first) * 1e-9 + 1e-9);
    CHECK(on_path >= static_cast<double>(times.end - latest) * 1e-9 - 1e-9);
  }
}
