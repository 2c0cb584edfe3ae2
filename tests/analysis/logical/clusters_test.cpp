// Distances and clusters against their definitions, planted clusters, and the patterns of exchanges.
#include "analysis/logical/clusters.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "tests/analysis/logical/programs.hpp"
#include "tests/analysis/region/partitions.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::test;
using logical::ClusterOptions;
using logical::Clusters;
using logical::LogicalTime;
using logical::Pattern;
using logical::Series;

namespace {

constexpr std::int64_t ms = 1'000'000;

std::vector<std::int32_t> as_ranks(const std::vector<std::uint32_t>& clusters) {
  return {clusters.begin(), clusters.end()};
}

// Each rank's message is late by what `late_ns` says, and no other event is: it is received long after.
LogicalTime late_sends(const std::vector<std::int64_t>& late_ns) {
  const auto n = static_cast<std::int32_t>(late_ns.size());
  Program p(n);
  for (std::int32_t r = 0; r < n; ++r) {
    const std::int64_t late = late_ns[static_cast<std::size_t>(r)];
    p.call(r, K::allreduce, site::allreduce);
    p.compute(r, 1 + late);
    p.call(r, K::send, site::send, (r + 1) % n);
    p.compute(r, 1000 * ms - late);
    p.call(r, K::recv, site::recv, (r + n - 1) % n);
  }
  return logical_time_of(p);
}

// By the definition: values of all steps, kept until the next event.
double naive_distance(const Series& a, const Series& b) {
  std::map<std::uint32_t, double> x, y;
  for (std::size_t i = 0; i < a.steps.size(); ++i) x[a.steps[i]] = a.values[i];
  for (std::size_t i = 0; i < b.steps.size(); ++i) y[b.steps[i]] = b.values[i];
  double sum = 0;
  int counted = 0;
  for (std::uint32_t step = 0; step < 100; ++step) {
    if (!x.count(step) && !y.count(step)) continue;
    auto p = x.upper_bound(step), q = y.upper_bound(step);
    if (p == x.begin() || q == y.begin()) continue;
    const double difference = std::prev(p)->second - std::prev(q)->second;
    sum += difference * difference;
    ++counted;
  }
  return counted > 0 ? sum / counted : 0;
}

std::vector<Series> all_series(const LogicalTime& t) {
  std::vector<Series> all;
  for (const logical::Part& part : t.parts_of(t.phases[0]))
    all.push_back(logical::series_of(t, t.phases[0], part, logical::Metric::lateness));
  return all;
}

double cost_of(const std::vector<Series>& all, const std::vector<std::size_t>& medoids) {
  double sum = 0;
  for (const Series& s : all) {
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t m : medoids) least = std::min(least, naive_distance(s, all[m]));
    sum += least;
  }
  return sum / static_cast<double>(all.size());
}

}  // namespace

TEST_CASE("A distance by hand: a missing value is the one before, steps before any do not count") {
  const Series a{{0, 1, 4}, {5, 2, 6}}, b{{1, 3}, {1, 4}};
  CHECK(logical::distance(a, b) == Approx((1 + 4 + 4) / 3.0));
  CHECK(logical::distance(b, a) == logical::distance(a, b));
  CHECK(logical::distance(a, a) == 0);
  CHECK(logical::distance(a, {}) == 0);
}

TEST_CASE("Random distances as by definition") {
  std::mt19937_64 random(random_seed());
  const auto series = [&] {
    Series s;
    for (std::uint32_t step = 0; step < 100; ++step)
      if (random() % 3 == 0) {
        s.steps.push_back(step);
        s.values.push_back(static_cast<double>(random() % 1000));
      }
    return s;
  };
  for (int i = 0; i < 300; ++i) {
    const Series a = series(), b = series();
    CHECK(logical::distance(a, b) == Approx(naive_distance(a, b)));
  }
}

TEST_CASE("Planted clusters are found, by samples and by the tree of more") {
  const std::uint64_t seed = random_seed();
  CAPTURE(seed);
  for (std::uint64_t round = 0; round < 6; ++round) {
    CAPTURE(round);
    std::mt19937_64 random(seed + round);
    const std::size_t planted = 2 + random() % 4;
    std::vector<std::int64_t> late;
    std::vector<std::int32_t> truth;
    for (int r = 0; r < 500; ++r) {
      truth.push_back(static_cast<std::int32_t>(random() % planted));
      late.push_back(truth.back() * 50 * ms + static_cast<std::int64_t>(random() % (5 * ms)));
    }
    const LogicalTime t = late_sends(late);
    REQUIRE(t.phases.size() == 1);
    ClusterOptions options;
    options.seed = seed + round;
    options.clusters = static_cast<std::uint32_t>(planted);
    const Clusters exact = logical::clusters_of(t, t.phases[0], options);
    CHECK(adjusted_rand(as_ranks(exact.cluster_of), truth) >= 0.99);
    options.clusters = 16;
    const Clusters many = logical::clusters_of(t, t.phases[0], options);
    CHECK(many.medoids.size() == 16);
    CHECK(adjusted_rand(as_ranks(logical::cut(many, static_cast<std::uint32_t>(planted))), truth) >= 0.99);
    CHECK(many.mean_distance < exact.mean_distance);
    // The same seed, the same clusters.
    CHECK(logical::clusters_of(t, t.phases[0], options).cluster_of == many.cluster_of);
  }
}

