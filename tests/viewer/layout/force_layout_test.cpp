#include "viewer/layout/force_layout.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <vector>

#include "viewer/layout/force_layout_tree.hpp"

using namespace pclscope::layout;

namespace {

std::vector<Body> random_bodies(std::size_t count, std::uint64_t seed, float extent = 100) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> place(-extent, extent), radius(0.5f, 3);
  std::vector<Body> made;
  for (std::size_t i = 0; i < count; ++i) {
    Body body;
    body.at.x = place(random);
    body.at.y = place(random);
    body.radius = radius(random);
    made.push_back(body);
  }
  return made;
}

bool finite(const std::vector<Body>& bodies) {
  return std::all_of(bodies.begin(), bodies.end(),
                     [](const Body& b) { return std::isfinite(b.at.x) && std::isfinite(b.at.y); });
}

}  // namespace

TEST_CASE("the tree's push is the sum over all bodies: exact with theta 0, to some per cent with 0.9") {
  const std::vector<Body> bodies = random_bodies(300, 7);
  std::vector<float> masses;
  for (const Body& body : bodies) masses.push_back(body.radius);
  const ForceTree tree(bodies, masses);
  double error = 0, size = 0;
  for (std::uint32_t i = 0; i < bodies.size(); ++i) {
    Point exact;
    for (std::uint32_t j = 0; j < bodies.size(); ++j) {
      const Point away = bodies[i].at - bodies[j].at;
      if (i != j) exact = exact + away * (masses[j] / (away.x * away.x + away.y * away.y));
    }
    CHECK(distance(tree.push(i, 0), exact) <= 2e-3f * (1 + length(exact)));
    error += static_cast<double>(distance(tree.push(i, 0.9f), exact));
    size += static_cast<double>(length(exact));
  }
  CHECK(error < 0.08 * size);
}

TEST_CASE("bodies all in one place are pushed apart") {
  std::vector<Body> bodies(50);
  ForceOptions options;
  spread(bodies, {}, options);
  separate(bodies, 0.5f, 300);
  CHECK(finite(bodies));
  CHECK(overlap_share(bodies) == 0);
}

TEST_CASE("two linked bodies come nearer than two that are not") {
  std::vector<Body> bodies(3);
  bodies[0].at = {-60, 0};
  bodies[1].at = {60, 0};
  bodies[2].at = {0, 60};
  const std::vector<Spring> springs{{0, 1, 1}};
  spread(bodies, springs, {});
  CHECK(distance(bodies[0].at, bodies[1].at) < distance(bodies[0].at, bodies[2].at));
  CHECK(distance(bodies[0].at, bodies[1].at) > 1);
}

TEST_CASE("two groups of linked bodies end up apart: links inside are shorter than the way between") {
  std::vector<Body> bodies = random_bodies(20, 3, 20);
  std::vector<Spring> springs;
  for (std::uint32_t g = 0; g < 2; ++g) {  // even and odd numbers
    for (std::uint32_t a = g; a < 20; a += 2) {
      for (std::uint32_t b = a + 2; b < 20; b += 2) springs.push_back({a, b, 1});
    }
  }
  springs.push_back({0, 1, 0.1f});
  spread(bodies, springs, {});
  double inside = 0, between = 0;
  int pairs_inside = 0, pairs_between = 0;
  for (std::size_t a = 0; a < 20; ++a) {
    for (std::size_t b = a + 1; b < 20; ++b) {
      const auto far = static_cast<double>(distance(bodies[a].at, bodies[b].at));
      if ((a + b) % 2 == 0) inside += far, ++pairs_inside;
      else between += far, ++pairs_between;
    }
  }
  CHECK(inside / pairs_inside < 0.8 * between / pairs_between);
}

TEST_CASE("same input, same output to the bit; fixed bodies stay; nobody moves more than promised") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::vector<Body> start = random_bodies(120, seed);
    start[5].fixed = start[17].fixed = true;
    std::vector<Spring> springs;
    for (std::uint32_t i = 0; i + 1 < 120; ++i) springs.push_back({i, (i * 7 + 1) % 120, 0.5f});
    ForceOptions options;
    options.steps = 40;
    options.heat = 0.1f;
    std::vector<Body> one = start, two = start;
    spread(one, springs, options);
    spread(two, springs, options);
    float mean = 0;
    for (const Body& body : start) mean += body.radius / 120;
    for (std::size_t i = 0; i < start.size(); ++i) {
      CHECK(one[i].at == two[i].at);
      CHECK(distance(one[i].at, start[i].at) <=
            1.001f * 2 * mean * options.heat * (static_cast<float>(options.steps) + 1) / 2);
    }
    CHECK(one[5].at == start[5].at);
    CHECK(one[17].at == start[17].at);
  }
}

TEST_CASE("overlap by its definition, by brute force") {
  const std::vector<Body> bodies = random_bodies(80, 11, 10);
  double sum = 0;
  for (std::size_t a = 0; a < bodies.size(); ++a) {
    for (std::size_t b = a + 1; b < bodies.size(); ++b) {
      const float covered = bodies[a].radius + bodies[b].radius - distance(bodies[a].at, bodies[b].at);
      if (covered > 0)
        sum += std::min(1.0, static_cast<double>(covered / (2 * std::min(bodies[a].radius, bodies[b].radius))));
    }
  }
  CHECK(sum > 1);
  CHECK(overlap_share(bodies) == Approx(sum / 80).epsilon(1e-4));
}

TEST_CASE("separating leaves alone what does not overlap, and keeps within the disc") {
  std::vector<Body> apart{{{0, 0}, 1, false}, {{10, 0}, 1, false}, {{10, 1}, 1, false}};
  separate(apart, 0.5f, 100);
  CHECK(apart[0].at == Point{0, 0});
  CHECK(distance(apart[1].at, apart[2].at) >= 2.49f);
  std::vector<Body> crowd = random_bodies(60, 4, 5);
  for (Body& body : crowd) body.radius = 1;
  separate(crowd, 0.3f, 400, 15);
  for (const Body& body : crowd) CHECK(length(body.at) <= 14.02f);
  CHECK(overlap_share(crowd) < 0.01);
}

TEST_CASE("broken bodies and springs: finite in the end") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<float> odd{nan, inf, -inf, 1e30f, -1e30f, 0, 1, -5};
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto any = [&] { return odd[random() % odd.size()]; };
    std::vector<Body> bodies(random() % 12);
    for (Body& body : bodies) body = {{any(), any()}, any(), random() % 5 == 0};
    std::vector<Spring> springs;
    for (int i = 0; i < 10; ++i)
      springs.push_back({static_cast<std::uint32_t>(random() % 20), static_cast<std::uint32_t>(random() % 20), any()});
    ForceOptions options;
    options.steps = 20;
    spread(bodies, springs, options);
    separate(bodies, 1, 20);
    CHECK(finite(bodies));
    CHECK(std::isfinite(overlap_share(bodies)));
  }
}
