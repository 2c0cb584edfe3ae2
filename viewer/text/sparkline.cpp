#include "viewer/text/sparkline.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::text {
namespace {

constexpr const char* blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr const char* levels[] = {".", ":", "-", "=", "+", "*", "%", "#"};

const char* glyph(double value, double full, bool ascii) {
  double share = full > 0 ? value / full : 0;
  if (!std::isfinite(share)) share = 1;
  const int level = std::clamp(static_cast<int>(std::lround(share * 7)), 0, 7);
  return ascii ? levels[level] : blocks[level];
}

}  // namespace

std::string sparkline(std::span<const float> values, std::span<const std::uint32_t> weights, std::size_t width,
                      double full, bool ascii) {
  const std::size_t count = std::min(values.size(), weights.size());
  const std::size_t columns = std::min(width, count);
  std::string line(width - columns, ' ');
  for (std::size_t column = 0; column < columns; ++column) {
    double sum = 0;
    double weight = 0;
    for (std::size_t i = column * count / columns; i < (column + 1) * count / columns; ++i) {
      sum += static_cast<double>(values[i]) * weights[i];
      weight += weights[i];
    }
    line += weight > 0 ? glyph(sum / weight, full, ascii) : " ";
  }
  return line;
}

}  // namespace pclscope::text
