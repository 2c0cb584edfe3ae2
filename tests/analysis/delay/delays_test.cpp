// Planted delays in simulated programs: the origin and its cost are known, because the same program was simulated with
// and without the delay (spmd_simulator.hpp).
#include <catch2/catch.hpp>

#include "analysis/delay/delay_report.hpp"
#include "tests/analysis/delay/programs.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

struct Case {
  std::string name;
  std::function<Program(const Setting&)> make;
  std::uint32_t site;  // of the call behind the planted delay
  std::int32_t rank;
  bool at_rank(const DelayOrigin& o) const { return o.rank == rank && o.site == site; }
};

std::vector<Case> cases(int ranks) {
  const std::vector<int> cube = ranks == 16 ? std::vector{4, 2, 2} : std::vector{4, 4, 4};
  const int side = ranks == 16 ? 4 : 8;
  return {
      {"halo 1-D", [=](const Setting& s) { return halo({ranks}, s); }, site::irecv, 3},
      {"halo 2-D", [=](const Setting& s) { return halo({side, side}, s); }, site::irecv, 5},
      {"halo 3-D", [=](const Setting& s) { return halo(cube, s); }, site::irecv, 6},
      {"halo 3-D with allreduce", [=](const Setting& s) { return halo(cube, s, 5); }, site::irecv, 9},
      {"ring", [=](const Setting& s) { return ring(ranks, s); }, site::send, 4},
      {"allreduce", [=](const Setting& s) { return allreduce_steps(ranks, s); }, site::allreduce, 11},
      {"pipeline", [=](const Setting& s) { return pipeline(ranks, s); }, site::send, 2},
      {"pipeline, synchronous", [=](const Setting& s) { return pipeline(ranks, s, true); }, site::ssend, 7},
      {"master slow", [=](const Setting& s) { return master_worker(ranks, s); }, site::task_send, 0},
      {"worker slow", [=](const Setting& s) { return master_worker(ranks, s); }, site::send, 5},
  };
}

struct Costs {
  double found_s = 0;   // of the origin at the planted place
  double truth_s = 0;   // what all other ranks waited
  DelayOrigin first;
  DelayTotals totals;
};

Costs run(const Case& c, const Setting& setting) {
  const Program program = c.make(setting);
  const Outcome outcome = simulate(program);
  const DelayReport report = delays_of(program.ranks(), outcome.messages, outcome.collectives, {});
  Costs costs;
  for (const DelayOrigin& o : report.origins)
    if (c.at_rank(o)) costs.found_s += o.cost_s;
  for (std::int32_t r = 0; r < program.ranks(); ++r)
    if (r != c.rank) costs.truth_s += outcome.waited_s[static_cast<std::size_t>(r)];
  if (!report.origins.empty()) costs.first = report.origins[0];
  costs.totals = report.totals;
  return costs;
}

}  // namespace

TEST_CASE("A planted delay is found where it was planted, with what it cost the others") {
  const int ranks = GENERATE(16, 64);
  for (const Case& c : cases(ranks)) {
    Setting setting;
    setting.steps = ranks == 64 ? 60 : 40;
    const Costs without = run(c, setting);
    setting.plant = {c.rank, 10, 20'000'000};
    const Costs with = run(c, setting);
    const double truth = with.truth_s - without.truth_s, found = with.found_s - without.found_s;
    INFO(c.name << ", " << ranks << " ranks: cost " << truth << " s, found " << found << " s");
    CAPTURE(with.first.rank, with.first.site, with.first.cost_s, with.totals.waited_s, with.totals.unknown_s,
            with.totals.inside_mpi_s);
    CHECK(truth > 0.02);
    CHECK(found == Approx(truth).epsilon(0.10));
    CHECK(c.at_rank(with.first));
  }
}

TEST_CASE("With noise of a fifth of the computation the planted delay still comes first") {
  const int ranks = GENERATE(16, 64);
  for (std::uint32_t seed = 1; seed <= 3; ++seed)
    for (const Case& c : cases(ranks)) {
      Setting setting;
      setting.steps = ranks == 64 ? 60 : 40;
      setting.noise = 0.2;
      setting.seed = seed;
      const Costs without = run(c, setting);
      setting.plant = {c.rank, 10, 20'000'000};
      const Costs with = run(c, setting);
      const double truth = with.truth_s - without.truth_s, found = with.found_s - without.found_s;
      INFO(c.name << ", " << ranks << " ranks, seed " << seed << ": cost " << truth << " s, found " << found << " s");
      CAPTURE(with.first.rank, with.first.site, with.first.cost_s);
      CHECK(found == Approx(truth).epsilon(0.25));
      CHECK(c.at_rank(with.first));
    }
}
