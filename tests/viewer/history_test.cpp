// The viewer's memory against a straightforward account of what snapshots have shown.
#include "viewer/session/history.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>
#include <random>
#include <set>

#include "tests/viewer/fake_run.hpp"

using namespace pclscope;
using session::History;
using session::HistoryPoint;

namespace {

constexpr double window_s = 0.1;
constexpr std::int64_t origin_ns = 1'700'000'000'000'000'000;

struct Cell {
  float ratio = 0;
  std::uint32_t messages = 0;
  std::uint32_t delayed = 0;
};

// An aggregator that counts: all windows of all regions, and the snapshots that it would publish.
struct Job {
  std::size_t limit = 600;                          // windows in a snapshot
  std::map<std::int32_t, std::vector<Cell>> cells;  // by window since the region exists
  std::map<std::int32_t, std::size_t> since;
  std::size_t windows = 0;
  std::uint64_t sequence = 0;

  void close(std::mt19937_64& random, const std::set<std::int32_t>& present) {
    for (const std::int32_t id : present) {
      if (!since.contains(id)) since[id] = windows;
      Cell cell;
      if (random() % 4 != 0) {
        cell.messages = 1 + static_cast<std::uint32_t>(random() % 50);
        cell.delayed = static_cast<std::uint32_t>(random() % (cell.messages + 1));
        cell.ratio = 0.5f + static_cast<float>(random() % 100) / 20;
      }
      cells[id].push_back(cell);
    }
    ++windows;
  }
  Snapshot snapshot(const std::set<std::int32_t>& present) {
    Snapshot s;
    s.job = "job";
    s.time_origin_realtime_ns = origin_ns;
    s.live.window_s = window_s;
    s.live.sequence = ++sequence;
    s.live.window_end_realtime_ns =
        origin_ns + static_cast<std::int64_t>(std::llround(static_cast<double>(windows) * window_s * 1e9));
    for (const std::int32_t id : present) {
      Region& region = s.regions.emplace_back();
      region.id = id;
      const std::vector<Cell>& all = cells[id];
      for (std::size_t i = 0; i < all.size(); ++i) {
        region.messages += all[i].messages;
        region.delayed += all[i].delayed;
        if (i + limit < all.size()) continue;
        region.history_ratio.push_back(all[i].ratio);
        region.history_messages.push_back(all[i].messages);
      }
    }
    return s;
  }
};

struct Sums {
  double messages = 0, delayed = 0, weighted = 0;
};
Sums sums_of(const session::RegionHistory& history) {
  Sums sums;
  for (const HistoryPoint& p : history.points) {
    sums.messages += p.messages;
    sums.delayed += p.delayed;
    sums.weighted += static_cast<double>(p.ratio) * p.messages;
  }
  return sums;
}

void require_sound(const History& history) {
  for (const auto& [id, region] : history.regions()) {
    double until = -std::numeric_limits<double>::infinity();
    for (const HistoryPoint& p : region.points) {
      if (!(std::isfinite(p.begin_s) && p.length_s > 0 && std::isfinite(p.length_s) && std::isfinite(p.ratio) &&
            p.ratio >= 0))
        FAIL("not finite");
      if (p.messages == 0 || p.delayed > p.messages) FAIL("counts");
      if (p.begin_s < until - 1e-3 * static_cast<double>(p.length_s) - 1e-6)
        FAIL("overlap at " << p.begin_s << ", until " << until);
      until = p.end_s();
    }
    double begin = -std::numeric_limits<double>::infinity();
    for (const Period& p : region.periods) {
      if (!(p.begin_s >= begin) || !(p.end_s >= p.begin_s)) FAIL("periods of region " << id);
      begin = p.begin_s;
    }
  }
}

}  // namespace

