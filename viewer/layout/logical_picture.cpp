#include "viewer/layout/logical_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace pclscope::layout {
namespace {

using logical::Part;
using session::LogicalBox;
using session::LogicalPhase;
using session::LogicalRun;

constexpr std::size_t most_named_phases = 4000;
constexpr double border_from = 5;         // pixels of a box's sides: smaller ones have no gap
constexpr double pixels_per_message = 3;  // with less, lines say nothing
constexpr double least_line_step = 3;     // pixels of a step's width, for lines
constexpr double line_margin = 16;        // steps
constexpr std::size_t most_lines = 20'000, most_looked_at = 400'000;
constexpr float line_alpha = 0.7f;

bool in_sight(const LogicalPhase& phase, const LogicalSight& s) {
  return phase.first_step<s.step1&& static_cast<double>(phase.first_step) + phase.steps> s.step0 &&
         !phase.parts.empty() && phase.parts.front().rank < s.rank1 && phase.parts.back().rank + 1 > s.rank0;
}

bool usable(const LogicalSight& s) {
  return s.width >= 1 && s.height >= 1 && s.width <= 8192 && s.height <= 8192 && s.step1 > s.step0 &&
         s.rank1 > s.rank0 && std::isfinite(s.step_width()) && std::isfinite(s.rank_height());
}

struct Span {
  int low, high;  // [low, high)
};
// The pixels of a box that is in sight, at least one of those that there are; without its last one where boxes have
// gaps.
Span pixels_of(double begin, double size, int all) {
  const double low = std::floor(begin + 1e-6), high = std::floor(begin + size + 1e-6) - (size >= border_from ? 1 : 0);
  const int first = static_cast<int>(std::clamp(low, -1.0, static_cast<double>(all)));
  const int end = static_cast<int>(std::clamp(std::max(high, low + 1), 1.0, static_cast<double>(all)));
  return {std::max(first, 0), end};
}

// Visits boxes in sight: visit(phase number, phase, part, box number).
template <class Visit>
void each_box(const LogicalRun& run, const LogicalSight& s, const std::function<bool()>& stopping, Visit visit) {
  const auto [first, last] = run.phases_within(s.step0, s.step1);
  for (std::uint32_t p = first; p < last; ++p) {
    const LogicalPhase& phase = *run.phases[p];
    if (!in_sight(phase, s)) continue;
    if (stopping && stopping()) return;
    auto part = std::partition_point(phase.parts.begin(), phase.parts.end(),
                                     [&](const Part& q) { return q.rank + 1 <= s.rank0; });
    for (; part != phase.parts.end() && part->rank < s.rank1; ++part) {
      const auto begin = phase.boxes.begin() + part->first, end = phase.boxes.begin() + part->end;
      auto box = begin;
      if (phase.first_step < s.step0)
        box = std::partition_point(begin, end, [&](const LogicalBox& b) { return b.step + 1.0 <= s.step0; });
      for (; box != end && box->step < s.step1; ++box)
        visit(p, phase, *part, static_cast<std::uint32_t>(box - phase.boxes.begin()));
    }
  }
}

std::vector<Rgba> scale_of(const Palette& palette) {
  std::vector<Rgba> colours;
  for (int i = 0; i < 256; ++i) colours.push_back(palette.harm(i / 255.0));
  return colours;
}

void colour_pixels(const LogicalPixels& pixels, float most, const LogicalImageRequest& request, Image& image) {
  const std::vector<Rgba> scale = scale_of(*request.palette);
  const float factor = most > 0 ? 255 / most : 0;
  for (std::size_t i = 0; i < pixels.largest.size(); ++i) {
    const float value = pixels.largest[i];
    if (value < 0) continue;
    const Rgba c = scale[static_cast<std::size_t>(std::clamp(value * factor + 0.5f, 0.f, 255.f))];
    std::uint8_t* out = &image.rgba[4 * i];
    out[0] = c.red, out[1] = c.green, out[2] = c.blue, out[3] = 255;
  }
}

// Onto the image, straight alpha.
void lay_over(const Image& top, Image& image) {
  for (std::size_t i = 0; i + 3 < top.rgba.size() && i + 3 < image.rgba.size(); i += 4) {
    const unsigned alpha = top.rgba[i + 3];
    if (alpha == 0) continue;
    if (image.rgba[i + 3] == 0) {
      std::copy_n(&top.rgba[i], 4, &image.rgba[i]);
      continue;
    }
    for (std::size_t c = 0; c < 3; ++c)
      image.rgba[i + c] =
          static_cast<std::uint8_t>((top.rgba[i + c] * alpha + image.rgba[i + c] * (255 - alpha)) / 255);
  }
}

// A message's line, from the middle of its send's box to that of its receive.
struct Line {
  Point a, b;
  std::uint32_t first = 0, last = 0;  // steps
};

// False when there are more than anybody could look at.
bool lines_in_sight(const LogicalImageRequest& request, const std::function<bool()>& stopping,
                    std::vector<Line>& lines) {
  const LogicalSight& s = request.sight;
  // What begins left of the picture, or above it, ends in it: a margin as wide as messages mostly are.
  LogicalSight wider = s;
  wider.step0 -= line_margin;
  wider.rank0 = 0, wider.rank1 = request.run->ranks;
  const auto high = static_cast<float>(s.height);
  bool few = true;
  each_box(
      *request.run, wider, [&] { return !few || (stopping && stopping()); },
      [&](std::uint32_t, const LogicalPhase& phase, const Part& part, std::uint32_t number) {
        const LogicalBox& box = phase.boxes[number];
        if (!few || box.kind != logical::Kind::send) return;
        for (const std::uint32_t other : phase.partners_of(box)) {
          const LogicalBox& receive = phase.boxes[other];
          const Point a{s.x(box.step + 0.5), s.y(part.rank + 0.5)},
              b{s.x(receive.step + 0.5), s.y(phase.rank_of(other) + 0.5)};
          if (b.x < 0 || (a.y < 0 && b.y < 0) || (a.y > high && b.y > high)) continue;
          lines.push_back({a, b, box.step, std::max(receive.step, box.step + 1)});
          few = few && lines.size() <= most_looked_at;
        }
      });
  return few;
}

// Those that can be told apart: in a column of a step no more ink than one line per three pixels. Returns how many
// there are not.
std::size_t message_lines(const LogicalImageRequest& request, const std::function<bool()>& stopping,
                          std::vector<Stroke>& strokes) {
  const LogicalSight& s = request.sight;
  std::vector<Line> lines;
  if (!lines_in_sight(request, stopping, lines)) return lines.size();
  if (s.step_width() < least_line_step) return lines.size();
  const double left = std::max(0.0, std::floor(s.step0) - line_margin);
  std::vector<double> ink(static_cast<std::size_t>(std::max(1.0, s.step1 - left + 2)));
  const auto column = [&](std::uint32_t step) {
    return std::min(ink.size() - 1, static_cast<std::size_t>(std::max(0.0, step - left)));
  };
  for (const Line& line : lines) {
    const double part = static_cast<double>(distance(line.a, line.b)) / (line.last - line.first);
    for (std::size_t c = column(line.first); c < column(line.last) || c == column(line.first); ++c) ink[c] += part;
  }
  const double most = s.step_width() * s.height / pixels_per_message;
  const Rgba colour = request.palette->successor.with_alpha(line_alpha);
  for (const Line& line : lines) {
    if (ink[column(line.first)] > most || strokes.size() >= most_lines) continue;
    strokes.push_back({{line.a, line.b}, 1, colour, colour});
  }
  return lines.size() - strokes.size();
}

void find_first(const LogicalRun& run, const LogicalSight& sight, logical::Metric metric,
                const std::function<bool()>& stopping, LogicalPixels& pixels) {
  if (!(pixels.most > 0)) return;
  std::uint32_t step = logical::none;
  float largest = 0;
  each_box(run, sight, stopping, [&](std::uint32_t p, const LogicalPhase& phase, const Part&, std::uint32_t number) {
    const LogicalBox& box = phase.boxes[number];
    if (box.step > step) return;
    const float value = phase.value(box, metric);
    if (value < pixels.most / 2 || (box.step == step && value <= largest)) return;
    step = box.step, largest = value;
    pixels.first_phase = p, pixels.first_box = number;
  });
}

}  // namespace

