#include <catch2/catch.hpp>
#include <vector>

#include "analysis/collect/clock_refit.hpp"
#include "analysis/collect/global_clock.hpp"
#include "tests/analysis/collect/clock_simulator.hpp"
#include "tests/thinned.hpp"

using namespace pclscope::collect;
using pclscope::nodes::ClockUpdate;
using simulated::Clock;
using simulated::Network;

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr auto other = GlobalClock::Role::other;

// A node measured against the root for `seconds`, a burst every `pause`; `look` is called at moments between, with the
// clock.
template <class Look>
void run(GlobalClock& global, std::mt19937_64& random, const Clock& node, const Clock& root, const Network& net,
         double seconds, std::int64_t pause, Look look) {
  OffsetEstimator estimator;
  std::int64_t t = 0;
  for (const std::int64_t end = static_cast<std::int64_t>(seconds * 1e9); t < end;) {
    for (int i = 0; i < 10; ++i)
      if (const auto sample = net.trip(random, node, root, t)) estimator.add(*sample);
    if (const auto e = estimator.estimate(node.at(t))) {
      t += static_cast<std::int64_t>(random() % 3'000'000);  // until the worker hears of it
      global.apply({e->at_ns, e->offset_ns, e->drift, e->error_ns, e->drift_error}, node.at(t));
    }
    for (int i = 0; i < 5; ++i) {
      t += pause / 5;
      look(t);
    }
  }
}

}  // namespace

TEST_CASE("the root's clock is the identity without error") {
  GlobalClock clock(GlobalClock::Role::root);
  CHECK(clock.known());
  CHECK_FALSE(clock.apply({5, 100, 0, 1, 0}, 10));
  CHECK(clock.to_global(12345) == 12345);
  CHECK(clock.to_local(12345) == 12345);
  CHECK(clock.error_ns(12345) == 0);
}

