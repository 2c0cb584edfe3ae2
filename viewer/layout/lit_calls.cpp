#include "viewer/layout/lit_calls.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "viewer/session/single_calls.hpp"

namespace pclscope::layout {
namespace {

constexpr int longest_side = 8192;
constexpr std::uint64_t most_lines = 2'000, most_large = 50'000;
constexpr std::size_t told_functions = 1024;

// log2 by a table of the eight bits behind the leading one.
constexpr double shortest_s = 1e-12;   // of a picture
constexpr float table_error = 0.003f;  // less than a pixel
struct Log2Table {
  std::array<float, 256> of{};
  Log2Table() {
    for (std::size_t i = 0; i < of.size(); ++i)
      of[i] = std::log2(1 + (static_cast<float>(i) + 0.5f) / static_cast<float>(of.size()));
  }
};
const Log2Table log2_table;

float log2_of(std::uint64_t ns) {
  const auto bits =
      std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(std::max<std::uint64_t>(ns, 1))));
  return static_cast<float>(static_cast<int>(bits >> 23) - 127) + log2_table.of[(bits >> 15) & 255];
}

// Sums of a pixel: 16 bytes, so that a call is one addition of vectors.
struct alignas(16) Pixel {
  std::uint32_t calls = 0, red = 0, green = 0, blue = 0;
};

class LitCanvas {
 public:
  LitCanvas(const LitRequest& request)
      : request_(request), pixels_(static_cast<std::size_t>(request.width) * static_cast<std::size_t>(request.height)) {
    for (std::size_t f = 0; f < told_functions; ++f) {
      const Rgba colour = request.colours.of(static_cast<std::uint16_t>(f));
      colours_[f] = {1, colour.red, colour.green, colour.blue};
    }
  }
  void add(int x, int y, std::uint16_t function) {
    if (x < 0 || y < 0 || x >= request_.width || y >= request_.height) return;
    Pixel& p =
        pixels_[static_cast<std::size_t>(y) * static_cast<std::size_t>(request_.width) + static_cast<std::size_t>(x)];
    const Pixel& c = colours_[std::min<std::size_t>(function, told_functions - 1)];
    p.calls += c.calls;
    p.red += c.red;
    p.green += c.green;
    p.blue += c.blue;
  }
  Image image() const {
    Image image;
    image.width = request_.width;
    image.height = request_.height;
    image.rgba.assign(pixels_.size() * 4, 0);
    std::uint32_t most = 1;
    for (const Pixel& p : pixels_) most = std::max(most, p.calls);
    const float scale = std::log(static_cast<float>(most) + 1);
    for (std::size_t at = 0; at < pixels_.size(); ++at) {
      const Pixel& p = pixels_[at];
      if (p.calls == 0) continue;
      std::uint8_t* const to = &image.rgba[4 * at];
      to[0] = static_cast<std::uint8_t>(p.red / p.calls);
      to[1] = static_cast<std::uint8_t>(p.green / p.calls);
      to[2] = static_cast<std::uint8_t>(p.blue / p.calls);
      to[3] = static_cast<std::uint8_t>(150 + 105 * std::log(static_cast<float>(p.calls) + 1) / scale);
    }
    return image;
  }

 private:
  const LitRequest& request_;
  std::vector<Pixel> pixels_;
  std::array<Pixel, told_functions> colours_;
};

struct LitCall {
  const session::TimelineCall& call;
  float log2_ns;    // of its duration
  std::int64_t at;  // where its point is
  bool in_sight;    // the point is
};

class LitPainter {
 public:
  explicit LitPainter(const LitRequest& r) : r_(r), canvas_(r) {
    begin_ns_ = r.range.begin_s * 1e9;
    per_ns_ = r.width / (r.range.length_s() * 1e9);
    per_octave_ = static_cast<float>(r.height / (r.durations.high - r.durations.low));
    high_ = static_cast<float>(r.durations.high);
  }
  double x(std::int64_t ns) const { return (static_cast<double>(ns) - begin_ns_) * per_ns_; }
  int y(float log2_ns) const { return std::clamp(static_cast<int>((high_ - log2_ns) * per_octave_), 0, r_.height - 1); }
  void point(const LitCall& lit, bool large) {
    const int px = static_cast<int>(x(lit.at)), py = y(lit.log2_ns);  // in sight: from 0 to the width
    canvas_.add(px, py, lit.call.function);
    if (!large) return;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (dx != 0 || dy != 0) canvas_.add(px + dx, py + dy, lit.call.function);
  }
  void line(const LitCall& lit) {
    const int from = static_cast<int>(std::max(0.0, x(lit.call.begin))),
              to = static_cast<int>(std::min(r_.width - 1.0, x(lit.call.end)));
    for (int px = from; px <= to; ++px) canvas_.add(px, y(lit.log2_ns), lit.call.function);
  }
  // Two pixels thick; each pixel once.
  void arch(const LitCall& lit) {
    const double begin = x(lit.call.begin), end = x(lit.call.end), middle = (begin + end) / 2,
                 half = std::max((end - begin) / 2, 0.5), top = r_.height - 1 - y(lit.log2_ns);
    const int from = static_cast<int>(std::max(0.0, begin)), to = static_cast<int>(std::min(r_.width - 1.0, end));
    const auto up = [&](double px) {
      return static_cast<int>(top * session::arch_height(std::clamp((px - middle) / half, -1.0, 1.0)));
    };
    for (int px = from; px <= to; ++px) {
      const int left = up(px), right = up(px + 1.0);
      const int high = middle >= px && middle < px + 1.0 ? static_cast<int>(top) : std::max(left, right);
      for (int py = std::min(left, right); py <= high; ++py) canvas_.add(px, r_.height - 1 - py, lit.call.function);
      canvas_.add(px, r_.height - 2 - high, lit.call.function);
    }
  }
  Image image() const { return canvas_.image(); }

