#include "viewer/layout/spatial_layout.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <random>
#include <set>

#include "tests/viewer/fake_run.hpp"
#include "viewer/layout/spatial_ranks.hpp"

using namespace pclscope;
using namespace pclscope::layout;

namespace {

std::shared_ptr<Snapshot> shared(Snapshot s) { return std::make_shared<Snapshot>(std::move(s)); }

std::shared_ptr<Snapshot> fake(std::int32_t ranks, std::int32_t regions, std::uint64_t seed = 1) {
  test::FakeRun run;
  run.ranks = ranks;
  run.regions = regions;
  run.windows = 4;
  run.seed = seed;
  return shared(test::fake_snapshot(run));
}

// Each rank talks to its neighbours in its region, a few to other regions.
void add_traffic(Snapshot& s) {
  for (const Region& region : s.regions) {
    if (region.ranks.empty()) continue;
    for (std::size_t i = 0; i < region.ranks.size(); ++i) {
      const std::int32_t to = region.ranks[(i + 1) % region.ranks.size()];
      if (to != region.ranks[i]) s.traffic.push_back({region.ranks[i], to, 100, 1000});
    }
    const std::int32_t other = (region.ranks[0] + s.application.ranks / 2) % s.application.ranks;
    s.traffic.push_back({region.ranks[0], other, 10, 1000});
  }
}

std::vector<Body> discs(const SpatialLayout& placed) {
  std::vector<Body> made;
  for (const PlacedRegion& region : placed.regions) made.push_back({region.at, region.radius, false});
  return made;
}

std::vector<Body> dots(const PlacedRegion& region) {
  std::vector<Body> made;
  for (const PlacedRank& rank : region.ranks) made.push_back({rank.offset, 1, false});
  return made;
}

void check_sound(const SpatialLayout& placed) {
  const auto fine = [](Point p) { return std::isfinite(p.x) && std::isfinite(p.y); };
  std::set<std::int32_t> ids, ranks;
  for (const PlacedRegion& region : placed.regions) {
    CHECK(ids.insert(region.id).second);
    CHECK(region.index < placed.snapshot->regions.size());
    CHECK(fine(region.at));
    CHECK(region.radius > 0);
    for (const PlacedRank& rank : region.ranks) {
      CHECK(ranks.insert(rank.rank).second);
      CHECK(length(rank.offset) + 1 <= region.radius + 0.01f);
    }
  }
  CHECK(ranks.size() == placed.ranks);
  for (const PlacedLink& link : placed.links) {
    REQUIRE(link.a < link.b);
    REQUIRE(link.b < placed.regions.size());
    REQUIRE(link.line.size() >= 2);
    for (const Point p : link.line) CHECK(fine(p));
  }
  for (const PlacedPair& pair : placed.pairs) {
    CHECK(pair.line.front() == place_of(placed, pair.a));
    CHECK(pair.line.back() == place_of(placed, pair.b));
  }
}

}  // namespace

TEST_CASE("every region and rank has its place; the same input gives the same picture") {
  for (const bool traffic : {false, true}) {
    const auto snapshot = fake(96, 8);
    if (traffic) add_traffic(*snapshot);
    const SpatialLayout one = spatial_layout(snapshot), two = spatial_layout(snapshot);
    check_sound(one);
    REQUIRE(one.regions.size() == 8);
    CHECK(one.ranks == 96);
    CHECK(one.links.size() == snapshot->links.size());
    CHECK(one.pairs.empty() == !traffic);
    for (std::size_t i = 0; i < 8; ++i) {
      CHECK(one.regions[i].at == two.regions[i].at);
      CHECK(one.regions[i].ranks == two.regions[i].ranks);
    }
    for (std::size_t i = 0; i < one.links.size(); ++i) CHECK(one.links[i].line == two.links[i].line);
  }
}

TEST_CASE("links end on the rims of their discs") {
  const SpatialLayout placed = spatial_layout(fake(64, 8));
  for (const PlacedLink& link : placed.links) {
    CHECK(distance(link.line.front(), placed.regions[link.a].at) ==
          Approx(placed.regions[link.a].radius).epsilon(1e-3));
    CHECK(distance(link.line.back(), placed.regions[link.b].at) == Approx(placed.regions[link.b].radius).epsilon(1e-3));
  }
}

