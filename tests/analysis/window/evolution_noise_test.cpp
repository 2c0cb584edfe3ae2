// How often growth or steady periods are seen where there are none.
#include <catch2/catch.hpp>
#include <functional>
#include <iomanip>
#include <iostream>
#include <random>

#include "analysis/window/evolution.hpp"
#include "tests/analysis/window/series.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::series;

namespace {

constexpr int windows_each = test::thinned(100'000), runs = test::thinned(10, 1);

struct Alarms {
  int growths = 0, steadies = 0, shown = 0;
};

// Several jobs: the uncertain first windows count too. `shown`: looks, one in ten windows, that saw an open one.
Alarms count(const std::function<RegionWindow(std::mt19937_64&, int)>& next) {
  Alarms alarms;
  for (int run = 0; run < runs; ++run) {
    std::mt19937_64 random(100 + static_cast<std::uint64_t>(run));
    Evolution evolution;
    for (int t = 0; t < windows_each / runs; ++t) {
      evolution.add(next(random, t), t, 1);
      if (t % 10 != 0) continue;
      for (const Period& p : evolution.newest(3))
        if (p.open && p.kind != PeriodKind::other) {
          ++alarms.shown;
          break;
        }
    }
    evolution.finish();
    alarms.growths += static_cast<int>(of_kind(evolution.periods(), PeriodKind::growth).size());
    alarms.steadies += static_cast<int>(of_kind(evolution.periods(), PeriodKind::steady).size());
  }
  return alarms;
}

void check(const char* name, int most_growths, int most_steadies,
           const std::function<RegionWindow(std::mt19937_64&, int)>& next) {
  const Alarms a = count(next);
  std::cout << std::setw(44) << std::left << name << " per " << windows_each << " windows: growth " << a.growths
            << ", steady " << a.steadies << "; shown for a moment in " << a.shown * 1000.0 / windows_each
            << " % of looks\n";
  CHECK(a.growths <= most_growths);
  CHECK(a.steadies <= most_steadies);
  CHECK(a.shown <= windows_each / 10 / 50);
}

double normal(std::mt19937_64& random) { return std::normal_distribution<double>()(random); }

}  // namespace

TEST_CASE("pure noise shows no growth and no steady period: independent windows") {
  for (const double cv : {0.05, 0.3})
    check(cv < 0.1 ? "normal, 5 %" : "normal, 30 %", 5, 2,
          [=](auto& random, int) { return window(std::max(0.01, 1.2 * (1 + cv * normal(random)))); });
  check("lognormal, sigma 0.8", 5, 2, [](auto& random, int) { return window(std::exp(0.8 * normal(random))); });
  check("Pareto 1.5, one message per window", 5, 2, [](auto& random, int) {
    return window(std::pow(1 - std::uniform_real_distribution<double>()(random), -1 / 1.5), 1);
  });
  check("Pareto 1.5, means of 20 messages", 5, 2, [](auto& random, int) {
    double sum = 0;
    for (int i = 0; i < 20; ++i) sum += std::pow(1 - std::uniform_real_distribution<double>()(random), -1 / 1.5);
    return window(sum / 20, 20);
  });
}

TEST_CASE("pure noise shows hardly any growth or steady period: load that drifts, correlated windows") {
  check("1 to 148 lognormal messages per window", 6, 3, [](auto& random, int) {
    const int n = 1 + static_cast<int>(std::exp(5 * std::uniform_real_distribution<double>()(random)));
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::exp(0.8 * normal(random));
    return window(sum / n, static_cast<std::uint64_t>(n));
  });
  check("5 %, mean drifts by 10 %, load tenfold", 5, 3, [](auto& random, int t) {
    const double load = std::exp(1.15 * std::sin(2 * M_PI * t / 1400));
    const double mean = 1 + 0.1 * std::sin(2 * M_PI * t / 2000);
    return window(mean * std::exp(0.05 * normal(random) / std::sqrt(load)), 1 + static_cast<std::uint64_t>(100 * load));
  });
  double state = 0;
  check("10 %, correlation 0.6 from window to window", 25, 5, [&](auto& random, int) {
    state = 0.6 * state + 0.8 * normal(random);
    return window(std::exp(0.1 * state));
  });
}
