#include <catch2/catch.hpp>
#include <vector>

#include "analysis/collect/clock_chain.hpp"
#include "analysis/collect/offset_estimator.hpp"
#include "tests/analysis/collect/clock_simulator.hpp"
#include "tests/thinned.hpp"

using namespace pclscope::collect;
using pclscope::nodes::ClockUpdate;
using simulated::Clock;
using simulated::Network;

namespace {

constexpr std::int64_t second = 1'000'000'000;

ClockUpdate as_update(const OffsetEstimate& e) { return {e.at_ns, e.offset_ns, e.drift, e.error_ns, e.drift_error}; }

struct Tally {
  std::vector<double> errors;  // |estimate - truth|, ns
  std::vector<double> stated;
  int missed = 0;
  int drift_missed = 0;
  double quantile(std::vector<double> values, double q) const {
    REQUIRE(!values.empty());
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
  }
};

// Bursts of `pings` every `pause` ns from t on for `seconds`; looks at a few moments before the next burst.
void run(OffsetEstimator& estimator, std::mt19937_64& random, const Clock& child, const Clock& parent,
         const Network& net, std::int64_t& t, double seconds, std::int64_t pause, int pings, Tally& tally) {
  std::uint64_t refused = 0;
  for (const std::int64_t end = t + static_cast<std::int64_t>(seconds * 1e9); t < end;) {
    for (int i = 0; i < pings; ++i)
      if (const auto sample = net.trip(random, child, parent, t)) refused += !estimator.add(*sample);
    const auto estimate = estimator.estimate(child.at(t));
    if (estimate) {
      const double step = 1e-3, there = simulated::true_offset(child, parent, t + 1'000'000);
      const double drift = (there - simulated::true_offset(child, parent, t)) / 1e9 / step;
      if (std::abs(estimate->drift - drift) > estimate->drift_error + 2e-9 / step) ++tally.drift_missed;
      for (int i = 0; i < 4; ++i) {
        const std::int64_t later = t + pause * i / 4;
        const ClockUpdate seen = moved_to(as_update(*estimate), child.at(later), estimator.limits());
        const double error = std::abs(seen.offset_ns - simulated::true_offset(child, parent, later));
        tally.errors.push_back(error);
        tally.stated.push_back(seen.error_ns);
        if (error > seen.error_ns + 1) ++tally.missed;
      }
    }
    t += pause;
  }
  REQUIRE(refused == 0);
}

}  // namespace

