// Planted delays in simulated programs: the origin and its cost are known, because the same program was simulated with
// and without the delay (spmd_simulator.hpp).
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <utility>

#include "analysis/delay/delay_report.hpp"
#include "tests/analysis/delay/programs.hpp"
#include "tests/thinned.hpp"

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
      {"halo 2-D",
       [=](const Setting& s) {
         return halo({side, side}, s);
       },
       site::irecv, 5},
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
  double found_s = 0;  // of the origin at the planted place
  double truth_s = 0;  // what all other ranks waited
  std::vector<DelayOrigin> origins;
  DelayTotals totals;
};

Costs run(const Case& c, const Setting& setting) {
  const Program program = c.make(setting);
  const Outcome outcome = simulate(program);
  const DelayReport report = delays_of(program.ranks(), outcome.messages, outcome.collectives, {});
  Costs costs;
  costs.origins = report.origins;
  for (const DelayOrigin& o : report.origins)
    if (c.at_rank(o)) costs.found_s += o.cost_s;
  for (std::int32_t r = 0; r < program.ranks(); ++r)
    if (r != c.rank) costs.truth_s += outcome.waited_s[static_cast<std::size_t>(r)];
  costs.totals = report.totals;
  return costs;
}

// The origin whose cost is most above what it is without the delay (a master waits for its first worker anyway).
DelayOrigin grown_most(const Costs& with, const Costs& without) {
  DelayOrigin grown;
  double most = 0;
  for (const DelayOrigin& o : with.origins) {
    double cost = o.cost_s;
    for (const DelayOrigin& before : without.origins)
      if (before.rank == o.rank && before.site == o.site && before.after_site == o.after_site) cost -= before.cost_s;
    if (cost <= most) continue;
    most = cost;
    grown = o;
  }
  return grown;
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
    REQUIRE(!with.origins.empty());
    CAPTURE(with.origins[0].rank, with.origins[0].site, with.origins[0].cost_s, with.totals.unknown_s);
    CHECK(truth > 0.02);
    CHECK(found == Approx(truth).epsilon(0.03));
    CHECK(c.at_rank(with.origins[0]));
  }
}

TEST_CASE("What of a delay goes back to time off the core") {
  Setting setting;
  setting.plant = {6, 10, 20'000'000};
  const Outcome o = simulate(halo({4, 2, 2}, setting));
  const auto worst = [&](std::int64_t off_ns, std::int64_t of_others_ns) {
    Delays delays(16);
    for (std::int32_t rank = 0; rank < 16; ++rank)
      delays.add_off_core(rank, 0, 60'000'000, rank == 6 ? off_ns : of_others_ns);
    delays.add(o.messages, o.collectives, INT64_MAX);
    delays.finish();
    const auto list = delays.list(1);
    REQUIRE(list.size() == 1);
    CHECK(list[0].rank == 6);
    return list[0].off_core_s / list[0].cost_s;
  };
  CHECK(worst(0, 0) == 0);
  CHECK(worst(60'000'000, 0) == Approx(1));  // it did nothing else
  // Half of all its computation, and so half of the 21 ms since both were in step, of which 20 are in excess.
  CHECK(worst(30'000'000, 0) == Approx(10.5 / 20).epsilon(0.1));
  // The others fared alike: what they computed was less, too.
  CHECK(worst(30'000'000, 30'000'000) < worst(30'000'000, 0));
}

TEST_CASE("Time off the core between two moments") {
  OffCoreTimes times(2);
  CHECK(times.in(0, 0, 100) == 0);
  times.add(0, 100, 200, 50);
  times.add(0, 200, 300, 0);
  times.add(0, 300, 400, 100);
  times.add(7, 0, 100, 100);  // no such rank
  CHECK(times.in(0, 100, 200) == Approx(50));
  CHECK(times.in(0, 150, 350) == Approx(25 + 50));
  CHECK(times.in(0, 0, 100) == 0);
  CHECK(times.in(0, 350, 450) == Approx(50 + 50));  // the newest goes on
  CHECK(times.in(0, 450, 500) == Approx(50));
  CHECK(times.in(1, 100, 400) == 0);
  CHECK(times.in(5, 100, 400) == 0);
  CHECK(times.in(0, 400, 300) == 0);
  for (std::int64_t i = 0; i < 1000; ++i) times.add(1, 10 * i, 10 * i + 10, 5);
  CHECK(times.in(1, 9'900, 10'000) == Approx(50));
  CHECK(times.in(1, 0, 1000) == 0);  // forgotten
}

TEST_CASE("With noise of a fifth of the computation the planted delay still comes first") {
  const int ranks = GENERATE(16, 64);
  for (std::uint32_t seed = 1; seed <= test::thinned(3u); ++seed)
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
      // Each of up to 62 hops in a row adds noise of its own: what is told is rather too little.
      CHECK(found == Approx(truth).epsilon(ranks == 16 ? 0.10 : 0.25));
      CHECK(c.at_rank(grown_most(with, without)));
    }
}

