// Which cause it is, and of two at once each by itself; causes that cost just enough to be named.
#include <catch2/catch.hpp>

#include "analysis/attribute/gradient.hpp"
#include "analysis/attribute/replay.hpp"
#include "analysis/attribute/unequal.hpp"
#include "tests/analysis/attribute/exchange.hpp"
#include "tests/analysis/delay/programs.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

Attribution of(const Program& program) {
  const Outcome o = simulate(program);
  return attribute::replay({program.ranks(), o.messages, o.collectives, {}, 100 * ms, {}, {}});
}

}  // namespace

TEST_CASE("The first rank of a pipeline, the root of a tree, the centre of a star: late senders, not unequal work") {
  for (const int ranks : {4, 6, 8}) {
    CAPTURE(ranks);
    Program row(ranks), tree(ranks), star(ranks);
    for (int step = 0; step < 800; ++step) {
      for (int r = 0; r < ranks; ++r) {
        if (r > 0) row.call(r, K::recv, site::recv, r - 1);
        row.compute(r, r == 0 ? 10 * ms : 5 * ms);
        if (r + 1 < ranks) row.call(r, K::send, site::send, r + 1);
      }
      for (int r = 0; r < ranks; ++r) {
        tree.compute(r, r == 0 ? 10 * ms : 5 * ms);
        if (r > 0) tree.call(r, K::recv, site::recv, (r - 1) / 2);
        for (const int below : {2 * r + 1, 2 * r + 2})
          if (below < ranks) tree.call(r, K::send, site::send, below);
        star.compute(r, r == 0 ? 10 * ms : 5 * ms);
        if (r > 0) star.call(r, K::recv, site::recv, 0);
        for (int to = 1; r == 0 && to < ranks; ++to) star.call(0, K::send, site::send, to);
      }
    }
    for (const Program* program : {&row, &tree, &star}) {
      const Attribution a = of(*program);
      REQUIRE(!a.findings.empty());
      CAPTURE(program == &row, program == &tree, a.findings[0].detail, a.findings[0].confidence);
      CHECK(a.findings[0].cause == Cause::late_sender);
      REQUIRE(!a.findings[0].ranks.empty());
      CHECK(a.findings[0].ranks[0] == 0);
      CHECK(a.findings[0].confidence > 0.5);
    }
  }
}

TEST_CASE("Unequal work is more messages or bytes to each partner, not more partners") {
  using attribute::have_more;
  // Rank, sent, received, partners, waited: three times the blocks of others; as many, to three times the partners.
  CHECK(have_more({{0, 60, 20, 2, 0}, {1, 20, 30, 2, 1}, {2, 20, 20, 2, 1}, {3, 20, 30, 2, 1}}, {0}));
  CHECK_FALSE(have_more({{0, 60, 60, 3, 0}, {1, 20, 20, 1, 1}, {2, 20, 20, 1, 1}, {3, 20, 20, 1, 1}}, {0}));
  // A tree to a rank that computes alone and back, as measured: its leaves wait a little longer than what relays; the
  // waits of ranks that compute what they have messages for come down to none.
  const auto waits = [](std::vector<double> s) {
    const double messages[] = {3, 3, 2, 2, 1, 1, 1, 1};
    std::vector<attribute::Load> loads;
    for (std::int32_t r = 0; r < 8; ++r) {
      const auto i = static_cast<std::size_t>(r);
      loads.push_back({r, 100 * messages[i], 100 * messages[i], messages[i], s[i]});
    }
    return loads;
  };
  CHECK_FALSE(have_more(waits({0.6, 2.6, 3.0, 2.5, 3.7, 3.75, 3.75, 2.6}), {0}));
  CHECK_FALSE(have_more(waits({0.4, 2.6, 3.0, 2.9, 3.7, 3.75, 3.75, 3.7}), {0}));
  CHECK(have_more(waits({0, 0.1, 2.0, 2.1, 4.0, 3.9, 4.1, 4.0}), {0}));
  // It sends most, and waits as the others do: it has no more to compute.
  CHECK_FALSE(have_more({{0, 60, 20, 2, 9}, {1, 20, 30, 2, 11}, {2, 20, 20, 2, 11}, {3, 20, 30, 2, 1}}, {0}));
  CHECK(have_more({{0, 60, 20, 2, 1}, {1, 20, 30, 2, 11}, {2, 20, 20, 2, 11}, {3, 20, 30, 2, 1}}, {0}));
  // Nobody else sends.
  CHECK_FALSE(have_more({{0, 60, 0, 3, 0}, {1, 0, 20, 0, 1}, {2, 0, 20, 0, 1}, {3, 0, 20, 0, 1}}, {0}));
}

