#include "viewer/layout/cs_glyph.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace pclscope::layout {
namespace {

constexpr float pi = std::numbers::pi_v<float>;
constexpr float whole_turn = 2 * pi;
constexpr float gap = 0.025f;         // radians between bars
constexpr float quad_angle = 0.3f;    // of a strip
constexpr double most_seconds = 1e9;  // what is longer is nonsense

double sane_time(double seconds) { return seconds > 0 ? std::min(seconds, most_seconds) : 0; }

double sum_of_times(std::span<const DagMessage> messages) {
  double sum = 0;
  for (const DagMessage& m : messages) sum += sane_time(m.time_s);
  return sum;
}

// Bars of one side, around `middle` of the side; too many for the ring are compressed all alike.
void add_side(std::vector<GlyphBar>& bars, std::span<const DagMessage> messages, bool sent, const GlyphScale& scale) {
  const std::size_t each = (messages.size() + most_bars - 1) / most_bars, begin = bars.size();
  float total = 0;
  for (std::size_t first = 0; first < messages.size(); first += each) {
    const auto part = messages.subspan(first, std::min(each, messages.size() - first));
    GlyphBar bar{sent, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(part.size()), 0, 0, 0, 0, 0};
    double bytes = 0;
    for (const DagMessage& m : part) {
      bytes += static_cast<double>(m.bytes) / static_cast<double>(part.size());
      if (std::isfinite(m.ratio)) bar.ratio = std::max(bar.ratio, m.ratio);
    }
    const double turns = scale.full_ring_s > 0 ? std::min(sum_of_times(part) / scale.full_ring_s, 1.0) : 0;
    bar.to = std::max(least_length, static_cast<float>(turns) * whole_turn);
    total += bar.to + gap;
    const float height = std::max(least_height, bar_height(bytes, scale));
    bar.inner = sent ? outside_ring : inside_ring - height;
    bar.outer = sent ? outside_ring + height : inside_ring;
    bars.push_back(bar);
  }
  const float fit = std::min(1.f, whole_turn / std::max(total, 1e-6f));
  float at = (sent ? 0 : pi) - total * fit / 2;
  for (std::size_t i = begin; i < bars.size(); ++i) {
    const float length = bars[i].to * fit;
    bars[i].from = at + gap * fit / 2;
    bars[i].to = bars[i].from + length;
    at = bars[i].to + gap * fit / 2;
  }
}

}  // namespace

GlyphScale glyph_scale(const Dag& dag) {
  GlyphScale scale;
  std::vector<double> sums;
  for (const DagNode& node : dag.nodes) {
    for (const auto* side : {&node.received, &node.sent}) {
      const double sum = sum_of_times(*side);
      if (sum > 0) sums.push_back(sum);
      for (const DagMessage& m : *side)
        scale.largest_bytes = std::max(scale.largest_bytes, static_cast<double>(m.bytes));
    }
  }
  if (sums.empty()) return scale;
  const std::size_t last = sums.size() - 1;
  const auto at = sums.begin() + static_cast<std::ptrdiff_t>(last - last / 50);
  std::nth_element(sums.begin(), at, sums.end());
  scale.full_ring_s = *at;
  return scale;
}

float roundness(double load_balance) {
  const double sane = load_balance > 0 ? load_balance : 0;  // not for NaN
  return flattest + (1 - flattest) / static_cast<float>(1 + std::min(sane, 1e6));
}

float bar_height(double bytes, const GlyphScale& scale) {
  if (!(bytes > 0) || !(scale.largest_bytes > 0)) return 0;
  const double share = std::log2(1 + bytes) / std::log2(1 + scale.largest_bytes);
  return highest_height * static_cast<float>(std::clamp(share, 0.0, 1.0));
}

CsGlyph cs_glyph(const DagNode& node, double load_balance, const GlyphScale& scale) {
  CsGlyph glyph;
  glyph.half_height = glyph.half_width * roundness(load_balance);
  add_side(glyph.bars, node.received, false, scale);
  add_side(glyph.bars, node.sent, true, scale);
  return glyph;
}

void bar_strip(const GlyphBar& bar, Point middle, float radius, std::vector<Point>& points) {
  points.clear();
  const int quads = std::clamp(static_cast<int>(std::ceil((bar.to - bar.from) / quad_angle)), 1, 32);
  for (int i = 0; i <= quads; ++i) {
    const float angle = bar.from + (bar.to - bar.from) * static_cast<float>(i) / static_cast<float>(quads);
    const Point along{std::cos(angle) * radius, std::sin(angle) * radius};
    points.push_back(middle + along * bar.inner);
    points.push_back(middle + along * bar.outer);
  }
}

int bar_at(const CsGlyph& glyph, Point at) {
  const float radius = length(at), angle = std::atan2(at.y, at.x);
  for (std::size_t i = 0; i < glyph.bars.size(); ++i) {
    const GlyphBar& bar = glyph.bars[i];
    if (radius < bar.inner || radius > bar.outer) continue;
    for (const float turned : {angle, angle + whole_turn, angle - whole_turn})
      if (turned >= bar.from && turned <= bar.to) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace pclscope::layout
