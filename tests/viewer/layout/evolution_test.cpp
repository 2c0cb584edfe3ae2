// The evolution view's picture against a plain sum over windows, and its circles against their definition.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <iostream>
#include <random>

#include "tests/viewer/fake_run.hpp"
#include "viewer/layout/evolution_circles.hpp"
#include "viewer/layout/evolution_picture.hpp"

using namespace pclscope;
using namespace pclscope::layout;
using session::History;

namespace {

std::shared_ptr<const History> history_of(const Snapshot& s) {
  auto history = std::make_shared<History>();
  history->add(s);
  return history;
}

EvolutionQuestion question_of(const Snapshot& s) {
  EvolutionQuestion q;
  q.history = history_of(s);
  q.now_s = s.duration_s;
  return q;
}

void require_sound(const EvolutionPicture& picture) {
  const auto sound = [](double place) { return place >= 0 && place <= 1; };
  for (const EvolutionRow& row : picture.rows) {
    double last = -1;
    for (const EvolutionCircle& c : row.circles) {
      if (!sound(c.place) || !(c.place >= last) || !(c.size >= 0 && c.size <= 1) || !std::isfinite(c.ratio) ||
          !(c.end_s > c.begin_s) || c.messages == 0)
        FAIL("circle");
      last = c.place;
    }
  }
  for (const auto* curve : {&picture.curve, &picture.overview}) {
    double last = -1;
    for (const CurvePoint& p : *curve) {
      if (!sound(p.place) || !(p.place >= last) || !std::isfinite(p.ratio)) FAIL("curve");
      last = p.place;
    }
  }
}

}  // namespace

TEST_CASE("every window is in exactly one circle, whatever the axis and the room") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    test::FakeRun run;
    run.seed = seed;
    run.windows = 1 + static_cast<std::int32_t>(random() % 300);
    Snapshot s = test::fake_snapshot(run);
    for (Region& r : s.regions)
      for (std::uint32_t& n : r.history_messages)
        if (random() % 3 == 0) n = 0;
    EvolutionQuestion q = question_of(s);
    q.compressed = random() % 2 == 0;
    q.slot = 0.001 + static_cast<double>(random() % 200) / 1000;
    if (random() % 2 == 0) q.region = static_cast<std::int32_t>(random() % 5);
    const EvolutionPicture picture = evolution_picture(q);
    require_sound(picture);
    REQUIRE(picture.rows.size() == 4);
    for (const EvolutionRow& row : picture.rows) {
      std::uint64_t messages = 0, delayed = 0, expected = 0, expected_delayed = 0;
      double weighted = 0, expected_weighted = 0;
      for (const EvolutionCircle& c : row.circles) {
        messages += c.messages;
        delayed += c.delayed;
        weighted += static_cast<double>(c.ratio) * static_cast<double>(c.messages);
      }
      for (const auto& p : q.history->regions().at(row.region).points) {
        expected += p.messages;
        expected_delayed += p.delayed;
        expected_weighted += static_cast<double>(p.ratio) * p.messages;
      }
      CHECK(messages == expected);
      CHECK(delayed == expected_delayed);
      CHECK(weighted == Approx(expected_weighted).epsilon(1e-4));
    }
  }
}

TEST_CASE("areas go with the delayed messages per second") {
  const EvolutionPicture picture = evolution_picture(question_of(test::fake_snapshot()));
  CHECK(picture.largest_rate > 0);
  bool largest = false;
  for (const EvolutionRow& row : picture.rows) {
    for (const EvolutionCircle& c : row.circles) {
      CHECK(static_cast<double>(c.size * c.size) ==
            Approx(static_cast<double>(c.rate / picture.largest_rate)).margin(1e-5));
      largest = largest || c.size == 1;
    }
  }
  CHECK(largest);
}