TEST_CASE("windows of snapshots that overlap, are lost or come twice are each kept once") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    Job job;
    job.limit = 5 + random() % 20;
    const std::size_t longest_pause = 2 * job.limit;
    History history;
    std::map<std::int32_t, std::set<std::size_t>> shown;  // windows that an accepted snapshot had in it
    std::set<std::int32_t> present{0, 1};
    std::vector<Snapshot> old;
    for (int step = 0; step < 120; ++step) {
      if (step == 40) present.insert(2);
      if (step == 80) present.erase(1);
      const std::size_t closed = random() % 3 == 0 ? random() % longest_pause : random() % 3;
      for (std::size_t i = 0; i < closed; ++i) job.close(random, present);
      old.push_back(job.snapshot(present));
      if (random() % 4 == 0) continue;  // lost
      history.add(old.back());
      for (const std::int32_t id : present) {
        const std::size_t size = job.cells[id].size();
        for (std::size_t i = size - std::min(size, job.limit); i < size; ++i) shown[id].insert(i);
      }
      if (random() % 4 == 0) history.add(old[random() % old.size()]);  // an old one again
    }
    require_sound(history);
    REQUIRE(history.regions().size() == 3);
    CHECK(history.end_s() <= static_cast<double>(job.windows) * window_s + 1e-9);
    CHECK_FALSE(history.thinned());
    for (const auto& [id, windows] : shown) {
      INFO("region " << id);
      const auto& points = history.regions().at(id).points;
      std::size_t k = 0;
      for (const std::size_t i : windows) {
        const Cell& cell = job.cells[id][i];
        if (cell.messages == 0) continue;
        REQUIRE(k < points.size());
        CHECK(points[k].begin_s == Approx(static_cast<double>(job.since[id] + i) * window_s).margin(1e-5));
        CHECK(static_cast<double>(points[k].length_s) == Approx(window_s));
        CHECK(points[k].ratio == cell.ratio);
        CHECK(points[k].messages == cell.messages);
        ++k;
      }
      CHECK(k == points.size());
    }
  }
}

TEST_CASE(
    "delayed messages of a running job come out exactly when every window is seen, and in sum when some come "
    "together") {
  std::mt19937_64 random(7);
  Job job;
  History each, together;
  for (int i = 0; i < 300; ++i) {
    job.close(random, {0});
    const Snapshot s = job.snapshot({0});
    each.add(s);
    if (i % 7 == 6 || i == 299) together.add(s);
  }
  const auto& points = each.regions().at(0).points;
  std::size_t k = 0;
  double delayed = 0;
  for (const Cell& cell : job.cells[0]) {
    delayed += cell.delayed;
    if (cell.messages > 0) CHECK(points[k++].delayed == cell.delayed);
  }
  CHECK(k == points.size());
  CHECK(sums_of(together.regions().at(0)).delayed == delayed);
}

TEST_CASE("the snapshot before the first window does not hide the first windows") {
  Job job;
  std::mt19937_64 random(1);
  Snapshot before = job.snapshot({});
  before.live.window_end_realtime_ns = origin_ns + 450'000'000;  // now
  History history;
  history.add(before);
  for (int i = 0; i < 3; ++i) job.close(random, {0});
  job.cells[0][0] = {1, 5, 2};
  history.add(job.snapshot({0}));
  REQUIRE_FALSE(history.regions().at(0).points.empty());
  CHECK(history.regions().at(0).points.front().messages == 5);
  CHECK(history.end_s() == Approx(0.3));
}

TEST_CASE("a job that begins anew begins a new history") {
  Job first, second;
  std::mt19937_64 random(1);
  for (int i = 0; i < 50; ++i) first.close(random, {0, 5});
  second.close(random, {0});
  second.cells[0][0] = {2, 9, 1};
  History history;
  history.add(first.snapshot({0, 5}));
  Snapshot again = second.snapshot({0});
  again.time_origin_realtime_ns += 60'000'000'000;
  again.live.window_end_realtime_ns += 60'000'000'000;
  history.add(again);
  REQUIRE(history.regions().size() == 1);
  REQUIRE(history.regions().at(0).points.size() == 1);
  CHECK(history.regions().at(0).points[0] == HistoryPoint{0, 0.1f, 2, 9, 1});
  CHECK(history.end_s() == Approx(0.1));
}