 private:
  const LitRequest& r_;
  LitCanvas canvas_;
  double begin_ns_ = 0, per_ns_ = 0;
  float per_octave_ = 0, high_ = 0;
};

// Calls of the ranks of which a part is in the range; false ends it.
template <class Visit>
void each_thread(const LitRequest& r, Visit&& visit) {
  const auto to_ns = [](double s) { return static_cast<std::int64_t>(std::clamp(s * 1e9, -4e18, 4e18)); };
  const std::int64_t begin_ns = to_ns(r.range.begin_s), end_ns = to_ns(r.range.end_s) + 1;
  for (const std::int32_t rank : r.ranks)
    for (const session::TimelineThread& thread : r.run->of(rank))
      if (!visit(thread, r.run->within(thread, begin_ns, end_ns))) return;
}

// The same one by one, those whose durations are in the picture.
template <class Visit>
void each_call(const LitRequest& r, const std::function<bool()>& stopping, Visit&& visit) {
  const double begin_ns = r.range.begin_s * 1e9, end_ns = r.range.end_s * 1e9;
  const auto low = static_cast<float>(r.durations.low) - table_error,
             high = static_cast<float>(r.durations.high) + table_error;
  const bool arches = r.shape == session::CallShape::arches;
  std::size_t looked_at = 0;
  each_thread(r, [&](const session::TimelineThread&, auto calls) {
    if ((looked_at += calls.size()) > 100'000) {
      looked_at = 0;
      if (stopping && stopping()) return false;
    }
    for (const session::TimelineCall& call : calls) {
      if (!session::has_length(call) || (r.function && *r.function != call.function)) continue;
      const std::uint64_t length = session::duration_of(call);
      const float log2_ns = log2_of(length);
      if (!(log2_ns >= low && log2_ns <= high)) continue;
      const std::int64_t at = arches                      ? call.begin + (call.end - call.begin) / 2
                              : r.edge == CallEdge::start ? call.begin
                                                          : call.end;
      const auto ns = static_cast<double>(at);
      visit(LitCall{call, log2_ns, at, ns >= begin_ns && ns < end_ns});
    }
    return true;
  });
}

}  // namespace

LitCalls light_calls(const LitRequest& request, const std::function<bool()>& stopping) {
  LitCalls lit;
  lit.of = request;
  const LitRequest& r = lit.of;
  if (!r.run || r.width < 1 || r.height < 1 || r.width > longest_side || r.height > longest_side ||
      !(r.range.length_s() >= shortest_s) || !(r.durations.low < r.durations.high) ||
      !std::isfinite(r.range.length_s()) || !std::isfinite(r.durations.high - r.durations.low))
    return lit;
  // How they are drawn depends on how many there are; counting first would cost a second look at very many.
  std::uint64_t at_most = 0;
  each_thread(r, [&](const session::TimelineThread&, auto calls) { return at_most += calls.size(), true; });
  const bool few = at_most <= 2 * most_large;
  if (few) each_call(r, stopping, [&](const LitCall& call) { lit.calls += call.in_sight; });
  const bool large = few && lit.calls <= most_large;
  lit.lines = few && lit.calls <= most_lines;
  lit.calls = 0;
  const bool arches = r.shape == session::CallShape::arches;
  LitPainter painter(r);
  each_call(r, stopping, [&](const LitCall& call) {
    lit.calls += call.in_sight;
    if (lit.lines && arches) painter.arch(call);
    else if (lit.lines) painter.line(call);
    if (call.in_sight && !(lit.lines && arches)) painter.point(call, large);
  });
  lit.image = painter.image();
  return lit;
}

}  // namespace pclscope::layout