TEST_CASE("Few ranks: no other medoids of planted clusters cost less") {
  const LogicalTime t =
      late_sends({0, 3 * ms, 1 * ms, 90 * ms, 93 * ms, 95 * ms, 2 * ms, 200 * ms, 204 * ms, 203 * ms});
  ClusterOptions options;
  options.clusters = 3;
  const Clusters found = logical::clusters_of(t, t.phases[0], options);
  CHECK(found.cluster_of == std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1, 0, 2, 2, 2});
  const std::vector<Series> all = all_series(t);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < 10; ++a)
    for (std::size_t b = 0; b < a; ++b)
      for (std::size_t c = 0; c < b; ++c) best = std::min(best, cost_of(all, {a, b, c}));
  CHECK(found.mean_distance == Approx(best));
  std::vector<std::size_t> medoids(found.medoids.begin(), found.medoids.end());
  CHECK(cost_of(all, medoids) == Approx(best));
  // Means over the three events of each rank (the collective, its send, its receive), of which the send is late.
  CHECK(found.mean_s[2] == Approx((0.200 + 0.204 + 0.203) / 9).epsilon(0.001));
}

TEST_CASE("The tree joins the nearest sets first") {
  const std::uint64_t seed = random_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> late;
  for (int r = 0; r < 20; ++r) late.push_back(static_cast<std::int64_t>(random() % 900) * ms);
  const LogicalTime t = late_sends(late);
  ClusterOptions options;
  options.clusters = 20;
  const Clusters c = logical::clusters_of(t, t.phases[0], options);
  const std::vector<Series> all = all_series(t);
  std::vector<std::set<std::size_t>> sets;
  for (const std::int32_t m : c.medoids) sets.push_back({static_cast<std::size_t>(m)});
  for (const Clusters::Merge& merge : c.merges) {
    const auto apart = [&](const std::set<std::size_t>& a, const std::set<std::size_t>& b) {
      double least = std::numeric_limits<double>::infinity();
      for (const std::size_t i : a)
        for (const std::size_t j : b) least = std::min(least, naive_distance(all[i], all[j]));
      return least;
    };
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < sets.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (!sets[i].empty() && !sets[j].empty()) least = std::min(least, apart(sets[i], sets[j]));
    CHECK(merge.distance == Approx(least));
    CHECK(apart(sets[merge.a], sets[merge.b]) == Approx(least));
    sets.push_back(sets[merge.a]);
    sets.back().insert(sets[merge.b].begin(), sets[merge.b].end());
    sets[merge.a].clear();
    sets[merge.b].clear();
  }
  CHECK(c.merges.size() + 1 == c.medoids.size());
  CHECK(logical::cut(c, 1) == std::vector<std::uint32_t>(20, 0));
  CHECK(logical::cut(c, 64) == c.cluster_of);
}

TEST_CASE("Ranks that do not differ are one cluster; a phase of one rank, too") {
  const LogicalTime alike = late_sends(std::vector<std::int64_t>(30, 5 * ms));
  const Clusters c = logical::clusters_of(alike, alike.phases[0]);
  CHECK(c.medoids.size() == 1);
  CHECK(c.merges.empty());
  CHECK(c.mean_distance == 0);
  CHECK(c.cluster_of == std::vector<std::uint32_t>(30, 0));
  Program alone(1);
  alone.call(0, K::allreduce, site::allreduce);
  const LogicalTime t = logical_time_of(alone);
  CHECK(logical::clusters_of(t, t.phases[0]).medoids == std::vector<std::int32_t>{0});
}

TEST_CASE("Patterns of exchanges") {
  const auto pattern = [](const Program& p) {
    const LogicalTime t = logical_time_of(p);
    return logical::pattern_of(t, t.phases[0]);
  };
  CHECK(pattern(exchange(Grid{{3, 4, 5}}, 2, [](std::int32_t, int) { return ms; })) == Pattern::alternating);

  Program sends_first(8), waitall(8), shift(8), chain(8);
  for (std::int32_t r = 0; r < 8; ++r) {
    const std::vector<std::int32_t> partners = {(r + 1) % 8, (r + 7) % 8, (r + 4) % 8};
    for (const std::int32_t other : partners) call(sends_first, r, K::send, site::send, other);
    for (const std::int32_t other : partners) call(sends_first, r, K::recv, site::recv, other);
    for (const std::int32_t other : partners) waitall.call(r, K::irecv, site::irecv, other);
    for (const std::int32_t other : partners) call(waitall, r, K::isend, site::isend, other);
    call(waitall, r, K::waitall, site::irecv);
    call(shift, r, K::send, site::send, (r + 1) % 8);
    call(shift, r, K::recv, site::recv, (r + 7) % 8);
    if (r > 0) call(chain, r, K::recv, site::recv, r - 1);
    if (r + 1 < 8) call(chain, r, K::send, site::send, r + 1);
  }
  CHECK(pattern(sends_first) == Pattern::sends_first);
  CHECK(pattern(waitall) == Pattern::waitall);
  CHECK(pattern(shift) == Pattern::none);
  CHECK(pattern(chain) == Pattern::none);
}