LogicalPixels logical_pixels(const LogicalRun& run, const LogicalSight& sight, logical::Metric metric,
                             const std::function<bool()>& stopping) {
  LogicalPixels pixels;
  if (!usable(sight)) return pixels;
  const auto width = static_cast<std::size_t>(sight.width);
  pixels.largest.assign(width * static_cast<std::size_t>(sight.height), -1);
  const double wide = sight.step_width(), high = sight.rank_height();
  pixels.most = -1;
  each_box(run, sight, stopping,
           [&](std::uint32_t p, const LogicalPhase& phase, const Part& part, std::uint32_t number) {
             const LogicalBox& box = phase.boxes[number];
             const float value = std::max(0.f, phase.value(box, metric));
             ++pixels.boxes;
             if (value > pixels.most) pixels.most = value, pixels.phase = p, pixels.box = number;
             const Span columns = pixels_of((box.step - sight.step0) * wide, wide, sight.width),
                        rows = pixels_of((part.rank - sight.rank0) * high, high, sight.height);
             for (int y = rows.low; y < rows.high; ++y) {
               float* row = &pixels.largest[static_cast<std::size_t>(y) * width];
               for (int x = columns.low; x < columns.high; ++x) row[x] = std::max(row[x], value);
             }
           });
  pixels.most = std::max(pixels.most, 0.f);
  // Nobody is first in bytes.
  if (metric != logical::Metric::bytes) find_first(run, sight, metric, stopping, pixels);
  return pixels;
}

