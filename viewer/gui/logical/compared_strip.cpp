#include "viewer/gui/logical/compared_strip.hpp"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::ComparedRuns;
using layout::LogicalSight;

// Of a dump its file.
std::string short_name(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string::npos || slash + 1 == name.size() ? name : name.substr(slash + 1);
}

std::string period_words(const SelectedPeriod& period) {
  return text::format_moment(period.begin_s) + " to " + text::format_moment(period.end_s);
}

}  // namespace

ComparedNames compared_names(const Scene& scene, const Selection& selection) {
  if (scene.compared != nullptr)
    return {short_name(scene.connection.name), short_name(scene.compared->connection.name)};
  ComparedNames names;
  if (selection.pinned) names.first = period_words(*selection.pinned);
  if (selection.period) names.second = period_words(*selection.period);
  return names;
}

std::string more_or_less(double seconds) {
  if (std::abs(seconds) < 0.5e-9) return "the same";
  return text::format_seconds(std::abs(seconds)) + (seconds > 0 ? " more" : " less");
}

std::string compared_words(const ComparedRuns& runs, const ComparedNames& names, const LogicalSight& sight) {
  std::string words = "above " + names.first + ", below " + names.second;
  words += runs.by_phase ? ", phase by phase" : ", from step 0 on (their phases differ)";
  const layout::ComparedTimes times = layout::compared_times(runs, sight.step0, sight.step1);
  if (times.first_s && times.second_s)
    words += "; phases in sight: " + text::format_seconds(*times.first_s) + ", then " +
             text::format_seconds(*times.second_s) + ": " + more_or_less(*times.second_s - *times.first_s);
  if (times.phase && times.phase_by_s != 0)
    words +=
        "; most in phase " + std::to_string(runs.first.numbers[*times.phase]) + ": " + more_or_less(times.phase_by_s);
  return words;
}

void draw_compared_strip(const Scene& scene, const ComparedRuns& runs, const LogicalSight& sight,
                         const layout::Rect& area, std::vector<Mark>& marks) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  const auto first = static_cast<std::uint32_t>(std::max(0.0, std::floor(sight.step0)));
  const auto end = static_cast<std::uint32_t>(std::clamp(std::ceil(sight.step1), 0.0, static_cast<double>(runs.steps)));
  double most = 0;
  std::size_t differ = 0;
  for (std::uint32_t step = first; step < end; ++step) {
    const double by = layout::behind_s(runs, step).value_or(0);
    most = std::max(most, std::abs(by));
    differ += by != 0;
  }
  const float middle = std::round(area.middle().y), half = area.height() / 2 - 1;
  list.AddRectFilled(to_imgui(area.low), to_imgui(area.high), to_imgui(p.panel));
  // A pixel that stands for several steps has the largest difference.
  float x = area.low.x - 1;
  double held = 0;
  const auto bar = [&](float low, float high, double by) {
    const float size = most > 0 ? static_cast<float>(by / most) * half : 0;
    list.AddRectFilled({low, std::min(middle, middle - size)}, {high, std::max(middle, middle - size)},
                       to_imgui(by > 0 ? p.predecessor : p.successor));
  };
  for (std::uint32_t step = first; step < end; ++step) {
    const double by = layout::behind_s(runs, step).value_or(0);
    const float low = std::max(area.low.x, std::floor(area.low.x + sight.x(step)));
    const float high = std::min(area.high.x, std::max(low + 1, std::floor(area.low.x + sight.x(step + 1.0))));
    if (low > x) held = 0;
    x = low;
    if (std::abs(by) <= std::abs(held)) continue;
    held = by;
    bar(low, high, by);
  }
  list.AddLine({area.low.x, middle}, {area.high.x, middle}, to_imgui(p.grid));
  const std::string words =
      most > 0 ? "up: below is through a step later, down: sooner; at most " + text::format_seconds(most)
               : "both are through each step at the same time";
  const layout::Point size = text_size(words);
  if (size.x + 8 < area.width() && size.y <= area.height()) {
    list.AddRectFilled({area.low.x, area.low.y}, {area.low.x + size.x + 8, area.low.y + size.y},
                       to_imgui(p.panel.with_alpha(0.8f)));
    draw_text(list, {area.low.x + 4, area.low.y}, p.faint_text, words);
  }
  marks.push_back({"differing steps " + std::to_string(differ), area.middle()});
}

}  // namespace pclscope::gui
