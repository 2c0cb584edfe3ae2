// Why messages are late (PCLVis, attribution view): the measures over time on the left, the findings on the right;
// above each other when it is narrow.
#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/gui/causes/attribution_findings.hpp"
#include "viewer/gui/causes/attribution_plots.hpp"

namespace pclscope::gui {
namespace {

using layout::Rect;

constexpr float narrow_points = 600, margin_points = 6;

class AttributionView final : public View {
 public:
  const char* title() const override { return "why: causes"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override;
  std::vector<ViewAxis> axes() const override { return plots_.axes(); }
  bool unsettled() const override { return plots_.unsettled() || findings_.unsettled(); }

 private:
  AttributionPlots plots_;
  FindingsList findings_;
};

void AttributionView::draw(const Scene& scene, Selection& selection) {
  const layout::Point low = to_point(ImGui::GetCursorScreenPos()), size = to_point(ImGui::GetContentRegionAvail());
  const float margin = std::min({margin_points * scene.scale, size.x / 4, size.y / 4});
  if (size.x < 1 || size.y < 1) return;
  const Rect inside{low + layout::Point{margin, margin}, low + size - layout::Point{margin, margin}};
  Rect plots = inside, findings = inside;
  if (inside.width() >= narrow_points * scene.scale) {
    plots.high.x = inside.low.x + inside.width() * 0.56f;
    findings.low.x = plots.high.x + 2 * margin;
  } else {
    plots.high.y = inside.low.y + inside.height() * 0.58f;
    findings.low.y = plots.high.y + margin;
  }
  ImGui::PushID(this);
  findings_.draw(scene, selection, findings);
  plots_.draw(scene, selection, plots, findings_.hinted());
  ImGui::PopID();
}

std::vector<Mark> AttributionView::marks() const {
  std::vector<Mark> all = plots_.marks();
  const std::vector<Mark> findings = findings_.marks();
  all.insert(all.end(), findings.begin(), findings.end());
  return all;
}

}  // namespace

std::unique_ptr<View> make_attribution_view() { return std::make_unique<AttributionView>(); }

}  // namespace pclscope::gui