TEST_CASE("periods older than the newest in a snapshot are kept, undecided ones are replaced") {
  Job job;
  std::mt19937_64 random(1);
  for (int i = 0; i < 40; ++i) job.close(random, {0});
  const auto period = [](PeriodKind kind, double begin, double end, bool open = false) {
    Period p;
    p.kind = kind;
    p.begin_s = begin;
    p.end_s = end;
    p.open = open;
    return p;
  };
  History history;
  Snapshot s = job.snapshot({0});
  s.regions[0].periods = {period(PeriodKind::other, 0, 1), period(PeriodKind::growth, 1, 1.3),
                          period(PeriodKind::steady, 1.3, 2, true)};
  history.add(s);
  job.close(random, {0});
  s = job.snapshot({0});
  s.regions[0].periods = {period(PeriodKind::growth, 1.2, 1.3), period(PeriodKind::other, 1.3, 4.1, true)};
  history.add(s);
  const auto& kept = history.regions().at(0).periods;
  REQUIRE(kept.size() == 4);
  CHECK(kept[0] == period(PeriodKind::other, 0, 1));
  CHECK(kept[1] == period(PeriodKind::growth, 1, 1.2));
  CHECK(kept[3] == period(PeriodKind::other, 1.3, 4.1, true));
}

TEST_CASE("a dump's windows take the place of what the snapshot has, in either order") {
  const Snapshot s = test::fake_snapshot();
  std::vector<Window> windows;
  for (int i = 0; i < 400; ++i) {
    Window w{i * 0.05, 0.05, {}, {}};
    if (i % 3 != 0) w.regions.push_back({1, 10, 0, 4, 1.5, 0, 0, 0, 1});
    windows.push_back(w);
  }
  windows.push_back(windows[1]);  // twice in a damaged file
  History a, b;
  a.add(s);
  a.add(windows);
  b.add(windows);
  b.add(s);
  for (const History* h : {&a, &b}) {
    require_sound(*h);
    CHECK(h->regions().at(1).points.size() == 266);
    CHECK(h->regions().at(1).points[0] == HistoryPoint{0.05, 0.05f, 1.5f, 10, 4});
    CHECK(h->regions().at(0).points.empty());
    CHECK(h->regions().at(2).periods.size() == 3);
    CHECK(h->regions().at(2).average > 1);
  }
}

TEST_CASE("beyond the budget calm times shrink to start, middle and end, and sums are kept") {
  test::FakeRun run;
  run.windows = 600;
  const Snapshot s = test::fake_snapshot(run);
  History whole, small(std::size_t{15} << 10);
  whole.add(s);
  small.add(s);
  require_sound(small);
  CHECK(small.thinned());
  CHECK(small.bytes() <= std::size_t{15} << 10);
  const auto& calm = small.regions().at(0).points;
  CHECK(calm.size() == 3);
  CHECK(calm.front() == whole.regions().at(0).points.front());
  CHECK(calm.back() == whole.regions().at(0).points.back());
  for (const auto& [id, region] : whole.regions()) {
    const Sums before = sums_of(region), after = sums_of(small.regions().at(id));
    CHECK(after.messages == before.messages);
    CHECK(after.delayed == before.delayed);
    CHECK(after.weighted == Approx(before.weighted).epsilon(1e-5));
  }
  // Region 2: calm to 29.8 s, growth of two windows, then steady: those are all there.
  const auto& slow = small.regions().at(2).points;
  CHECK(slow.size() == 3 + 2 + 300);
}

TEST_CASE("any budget is kept in the end, the newest last to go") {
  for (const std::size_t budget : {std::size_t{4} << 10, std::size_t{8} << 10, std::size_t{12} << 10}) {
    std::mt19937_64 random(budget);
    Job job;
    job.limit = 50;
    History history(budget);
    for (int i = 0; i < 2000; ++i) {
      job.close(random, {0, 1});
      if (i % 40 != 39) continue;
      Snapshot s = job.snapshot({0, 1});
      // Every interval is steady: nothing may shrink by the first rule.
      for (Region& r : s.regions)
        r.periods = {{PeriodKind::steady, true, std::max(0.0, (i - 49) * window_s), (i + 1) * window_s, 50, 1000, 0,
                      100, 2, 2, 2, 2, 0, 0, 0}};
      history.add(s);
      REQUIRE(history.bytes() <= budget);
    }
    require_sound(history);
    CHECK(history.thinned());
    CHECK_FALSE(history.regions().at(0).points.empty());
  }
}