TEST_CASE("A gradient has waits of different length: not one long one beside equal short ones") {
  using attribute::is_gradient;
  CHECK(is_gradient({{1, 1.0}, {2, 0.8}, {3, 0.6}, {4, 0.4}, {5, 0.2}}));
  CHECK_FALSE(is_gradient({{1, 4.1}, {2, 1.0}, {3, 0.98}, {4, 1.01}, {5, 1.0}}));
  CHECK_FALSE(is_gradient({{1, 1.0}, {2, 1.0}, {3, 1.0}, {4, 1.0}}));
}

TEST_CASE("A slow sender and a late receiver at the same time: two findings, each with its rank") {
  for (const bool equal : {false, true}) {  // as dear as each other, or three times
    CAPTURE(equal);
    Program p(8);
    const int ring = equal ? 2 : 4;
    for (int step = 0; step < 600; ++step) {
      for (int r = 0; r < ring; ++r) {
        p.compute(r, r == 1 ? 10 * ms : 5 * ms);
        for (const int other : {(r + 1) % ring, (r + ring - 1) % ring}) p.call(r, K::isend, site::isend, other);
        for (const int other : {(r + 1) % ring, (r + ring - 1) % ring}) p.call(r, K::irecv, site::irecv, other);
        p.call(r, K::waitall, site::irecv);
      }
      for (int r = ring; r < 8; r += 2) {
        const bool late = r == 6;
        p.compute(r, late ? 5 * ms : 10 * ms);
        p.call(r, K::ssend, site::ssend, r + 1);
        p.compute(r + 1, 10 * ms);
        p.call(r + 1, K::recv, site::recv, r);
      }
    }
    const Attribution a = of(p);
    REQUIRE(a.findings.size() >= 2);
    const auto told = [&](Cause cause) {
      for (const Finding& f : a.findings)
        if (f.cause == cause && f.confidence > 0.5) return f.ranks;
      return std::vector<std::int32_t>{};
    };
    for (std::size_t i = 0; i < a.findings.size(); ++i)
      UNSCOPED_INFO(static_cast<int>(a.findings[i].cause)
                    << " " << a.findings[i].confidence << " " << a.findings[i].score);
    CHECK(told(Cause::late_sender) == std::vector<std::int32_t>{1});
    CHECK(told(Cause::late_receiver) == std::vector<std::int32_t>{7});
  }
}

TEST_CASE("A cause is named when it costs 5 % of all ranks' time, or 25 % of one rank's") {
  // All of a ring wait for one rank, by 6 % of their time.
  Exchange x;
  x.ranks = 12;
  x.edges = ring_edges(12);
  x.steps = 800;
  x.jitter = 0.005;
  x.compute = [](std::int32_t r, std::int64_t) { return r == 5 ? 10'650 * us : 10 * ms; };
  const Run r = run(x);
  const Attribution all = attribute::replay({12, r.messages, r.collectives, {}, 100 * ms, {}, {}});
  REQUIRE(!all.findings.empty());
  CAPTURE(all.findings[0].confidence, all.findings[0].score);
  CHECK(all.findings[0].cause == Cause::late_sender);
  CHECK(all.findings[0].ranks == std::vector<std::int32_t>{5});
  CHECK(all.findings[0].score < 0.08);
  // One of eight waits for another one, by 26 % of its time: 3 % of all ranks'.
  Program p(8);
  for (int step = 0; step < 800; ++step)
    for (int pair = 0; pair < 8; pair += 2) {
      p.compute(pair, 10 * ms);
      p.call(pair, K::ssend, site::ssend, pair + 1);
      p.compute(pair + 1, pair == 4 ? 13'500 * us : 10 * ms);
      p.call(pair + 1, K::recv, site::recv, pair);
    }
  const Attribution one = of(p);
  REQUIRE(!one.findings.empty());
  CAPTURE(one.findings[0].confidence, one.findings[0].score);
  CHECK(one.findings[0].cause == Cause::late_receiver);
  CHECK(one.findings[0].ranks == std::vector<std::int32_t>{5});
  CHECK(one.findings[0].score < 0.05);
}
