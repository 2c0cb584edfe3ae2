// Jobs with collectives only: no message closes a window, and still there are findings, live and at the end.
#include <catch2/catch.hpp>

#include "analysis/pipeline/pipeline.hpp"
#include "interpose/record/functions.hpp"
#include "tests/analysis/attribute/exchange.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

constexpr std::int32_t ranks = 6;
constexpr int steps = 500;

record::Event barrier(std::int64_t begin, std::int64_t end, std::uint64_t ordinal) {
  record::Event e{};
  e.kind = record::EventKind::collective;
  e.function = static_cast<std::uint16_t>(record::Function::Barrier);
  e.comm = record::world_comm_id;
  e.ordinal = ordinal;
  e.begin = static_cast<std::uint64_t>(begin);
  e.end = static_cast<std::uint64_t>(end);
  return e;
}

Application job() {
  Application a;
  a.ranks = ranks;
  return a;
}

// Steps of 20 ms; somebody comes at 15 ms, the others at 10.
template <class Give, class Over>
void feed(Give give, Over over) {
  std::mt19937 random(5);
  for (int step = 0; step < steps; ++step) {
    const std::int64_t at = step * 20 * ms;
    const auto late = static_cast<std::int32_t>(random() % ranks);
    for (std::int32_t r = 0; r < ranks; ++r)
      give(r, barrier(at + (r == late ? 15 : 10) * ms, at + 15 * ms + us, static_cast<std::uint64_t>(step)));
    over(at + 20 * ms);
  }
}

void check(const Snapshot& s) {
  REQUIRE(!s.attribution.findings.empty());
  const Finding& f = s.attribution.findings[0];
  CHECK(f.cause == Cause::collective_wait);
  CHECK(f.confidence > 0.5);
  CHECK(f.score == Approx(5.0 / 20 * 5 / 6).epsilon(0.1));
  CHECK(f.end_s <= steps * 0.02 + 0.6);
  for (const AttributionSlice& slice : s.attribution.slices) CHECK(slice.length_s < 2);
}

}  // namespace

TEST_CASE("Barriers only, one node: collective wait, live and at the end") {
  Pipeline pipeline(job(), {});
  bool live = false;
  feed(
      [&](std::int32_t r, const record::Event& e) {
        pipeline.add(r, 0, {&e, 1});
      },
      [&](std::int64_t now) {
        pipeline.end_round(now);
        if (now != 4000 * ms) return;
        const Snapshot s = pipeline.snapshot();
        live = !s.attribution.findings.empty() && s.attribution.findings[0].cause == Cause::collective_wait &&
               s.attribution.findings[0].open;
      });
  CHECK(live);
  pipeline.finish();
  check(pipeline.snapshot());
}

TEST_CASE("Barriers only, at the root of several nodes; 'all windows are closed' is no time") {
  const Measured measured(job(), {});
  Evaluation evaluation(measured, {});
  feed(
      [&](std::int32_t r, const record::Event& e) {
        evaluation.add_collectives(r, {&e, 1});
      },
      [&](std::int64_t now) { evaluation.closed_until(now / (500 * ms) * (500 * ms)); });
  CHECK(!evaluation.snapshot().attribution.findings.empty());
  evaluation.closed_until(std::int64_t{1} << 61);
  evaluation.closed_until(INT64_MAX);
  evaluation.finish();
  check(evaluation.snapshot());
}
