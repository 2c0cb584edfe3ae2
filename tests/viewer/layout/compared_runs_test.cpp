// Two runs on the same steps: what is the same differs nowhere, what was planted differs from there on.
#include "viewer/layout/compared_runs.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "tests/analysis/logical/programs.hpp"
#include "tests/analysis/logical/random_records.hpp"
#include "tests/seed.hpp"
#include "viewer/layout/logical_picture.hpp"

using namespace pclscope;
using namespace pclscope::test;
using layout::ComparedRuns;
using layout::ComparedSide;

namespace {

using LogicalRunPtr = std::shared_ptr<const session::LogicalRun>;

LogicalRunPtr shared_run(const logical::LogicalTime& time, std::int32_t ranks) {
  return std::make_shared<const session::LogicalRun>(session::run_of(time, ranks));
}

// 32 ranks exchange ten times; from an iteration on a rank computes longer.
constexpr std::int32_t slow_rank = 13;
LogicalRunPtr exchange_run(int slow_from, int iterations = 10) {
  const Program program = exchange({{4, 4, 2}}, iterations, [=](std::int32_t r, int i) {
    return 100'000 + (r * 13 + i * 7) % 5 * 1'000 + (r == slow_rank && i >= slow_from ? 50'000 : 0);
  });
  return shared_run(logical_time_of(program), program.ranks());
}

// Each side's boxes are those of what it was made from, but for their steps, which keep their distances in a phase.
void check_side(const ComparedSide& side) {
  REQUIRE(side.run->phases.size() == side.numbers.size());
  std::uint64_t events = 0;
  std::vector<std::int64_t> over(side.run->steps, -1);
  std::vector<std::uint32_t> next(static_cast<std::size_t>(side.run->ranks));
  for (std::size_t i = 0; i < side.numbers.size(); ++i) {
    const session::LogicalPhase &moved = *side.run->phases[i], &own = *side.of->phases[side.numbers[i]];
    REQUIRE(moved.boxes.size() == own.boxes.size());
    for (std::size_t b = 0; b < own.boxes.size(); ++b) {
      REQUIRE(moved.boxes[b].step - moved.first_step == own.boxes[b].step - own.first_step);
      REQUIRE(moved.begin_ns(moved.boxes[b]) == own.begin_ns(own.boxes[b]));
      REQUIRE(moved.end_ns(moved.boxes[b]) == own.end_ns(own.boxes[b]));
      std::int64_t& last = over[moved.boxes[b].step];
      last = std::max(last, own.end_ns(own.boxes[b]) - side.begin_ns);
    }
    for (const logical::Part& part : moved.parts) {  // phases of a rank stay one behind the other
      std::uint32_t& after = next[static_cast<std::size_t>(part.rank)];
      REQUIRE(moved.first_step >= after);
      after = moved.first_step + moved.steps;
    }
    events += own.boxes.size();
  }
  CHECK(side.run->events == events);
  CHECK(side.over_ns == over);
}

}  // namespace

TEST_CASE("a run compared with itself differs nowhere") {
  const std::uint64_t seed = random_seed() + 8;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 30; ++round) {
    const RandomRecords records = random_records(random, 120, round % 2 == 0);
    const logical::LogicalTime time = logical_time_of(records.ranks, records.messages, records.collectives);
    const ComparedRuns runs =
        layout::compare_runs({shared_run(time, records.ranks), shared_run(time, records.ranks), {}, {}});
    CHECK(runs.by_phase);
    CHECK(runs.steps == runs.first.of->steps);
    check_side(runs.first);
    check_side(runs.second);
    for (std::uint32_t step = 0; step < runs.steps; ++step) {
      REQUIRE(layout::behind_s(runs, step));
      REQUIRE(*layout::behind_s(runs, step) == 0);
    }
    const layout::ComparedTimes times = layout::compared_times(runs, 0, runs.steps);
    REQUIRE(times.first_s);
    CHECK(times.first_s == times.second_s);
    CHECK(times.phase_by_s == 0);
  }
}

