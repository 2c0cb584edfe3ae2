#include "viewer/layout/force_layout.hpp"

#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "viewer/layout/force_layout_tree.hpp"

namespace pclscope::layout {
namespace {

// Their balance: unlinked discs fill about a third of the area that they lie in.
constexpr float pushing = 0.5f, pulling = 1.f, to_middle = 0.14f;
constexpr float far_away = 1e7f;

void mend(std::span<Body> bodies) {
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    Body& body = bodies[i];
    body.radius = std::isnan(body.radius) ? 1 : std::clamp(body.radius, 1e-3f, 1e5f);
    const bool usable = std::abs(body.at.x) < far_away && std::abs(body.at.y) < far_away;
    if (!usable) body.at = spiral_place(i, 2 * body.radius);
  }
}

float mean_radius(std::span<const Body> bodies) {
  double sum = 0;
  for (const Body& body : bodies) sum += body.radius;
  return bodies.empty() ? 1 : static_cast<float>(sum / static_cast<double>(bodies.size()));
}

struct Pull {
  std::uint32_t a, b;
  float strength;  // weight / sqrt(total of a * total of b): a hub is not pulled harder than a leaf
};

std::vector<Pull> pulls_of(std::size_t count, std::span<const Spring> springs) {
  std::vector<double> total(count, 0);
  std::vector<Pull> made;
  for (const Spring& spring : springs) {
    if (spring.a >= count || spring.b >= count || spring.a == spring.b || !(spring.weight > 0) ||
        !std::isfinite(spring.weight))
      continue;
    made.push_back({spring.a, spring.b, spring.weight});
    total[spring.a] += spring.weight;
    total[spring.b] += spring.weight;
  }
  for (Pull& pull : made) pull.strength = static_cast<float>(pull.strength / std::sqrt(total[pull.a] * total[pull.b]));
  return made;
}

// Two bodies nearer than they should be. `aside`: who they are decides the direction when they lie upon each other.
bool part(Body& a, Body& b, float gap, std::size_t aside) {
  const float wanted = a.radius + b.radius + gap;
  Point apart = b.at - a.at;
  float far = length(apart);
  if (far >= wanted * 0.999f || (a.fixed && b.fixed)) return false;
  if (far < 1e-4f) {
    const float angle = static_cast<float>(aside) * 2.39996f;
    apart = {std::cos(angle), std::sin(angle)};
    far = 1;
    apart = apart * (wanted / far);
  } else {
    apart = apart * ((wanted - far) / far);
  }
  const float area_a = a.radius * a.radius, area_b = b.radius * b.radius;
  const float share_a = a.fixed ? 0 : b.fixed ? 1 : area_b / (area_a + area_b);
  a.at = a.at - apart * share_a;
  b.at = b.at + apart * (1 - share_a);
  return true;
}

// Calls `meet` for all pairs whose extents in x come nearer than `gap`, by a sweep from left to right.
template <class Meet>
void sweep(std::span<const Body> bodies, float gap, std::vector<std::uint32_t>& order, Meet meet) {
  const auto left = [&](std::uint32_t i) { return bodies[i].at.x - bodies[i].radius; };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const float la = left(a), lb = left(b);
    return la < lb || (la == lb && a < b);
  });
  std::vector<float> lefts(order.size());  // as sorted: `meet` may move bodies
  for (std::size_t i = 0; i < order.size(); ++i) lefts[i] = left(order[i]);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const float right = lefts[i] + 2 * bodies[order[i]].radius + gap;
    for (std::size_t j = i + 1; j < order.size() && lefts[j] < right; ++j) meet(order[i], order[j]);
  }
}

bool asked_to_stop(const Stopping& stopping) { return stopping && stopping(); }

}  // namespace

Point spiral_place(std::size_t index, float step) {
  constexpr double golden = std::numbers::pi * (3 - 2.2360679774997896964);
  const double angle = std::fmod(static_cast<double>(index) * golden, 2 * std::numbers::pi);
  const double far = static_cast<double>(step) * std::sqrt(static_cast<double>(index) + 0.5);
  return {static_cast<float>(far * std::cos(angle)), static_cast<float>(far * std::sin(angle))};
}

void spread(std::span<Body> bodies, std::span<const Spring> springs, const ForceOptions& options,
            const Stopping& stopping) {
  mend(bodies);
  if (bodies.size() < 2) return;
  const float radius = mean_radius(bodies), unit = radius + options.gap / 2;
  std::vector<float> masses;
  for (const Body& body : bodies) masses.push_back((body.radius + options.gap / 2) / unit);
  const std::vector<Pull> pulls = pulls_of(bodies.size(), springs);
  std::vector<Point> force(bodies.size());
  for (int step = 0; step < options.steps && !asked_to_stop(stopping); ++step) {
    const ForceTree tree(bodies, masses);
    for (std::uint32_t i = 0; i < bodies.size(); ++i) {
      if (bodies[i].fixed) continue;
      force[i] = tree.push(i, options.theta) * (pushing * unit * unit) + bodies[i].at * -to_middle;
    }
    for (const Pull& pull : pulls) {
      const Point between = bodies[pull.b].at - bodies[pull.a].at;
      const float far = length(between), touching = bodies[pull.a].radius + bodies[pull.b].radius + options.gap;
      if (far <= touching) continue;
      const Point by = between * (pulling * pull.strength * (far - touching) / far);
      force[pull.a] = force[pull.a] + by;
      force[pull.b] = force[pull.b] - by;
    }
    const float longest =
        options.heat * 2 * radius * static_cast<float>(options.steps - step) / static_cast<float>(options.steps);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const float strength = length(force[i]);
      if (bodies[i].fixed || !(strength > 0) || !std::isfinite(strength)) continue;
      bodies[i].at = bodies[i].at + force[i] * (std::min(strength * 0.5f, longest) / strength);
    }
  }
}

void separate(std::span<Body> bodies, float gap, int rounds, float inside, const Stopping& stopping) {
  mend(bodies);
  std::vector<std::uint32_t> order(bodies.size());
  std::iota(order.begin(), order.end(), 0u);
  for (int round = 0; round < rounds && !asked_to_stop(stopping); ++round) {
    bool moved = false;
    sweep(bodies, gap, order,
          [&](std::uint32_t a, std::uint32_t b) { moved |= part(bodies[a], bodies[b], gap, a + std::size_t{b} * 7); });
    for (Body& body : bodies) {
      const float far = length(body.at);
      if (!(inside > 0) || body.fixed || far + body.radius <= inside * 1.0001f) continue;
      body.at = body.at * (std::max(0.f, inside - body.radius) / far);
      moved = true;
    }
    if (!moved) return;
  }
}

double overlap_share(std::span<const Body> bodies) {
  if (bodies.empty()) return 0;
  std::vector<std::uint32_t> order(bodies.size());
  std::iota(order.begin(), order.end(), 0u);
  double sum = 0;
  sweep(bodies, 0, order, [&](std::uint32_t a, std::uint32_t b) {
    const float covered = bodies[a].radius + bodies[b].radius - distance(bodies[a].at, bodies[b].at);
    const float smaller = std::min(bodies[a].radius, bodies[b].radius);
    if (covered > 0) sum += std::min(1.0, static_cast<double>(covered) / (2 * static_cast<double>(smaller)));
  });
  return sum / static_cast<double>(bodies.size());
}

}  // namespace pclscope::layout
