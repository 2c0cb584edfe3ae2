// Ranks that are as late as those that a finding names.
#include "analysis/attribute/as_late.hpp"

#include <catch2/catch.hpp>

#include "analysis/whatif/whatif.hpp"
#include "tests/analysis/delay/programs.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr int steps = 60;

struct Named {
  Finding finding;
  WhatIf replayed;
  std::size_t replays = 8;  // left
};

Named name(const Program& p, std::vector<std::int32_t> ranks, std::uint32_t at, Cause cause = Cause::late_sender) {
  const Outcome o = simulate(p);
  const std::vector<std::int32_t> nodes(static_cast<std::size_t>(p.ranks()));
  Named n;
  n.finding.cause = cause;
  n.finding.ranks = std::move(ranks);
  n.finding.site = at;
  n.finding.advice = "Speed up what rank 3 computes before this call, or share that work";
  for (const std::int64_t end : o.end_ns) n.finding.end_s = std::max(n.finding.end_s, static_cast<double>(end) * 1e-9);
  const auto without = [&](const Finding& f) -> std::optional<WhatIf> {
    const auto change = whatif::change_for(f);
    if (!change) return std::nullopt;
    const auto w = whatif::what_if({p.ranks(), o.messages, o.collectives, nodes}, 0,
                                   static_cast<std::int64_t>(f.end_s * 1e9), *change);
    return w && w->changed > 0 ? std::optional<WhatIf>(*w) : std::nullopt;
  };
  const auto replayed = without(n.finding);
  REQUIRE(replayed);
  n.replayed = *replayed;
  attribute::name_as_late(n.finding, n.replayed, p.ranks(), without, n.replays);
  return n;
}

// Pairs of ranks exchange after what work(rank, step) computes, and all meet in an allreduce every `meet` steps.
template <class Work>
Program pairs(std::int32_t ranks, int meet, Work work) {
  Program p(ranks);
  for (int step = 0; step < steps; ++step)
    for (std::int32_t r = 0; r < ranks; ++r) {
      p.call(r, K::irecv, site::irecv, r ^ 1, 0);
      p.compute(r, work(r, step));
      p.call(r, K::isend, site::isend, r ^ 1, 0);
      p.call(r, K::waitall, site::irecv);
      if (step % meet == meet - 1) p.call(r, K::allreduce, site::allreduce);
    }
  return p;
}

}  // namespace

TEST_CASE("Two of four ranks are slow by the same amount, and one of them comes last in the end: both are named") {
  for (const int meet : {1, 10, steps}) {  // whoever is last by some microseconds is waited for
    const auto slow = [](std::int32_t r) { return r == 2 || r == 3; };
    const Program p = pairs(4, meet, [&](std::int32_t r, int step) {
      return slow(r) ? 10 * ms + (r == 3 && step == 0 ? 2000 : 0) : 3 * ms;
    });
    const Named n = name(p, {3}, site::isend);
    CAPTURE(meet, n.finding.evidence);
    CHECK(n.finding.ranks == std::vector<std::int32_t>{3, 2});
    CHECK(n.replayed.gain() == Approx(0.7).margin(0.03));
    REQUIRE(n.finding.evidence.size() == 1);
    CHECK(n.finding.evidence[0].starts_with(
        "rank 2 comes as late as rank 3: without that one alone the period is 0 % shorter, without all of them "));
    CHECK(n.finding.advice == "Speed up what ranks 3, 2 compute before this call, or share that work");
  }
}

TEST_CASE("Two slow ranks differ by a tenth, or come last in turn by noise: both are named") {
  const Program tenth = pairs(4, 5, [](std::int32_t r, int) { return r == 3 ? 11 * ms : r == 2 ? 10 * ms : 3 * ms; });
  CHECK(name(tenth, {3}, site::isend).finding.ranks == std::vector<std::int32_t>{3, 2});
  const Program noise = pairs(4, 1, [](std::int32_t r, int step) {
    return (r < 2 ? 3 * ms : 10 * ms) + ms / 20 * ((7 * r + 3 * step * step) % 5);
  });
  CHECK(name(noise, {3}, site::isend).finding.ranks == std::vector<std::int32_t>{3, 2});
}

TEST_CASE("Three of eight ranks are as slow as each other: all three, though two of them gain nothing") {
  const auto slow = [](std::int32_t r) { return r == 1 || r == 3 || r == 6; };
  const Program p = pairs(8, 5, [&](std::int32_t r, int) { return slow(r) ? 9 * ms : 3 * ms; });
  Named n = name(p, {3}, site::isend);
  std::sort(n.finding.ranks.begin(), n.finding.ranks.end());
  CHECK(n.finding.ranks == std::vector<std::int32_t>{1, 3, 6});
  CHECK(n.replayed.gain() == Approx(2.0 / 3).margin(0.03));
}

TEST_CASE("Nobody is added: one slow rank, one that is less slow, others' own work, a cause that names no delay") {
  const auto unchanged = [](const Named& n, const std::vector<std::int32_t>& ranks) {
    CHECK(n.finding.ranks == ranks);
    CHECK(n.finding.evidence.empty());
    CHECK(n.finding.advice == "Speed up what rank 3 computes before this call, or share that work");
  };
  const Program one = pairs(4, 5, [](std::int32_t r, int) { return r == 3 ? 10 * ms : 3 * ms; });
  unchanged(name(one, {3}, site::isend), {3});
  const Program less = pairs(4, 5, [](std::int32_t r, int) { return r == 3 ? 10 * ms : r == 2 ? 4 * ms : 3 * ms; });
  unchanged(name(less, {3}, site::isend), {3});
  // More than half of the ranks are as slow: the others are quick.
  Program most(5);
  for (int step = 0; step < steps; ++step)
    for (std::int32_t r = 0; r < 5; ++r) {
      most.compute(r, r > 1 ? 9 * ms : 3 * ms);
      most.call(r, K::allreduce, site::allreduce);
    }
  unchanged(name(most, {3}, site::allreduce), {3});
  // Ranks 0 and 1 compute as long at another place, which this finding is not about.
  Program apart(4);
  for (int step = 0; step < steps; ++step)
    for (std::int32_t r = 0; r < 4; ++r) {
      const std::uint32_t at = r < 2 ? site::isend : site::task_send;
      apart.call(r, K::irecv, r < 2 ? site::irecv : site::result_recv, r ^ 1, 0);
      apart.compute(r, r == 0 || r == 3 ? 9 * ms : 3 * ms);
      apart.call(r, K::isend, at, r ^ 1, 0);
      apart.call(r, K::waitall, r < 2 ? site::irecv : site::result_recv);
      if (step % 5 == 4) apart.call(r, K::allreduce, site::allreduce);
    }
  unchanged(name(apart, {3}, site::task_send), {3});
  Named balanced = name(one, {3}, site::isend);
  balanced.finding.cause = Cause::pattern;
  const Finding before = balanced.finding;
  attribute::name_as_late(
      balanced.finding, balanced.replayed, 4, [](const Finding&) { return std::optional<WhatIf>(); }, balanced.replays);
  CHECK(balanced.finding == before);
}
