#include "viewer/layout/edge_bundling.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace pclscope::layout {
namespace {

bool usable(const StraightEdge& e) {
  const float far = 1e7f;
  const auto in = [&](Point p) { return std::abs(p.x) < far && std::abs(p.y) < far; };
  return in(e.from) && in(e.to) && distance(e.from, e.to) > 1e-3f;
}

double dot(Point a, Point b) {
  return static_cast<double>(a.x) * static_cast<double>(b.x) + static_cast<double>(a.y) * static_cast<double>(b.y);
}
Point middle(const StraightEdge& e) { return (e.from + e.to) * 0.5f; }

// How well q is seen from p: q's ends are projected onto p's line.
double visibility(const StraightEdge& p, const StraightEdge& q) {
  const Point along = p.to - p.from;
  const double square = dot(along, along);
  const auto project = [&](Point at) { return p.from + along * static_cast<float>(dot(at - p.from, along) / square); };
  const StraightEdge seen{project(q.from), project(q.to)};
  const double width = static_cast<double>(distance(seen.from, seen.to));
  if (width < 1e-9) return 0;
  return std::max(0.0, 1 - 2 * static_cast<double>(distance(middle(p), middle(seen))) / width);
}

// Scale and position need lengths and middles only; the rest is worth computing when these leave hope.
struct Measured {
  double length;
  Point middle;
};

double near_and_alike(const Measured& p, const Measured& q) {
  const double mean = (p.length + q.length) / 2;
  const double scale = 2 / (mean / std::min(p.length, q.length) + std::max(p.length, q.length) / mean);
  return scale * mean / (mean + static_cast<double>(distance(p.middle, q.middle)));
}

double compatibility(const StraightEdge& p, const StraightEdge& q, double first, double lengths) {
  const double angle = std::abs(dot(p.to - p.from, q.to - q.from) / lengths);
  return first * angle * std::min(visibility(p, q), visibility(q, p));
}

struct Partner {
  std::uint32_t edge;
  float weight;
  bool turned;  // runs the other way: point i meets point n - i
};

std::vector<std::vector<Partner>> find_partners(std::span<const StraightEdge> edges, const BundlingOptions& options,
                                                const std::function<bool()>& stopping) {
  std::vector<Measured> measured;
  for (const StraightEdge& e : edges) measured.push_back({static_cast<double>(distance(e.from, e.to)), middle(e)});
  std::vector<std::vector<Partner>> partners(edges.size());
  for (std::uint32_t i = 0; i < edges.size(); ++i) {
    if (stopping && i % 64 == 0 && stopping()) return partners;
    for (std::uint32_t j = i + 1; j < edges.size() && usable(edges[i]); ++j) {
      if (!usable(edges[j])) continue;
      const double first = near_and_alike(measured[i], measured[j]);
      if (first < options.compatible) continue;
      const double c = compatibility(edges[i], edges[j], first, measured[i].length * measured[j].length);
      if (c < options.compatible) continue;
      const bool turned = dot(edges[i].to - edges[i].from, edges[j].to - edges[j].from) < 0;
      partners[i].push_back({j, static_cast<float>(c), turned});
      partners[j].push_back({i, static_cast<float>(c), turned});
    }
  }
  for (auto& list : partners) {
    std::sort(list.begin(), list.end(), [](const Partner& a, const Partner& b) {
      return a.weight > b.weight || (a.weight == b.weight && a.edge < b.edge);
    });
    if (list.size() > options.partners) list.resize(options.partners);
  }
  return partners;
}

// Twice the segments, all of equal length along the polyline.
std::vector<Point> subdivided(const std::vector<Point>& line) {
  const std::size_t segments = 2 * (line.size() - 1);
  std::vector<double> until(line.size(), 0);
  for (std::size_t i = 1; i < line.size(); ++i)
    until[i] = until[i - 1] + static_cast<double>(distance(line[i - 1], line[i]));
  std::vector<Point> made{line.front()};
  std::size_t at = 1;
  for (std::size_t k = 1; k < segments; ++k) {
    const double want = until.back() * static_cast<double>(k) / static_cast<double>(segments);
    while (at + 1 < line.size() && until[at] < want) ++at;
    const double piece = until[at] - until[at - 1];
    const auto share = static_cast<float>(piece > 0 ? (want - until[at - 1]) / piece : 0);
    made.push_back(line[at - 1] + (line[at] - line[at - 1]) * share);
  }
  made.push_back(line.back());
  return made;
}

// One iteration over all inner points, from the positions before it.
void attract(std::vector<std::vector<Point>>& lines, const std::vector<std::vector<Partner>>& partners,
             std::span<const StraightEdge> edges, double stiffness, double step, double step_share) {
  const std::vector<std::vector<Point>> before = lines;
  for (std::size_t e = 0; e < lines.size(); ++e) {
    if (partners[e].empty()) continue;
    const std::vector<Point>& line = before[e];
    const std::size_t last = line.size() - 1;
    const double edge_length = static_cast<double>(distance(edges[e].from, edges[e].to));
    const auto spring = static_cast<float>(stiffness * static_cast<double>(last) / edge_length);
    for (std::size_t i = 1; i < last; ++i) {
      Point force = (line[i - 1] + line[i + 1] - line[i] * 2) * spring;
      for (const Partner& partner : partners[e]) {
        const std::vector<Point>& other = before[partner.edge];
        const Point towards = other[partner.turned ? last - i : i] - line[i];
        const float far = length(towards);
        if (far > 1e-3f) force = force + towards * (partner.weight / far);
      }
      // Many partners must not make it overshoot, nor a step made for long edges bend a short one.
      const float strength = length(force);
      const auto longest = static_cast<float>(std::min(step, edge_length * step_share));
      const float by = strength > 0 ? longest * std::min(1.f, strength) / strength : 0;
      lines[e][i] = line[i] + force * by;
    }
  }
}

double mean_length(std::span<const StraightEdge> edges) {
  double sum = 0;
  std::size_t count = 0;
  for (const StraightEdge& e : edges) {
    if (!usable(e)) continue;
    sum += static_cast<double>(distance(e.from, e.to));
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : 1;
}

}  // namespace

double edge_compatibility(const StraightEdge& p, const StraightEdge& q) {
  if (!usable(p) || !usable(q)) return 0;
  const Measured a{static_cast<double>(distance(p.from, p.to)), middle(p)},
      b{static_cast<double>(distance(q.from, q.to)), middle(q)};
  return std::clamp(compatibility(p, q, near_and_alike(a, b), a.length * b.length), 0.0, 1.0);
}

std::vector<std::vector<Point>> bundle_edges(std::span<const StraightEdge> edges, const BundlingOptions& options,
                                             const std::function<bool()>& stopping) {
  std::vector<std::vector<Point>> lines;
  for (const StraightEdge& e : edges) lines.push_back({e.from, e.to});
  const auto bent = edges.first(std::min(edges.size(), options.most_edges));
  std::vector<std::vector<Point>> moving(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(bent.size()));
  const auto partners = find_partners(bent, options, stopping);
  const double mean = mean_length(bent);
  double share = 0.04;  // of the mean length, a step; as in the paper halved each cycle
  int iterations = options.first_iterations;
  for (int cycle = 0; cycle < options.cycles; ++cycle) {
    for (auto& line : moving) line = subdivided(line);
    for (int i = 0; i < iterations; ++i) {
      if (stopping && stopping()) break;
      attract(moving, partners, bent, options.stiffness, share * mean, share);
    }
    share /= 2;
    iterations = std::max(1, iterations * 2 / 3);
  }
  for (std::size_t e = 0; e < bent.size(); ++e) {
    if (!partners[e].empty()) lines[e] = std::move(moving[e]);
    lines[e].front() = bent[e].from;
    lines[e].back() = bent[e].to;
  }
  return lines;
}

}  // namespace pclscope::layout
