#include "viewer/layout/call_strokes.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/layout/call_part.hpp"

namespace pclscope::layout {
namespace {

using session::CallShape;

constexpr std::uint64_t most_singles = 200'000;
constexpr double shortest_range_s = 1e-12;  // of a picture
constexpr std::size_t looks_every = 256;    // strokes, between two looks at `stopping`

// In pixels of the picture; y from its top.
struct Stroke {
  double begin = 0, end = 0, top = 0;
  float calls = 1;
  Rgba colour;
};

class StrokePainter {
 public:
  explicit StrokePainter(const CallQuestion& q) : q_(q), buffers_(empty_buffers(q)) {
    per_s_ = q.width / q.range.length_s();
    per_octave_ = q.height / (q.durations.high - q.durations.low);
  }
  void add(double begin_s, double length_s, double log2_ns, float calls, Rgba colour) {
    const Stroke stroke{(begin_s - q_.range.begin_s) * per_s_, (begin_s + length_s - q_.range.begin_s) * per_s_,
                        (q_.durations.high - log2_ns) * per_octave_, calls, colour};
    if (!(stroke.end >= 0 && stroke.begin < q_.width)) return;
    if (q_.shape == CallShape::arches) arch(stroke);
    else line(stroke);
  }
  CallBuffers take() {
    mean_colours(buffers_);
    return std::move(buffers_);
  }

 private:
  int first(const Stroke& s) const { return static_cast<int>(std::clamp(std::floor(s.begin), 0.0, q_.width - 1.0)); }
  int last(const Stroke& s) const { return static_cast<int>(std::clamp(std::floor(s.end), 0.0, q_.width - 1.0)); }
  // All of [from, to) in a column.
  void column(int x, double from, double to, const Stroke& s) {
    const int low = static_cast<int>(std::floor(from)), high = static_cast<int>(std::ceil(to)) - 1;
    for (int y = std::max(low, 0); y <= std::min(high, q_.height - 1); ++y) {
      const double covered = std::min(to, y + 1.0) - std::max(from, static_cast<double>(y));
      if (covered > 0) add_to(buffers_, x, y, static_cast<float>(covered) * s.calls, s.colour);
    }
  }
  // A pixel thick, wholly inside.
  double thick(double y) const { return std::clamp(y - 0.5, 0.0, std::max(0.0, q_.height - 1.0)); }
  void line(const Stroke& s) {
    const double top = thick(s.top);
    for (int x = first(s); x <= last(s); ++x) column(x, top, top + 1, s);
  }
  void arch(const Stroke& s) {
    const double middle = (s.begin + s.end) / 2, half = (s.end - s.begin) / 2, high = q_.height - s.top;
    const auto y = [&](double x) {
      const double u = half > 0 ? (x - middle) / half : x < middle ? -1 : 1;
      return q_.height - high * session::arch_height(std::clamp(u, -1.0, 1.0));
    };
    for (int x = first(s); x <= last(s); ++x) {
      const double left = y(x), right = y(x + 1);
      double from = std::min(left, right);
      const double to = std::max(left, right);
      if (middle >= x && middle < x + 1) from = s.top;
      if (to - from >= 1) column(x, from, to, s);
      else column(x, thick((from + to) / 2), thick((from + to) / 2) + 1, s);
    }
  }

  const CallQuestion& q_;
  CallBuffers buffers_;
  double per_s_ = 0, per_octave_ = 0;
};

std::int64_t ns_of(double s) { return static_cast<std::int64_t>(std::clamp(s * 1e9, -4e18, 4e18)); }

}  // namespace

CallShape shape_of(std::uint64_t calls) {
  return calls <= most_arches_drawn  ? CallShape::arches
         : calls <= most_lines_drawn ? CallShape::lines
                                     : CallShape::points;
}

bool knows_all(const session::TimelineRun& run, const CallDensity& density, const CallQuestion& q) {
  if (!run.lacks.empty() || run.count.stored == 0) return false;
  std::uint64_t near = 0;
  for (const session::TimelineThread& thread : run.threads) {
    const auto calls = run.within(thread, ns_of(q.range.begin_s), ns_of(q.range.end_s));
    near += q.function
                ? static_cast<std::uint64_t>(std::ranges::count(calls, *q.function, &session::TimelineCall::function))
                : calls.size();
    if (near > most_singles) return false;
  }
  if (run.count.not_stored == 0) return true;
  const session::CallPart part = part_of(density, CallEdge::start, {q.range, all_durations}, q.function);
  return session::find_calls(run, part, 0).stored >= counted_in(density, part);
}

CallBuffers stroke_buffers(const CallDensity& density, const session::TimelineRun* singles,
                           const FunctionColours& colours, const CallQuestion& q,
                           const std::function<bool()>& stopping) {
  if (!drawable(q) || !(q.range.length_s() >= shortest_range_s) || !std::isfinite(q.range.length_s())) return {};
  StrokePainter painter(q);
  std::size_t looked_at = 0;
  const auto stops = [&] { return stopping && ++looked_at % looks_every == 0 && stopping(); };
  if (singles != nullptr) {
    for (const session::TimelineThread& thread : singles->threads)
      for (const session::TimelineCall& call : singles->within(thread, ns_of(q.range.begin_s), ns_of(q.range.end_s))) {
        if (!session::has_length(call) || (q.function && *q.function != call.function)) continue;
        const auto ns = static_cast<double>(session::duration_of(call));
        painter.add(static_cast<double>(call.begin) * 1e-9, ns * 1e-9, std::log2(std::max(ns, 1.0)), 1,
                    colours.of(call.function));
        if (stops()) return painter.take();
      }
    return painter.take();
  }
  const double slice_s = std::ldexp(1e-9, density.calls_shift);
  for (const CallDensity::Calls& c : density.calls) {
    if (c.starts == 0 || (q.function && c.function != *q.function)) continue;
    const double log2_ns = (c.bin + 0.5) / density.bins_per_octave;
    painter.add((c.slice + 0.5) * slice_s, std::exp2(log2_ns) * 1e-9, log2_ns, static_cast<float>(c.starts),
                colours.of(c.function));
    if (stops()) break;
  }
  return painter.take();
}

}  // namespace pclscope::layout