TEST_CASE("before the first estimate times are local and of unknown error; the first holds for all times") {
  GlobalClock clock(other);
  CHECK_FALSE(clock.known());
  CHECK(clock.to_global(77) == 77);
  CHECK(clock.error_ns(77) >= 1e17);
  CHECK(clock.apply({second, -5e9, 1e-5, 2'000, 1e-6}, second + 1000));
  CHECK(clock.known());
  CHECK(clock.to_global(second) == second - 5 * second);
  CHECK(clock.to_global(0) == -5 * second - 10'000);
  CHECK(clock.error_ns(second) == Approx(2'001));
  CHECK(clock.error_ns(2 * second) == Approx(2'001 + 1'000 + 500));  // drift_error x 1 s, wander/2 x 1 s^2
  CHECK(clock.error_ns(0) == Approx(2'001 + 1'000 + 500));
}

TEST_CASE("a new estimate is slewed in: nothing handed out changes, no jump, and the bar covers the way") {
  GlobalClock clock(other);
  REQUIRE(clock.apply({second, 0, 0, 1'000, 0}, second));
  const std::int64_t now = 2 * second;
  std::vector<std::int64_t> before;
  for (std::int64_t t = 0; t <= now; t += second / 8) before.push_back(clock.to_global(t));
  const double step = GENERATE(50'000.0, -50'000.0, 3e9, -3e9);
  CAPTURE(step);
  REQUIRE(clock.apply({now - 1'000, step, 0, 500, 0}, now));
  for (std::size_t i = 0; i < before.size(); ++i)
    CHECK(clock.to_global(static_cast<std::int64_t>(i) * second / 8) == before[i]);
  CHECK(std::abs(clock.to_global(now + 1) - clock.to_global(now)) <= 2);
  const std::int64_t slewed = now + std::max<std::int64_t>(second / 5, static_cast<std::int64_t>(std::abs(step) * 4));
  CHECK(clock.to_global(slewed) == slewed + static_cast<std::int64_t>(step));
  const std::int64_t half = (now + slewed) / 2;
  CHECK(clock.to_global(half) == Approx(static_cast<double>(half) + step / 2).margin(2));
  CHECK(clock.error_ns(half) > std::abs(step) / 2 + 500);
  CHECK(clock.error_ns(now) > std::abs(step) + 500 - 2);
  std::int64_t last = clock.to_global(now - 10);
  for (std::int64_t t = now - 8; t < slewed + second; t += std::max<std::int64_t>(2, (slewed - now) / 1'000)) {
    CHECK(clock.to_global(t) > last);
    last = clock.to_global(t);
  }
}

namespace {

// The correction of a time on the job's axis, and its error bar.
std::pair<double, double> read_between(const std::vector<ClockCorrection>& points, const GlobalClock& applied,
                                       std::int64_t global) {
  std::size_t i = 0;
  while (i < points.size() && applied.to_global(points[i].at_ns) <= global) ++i;
  if (i == 0) return {points.front().correction_ns, points.front().error_ns};
  const ClockCorrection& a = points[i - 1];
  if (i == points.size()) return {a.correction_ns, a.error_ns};
  const ClockCorrection& b = points[i];
  const auto from = static_cast<double>(applied.to_global(a.at_ns)),
             to = static_cast<double>(applied.to_global(b.at_ns));
  const double part = (static_cast<double>(global) - from) / (to - from);
  return {a.correction_ns + part * (b.correction_ns - a.correction_ns), a.error_ns + part * (b.error_ns - a.error_ns)};
}

}  // namespace

TEST_CASE("random runs: rising, invertible, never changed afterwards, covered") {
  const auto seed = GENERATE(range(1u, 1u + pclscope::test::thinned(30u, 6u)));
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  const Clock node = simulated::random_clock(random, 1e3, 0.45e-6),
              root = simulated::random_clock(random, 1e3, 0.45e-6);
  Network net;
  net.tail_there = unit(random);
  net.tail_back = unit(random);
  net.lost = 0.9 * unit(random);
  GlobalClock clock(other);
  std::vector<std::pair<std::int64_t, std::int64_t>> handed_out;
  int missed = 0, missed_refit = 0;
  double applied_error = 0, final_error = 0;
  std::vector<std::pair<std::int64_t, double>> truth;
  run(clock, random, node, root, net, 120, second / 4, [&](std::int64_t t) {
    if (!clock.known()) return;
    const std::int64_t local = node.at(t), global = clock.to_global(local);
    const double offset = simulated::true_offset(node, root, t);
    if (!handed_out.empty()) REQUIRE(global > handed_out.back().second);
    handed_out.emplace_back(local, global);
    truth.emplace_back(local, offset);
    REQUIRE(std::abs(clock.to_local(global) - local) <= 2);
    missed += std::abs(static_cast<double>(global - local) - offset) > clock.error_ns(local) + 1;
  });
  REQUIRE(handed_out.size() > 20);
  const RefittedClock final_clock = refit(clock.records());
  for (std::size_t i = 0; i < handed_out.size(); ++i) {
    const auto [local, global] = handed_out[i];
    REQUIRE(clock.to_global(local) == global);
    const double applied = std::abs(static_cast<double>(global - local) - truth[i].second);
    missed += applied > clock.error_ns(local) + 1;  // afterwards the bar may be tighter, and still covers
    const double refitted = std::abs(final_clock.offset_ns(local) - truth[i].second);
    missed_refit += refitted > final_clock.error_ns(local) + 2;
    applied_error += applied;
    final_error += refitted;
  }
  CHECK(missed == 0);
  CHECK(missed_refit == 0);
  CHECK(final_error < 1.2 * applied_error + 1'000);
  // As readers of a dump have it: points on the job's axis, straight lines between them, constant beyond.
  for (const std::size_t most : {std::size_t{4096}, std::size_t{20}, std::size_t{3}}) {
    CAPTURE(most);
    const std::vector<ClockCorrection> points = corrections(final_clock, clock, most);
    REQUIRE(points.size() <= most);
    int outside = 0;
    for (std::size_t i = 0; i < handed_out.size(); ++i) {
      const auto [local, global] = handed_out[i];
      const auto [correction, error] = read_between(points, clock, global);
      const double left = static_cast<double>(global - local) + correction - truth[i].second;
      outside += std::abs(left) > error + 2;
    }
    CHECK(outside == 0);
  }
}

TEST_CASE("corrections of nothing, and of a clock that was far off for a while") {
  CHECK(corrections(refit({}), GlobalClock(other), 100).empty());
  GlobalClock clock(other);
  REQUIRE(clock.apply({second, 8e6, 0, 9e6, 0}, second));        // nearly true: the first estimate was a bad one
  REQUIRE(clock.apply({2 * second, 0, 0, 1e3, 0}, 3 * second));  // slewed in from 3 s on, by a quarter of the time
  const std::vector<ClockCorrection> points = corrections(refit(clock.records()), clock, 100);
  const auto correction = [&](double at_s) {
    return read_between(points, clock, clock.to_global(static_cast<std::int64_t>(at_s * 1e9))).first;
  };
  for (const double at : {2.0, 2.5, 2.99}) CHECK(correction(at) == Approx(-8e6).epsilon(1e-3));
  CHECK(correction(3.1) == Approx(-4e6).epsilon(0.02));
  for (const double at : {3.21, 4.0, 40.0}) CHECK(std::abs(correction(at)) < 1e3);
}

TEST_CASE("re-estimation: corrections are final minus applied, and the bars are no larger than the estimates'") {
  std::mt19937_64 random(21);
  const Clock node{3e9, 50e-6, 4e-6, 200}, root{0, -20e-6};
  Network net;
  net.tail_there = net.tail_back = 0.7;
  GlobalClock clock(other);
  run(clock, random, node, root, net, 300, second / 2, [](std::int64_t) {});
  const auto& records = clock.records();
  const RefittedClock final_clock = refit(records);
  REQUIRE(final_clock.points().size() == records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    const ClockCorrection& point = final_clock.points()[i];
    CHECK(point.at_ns == records[i].update.at_ns);
    CHECK(point.correction_ns == Approx(point.offset_ns - records[i].applied_ns).margin(1e-3));
    CHECK(point.error_ns <= 2 * records[i].update.error_ns + 1);
    CHECK(final_clock.offset_ns(point.at_ns) == Approx(point.offset_ns).margin(1));
  }
  const RefittedClock thinned = refit(records, 50);
  REQUIRE(thinned.points().size() == 50);
  CHECK(thinned.points().front().at_ns == records.front().update.at_ns);
  CHECK(thinned.points().back().at_ns == records.back().update.at_ns);
}

TEST_CASE("re-estimation of nothing, of one record, and of garbage") {
  CHECK(refit({}).points().empty());
  CHECK(refit({}).error_ns(5) >= 1e17);
  const std::vector<ClockRecord> one{{{second, 50, 0, 10, 1e-6}, 48}};
  const RefittedClock single = refit(one);
  REQUIRE(single.points().size() == 1);
  CHECK(single.points()[0].correction_ns == Approx(2));
  CHECK(single.offset_ns(5 * second) == Approx(50));
  CHECK(single.error_ns(2 * second) == Approx(10 + 500e3));
  std::mt19937_64 random(22);
  std::vector<ClockRecord> garbage;
  for (int i = 0; i < 500; ++i) {
    const auto number = [&]() -> double {
      const double choice[] = {NAN, HUGE_VAL, -1, 0, 1e30, static_cast<double>(random() % 1'000'000)};
      return choice[random() % 6];
    };
    garbage.push_back(
        {{static_cast<std::int64_t>(random()), number(), number() / 1e9, number(), number() / 1e9}, number()});
  }
  const RefittedClock survived = refit(garbage);
  for (const ClockCorrection& point : survived.points()) {
    CHECK(std::isfinite(point.offset_ns));
    CHECK(std::isfinite(point.error_ns));
  }
  CHECK(std::isfinite(survived.offset_ns(INT64_MIN)));
  CHECK(std::isfinite(survived.error_ns(INT64_MAX)));
}

TEST_CASE("updates that are not believable or not newer change nothing; extreme times are cut off") {
  GlobalClock clock(other);
  REQUIRE(clock.apply({second, 1e6, 1e-6, 100, 1e-7}, second));
  const std::int64_t at = clock.to_global(3 * second);
  CHECK_FALSE(clock.apply({2 * second, NAN, 0, 1, 0}, 2 * second));
  CHECK_FALSE(clock.apply({2 * second, 0, HUGE_VAL, 1, 0}, 2 * second));
  CHECK_FALSE(clock.apply({2 * second, 0, 0, -1, 0}, 2 * second));
  CHECK_FALSE(clock.apply({2 * second, 1e19, 0, 1, 0}, 2 * second));
  CHECK_FALSE(clock.apply({second, 5e6, 0, 1, 0}, 2 * second));
  CHECK(clock.to_global(3 * second) == at);
  for (const std::int64_t t : {INT64_MIN, INT64_MAX, std::int64_t{0}}) {
    CHECK(std::isfinite(clock.error_ns(t)));
    CHECK(std::abs(static_cast<double>(clock.to_global(t))) < 9e18);
    CHECK(std::abs(static_cast<double>(clock.to_local(t))) < 9e18);
  }
  CHECK(clock.to_global(INT64_MIN) < clock.to_global(0));
  CHECK(clock.apply({2 * second, 2e6, 0, 1, 0}, INT64_MAX));  // a worker that thinks it is the end of time
  CHECK(clock.to_global(5 * second) > clock.to_global(4 * second));
}

TEST_CASE("a long run: segments and records stay bounded, old times keep their bars' cover") {
  std::mt19937_64 random(23);
  const Clock node{3e9, 50e-6, 10e-6, 3'000}, root{0, -20e-6};
  GlobalClock clock(other);
  std::int64_t last = 0;
  std::uint64_t refused = 0, not_later = 0;
  for (std::int64_t i = 1; i <= 300'000; ++i) {
    const std::int64_t t = i * second, local = node.at(t);
    const double offset = simulated::true_offset(node, root, t);
    const double drift =
        (simulated::true_offset(node, root, t + second / 2) - simulated::true_offset(node, root, t - second / 2)) / 1e9;
    const double error = 5'000 * (static_cast<double>(random() % 2001) / 1000 - 1);
    refused += !clock.apply({local, offset + error, drift, 5'001, 1e-6}, local + 1'000'000);
    const std::int64_t global = clock.to_global(local + 1'000'000);
    not_later += global <= last;
    last = global;
  }
  REQUIRE(refused == 0);
  REQUIRE(not_later == 0);
  CHECK(clock.segments() <= GlobalClock::max_knots);
  CHECK(clock.records().size() <= GlobalClock::max_records);
  CHECK(clock.records().size() > GlobalClock::max_records / 2);
  CHECK(clock.records().front().update.at_ns == node.at(second));
  const RefittedClock final_clock = refit(clock.records());
  for (std::int64_t t = 2 * second; t < 300'000 * second; t += 77'777'777'777) {
    const double offset = simulated::true_offset(node, root, t);
    CHECK(std::abs(final_clock.offset_ns(node.at(t)) - offset) <= final_clock.error_ns(node.at(t)) + 2);
    CHECK(std::abs(static_cast<double>(clock.to_global(node.at(t)) - node.at(t)) - offset) <=
          clock.error_ns(node.at(t)) + 2);
  }
}