namespace {

// A noisy 3-D halo on 64 ranks with a planted delay.
Outcome noisy_halo(std::uint32_t seed, int steps) {
  Setting setting;
  setting.steps = steps;
  setting.noise = 0.2;
  setting.seed = seed;
  setting.plant = {21, 10, 20'000'000};
  return simulate(halo({4, 4, 4}, setting, 7));
}

// Windows of `length_ns`; what `is_late` says comes one window later.
template <class IsLate>
std::vector<DelayOrigin> window_by_window(const Outcome& o, std::int64_t length_ns, IsLate is_late) {
  Delays delays(64);
  std::size_t message = 0, collective = 0;
  std::vector<Message> late;
  for (std::int64_t until = length_ns; message < o.messages.size() || collective < o.collectives.size();
       until += length_ns) {
    std::vector<Message> batch = std::exchange(late, {});
    for (; message < o.messages.size() && o.messages[message].recv_end < until; ++message)
      (is_late(o.messages[message]) ? late : batch).push_back(o.messages[message]);
    const std::size_t first = collective;
    while (collective < o.collectives.size() && o.collectives[collective].end < until + length_ns / 3) ++collective;
    delays.add(batch, std::span(o.collectives).subspan(first, collective - first), until);
  }
  delays.add(late, {}, INT64_MAX);
  delays.finish();
  return delays.list(10);
}

}  // namespace

TEST_CASE("Live, window by window, the same is found as at once") {
  const Outcome o = noisy_halo(5, 60);
  const std::vector<DelayOrigin> at_once = delays_of(64, o.messages, o.collectives, {}).origins;
  REQUIRE(!at_once.empty());
  CHECK(at_once[0].rank == 21);
  for (const std::int64_t length_ns : {1'000'000, 7'000'000, 100'000'000}) {
    const auto live = window_by_window(o, length_ns, [](const Message&) { return false; });
    REQUIRE(!live.empty());
    CHECK(live[0].rank == 21);
    CHECK(live[0].site == at_once[0].site);
    CHECK(live[0].cost_s == Approx(at_once[0].cost_s).epsilon(0.02));
  }
}

TEST_CASE("One message in twenty told a window late costs little accuracy") {
  const Outcome o = noisy_halo(6, 60);
  const std::vector<DelayOrigin> at_once = delays_of(64, o.messages, o.collectives, {}).origins;
  std::mt19937 random(6);
  const auto live = window_by_window(o, 5'000'000, [&](const Message&) { return random() % 20 == 0; });
  REQUIRE(!live.empty());
  CHECK(live[0].rank == 21);
  CHECK(live[0].cost_s == Approx(at_once[0].cost_s).epsilon(0.25));
}

TEST_CASE("The order within a batch does not matter") {
  Outcome o = noisy_halo(7, 8);  // one chunk
  REQUIRE(o.messages.size() < 4096);
  const auto ordered = delays_of(64, o.messages, o.collectives, {}).origins;
  std::mt19937 random(7);
  std::shuffle(o.messages.begin(), o.messages.end(), random);
  std::shuffle(o.collectives.begin(), o.collectives.end(), random);
  CHECK(delays_of(64, o.messages, o.collectives, {}).origins == ordered);
}

TEST_CASE("All waiting is accounted for: computation, inside MPI, or unknown") {
  const Outcome o = noisy_halo(8, 60);
  const DelayTotals t = delays_of(64, o.messages, o.collectives, {}).totals;
  double waited_s = 0;
  for (const double s : o.waited_s) waited_s += s;
  CHECK(t.waited_s == Approx(waited_s).epsilon(0.001));  // waits below a microsecond are left out
  CHECK(t.attributed_s + t.inside_mpi_s + t.unknown_s == Approx(t.waited_s).epsilon(1e-6));
  CHECK(t.attributed_s > 0.9 * t.waited_s);
}

TEST_CASE("A period and a set of ranks") {
  const Outcome o = noisy_halo(9, 60);
  DelayQuestion question;
  question.most = 100'000;
  const DelayReport all = delays_of(64, o.messages, o.collectives, question);
  double sum_s = 0;
  for (const std::int64_t from_ns : {0, 15'000'000, 60'000'000}) {
    question.from_ns = from_ns;
    question.to_ns = from_ns == 0 ? 15'000'000 : from_ns == 15'000'000 ? 60'000'000 : INT64_MAX;
    for (const DelayOrigin& origin : delays_of(64, o.messages, o.collectives, question).origins) {
      sum_s += origin.cost_s;
      CHECK(origin.last_s < static_cast<double>(question.to_ns) * 1e-9);
      CHECK(origin.last_s >= static_cast<double>(from_ns) * 1e-9);
    }
  }
  double all_s = 0;
  for (const DelayOrigin& origin : all.origins) all_s += origin.cost_s;
  CHECK(sum_s == Approx(all_s));

  question = {};
  question.most = 100'000;
  question.ranks = {40};
  for (const DelayOrigin& origin : delays_of(64, o.messages, o.collectives, question).origins)
    CHECK((origin.rank == 40 || origin.victims == std::vector{40}));
}
