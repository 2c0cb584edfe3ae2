#include "viewer/layout/activity_stack.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace pclscope::layout {
namespace {

constexpr float faded = 0.25f;  // of a layer that is not selected

}  // namespace

Image stack_image(const density::Stack& stack, const FunctionColours& colours, int height, float most,
                  std::optional<std::size_t> only) {
  Image image;
  const auto width = static_cast<int>(stack.columns());
  if (width < 1 || height < 1 || width > 8192 || height > 8192 || !(most > 0)) return image;
  image.width = width;
  image.height = height;
  image.rgba.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4, 0);
  std::vector<std::array<float, 4>> column(static_cast<std::size_t>(height));  // colour times coverage, coverage
  for (int x = 0; x < width; ++x) {
    std::fill(column.begin(), column.end(), std::array<float, 4>{});
    float low = 0;
    for (std::size_t layer = 0; layer < stack.shares.size(); ++layer) {
      const float high =
          std::min(low + stack.shares[layer][static_cast<std::size_t>(x)] / most * static_cast<float>(height),
                   static_cast<float>(height));
      const Rgba colour = layer < stack.functions.size() ? colours.of(stack.functions[layer]) : other_functions_colour;
      const float alpha = only && *only != layer ? faded : 1;
      for (float y = std::floor(low); y < high; ++y) {
        const float part = (std::min(high, y + 1) - std::max(low, y)) * alpha;
        std::array<float, 4>& pixel = column[static_cast<std::size_t>(y)];
        pixel[0] += part * colour.red;
        pixel[1] += part * colour.green;
        pixel[2] += part * colour.blue;
        pixel[3] += part;
      }
      low = high;
    }
    for (int y = 0; y < height; ++y) {
      const std::array<float, 4>& from = column[static_cast<std::size_t>(height - 1 - y)];
      if (from[3] <= 0) continue;
      std::uint8_t* to =
          &image
               .rgba[(static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) * 4];
      for (std::size_t k = 0; k < 3; ++k) to[k] = static_cast<std::uint8_t>(std::lround(from[k] / from[3]));
      to[3] = static_cast<std::uint8_t>(std::lround(std::min(from[3], 1.f) * 255));
    }
  }
  return image;
}

}  // namespace pclscope::layout
