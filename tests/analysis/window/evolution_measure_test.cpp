// What evolutions go by: the geometric mean of L of a window. A ramp of one class of messages beside another whose few
// outliers make the mean: which measures show it? Fixed seeds.
#include <catch2/catch.hpp>
#include <cmath>
#include <iostream>
#include <random>

#include "analysis/window/evolution.hpp"
#include "tests/analysis/window/series.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::series;

namespace {

struct Mixture {
  int messages = 100;      // per window
  double ramped = 0.5;     // share of messages of the class that gets slower
  double outliers = 0.1;   // of the other class: share with L around 600
  double height = 6;       // of the ramp; 1: none
  int foot = 0, rise = 0;  // windows
  int length = 0;
};

// Both have their mean at 1 when nothing happens but for the outliers.
RegionWindow window_of(const Mixture& m, int t, bool typical, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const double up = t < m.foot ? 0 : std::min(1.0, (t - m.foot + 1.0) / (m.rise + 1));
  double sum = 0, logs = 0;
  for (int i = 0; i < m.messages; ++i) {
    double ratio = std::exp(0.3 * normal(random));
    if (uniform(random) < m.ramped) ratio *= 1 + (m.height - 1) * up;
    else if (uniform(random) < m.outliers) ratio *= 600;
    sum += ratio;
    logs += std::log(ratio);
  }
  RegionWindow w = window(sum / m.messages);
  w.messages = static_cast<std::uint64_t>(m.messages);
  if (typical) w.typical_ratio = std::exp(logs / m.messages);
  return w;
}

struct Outcome {
  int found = 0, in_time = 0, others = 0;  // plans with a growth at the ramp; begun within 10 windows; false growths
};

Outcome look(Mixture m, bool typical, int plans) {
  Outcome outcome;
  std::mt19937_64 random(4711);
  for (int plan = 0; plan < plans; ++plan) {
    m.foot = 60 + static_cast<int>(random() % 60);
    m.rise = 1 + static_cast<int>(random() % 30);
    m.length = m.foot + m.rise + 120;
    Evolution evolution;
    for (int t = 0; t < m.length; ++t) evolution.add(window_of(m, t, typical, random), t, 1);
    evolution.finish();
    int nearest = 1000, other = 0;
    for (const Period& p : of_kind(evolution.periods(), PeriodKind::growth)) {
      const int first = static_cast<int>(first_window(p)), last = static_cast<int>(last_window(p));
      if (m.height > 1 && first <= m.foot + m.rise + 10 && last >= m.foot - 10)
        nearest = std::min(nearest, std::abs(first - m.foot));
      else ++other;
    }
    outcome.found += nearest < 1000;
    outcome.in_time += nearest <= 10;
    outcome.others += other;
  }
  return outcome;
}

}  // namespace

TEST_CASE("a sixfold ramp of one class beside outliers of another is found where it begins") {
  constexpr int plans = 60;  // fewer tell too little: under sanitizers fewer mixtures
  int of_typical = 0, of_mean = 0;
  for (const double ramped : {0.3, 0.5, 0.8})
    for (const double outliers : {0.03, 0.1, 0.2}) {
      if (test::under_sanitizer && (ramped != 0.5 || outliers != 0.1)) continue;
      const Mixture m{.messages = 200, .ramped = ramped, .outliers = outliers};
      const Outcome typical = look(m, true, plans), mean = look(m, false, plans);
      CAPTURE(ramped, outliers, typical.found, typical.in_time, typical.others, mean.found, mean.in_time, mean.others);
      std::cout << "ramp in " << ramped << ", outliers " << outliers << ": typical " << typical.in_time << ", mean "
                << mean.in_time << " of " << plans << " within 10 windows; others " << typical.others << ", "
                << mean.others << '\n';
      // Where every sixth message is an outlier and every third is ramped, the outliers' number hides half of them.
      CHECK(typical.in_time >= (ramped < 0.5 && outliers > 0.1 ? plans / 3 : plans * 85 / 100));
      CHECK(typical.others <= 1);
      of_typical += typical.in_time;
      of_mean += mean.in_time;
    }
  CHECK(of_mean < of_typical);
}

TEST_CASE("outliers alone are no growth") {
  for (const double outliers : {0.03, 0.1, 0.2}) {
    const Outcome typical = look({.messages = 200, .ramped = 0.5, .outliers = outliers, .height = 1}, true, 60);
    CHECK(typical.others <= 1);
  }
}