TEST_CASE("a run in which a rank is slower from an iteration on is behind from there on") {
  constexpr int from = 4;
  const LogicalRunPtr healthy = exchange_run(100), slower = exchange_run(from);
  REQUIRE(healthy->phases.size() == 10);
  const ComparedRuns runs = layout::compare_runs({healthy, slower, {}, {}});
  CHECK(runs.by_phase);
  CHECK(runs.first.run->phases[3] == healthy->phases[3]);  // shared, not copied
  const std::uint32_t planted = healthy->phases[from]->first_step;
  double before = 0;
  for (std::uint32_t step = 0; step < runs.steps; ++step) {
    CAPTURE(step);
    const auto behind = layout::behind_s(runs, step);
    REQUIRE(behind);
    if (step < planted) CHECK(*behind == 0);
    const bool takes_part = std::any_of(slower->phases.begin(), slower->phases.end(), [&](const auto& phase) {
      return phase->box_at(slow_rank, step) != logical::none;
    });
    CHECK(*behind >= 0);
    if (step >= planted && takes_part) CHECK(*behind > 0);
    before = *behind;
  }
  CHECK(before == Approx(6 * 50e-6).epsilon(0.1));  // six iterations
  const layout::ComparedTimes early = layout::compared_times(runs, 0, planted),
                              all = layout::compared_times(runs, 0, runs.steps);
  CHECK(early.phase_by_s == 0);
  CHECK(early.first_s == early.second_s);
  CHECK(*all.second_s - *all.first_s == Approx(before).epsilon(0.01));
  REQUIRE(all.phase);
  CHECK(*all.phase >= from);
}

TEST_CASE("with other phases both begin at step 0 and keep their own steps") {
  const LogicalRunPtr ten = exchange_run(100), seven = exchange_run(100, 7);
  const ComparedRuns runs = layout::compare_runs({ten, seven, {}, {}});
  CHECK_FALSE(runs.by_phase);
  CHECK(runs.steps == ten->steps);
  check_side(runs.first);
  check_side(runs.second);
  for (std::uint32_t step = 0; step < runs.steps; ++step)
    CHECK(layout::behind_s(runs, step).has_value() == (step < seven->steps));
  CHECK_FALSE(layout::compared_times(runs, seven->steps, runs.steps).second_s);
  CHECK_FALSE(layout::compared_times(runs, 0, runs.steps).phase);
}

TEST_CASE("phases of different lengths begin at the same steps") {
  // Two ranks that send once, or twice, per phase, with a barrier of messages between.
  const auto make = [](int first, int second) {
    Program p(2);
    const auto round = [&](int times, std::uint32_t at) {
      for (int i = 0; i < times; ++i) {
        call(p, 0, K::send, at + static_cast<std::uint32_t>(i), 1);
        call(p, 1, K::recv, site::recv, 0);
      }
    };
    round(first, 1);
    round(second, 1);
    round(first, 1);
    return shared_run(logical_time_of(p), 2);
  };
  const LogicalRunPtr a = make(2, 3), b = make(3, 2);
  REQUIRE(a->phases.size() == b->phases.size());
  REQUIRE(a->phases.size() > 1);
  const ComparedRuns runs = layout::compare_runs({a, b, {}, {}});
  REQUIRE(runs.by_phase);
  check_side(runs.first);
  check_side(runs.second);
  for (std::size_t i = 0; i < a->phases.size(); ++i)
    CHECK(runs.first.run->phases[i]->first_step == runs.second.run->phases[i]->first_step);
  CHECK(runs.first.run->phases[1]->first_step == std::max(a->phases[0]->steps, b->phases[0]->steps));
}

TEST_CASE("two periods of a run are the phases that begin in them") {
  const LogicalRunPtr run = exchange_run(5);
  std::vector<std::int64_t> begins;
  for (const auto& phase : run->phases) {
    std::int64_t begin = INT64_MAX;
    for (const session::LogicalBox& box : phase->boxes) begin = std::min(begin, phase->begin_ns(box));
    begins.push_back(begin);
  }
  const auto period = [&](std::size_t from, std::size_t to) { return layout::PeriodNs{begins[from], begins[to]}; };
  const ComparedRuns runs = layout::compare_runs({run, run, period(1, 4), period(6, 9)});
  CHECK(runs.by_phase);
  CHECK(runs.first.numbers == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(runs.second.numbers == std::vector<std::uint32_t>{6, 7, 8});
  check_side(runs.first);
  check_side(runs.second);
  CHECK(runs.first.run->phases[0]->first_step == 0);
  // Three times 50 us, and up to as much as the first of the second period began before the slow one.
  CHECK(*layout::behind_s(runs, runs.steps - 1) > 2.9 * 50e-6);
  CHECK(*layout::behind_s(runs, runs.steps - 1) < 4.1 * 50e-6);
  // Between two begins: what is going on.
  const ComparedRuns inside =
      layout::compare_runs({run, run, layout::PeriodNs{begins[2] + 1, begins[2] + 2}, layout::PeriodNs{-5, -4}});
  CHECK(inside.first.numbers == std::vector<std::uint32_t>{2});
  CHECK(inside.second.numbers.empty());
  CHECK(inside.second.run->events == 0);
  CHECK_FALSE(inside.by_phase);
  CHECK(layout::compare_runs({}).steps == 0);
}