TEST_CASE("the next window moves nothing, however the messages have grown") {
  auto snapshot = fake(128, 16);
  SpatialLayout placed = spatial_layout(snapshot);
  const SpatialLayout first = placed;
  std::mt19937_64 random(5);
  for (int window = 0; window < 10; ++window) {
    auto next = shared(*snapshot);
    for (RegionLink& link : next->links) {
      link.messages = link.messages * static_cast<std::uint64_t>(window + 2) + random() % (1 + link.messages / 4);
      link.mean_latency_ratio = static_cast<double>(random() % 50) / 10;
    }
    std::shuffle(next->links.begin(), next->links.end(), random);
    placed = spatial_layout(next, &placed);
    for (std::size_t i = 0; i < first.regions.size(); ++i) {
      CHECK(placed.regions[i].at == first.regions[i].at);
      CHECK(placed.regions[i].ranks == first.regions[i].ranks);
    }
  }
}

TEST_CASE("a link that drops out of the list of the most, and comes back, moves nothing") {
  const auto snapshot = fake(128, 16);
  const SpatialLayout first = spatial_layout(snapshot);
  auto fewer = shared(*snapshot);
  fewer->links.resize(fewer->links.size() / 2);
  const SpatialLayout second = spatial_layout(fewer, &first);
  const SpatialLayout third = spatial_layout(snapshot, &second);
  for (std::size_t i = 0; i < first.regions.size(); ++i) {
    CHECK(second.regions[i].at == first.regions[i].at);
    CHECK(third.regions[i].at == first.regions[i].at);
  }
  CHECK(second.links.size() == fewer->links.size());
}

TEST_CASE("small changes move little: a rank that joins, a link that grows or goes, a region that goes") {
  const auto snapshot = fake(160, 16);
  const SpatialLayout before = spatial_layout(snapshot);
  float mean = 0;
  for (const PlacedRegion& region : before.regions) mean += 2 * region.radius / 16;
  for (int seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    auto next = shared(*snapshot);
    Region& joined = next->regions[random() % 16];
    if (seed % 2 == 0) joined.ranks.push_back(500);
    if (seed % 3 == 0) next->links[random() % next->links.size()].messages *= 20;
    if (seed % 5 == 0) next->regions.erase(next->regions.begin() + static_cast<std::ptrdiff_t>(random() % 16));
    const SpatialLayout after = spatial_layout(next, &before);
    check_sound(after);
    for (const PlacedRegion& region : after.regions) {
      const PlacedRegion& was = before.regions[static_cast<std::size_t>(region.id)];
      CHECK(distance(region.at, was.at) <= mean);  // half a mean diameter of the forces, and room for what has grown
      for (const PlacedRank& rank : was.ranks) {   // who was there has not moved inside
        const auto same = std::find_if(region.ranks.begin(), region.ranks.end(),
                                       [&](const PlacedRank& r) { return r.rank == rank.rank; });
        if (same != region.ranks.end()) CHECK(same->offset == rank.offset);
      }
    }
    CHECK(overlap_share(discs(after)) < 0.01);
  }
}

TEST_CASE("a new region comes in beside the old ones, which make room at most") {
  const auto old = fake(150, 15), more = fake(160, 16);
  const SpatialLayout before = spatial_layout(old), after = spatial_layout(more, &before);
  check_sound(after);
  float mean = 0;
  for (const PlacedRegion& region : before.regions) mean += 2 * region.radius / 15;
  for (const PlacedRegion& region : before.regions)
    CHECK(distance(region.at, after.regions[static_cast<std::size_t>(region.id)].at) <= mean);
  CHECK(overlap_share(discs(after)) < 0.01);
}

TEST_CASE("regions that all got other numbers start where their ranks were") {
  const auto snapshot = fake(160, 16);
  const SpatialLayout before = spatial_layout(snapshot);
  auto renamed = shared(*snapshot);
  for (Region& region : renamed->regions) region.id += 100;
  std::reverse(renamed->regions.begin(), renamed->regions.end());  // from scratch that would be another picture
  for (RegionLink& link : renamed->links) link.a += 100, link.b += 100;
  const SpatialLayout after = spatial_layout(renamed, &before);
  const Rect extent = bounds(before);
  float moved = 0;
  for (std::size_t i = 0; i < 16; ++i) moved += distance(before.regions[i].at, after.regions[15 - i].at) / 16;
  CHECK(moved < 0.2f * std::max(extent.width(), extent.height()));
}

