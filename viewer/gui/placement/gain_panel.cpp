#include "viewer/gui/placement/gain_panel.hpp"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"

namespace pclscope::gui {

void GainPanel::follow(const Scene& scene, const session::NetworkCasePtr& placed) {
  placed_ = placed;
  const GainQuestion wanted{placed, run_.calls()};
  if (placed && wanted.calls && !(wanted == asked_)) {
    if (!replayer_)
      replayer_ = std::make_unique<layout::Latest<GainQuestion, GainAnswer>>(
          [](const GainQuestion& question, const auto&) { return replay_placement(question); }, scene.wake);
    replayer_->ask(asked_ = wanted);
  }
  gain_ = replayer_ ? replayer_->answer() : nullptr;
  if (gain_ && gain_->placed != placed) gain_ = nullptr;
}

std::vector<std::string> GainPanel::lines() const {
  if (!placed_ || !placed_->of_run) return {};
  if (gain_) return session::lines_of(gain_->gain);
  if (run_.calls()) return {"what it brings: the run is being replayed"};
  return run_.why_not().empty() ? std::vector<std::string>() : std::vector{"what it brings: " + run_.why_not()};
}

float GainPanel::draw(const Scene& scene, layout::Point beside, layout::Point below, float right,
                      std::vector<Mark>& marks) const {
  const std::vector<std::string> lines = this->lines();
  if (lines.empty()) return below.y;
  const bool fits = beside.x + text_size(lines[0]).x <= right;
  layout::Point at = fits ? beside : below;
  if (gain_ && gain_->gain.why_not.empty())
    marks.push_back({"placement gain us " + std::to_string(std::llround(1e6 * gain_->gain.what_if.gain_s())), at});
  for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), fits ? 5 : 2); ++i, at.y += line_height())
    draw_text(*ImGui::GetWindowDrawList(), at, i == 0 ? scene.palette->text : scene.palette->faint_text, lines[i],
              right - at.x);
  return fits ? below.y : at.y;
}

}  // namespace pclscope::gui
