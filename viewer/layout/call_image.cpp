#include "viewer/layout/call_image.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::layout {
namespace {

constexpr int largest_side = 8192;

// What a cell [low, high) in pixels gives to the pixels that it meets: a narrow one its part, a wide one all of it.
struct Cover {
  int first = 0, last = -1;
  double low = 0, high = 0;
  Cover(double from, double to, int pixels) : low(from), high(to) {
    if (!(to > from) || to <= 0 || from >= pixels) return;
    first = std::max(0, static_cast<int>(std::floor(from)));
    last = std::min(pixels - 1, static_cast<int>(std::ceil(to)) - 1);
  }
  double part(int pixel) const {
    const double overlap = std::min(high, pixel + 1.0) - std::max(low, static_cast<double>(pixel));
    return overlap / std::min(high - low, 1.0);
  }
};

}  // namespace

DurationRange durations_of(const CallDensity& density) {
  if (density.calls.empty()) return {0, 1};
  unsigned first = ~0u, last = 0;
  for (const CallDensity::Calls& c : density.calls) {
    first = std::min<unsigned>(first, c.bin);
    last = std::max<unsigned>(last, c.bin);
  }
  const unsigned octave = std::max<unsigned>(density.bins_per_octave, 1);
  const unsigned lowest = first / octave, highest = last / octave;
  return {static_cast<double>(lowest), static_cast<double>(highest + 1)};
}

bool drawable(const CallQuestion& q) {
  return q.width >= 1 && q.height >= 1 && q.width <= largest_side && q.height <= largest_side &&
         q.range.begin_s < q.range.end_s && q.durations.low < q.durations.high;
}

CallBuffers empty_buffers(const CallQuestion& q) {
  CallBuffers buffers;
  buffers.width = q.width;
  buffers.height = q.height;
  const std::size_t pixels = static_cast<std::size_t>(q.width) * static_cast<std::size_t>(q.height);
  buffers.density.assign(pixels, 0);
  buffers.colour.assign(pixels * 3, 0);
  return buffers;
}

void mean_colours(CallBuffers& buffers) {
  for (std::size_t at = 0; at < buffers.density.size(); ++at) {
    const float d = buffers.density[at];
    if (d <= 0) continue;
    for (std::size_t k = 0; k < 3; ++k) buffers.colour[3 * at + k] /= d;
    buffers.most = std::max(buffers.most, d);
  }
}

CallBuffers call_buffers(const CallDensity& density, const FunctionColours& colours, const CallQuestion& q) {
  if (!drawable(q)) return {};
  CallBuffers buffers = empty_buffers(q);
  const double slice_s = std::ldexp(1e-9, density.calls_shift);
  const double per_s = q.width / (q.range.end_s - q.range.begin_s);
  const double per_octave = q.height / (q.durations.high - q.durations.low);
  for (const CallDensity::Calls& c : density.calls) {
    const std::uint64_t calls = q.edge == CallEdge::start ? c.starts : c.ends;
    if (calls == 0 || (q.function && c.function != *q.function)) continue;
    const double begin_s = c.slice * slice_s;
    const Cover across((begin_s - q.range.begin_s) * per_s, (begin_s + slice_s - q.range.begin_s) * per_s, q.width);
    const double low = static_cast<double>(c.bin) / density.bins_per_octave,
                 high = (static_cast<double>(c.bin) + 1) / density.bins_per_octave;
    const Cover up((q.durations.high - high) * per_octave, (q.durations.high - low) * per_octave, q.height);
    const Rgba colour = colours.of(c.function);
    for (int y = up.first; y <= up.last; ++y)
      for (int x = across.first; x <= across.last; ++x)
        add_to(buffers, x, y, static_cast<float>(static_cast<double>(calls) * across.part(x) * up.part(y)), colour);
  }
  mean_colours(buffers);
  return buffers;
}

Image call_image(const CallBuffers& buffers, Opacity opacity, float least) {
  Image image;
  image.width = buffers.width;
  image.height = buffers.height;
  image.rgba.assign(buffers.density.size() * 4, 0);
  least = std::clamp(least, 0.f, 1.f);
  const float scale = opacity == Opacity::linear ? buffers.most : std::log(std::max(buffers.most, 1.f));
  for (std::size_t at = 0; at < buffers.density.size(); ++at) {
    const float d = buffers.density[at];
    if (d <= 0) continue;
    const float level = opacity == Opacity::linear ? d : std::log(std::max(d, 1.f));
    const float share = scale > 0 ? level / scale : 1;
    // The edge of a cell covers a part of its pixel.
    const float alpha = (least + (1 - least) * share) * std::min(d, 1.f);
    for (std::size_t k = 0; k < 3; ++k)
      image.rgba[4 * at + k] =
          static_cast<std::uint8_t>(std::lround(std::clamp(buffers.colour[3 * at + k], 0.f, 255.f)));
    image.rgba[4 * at + 3] = static_cast<std::uint8_t>(std::lround(std::clamp(alpha, 0.f, 1.f) * 255));
  }
  return image;
}

}  // namespace pclscope::layout