LogicalImage draw_logical(const LogicalImageRequest& request, const std::function<bool()>& stopping) {
  LogicalImage made;
  made.of = request;
  if (!request.run || !request.palette || !usable(request.sight)) return made;
  made.pixels = logical_pixels(*request.run, request.sight, request.metric, stopping);
  if (stopping && stopping()) return made;
  const LogicalSight& s = request.sight;
  made.scale = made.pixels.most;
  if (request.beside)
    each_box(*request.beside, s, stopping, [&](std::uint32_t, const LogicalPhase& phase, const Part&, std::uint32_t b) {
      made.scale = std::max(made.scale, phase.value(phase.boxes[b], request.metric));
    });
  made.image = {s.width, s.height, std::vector<std::uint8_t>(made.pixels.largest.size() * 4)};
  colour_pixels(made.pixels, made.scale, request, made.image);
  made.pixels.largest = {};
  for (auto [p, end] = request.run->phases_within(s.step0, s.step1); p < end; ++p)
    if (in_sight(*request.run->phases[p], s)) made.phases.push_back(p);
  // Of many the first that begins in a pixel.
  float before = -1;
  for (const std::uint32_t p : made.phases) {
    const float x = std::floor(s.x(request.run->phases[p]->first_step));
    if (made.phases.size() > most_named_phases && x == before) continue;
    made.named.push_back(p);
    before = x;
  }
  if (!request.messages) return made;
  std::vector<Stroke> strokes;
  made.lines_left_out = message_lines(request, stopping, strokes);
  made.lines = strokes.size();
  if (!strokes.empty()) lay_over(draw_strokes(s.width, s.height, strokes), made.image);
  return made;
}

Rgba metric_colour(const Palette& palette, double value, double most) {
  return palette.harm(most > 0 ? std::clamp(value / most, 0.0, 1.0) : 0);
}

std::vector<float> overview_bars(const LogicalRun& run, logical::Metric metric, double first, double end, int bars) {
  std::vector<float> largest(static_cast<std::size_t>(std::max(bars, 0)));
  const auto m = static_cast<std::size_t>(metric);
  if (bars < 1 || !(end > first) || m >= session::logical_metrics) return largest;
  const double per_bar = (end - first) / bars;
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(first)));
  for (std::size_t step = low; step < run.sums.size() && static_cast<double>(step) < end; ++step) {
    const double at = (static_cast<double>(step) - first) / per_bar,
                 to = (static_cast<double>(step) + 1 - first) / per_bar;
    const int from = static_cast<int>(std::clamp(std::floor(at + 1e-9), 0.0, bars - 1.0));
    const int until = static_cast<int>(std::clamp(std::floor(to + 1e-9), from + 1.0, static_cast<double>(bars)));
    for (int b = from; b < until; ++b)
      largest[static_cast<std::size_t>(b)] = std::max(largest[static_cast<std::size_t>(b)], run.sums[step][m]);
  }
  return largest;
}

}  // namespace pclscope::layout
