#include "viewer/gui/base/faded_ranks.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"

namespace pclscope::gui {

void fade_other_ranks(ImDrawList& list, const Scene& scene, const Selection& selection, const layout::Rect& area,
                      const std::function<double(float)>& rank_at) {
  if (selection.ranks.size() < 2) return;
  const ImU32 veil = to_imgui(scene.palette->background.with_alpha(0.7f));
  const int rows = static_cast<int>(area.height());
  int from = -1;  // where a faded part begins
  for (int y = 0; y <= rows; ++y) {
    const double low = std::floor(rank_at(static_cast<float>(y))),
                 high = std::max(low + 1, std::ceil(rank_at(static_cast<float>(y) + 1) - 1e-9));
    const auto first = std::lower_bound(selection.ranks.begin(), selection.ranks.end(), low,
                                        [](std::int32_t rank, double of) { return rank < of; });
    const bool lit = y == rows || (first != selection.ranks.end() && *first < high);
    if (!lit && from < 0) from = y;
    if (!lit || from < 0) continue;
    list.AddRectFilled({area.low.x, area.low.y + static_cast<float>(from)},
                       {area.high.x, area.low.y + static_cast<float>(y)}, veil);
    from = -1;
  }
}

}  // namespace pclscope::gui