TEST_CASE("a compressed section is its start, middle and end") {
  test::FakeRun run;
  run.windows = 400;
  EvolutionQuestion q = question_of(test::fake_snapshot(run));
  q.region = 2;  // calm to 19.8 s, growth to 20 s, then steady
  const EvolutionPicture picture = evolution_picture(q);
  REQUIRE(picture.axis.sections().size() == 2);
  CHECK(picture.axis.sections()[0].end_s == Approx(19.8));
  CHECK(picture.axis.sections()[0].compressed);
  for (const EvolutionRow& row : picture.rows) {
    std::vector<EvolutionCircle> calm;
    for (const EvolutionCircle& c : row.circles)
      if (c.end_s <= 19.8 + 1e-6) calm.push_back(c);
    REQUIRE(calm.size() == 3);
    CHECK(calm[0].end_s - calm[0].begin_s == Approx(0.1));
    CHECK(calm[1].end_s - calm[1].begin_s == Approx(19.6));
    CHECK(calm[2].end_s - calm[2].begin_s == Approx(0.1));
  }
  q.compressed = false;
  CHECK(evolution_picture(q).axis.linear());
}

TEST_CASE("a growth of less than 2 % of the run alone gets no scale of its own") {
  test::FakeRun run;
  run.windows = 400;  // 40 s
  for (const double length : {0.3, 1.0}) {
    Snapshot s = test::fake_snapshot(run);
    Region& region = *std::find_if(s.regions.begin(), s.regions.end(), [](const Region& r) { return r.id == 2; });
    Period growth = region.periods.back();
    growth.kind = PeriodKind::growth;
    growth.open = false;
    growth.begin_s = 10;
    growth.end_s = 10 + length;
    region.periods = {growth};
    EvolutionQuestion q = question_of(s);
    q.region = 2;
    CHECK(evolution_picture(q).axis.linear() == (length < 0.02 * 40));
  }
}

TEST_CASE("without a selected region the periods of all decide, and without any period nothing is compressed") {
  test::FakeRun run;
  EvolutionQuestion q = question_of(test::fake_snapshot(run));
  CHECK_FALSE(evolution_picture(q).axis.linear());
  CHECK(evolution_picture(q).region == 2);  // the worst
  q.region = 1;                             // calm all the time
  CHECK(evolution_picture(q).axis.linear());
  CHECK(evolution_picture(q).nothing_to_compress);
}

TEST_CASE("circles at full scale stay where they are while a job runs") {
  test::FakeRun run;
  run.windows = 200;
  const Snapshot s = test::fake_snapshot(run);
  Snapshot later = s;
  later.live.window_end_realtime_ns += 100'000'000;
  for (Region& r : later.regions) {
    r.history_ratio.push_back(1);
    r.history_messages.push_back(5);
  }
  EvolutionQuestion q = question_of(s), r = question_of(later);
  q.compressed = r.compressed = false;
  q.slot = r.slot = 0.015;
  const auto before = evolution_picture(q).rows.at(0).circles, after = evolution_picture(r).rows.at(0).circles;
  REQUIRE(after.size() >= before.size());
  for (std::size_t i = 0; i + 1 < before.size(); ++i) {
    CHECK(after[i].begin_s == Approx(before[i].begin_s).margin(1e-6));
    CHECK(after[i].messages == before[i].messages);
  }
}

TEST_CASE("the curve shows each window when there is room, and breaks in silence") {
  test::FakeRun run;
  run.windows = 100;
  run.slow = -1;
  Snapshot s = test::fake_snapshot(run);
  for (int w = 40; w < 60; ++w) s.regions[0].history_messages[static_cast<std::size_t>(w)] = 0;
  EvolutionQuestion q = question_of(s);
  q.region = 0;
  q.column = 0.001;
  const EvolutionPicture picture = evolution_picture(q);
  REQUIRE(picture.curve.size() == 80);
  for (std::size_t i = 0; i < picture.curve.size(); ++i) {
    const std::size_t window = i < 40 ? i : i + 20;
    CHECK(picture.curve[i].place == Approx((static_cast<double>(window) + 0.5) / 100));
    CHECK(picture.curve[i].ratio == s.regions[0].history_ratio[window]);
    CHECK(picture.curve[i].apart == (i == 0 || i == 40));
  }
}