TEST_CASE("an hour of 64 regions fits into the budget, and adding and copying stay cheap") {
  using Clock = std::chrono::steady_clock;
#ifdef PCLSCOPE_UNDER_SANITIZER
  constexpr int windows = 4'000;
#else
  constexpr int windows = 36'000;
#endif
  test::FakeRun run;
  run.ranks = 640;
  run.regions = 64;
  run.windows = 5;
  Snapshot s = test::fake_snapshot(run);
  for (Region& r : s.regions) r.periods.clear();
  History history;
  double adding = 0, copying = 0, worst = 0;
  std::shared_ptr<const History> shown;
  for (int i = 5; i < windows; ++i) {
    s.live.sequence = static_cast<std::uint64_t>(i);
    s.live.window_end_realtime_ns = s.time_origin_realtime_ns + std::int64_t{100'000'000} * i;
    const auto begin = Clock::now();
    history.add(s);
    const auto added = Clock::now();
    if (i % 50 == 0) shown = std::make_shared<const History>(history);
    const auto copied = Clock::now();
    adding += std::chrono::duration<double>(added - begin).count();
    worst = std::max(worst, std::chrono::duration<double>(added - begin).count());
    copying += i % 50 == 0 ? std::chrono::duration<double>(copied - added).count() * 50 : 0;
  }
  std::cout << "history: " << windows << " windows of 64 regions: " << history.bytes() / 1e6 << " MB, "
            << adding / windows * 1e6 << " us per add (worst " << worst * 1e3 << " ms), " << copying / windows * 1e6
            << " us per copy\n";
  CHECK(history.bytes() <= std::size_t{64} << 20);
  CHECK_FALSE(history.thinned());
  CHECK(history.regions().at(63).points.size() == windows - 1);
  CHECK(history.begin_s() == Approx(0).margin(1e-9));
}

TEST_CASE("broken snapshots leave a sound history") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto number = [&]() -> double {
      const double odd[] = {std::nan(""), INFINITY, -INFINITY, 1e300, -1e300, 0, -1, 1e-300, 0.1, 1, 5};
      return odd[random() % 11];
    };
    History history(random() % 2 == 0 ? std::size_t{64} << 20 : random() % 20'000);
    for (int i = 0; i < 6; ++i) {
      test::FakeRun run;
      run.regions = static_cast<std::int32_t>(random() % 5);
      run.windows = static_cast<std::int32_t>(random() % 100);
      run.seed = random();
      Snapshot s = test::fake_snapshot(run);
      if (random() % 2 == 0) s.live.window_s = number();
      if (random() % 3 == 0) s.live.window_end_realtime_ns = static_cast<std::int64_t>(random());
      if (random() % 4 == 0) s.time_origin_realtime_ns = static_cast<std::int64_t>(random());
      for (Region& r : s.regions) {
        if (random() % 3 == 0) r.id = static_cast<std::int32_t>(random() % 3) - 1;
        if (random() % 3 == 0) r.history_messages.resize(random() % 50);
        for (float& ratio : r.history_ratio)
          if (random() % 4 == 0) ratio = static_cast<float>(number());
        for (Period& p : r.periods)
          if (random() % 3 == 0) (random() % 2 == 0 ? p.begin_s : p.end_s) = number();
        if (random() % 3 == 0) r.mean_latency_ratio = number();
        if (random() % 3 == 0) r.delayed = random();
      }
      history.add(s);
      std::vector<Window> windows(random() % 20);
      for (Window& w : windows)
        w = {number(),
             number(),
             {{static_cast<std::int32_t>(random() % 4), random() % 3, 1, random(), number(), 0, 0, 0, 1}},
             {}};
      if (random() % 3 == 0) history.add(windows);
      require_sound(history);
      CHECK(std::isfinite(history.begin_s()));
      CHECK(std::isfinite(history.end_s()));
    }
  }
}
