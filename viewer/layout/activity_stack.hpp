// The image of stacked activity (analysis/density/stack.hpp). Pixels are exact means.
#pragma once

#include <optional>

#include "analysis/density/stack.hpp"
#include "viewer/layout/line_image.hpp"
#include "viewer/layout/top_functions.hpp"

namespace pclscope::layout {

// Layers over each other from the bottom, `most` at the top edge; transparent where nothing is. A column per pixel.
// `only`: of layers, the others fade.
Image stack_image(const density::Stack& stack, const FunctionColours& colours, int height, float most,
                  std::optional<std::size_t> only);

}  // namespace pclscope::layout