TEST_CASE("only what is visible is drawn, and only the rows asked for") {
  test::FakeRun run;
  run.regions = 40;
  run.ranks = 400;
  EvolutionQuestion q = question_of(test::fake_snapshot(run));
  q.compressed = false;
  q.visible = TimeRange{5, 7};
  q.first_row = 10;
  q.rows = 5;
  const EvolutionPicture picture = evolution_picture(q);
  REQUIRE(picture.order.size() == 40);
  REQUIRE(picture.rows.size() == 5);
  CHECK(picture.rows[0].region == picture.order[10]);
  for (const EvolutionRow& row : picture.rows) {
    std::uint64_t messages = 0, expected = 0;
    for (const EvolutionCircle& c : row.circles) messages += c.messages;
    for (const auto& p : q.history->regions().at(row.region).points) {
      if (p.begin_s + 0.05 >= 5 && p.begin_s + 0.05 < 7) expected += p.messages;
    }
    CHECK(messages == expected);
  }
}

TEST_CASE("the worst region is on top; others change places only for a reason") {
  Snapshot s;
  s.job = "order";
  for (const double ratio : {1.0, 3.0, 2.0}) {
    Region r;
    r.id = static_cast<std::int32_t>(s.regions.size());
    r.mean_latency_ratio = ratio;
    s.regions.push_back(r);
  }
  const auto first = evolution_order(*history_of(s), {});
  CHECK(first == std::vector<std::int32_t>{1, 2, 0});
  s.regions[2].mean_latency_ratio = 3.3;  // a little worse than the top
  CHECK(evolution_order(*history_of(s), first) == first);
  s.regions[2].mean_latency_ratio = 6;
  CHECK(evolution_order(*history_of(s), first) == std::vector<std::int32_t>{2, 1, 0});
  CHECK(evolution_order(*history_of(s), {0, 9, 0}).size() == 3);  // those that are gone, twice
}

TEST_CASE("an hour of 1,024 regions is laid out in a moment") {
  using Clock = std::chrono::steady_clock;
  std::vector<Window> windows(2'000);
  for (std::size_t w = 0; w < windows.size(); ++w) {
    windows[w] = {static_cast<double>(w) * 0.1, 0.1, {}, {}};
    for (std::int32_t id = 0; id < 1024; id += w % 2 + 1)
      windows[w].regions.push_back({id, 100, 0, 50, 1.0 + id % 7, 0, 0, 0, 1});
  }
  auto history = std::make_shared<History>();
  history->add(windows);
  EvolutionQuestion q;
  q.history = history;
  q.rows = 40;
  const auto begin = Clock::now();
  const EvolutionPicture picture = evolution_picture(q);
  std::cout << "evolution picture, 1,024 regions of 2,000 windows: "
            << std::chrono::duration<double>(Clock::now() - begin).count() * 1e3 << " ms\n";
  CHECK(picture.order.size() == 1024);
  require_sound(picture);
}

TEST_CASE("broken snapshots give a sound picture") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto number = [&]() -> double {
      const double odd[] = {std::nan(""), INFINITY, -INFINITY, 1e300, -1e300, 0, -1, 1e-300, 0.1, 1, 5};
      return odd[random() % 11];
    };
    test::FakeRun run;
    run.regions = static_cast<std::int32_t>(random() % 5);
    run.windows = static_cast<std::int32_t>(random() % 100);
    Snapshot s = test::fake_snapshot(run);
    if (random() % 3 == 0) s.live.window_s = number();
    for (Region& r : s.regions) {
      for (float& ratio : r.history_ratio)
        if (random() % 4 == 0) ratio = static_cast<float>(number());
      for (Period& p : r.periods)
        if (random() % 2 == 0) (random() % 2 == 0 ? p.begin_s : p.end_s) = number();
      for (Period& p : r.periods) p.mean_ratio = number();
      r.mean_latency_ratio = number();
    }
    EvolutionQuestion q = question_of(s);
    q.compressed = random() % 2 == 0;
    q.now_s = number();
    q.slot = number();
    q.column = number();
    q.first_row = random() % 3 == 0 ? random() : random() % 4;
    q.rows = random() % 3 == 0 ? random() : random() % 4;
    if (random() % 2 == 0) q.visible = TimeRange{number(), number()};
    if (random() % 2 == 0) q.region = static_cast<std::int32_t>(random() % 6) - 1;
    q.order = {3, 1, -5, 1};
    require_sound(evolution_picture(q));
  }
  require_sound(evolution_picture({}));
}
