#include "analysis/window/evolution.hpp"

#include <catch2/catch.hpp>
#include <iostream>
#include <random>

#include "analysis/window/evolutions.hpp"
#include "tests/analysis/window/series.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::series;

namespace {

struct Found {
  int cases = 0, exact_growth = 0, exact_steady = 0, one_of_each = 0, seen_live = 0;
};

// Is a growth shown when window `top` has just closed?
bool shown(const Evolution& evolution) {
  for (const Period& p : evolution.newest(2))
    if (p.kind == PeriodKind::growth && p.open) return true;
  return false;
}

void run(const Planted& plan, double noise, std::mt19937_64& random, Found& found) {
  std::normal_distribution<double> normal;
  Evolution evolution;
  bool live = false;
  for (int t = 0; t < plan.length; ++t) {
    evolution.add(window(plan.at(t) * std::exp(noise * normal(random))), t, 1);
    if (t > plan.foot && t <= plan.foot + 2) live = live || shown(evolution);
  }
  evolution.finish();
  const std::vector<Period> periods = evolution.periods();
  const auto growths = of_kind(periods, PeriodKind::growth), steadies = of_kind(periods, PeriodKind::steady);
  ++found.cases;
  found.seen_live += live;
  found.one_of_each += growths.size() == 1 && steadies.size() == 1;
  for (const Period& p : growths)
    if (std::abs(first_window(p) - plan.foot) <= 1 && std::abs(last_window(p) - plan.top) <= 1) ++found.exact_growth;
  for (const Period& p : steadies)
    if (std::abs(first_window(p) - plan.top - 1) <= 1 && std::abs(last_window(p) - plan.end) <= 1) ++found.exact_steady;
}

// Rises by at least 30 %, and by at least `clear` x noise x sqrt(windows of the rise), relative to its top.
Planted random_plan(double noise, double clear, std::mt19937_64& random) {
  const auto uniform = [&](double a, double b) { return std::uniform_real_distribution<double>(a, b)(random); };
  for (;;) {
    const int rise = 1 + static_cast<int>(uniform(0, 1) * 40), plateau = 12 + static_cast<int>(uniform(0, 70));
    const double least = clear * noise * std::sqrt(rise);
    if (least > 0.8) continue;
    const int foot = 40 + static_cast<int>(uniform(0, 110));
    const double height = std::max(least / (1 - least), 0.3) * uniform(1, 2);
    return {foot, foot + rise, foot + rise + plateau, foot + rise + plateau + 20 + static_cast<int>(uniform(0, 80)),
            height};
  }
}

}  // namespace

TEST_CASE("planted growth and steady periods are found with at most one window of error") {
  for (const double noise : {0.0, 0.005, 0.02, 0.05}) {
    std::mt19937_64 random(17);
    Found found;
    for (int i = 0; i < test::thinned(600); ++i) run(random_plan(noise, 10, random), noise, random, found);
    std::cout << "noise " << noise << ": of " << found.cases << " planted, growth within one window "
              << found.exact_growth << ", steady " << found.exact_steady << ", exactly one of each "
              << found.one_of_each << ", growth shown at its second window " << found.seen_live << '\n';
    const int enough = found.cases * 99 / 100;
    CHECK(found.exact_growth >= (noise == 0 ? found.cases : enough));
    CHECK(found.exact_steady >= (noise == 0 ? found.cases : enough));
    CHECK(found.one_of_each >= enough);
  }
}

TEST_CASE("a sudden rise is a growth of two windows, shown at the second high window, then steady") {
  const int rises = 200;
  for (const double noise : {0.0, 0.02, 0.1, 0.2}) {
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    int late = 0, exact = 0, steady = 0;
    for (int i = 0; i < rises; ++i) {
      const Planted step{50 + i % 40, 51 + i % 40, 100 + i % 40, 200, std::exp(std::max(0.5, 8 * noise)) - 1};
      Evolution evolution;
      for (int t = 0; t < step.length; ++t) {
        evolution.add(window(step.at(t) * std::exp(noise * normal(random))), t, 1);
        if (t == step.foot + 2 && !shown(evolution)) ++late;
      }
      evolution.finish();
      const auto growths = of_kind(evolution.periods(), PeriodKind::growth);
      REQUIRE(growths.size() >= 1);
      exact += std::abs(first_window(growths[0]) - step.foot) <= 1 && std::abs(last_window(growths[0]) - step.top) <= 1;
      CHECK(growths[0].end_ratio > growths[0].begin_ratio);
      const auto steadies = of_kind(evolution.periods(), PeriodKind::steady);
      steady += steadies.size() == 1 && std::abs(last_window(steadies[0]) - step.end) <= 1;
    }
    std::cout << "noise " << noise << ": of " << rises << " sudden rises within one window " << exact
              << ", steady after them " << steady << ", not shown at their second window " << late << '\n';
    CHECK(exact * 200 >= rises * 197);
    if (noise <= 0.1) CHECK(steady * 200 >= rises * 197);  // more varies too much to be steady
    CHECK(late * 20 <= rises);
  }
}

