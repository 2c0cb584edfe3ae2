// What another placement brings, of a run in memory: against a simulation of the same program placed so.
#include "viewer/session/placement_gain.hpp"

#include <catch2/catch.hpp>

#include "tests/viewer/placed_run.hpp"

using namespace pclscope;
using namespace pclscope::session;

namespace {

using Nodes = std::vector<std::int32_t>;
std::int32_t in_a_row(std::int32_t from, std::int32_t to) { return std::abs(from - to); }

}  // namespace

TEST_CASE("chatty pairs that come together take what the same program takes there") {
  test::PlacedRun run({0, 0, 1, 1});
  const auto calls = RecordedCalls::read(run.session, run.snapshot);
  REQUIRE(calls);
  const Nodes together = {0, 1, 0, 1};
  const PlacementGain gain = calls->gain(together, in_a_row, {});
  REQUIRE(gain.why_not.empty());
  const test::Outcome then = test::PlacedRun::simulated(together);
  const double really =
      run.took_s - static_cast<double>(*std::max_element(then.end_ns.begin(), then.end_ns.end())) * 1e-9;
  CHECK(really > 0.3 * run.took_s);
  CHECK(gain.what_if.gain_s() == Approx(really).epsilon(0.01));
  CHECK(gain.worth());
  CHECK_FALSE(calls->gain(run.snapshot.application.node_of_rank, in_a_row, {}).worth());
  const auto times = calls->link_times(in_a_row);
  REQUIRE(times);
  CHECK(times->first_hop_s + 4000 * times->s_per_byte == Approx(test::in_a_row_takes.of(1, 1, 4000)).epsilon(0.05));
}

TEST_CASE("a run whose nodes the topology numbers otherwise is replayed on the topology's") {
  // The run's nodes 0, 1, 2 are the second, the first, the third in the row.
  const Nodes run_numbers = {0, 0, 1, 1, 2, 2}, row_numbers = {1, 1, 0, 0, 2, 2};
  test::PlacedRun run(row_numbers);
  run.snapshot.application.node_of_rank = run_numbers;
  auto calls = RecordedCalls::read(run.session, run.snapshot);
  REQUIRE(calls);
  CHECK(calls->gain(row_numbers, in_a_row, {}).what_if.changed > 0);  // as if the row were the run's
  calls->number_nodes(row_numbers);
  const PlacementGain same = calls->gain(row_numbers, in_a_row, {});
  REQUIRE(same.why_not.empty());
  CHECK(same.what_if.changed == 0);
  CHECK(same.what_if.gain_s() == 0);
}

TEST_CASE("reading calls ends when it is told to") {
  test::PlacedRun run({0, 0, 1, 1});
  const auto calls = RecordedCalls::read(run.session, run.snapshot, [] { return true; });
  REQUIRE_FALSE(calls);
  CHECK(calls.error().code == ErrorCode::unreachable);
}