TEST_CASE("seconds of skew, 100 ppm, busy nodes: below 5 us after 5 s, and covered") {
  std::mt19937_64 random(11);
  const Clock child{3.7e9, 60e-6}, parent{-1.2e9, -40e-6};
  Network busy;
  busy.tail_there = 0.8;  // four of five pings meet a node that runs something else
  busy.tail_back = 0.6;
  OffsetEstimator estimator;
  std::int64_t t = 0;
  Tally first, then;
  run(estimator, random, child, parent, busy, t, 5, second / 4, 14, first);
  run(estimator, random, child, parent, busy, t, 30, second / 4, 14, then);
  CHECK(first.missed == 0);
  CHECK(then.missed == 0);
  CHECK(then.quantile(then.errors, 0.95) < 5'000);
  CHECK(then.quantile(then.stated, 0.5) < 30'000);
  CHECK(estimator.breaks() == 0);
}

TEST_CASE("constant asymmetry cannot be seen, but is within the error bar, which is half the shortest round trip") {
  std::mt19937_64 random(12);
  const Clock child{}, parent{5e9, 10e-6};
  Network lopsided;
  lopsided.least_there = 80'000;
  lopsided.least_back = 10'000;
  OffsetEstimator estimator;
  std::int64_t t = 0;
  Tally tally;
  run(estimator, random, child, parent, lopsided, t, 20, second / 4, 14, tally);
  CHECK(tally.missed == 0);
  CHECK(tally.quantile(tally.errors, 0.5) == Approx(35'000).margin(4'000));
  CHECK(tally.quantile(tally.stated, 0.1) > 35'000);
}

TEST_CASE("random clocks, delays, losses and pauses: no moment outside its error bar") {
  const auto seed = GENERATE(range(1u, 1u + pclscope::test::thinned(40u, 8u)));
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  const Clock child = simulated::random_clock(random, 1e4, 0.45e-6),
              parent = simulated::random_clock(random, 1e4, 0.45e-6);
  Network net;
  net.least_there = 1'000 * std::pow(100, unit(random));
  net.least_back = 1'000 * std::pow(100, unit(random));
  net.noise = net.least_there * unit(random);
  net.tail_there = unit(random);
  net.tail_back = unit(random);
  net.lost = unit(random) < 0.5 ? 0 : 0.8 * unit(random);
  OffsetEstimator estimator;
  std::int64_t t = static_cast<std::int64_t>(unit(random) * 1e6) * second;
  Tally tally;
  for (int part = 0; part < 4; ++part) {
    run(estimator, random, child, parent, net, t, 30, second / (1 + part), 1 + part * 5, tally);
    t += 30 * second;  // nothing for half a minute
  }
  CHECK(tally.missed == 0);
  CHECK(tally.drift_missed == 0);
  CHECK(estimator.breaks() == 0);
  CHECK(estimator.refused() == 0);
  CHECK(estimator.kept() <= estimator.limits().spans);
}

TEST_CASE("the error bar grows in a pause and shrinks behind it") {
  std::mt19937_64 random(13);
  const Clock child{0, 20e-6}, parent{1e9, -20e-6, 3e-6, 300};
  const Network net;
  OffsetEstimator estimator;
  std::int64_t t = 0;
  Tally before, after;
  run(estimator, random, child, parent, net, t, 20, second / 4, 14, before);
  const auto last = estimator.estimate(child.at(t));
  REQUIRE(last);
  t += 30 * second;
  const auto stale = estimator.estimate(child.at(t));
  REQUIRE(stale);
  CHECK(stale->error_ns > 10 * last->error_ns);
  CHECK(std::abs(stale->offset_ns - simulated::true_offset(child, parent, t)) < stale->error_ns);
  run(estimator, random, child, parent, net, t, 20, second / 4, 14, after);
  CHECK(after.missed == 0);
  CHECK(after.stated.back() < 2 * before.stated.back());
}

TEST_CASE("a clock that is set: noticed, counted, and right again from the next estimate on") {
  const std::int64_t step = GENERATE(as<std::int64_t>{}, 1'000'000'000, -1'000'000'000, 5'000'000, -200'000);
  CAPTURE(step);
  std::mt19937_64 random(14);
  Clock child{0, 30e-6};
  child.step_at_ns = 20 * second;
  child.step_ns = step;
  const Clock parent{1e9, 0};
  Network net;
  net.tail_there = net.tail_back = 0;
  OffsetEstimator estimator;
  std::int64_t t = 0;
  Tally before, after;
  run(estimator, random, child, parent, net, t, 20, second / 4, 14, before);
  if (step < 0) {  // time that is repeated is refused
    for (int i = 0; i < 14 && t < 22 * second + -step; ++i, t += second / 4)
      if (const auto sample = net.trip(random, child, parent, t)) estimator.add(*sample);
  }
  run(estimator, random, child, parent, net, t, 20, second / 4, 14, after);
  CHECK(before.missed == 0);
  CHECK(after.missed == 0);
  CHECK(estimator.breaks() == 1);
}

TEST_CASE("two simulated days: covered all the time, memory bounded") {
  std::mt19937_64 random(15);
  Clock child{2e9, 70e-6, 8e-6, 3'600}, parent{-7e9, -15e-6, 5e-6, 86'400};
  Network net;
  net.tail_there = net.tail_back = 0.5;
  OffsetEstimator estimator;
  std::int64_t t = 0;
  Tally tally;
  run(estimator, random, child, parent, net, t, pclscope::test::thinned(2 * 86'400), 6 * second, 6, tally);
  CHECK(tally.errors.size() > pclscope::test::thinned<std::size_t>(100'000));
  CHECK(tally.missed == 0);
  CHECK(estimator.breaks() == 0);
  CHECK(estimator.kept() <= 64);
  CHECK(tally.quantile(tally.errors, 0.95) < 40'000);  // the swings of the drift within 6 s, and few pings
}

TEST_CASE("garbage samples: refused or survived, every number finite") {
  const auto seed = GENERATE(range(1u, 31u));
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  OffsetEstimator estimator;
  const auto any = [&]() -> std::int64_t {
    switch (random() % 4) {
      case 0: return static_cast<std::int64_t>(random());
      case 1: return static_cast<std::int64_t>(random() % 1000);
      case 2: return (random() % 2 == 0) ? INT64_MAX : INT64_MIN;
      default: return static_cast<std::int64_t>(random() % 4'000'000'000'000'000'000);
    }
  };
  for (int i = 0; i < 300; ++i) {
    estimator.add({any(), any(), any(), any()});
    const std::int64_t t1 = any() / 4;
    estimator.add({t1, t1 / 2, t1 / 2, t1 + static_cast<std::int64_t>(random() % 1000)});
    if (const auto estimate = estimator.estimate(any())) {
      CHECK(std::isfinite(estimate->offset_ns));
      CHECK(std::isfinite(estimate->error_ns));
      CHECK(std::isfinite(estimate->drift_error));
      CHECK(estimate->error_ns >= 0);
      CHECK(estimate->drift_error >= 0);
      CHECK(std::abs(estimate->drift) <= 500e-6);
    }
  }
  CHECK(estimator.refused() > 0);
}

TEST_CASE("no sample, no estimate; one sample, the middle and half the round trip") {
  OffsetEstimator estimator;
  CHECK_FALSE(estimator.estimate(5));
  CHECK(estimator.add({1'000'000, 7'030'000, 7'032'000, 1'052'000}));
  const auto estimate = estimator.estimate(1'052'000);
  REQUIRE(estimate);
  CHECK(estimate->offset_ns == Approx(6'005'000).margin(60));  // theta <= 6,030,000, theta >= 5,980,000
  CHECK(estimate->error_ns == Approx(25'000).margin(60));      // and 52 us x 500 ppm
  CHECK(estimate->drift_error == Approx(500e-6).margin(1e-6));
  CHECK_FALSE(estimator.add({1, 2, 3, 0}));
  CHECK_FALSE(estimator.add({2'000'000, 2, 1, 2'000'001}));
  CHECK_FALSE(estimator.add({2'000'000, 0, 1'000'000, 2'000'001}));  // longer there than away
  CHECK_FALSE(estimator.add({1, 2, 3, 4}));                          // older than the newest
  CHECK(estimator.refused() == 4);
}

TEST_CASE("1,024 nodes in a tree: errors add along the path to the root, and cover") {
  std::mt19937_64 random(16);
  constexpr std::size_t levels = pclscope::test::under_sanitizer ? 8 : 10;
  constexpr int nodes = 1 << levels;
  std::vector<Clock> clocks;
  for (int i = 0; i < nodes; ++i) clocks.push_back(simulated::random_clock(random, 100, 0.2e-6));
  std::vector<OffsetEstimator> estimators(nodes);
  std::vector<ClockUpdate> models(nodes);
  Network net;
  net.tail_there = net.tail_back = 0.3;
  std::vector<Tally> by_depth(levels + 1);
  int missed = 0;
  for (int round = 0; round < 40; ++round) {
    for (int node = 1; node < nodes; ++node) {
      const int parent = node & (node - 1);
      std::int64_t t = 1'000'000 + round * second / 4 + (node * 200'000'000LL) / nodes;
      std::int64_t asked = 0;
      for (int i = 0; i < 8; ++i)
        if (const auto sample = net.trip(random, clocks[node], clocks[parent], t))
          if (estimators[node].add(*sample)) asked = sample->t3;
      const auto estimate = estimators[node].estimate(clocks[node].at(t));
      REQUIRE(estimate);
      const ClockLimits limits;
      const ClockUpdate parents = parent == 0 ? ClockUpdate{asked} : moved_to(models[parent], asked, limits);
      models[node] = through_parent(*estimate, parents, limits);
      if (round < 24) continue;
      const double error = std::abs(models[node].offset_ns - simulated::true_offset(clocks[node], clocks[0], t));
      missed += error > models[node].error_ns;
      const auto depth = static_cast<std::size_t>(__builtin_popcount(static_cast<unsigned>(node)));
      by_depth[depth].errors.push_back(error);
      by_depth[depth].stated.push_back(models[node].error_ns);
    }
  }
  CHECK(missed == 0);
  const double hop = by_depth[1].quantile(by_depth[1].stated, 0.5);
  CHECK(hop < 25'000);  // half the round trip of 32 us, and what was not the shortest
  for (std::size_t depth = 1; depth <= levels; ++depth) {
    const Tally& tally = by_depth[depth];
    const double hops = static_cast<double>(depth), stated = tally.quantile(tally.stated, 0.5);
    const double error = tally.quantile(tally.errors, 0.95);
    CAPTURE(depth, error, stated, hop);
    CHECK(error < 4'000 * std::sqrt(hops));  // the bars add, the errors are a random walk
    CHECK(stated < 1.25 * hops * hop);
    CHECK(stated > 0.75 * hops * hop);
  }
}