TEST_CASE("a region that is put somewhere stays there and nobody lies on it") {
  const auto snapshot = fake(64, 8);
  const SpatialLayout before = spatial_layout(snapshot);
  const Pins pins{{3, before.regions[5].at}};
  const SpatialLayout after = spatial_layout(snapshot, &before, pins);
  CHECK(after.regions[3].at == before.regions[5].at);
  CHECK(overlap_share(discs(after)) < 0.01);
  const SpatialLayout again = spatial_layout(snapshot, &after, pins);
  for (std::size_t i = 0; i < 8; ++i) CHECK(again.regions[i].at == after.regions[i].at);
}

TEST_CASE("overlap of discs and of dots stays below one per cent, from 4 to 16,384 ranks") {
  struct Case {
    std::int32_t ranks, regions;
    bool traffic;
  };
  for (const Case c : {Case{4, 1, false},
                       {4, 4, true},
                       {16, 4, true},
                       {64, 8, true},
                       {1152, 32, true},
                       {1152, 1, true},
                       {2048, 300, false},
                       {16384, 128, false}}) {
    const auto snapshot = fake(c.ranks, c.regions);
    if (c.traffic) add_traffic(*snapshot);
    const auto begin = std::chrono::steady_clock::now();
    const SpatialLayout placed = spatial_layout(snapshot);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    double worst = 0;
    for (const PlacedRegion& region : placed.regions) worst = std::max(worst, overlap_share(dots(region)));
    const double between = overlap_share(discs(placed));
    std::cout << c.ranks << " ranks, " << c.regions << " regions" << (c.traffic ? " with traffic" : "")
              << ": overlap of discs " << between << ", of dots " << worst << ", " << took.count() << " s\n";
    CHECK(placed.ranks == static_cast<std::size_t>(c.ranks));
    CHECK(between < 0.01);
    CHECK(worst < 0.01);
  }
}

TEST_CASE("ranks that talk lie nearer than those that do not") {
  auto snapshot = fake(40, 1);
  std::vector<std::int32_t> order = snapshot->regions[0].ranks;
  std::mt19937_64 random(9);
  std::shuffle(order.begin(), order.end(), random);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) snapshot->traffic.push_back({order[i], order[i + 1], 100, 1});
  const SpatialLayout placed = spatial_layout(snapshot);
  std::map<std::int32_t, Point> at;
  for (const PlacedRank& rank : placed.regions[0].ranks) at[rank.rank] = rank.offset;
  double linked = 0, all = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    linked += static_cast<double>(distance(at[order[i]], at[order[i + 1]])) / 39;
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t j = i + 1; j < 40; ++j)
      all += static_cast<double>(distance(at[order[i]], at[order[j]])) / (40 * 39 / 2);
  }
  CHECK(linked < 0.6 * all);
}

TEST_CASE("broken snapshots: sound layouts, again and again from each other") {
  SpatialLayout placed;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    auto s = fake(static_cast<std::int32_t>(1 + random() % 40), static_cast<std::int32_t>(1 + random() % 6), seed);
    if (random() % 2 == 0) add_traffic(*s);
    const std::vector<std::int32_t> odd{-1, -5, INT32_MAX, INT32_MIN, 0, 3, 99};
    for (Region& region : s->regions) {
      if (random() % 3 == 0) region.id = odd[random() % odd.size()];
      if (random() % 4 == 0) region.ranks.clear();
      if (random() % 3 == 0) region.ranks.push_back(odd[random() % odd.size()]);
      if (random() % 4 == 0) region.mean_latency_ratio = std::nan("");
    }
    for (int i = 0; i < 5; ++i)
      s->links.push_back({odd[random() % odd.size()], odd[random() % odd.size()], random() % 2 == 0 ? UINT64_MAX : 0, 1,
                          1, 1e300, 1, 1, 1, 1});
    for (int i = 0; i < 9; ++i)
      s->traffic.push_back(
          {odd[random() % odd.size()], odd[random() % odd.size()], random() % 2 == 0 ? UINT64_MAX : 0, 1});
    const Pins pins = random() % 3 == 0 ? Pins{{0, {std::nanf(""), 5}}, {77, {1, 1}}} : Pins{};
    placed = spatial_layout(s, &placed, pins);
    check_sound(placed);
  }
  CHECK(spatial_layout(nullptr).regions.empty());
  CHECK(spatial_layout(shared({})).regions.empty());
}