TEST_CASE("several episodes in one series are found each by itself") {
  std::mt19937_64 random(23);
  std::normal_distribution<double> normal;
  Evolution evolution;
  const int episode = 180, episodes = 30;
  for (int t = 0; t < episode * episodes; ++t) {
    const int at = t % episode;
    const double x = at < 100 ? 1 : at < 115 ? 1 + 0.1 * (at - 99) : at < 150 ? 2.6 : 1;
    evolution.add(window(x * std::exp(0.02 * normal(random))), t, 1);
  }
  evolution.finish();
  const auto growths = of_kind(evolution.periods(), PeriodKind::growth);
  REQUIRE(growths.size() == episodes);
  for (int i = 0; i < episodes; ++i) {
    CHECK(std::abs(first_window(growths[i]) - i * episode - 99) <= 1);
    CHECK(std::abs(last_window(growths[i]) - i * episode - 115) <= 1);
  }
  CHECK(of_kind(evolution.periods(), PeriodKind::steady).size() == episodes);
}

TEST_CASE("what is closed never changes, periods hold every window once, and the stored windows give the same") {
  std::mt19937_64 random(31);
  std::normal_distribution<double> normal;
  std::vector<Window> windows;
  Evolution live;
  double level = 0, begin = 0;
  std::vector<Period> closed;
  std::uint64_t messages = 0;
  for (int t = 0; t < 6000; ++t) {
    if (random() % 40 == 0) level = 0.4 * normal(random);
    begin += random() % 200 == 0 ? 30 : 1;  // silences
    Window w;
    w.begin_s = begin;
    w.length_s = 1;
    if (random() % 10 != 0) w.regions.push_back(window(std::exp(level + 0.03 * normal(random)), 1 + random() % 500));
    if (!w.regions.empty()) w.regions[0].region = 7;
    live.add(w.regions.empty() ? RegionWindow{} : w.regions[0], w.begin_s, 1);
    if (!w.regions.empty()) messages += w.regions[0].messages;
    windows.push_back(std::move(w));
    if (t % 7 != 0) continue;
    std::vector<Period> now;
    for (const Period& p : live.periods())
      if (!p.open) now.push_back(p);
    REQUIRE(now.size() >= closed.size());
    now.resize(closed.size());
    REQUIRE(now == closed);
    closed.clear();
    for (const Period& p : live.periods())
      if (!p.open) closed.push_back(p);
  }
  live.finish();
  const std::vector<Period> periods = live.periods();
  CHECK(periods == periods_of(windows, 7));
  CHECK(of_kind(periods, PeriodKind::growth).size() > 20);
  std::uint64_t counted = 0;
  for (std::size_t i = 0; i < periods.size(); ++i) {
    counted += periods[i].messages;
    CHECK_FALSE(periods[i].open);
    if (i == 0) continue;
    CHECK(periods[i].begin_s >= periods[i - 1].end_s);
    CHECK((periods[i].kind != PeriodKind::other || periods[i - 1].kind != PeriodKind::other));
  }
  CHECK(counted == messages);
  CHECK(periods_of(windows, 8).empty());
}

TEST_CASE("sums, first, middle and last ratio of a period are those of its windows") {
  Evolution evolution;
  for (int t = 0; t < 1001; ++t) evolution.add(window(1 + 0.0001 * t, 10 + t % 2), t, 1);
  evolution.finish();
  REQUIRE(evolution.periods().size() == 1);
  const Period p = evolution.periods()[0];
  CHECK(p.windows == 1001);
  CHECK(p.messages == 1001 * 10 + 500);
  CHECK(p.bytes == 8 * p.messages);
  CHECK(p.begin_ratio == 1);
  CHECK(p.end_ratio == Approx(1.1));
  CHECK(p.middle_ratio == Approx(1.05).margin(0.1 / 64));
  CHECK(p.transfer_s == Approx(1.001));
  CHECK(p.mean_ratio == Approx(1.05).margin(0.001));
  CHECK(p.begin_s == 0);
  CHECK(p.end_s == 1001);
}

TEST_CASE("the number of periods is bounded: the oldest become one") {
  Evolution evolution(16);
  std::uint64_t windows = 0;
  for (int t = 0; t < 100 * 120; ++t, ++windows) evolution.add(window(t % 120 < 60 ? 1 : 2), t, 1);
  evolution.finish();
  const std::vector<Period> periods = evolution.periods();
  CHECK(periods.size() <= 16);
  CHECK(periods.size() >= 14);
  CHECK(periods.front().kind == PeriodKind::other);
  CHECK(periods.front().begin_s == 0);
  CHECK(periods.back().end_s == 12000);
  std::uint64_t counted = 0;
  for (const Period& p : periods) counted += p.windows;
  CHECK(counted == windows);
  CHECK(evolution.newest(3) == std::vector<Period>(periods.end() - 3, periods.end()));
}

TEST_CASE("a region that vanishes is decided to its end; its number is told once") {
  Evolutions evolutions;
  std::vector<std::uint64_t> decided;
  std::size_t ended = 0;
  for (int t = 0; t < 200; ++t) {
    Window w;
    w.begin_s = t;
    w.length_s = 1;
    const std::vector<std::int32_t> present = t < 150 ? std::vector<std::int32_t>{3, 4} : std::vector<std::int32_t>{4};
    for (const std::int32_t id : present) {
      w.regions.push_back(window(1.5));
      w.regions.back().region = id;
    }
    CHECK(evolutions.close_window(w, present) == static_cast<std::uint64_t>(t));
    for (const Evolutions::Verdict& v : evolutions.verdicts())
      if (v.region == 3) decided.push_back(v.window);
    ended += evolutions.ended().size();
  }
  REQUIRE(decided.size() == 150);
  for (std::size_t i = 0; i < decided.size(); ++i) CHECK(decided[i] == i);
  CHECK(ended == 1);
  CHECK(evolutions.newest(3, 32).empty());
  CHECK(evolutions.newest(4, 32).size() == 1);
}
