// The upper part of the evolution view: one region's ratio over time with its average, and what all parts draw behind
// theirs.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/evolution/evolution_frame.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/period_text.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;
using layout::Rect;

constexpr float band_share = 0.14f, line_width = 1.5f;
constexpr double least_log = 0.5;

// Ratios from bottom to top: linear from 0, logarithmic when the highest is far up.
struct RatioScale {
  double top = 2;
  bool log = false;
  float low_y = 0, high_y = 0;
  float y(double ratio) const {
    const double share =
        log ? std::log(std::max(ratio, least_log) / least_log) / std::log(top / least_log) : ratio / top;
    return low_y + (high_y - low_y) * static_cast<float>(std::clamp(share, 0.0, 1.0));
  }
  std::vector<double> labels() const {
    if (!log) return ticks(0, top, 3);
    std::vector<double> found;
    for (double t = 1; t <= top && found.size() < 40; t *= 10) found.push_back(t);
    return found;
  }
};

RatioScale scale_of(const layout::EvolutionPicture& picture, Rect area) {
  RatioScale scale;
  scale.top = std::clamp(1.15 * std::max(static_cast<double>(picture.highest), picture.average), 1.5, 1e31);
  scale.log = static_cast<double>(picture.highest) > log_ratios_above;
  scale.low_y = area.high.y;
  scale.high_y = area.low.y;
  return scale;
}

void draw_line(const EvolutionFrame& frame, ImDrawList& list, const RatioScale& scale) {
  const ImU32 colour = to_imgui(frame.palette().region(frame.picture.region.value_or(-1)));
  std::vector<ImVec2> line;
  const auto flush = [&] {
    if (line.size() == 1) list.AddCircleFilled(line.front(), line_width * frame.scene.scale, colour, 8);
    else
      list.AddPolyline(line.data(), static_cast<int>(line.size()), colour, ImDrawFlags_None,
                       line_width * frame.scene.scale);
    line.clear();
  };
  for (const layout::CurvePoint& p : frame.picture.curve) {
    if (p.apart && !line.empty()) flush();
    line.push_back({frame.sight.x_of_place(p.place), scale.y(static_cast<double>(p.ratio))});
  }
  if (!line.empty()) flush();
}

void draw_average(const EvolutionFrame& frame, ImDrawList& list, const RatioScale& scale) {
  const layout::Palette& palette = frame.palette();
  const float y = scale.y(frame.picture.average), dash = frame.points(5);
  const int dashes = static_cast<int>(std::min(frame.sight.width() / (2 * dash), 300.f));
  const ImU32 colour = to_imgui(palette.text.with_alpha(0.75f));
  for (int i = 0; i <= dashes; ++i) {
    const float x = frame.sight.left() + 2 * dash * static_cast<float>(i);
    list.AddRectFilled({x, y}, {std::min(x + dash, frame.sight.right()), y + std::max(1.f, frame.scene.scale)}, colour);
  }
  const std::string words = std::string("average ").append(text::format_times(frame.picture.average));
  const Point size = text_size(words);
  if (size.x > frame.sight.width() / 2) return;
  const Point at{frame.sight.right() - size.x - frame.points(4),
                 y - size.y - 2 > scale.high_y ? y - size.y - 2 : y + 3};
  list.AddRectFilled({at.x - 2, at.y}, {at.x + size.x + 2, at.y + size.y},
                     to_imgui(palette.background.with_alpha(0.75f)));
  draw_text(list, at, palette.text, words);
}

void draw_ratio_labels(const EvolutionFrame& frame, ImDrawList& list, const RatioScale& scale) {
  const layout::Palette& palette = frame.palette();
  float last = scale.low_y + text_size("0").y;
  for (const double t : scale.labels()) {
    const float y = scale.y(t);
    list.AddRectFilled({frame.sight.left(), y}, {frame.sight.right(), y + 1}, to_imgui(palette.grid.with_alpha(0.7f)));
    char words[32];
    std::snprintf(words, sizeof(words), "%.4gx", t);
    const Point size = text_size(words);
    if (last - y < size.y || y - size.y / 2 < scale.high_y - size.y) continue;
    last = y;
    draw_text(list, {frame.sight.left() - size.x - frame.points(4), y - size.y / 2}, palette.faint_text, words);
  }
}

// Where the worst growth or steady period of the curve can be clicked.
void mark_worst_period(const EvolutionFrame& frame, Rect area) {
  const Period* worst = nullptr;
  for (const Period& p : frame.picture.periods) {
    if (p.kind != PeriodKind::other && (!worst || p.level() >= worst->level())) worst = &p;
  }
  if (!worst) return;
  const float x = (frame.sight.x(worst->begin_s) + frame.sight.x(worst->end_s)) / 2;
  if (x >= frame.sight.left() && x < frame.sight.right()) frame.marks.push_back({"worst period", {x, area.middle().y}});
}

// The word of a period in its band, if there is room.
void draw_period_word(const EvolutionFrame& frame, ImDrawList& list, const Period& p, float top) {
  const std::string words = views::period_name(p.kind).append(
      p.kind == PeriodKind::steady ? std::string(" ").append(text::format_times(p.level())) : std::string());
  const float left = std::max(frame.sight.x(p.begin_s), frame.sight.left()),
              right = std::min(frame.sight.x(p.end_s), frame.sight.right());
  const float pad = frame.points(4);
  for (const std::string& word : {words, views::period_name(p.kind)}) {
    if (text_size(word).x + 2 * pad > right - left) continue;
    return draw_text(list, {left + pad, top}, frame.palette().text, word);
  }
}

std::string title_words(const EvolutionFrame& frame) {
  std::string words = std::string("region ").append(std::to_string(*frame.picture.region)).append(", typical ratio L");
  return words.append(static_cast<double>(frame.picture.highest) > log_ratios_above ? " (logarithmic)" : "");
}

void react(const EvolutionFrame& frame, Selection& selection) {
  if (!ImGui::IsItemHovered()) return;
  const float x = ImGui::GetIO().MousePos.x;
  const double second = frame.sight.second(x);
  const auto& periods = frame.picture.periods;
  const auto found = std::find_if(periods.begin(), periods.end(),
                                  [&](const Period& p) { return p.begin_s <= second && second < p.end_s; });
  std::string words = std::string("region ")
                          .append(std::to_string(*frame.picture.region))
                          .append(" at ")
                          .append(moment_words(frame.scene, second));
  const layout::CurvePoint* nearest = nullptr;
  for (const layout::CurvePoint& p : frame.picture.curve) {
    if (!nearest ||
        std::fabs(frame.sight.x_of_place(p.place) - x) < std::fabs(frame.sight.x_of_place(nearest->place) - x))
      nearest = &p;
  }
  if (nearest && std::fabs(frame.sight.x_of_place(nearest->place) - x) < frame.points(6))
    words.append(": ratio ").append(text::format_ratio(static_cast<double>(nearest->ratio)));
  words.append("\naverage over all its messages ").append(text::format_ratio(frame.picture.average));
  if (found != periods.end())
    words.append("\n\n").append(period_words(frame.scene, *found)).append("\nclick: select this period");
  tooltip(words);
  if (!ImGui::IsItemClicked()) return;
  selection.region = *frame.picture.region;
  if (found != periods.end()) selection.period = SelectedPeriod{found->begin_s, found->end_s};
}

}  // namespace

void draw_period(const EvolutionFrame& frame, ImDrawList& list, const Period& p, float top, float bottom) {
  const float left = frame.sight.x(p.begin_s), right = std::max(frame.sight.x(p.end_s), left + 1);
  const ImU32 colour = to_imgui(frame.palette().text.with_alpha(band_share));
  if (p.kind == PeriodKind::growth) list.AddTriangleFilled({left, bottom}, {right, bottom}, {right, top}, colour);
  else if (p.kind == PeriodKind::steady) list.AddRectFilled({left, top}, {right, bottom}, colour);
}

void shade_sections(const EvolutionFrame& frame, ImDrawList& list, float top, float bottom) {
  const ImU32 colour = to_imgui(frame.palette().grid.with_alpha(0.35f));
  for (const auto& s : frame.picture.axis.sections()) {
    if (s.compressed)
      list.AddRectFilled({frame.sight.x_of_place(s.low), top}, {frame.sight.x_of_place(s.high), bottom}, colour);
  }
}

void shade_selected(const EvolutionFrame& frame, ImDrawList& list, const Selection& selection, float top,
                    float bottom) {
  if (!selection.period) return;
  const float left = frame.sight.x(selection.period->begin_s),
              right = std::max(frame.sight.x(selection.period->end_s), left + 1);
  const layout::Palette& palette = frame.palette();
  list.AddRectFilled({left, top}, {right, bottom}, to_imgui(palette.selection.with_alpha(0.06f)));
  for (const float x : {left, right})
    list.AddRectFilled({x - 0.5f, top}, {x + 0.5f, bottom}, to_imgui(palette.selection.with_alpha(0.7f)));
}

void draw_evolution_curve(const EvolutionFrame& frame, Selection& selection, Rect area) {
  if (area.height() < frame.points(24) || !frame.picture.region) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos({frame.sight.left(), area.low.y});
  ImGui::InvisibleButton("curve", {frame.sight.width(), area.height()});
  const float line = text_size("0").y;
  // The names of periods have a line of their own, above the curve.
  const bool named = area.height() > 5 * line;
  const RatioScale scale = scale_of(frame.picture, {{area.low.x, area.low.y + (named ? 2 : 1) * line}, area.high});
  list.PushClipRect({frame.sight.left(), area.low.y}, {frame.sight.right(), area.high.y}, true);
  shade_sections(frame, list, area.low.y, area.high.y);
  for (const Period& p : frame.picture.periods) draw_period(frame, list, p, area.low.y + line, area.high.y);
  list.PopClipRect();
  draw_ratio_labels(frame, list, scale);
  list.PushClipRect({frame.sight.left(), area.low.y}, {frame.sight.right(), area.high.y + 1}, true);
  draw_line(frame, list, scale);
  draw_average(frame, list, scale);
  draw_text(list, {frame.sight.left() + frame.points(4), area.low.y}, frame.palette().text, title_words(frame),
            frame.sight.width());
  for (const Period& p : frame.picture.periods) {
    if (named && p.kind != PeriodKind::other) draw_period_word(frame, list, p, area.low.y + line + 1);
  }
  shade_selected(frame, list, selection, area.low.y, area.high.y);
  list.PopClipRect();
  mark_worst_period(frame, area);
  react(frame, selection);
}

// Two strokes through the axis, and how long the section is,
// where no tick's words are in the way.
static void draw_breaks(const EvolutionFrame& frame, ImDrawList& list, float y,
                        const std::vector<std::pair<float, float>>& taken) {
  const layout::TimeSight& sight = frame.sight;
  const ImU32 colour = to_imgui(frame.palette().faint_text);
  const float half = frame.points(4), apart = frame.points(2);
  for (const auto& s : frame.picture.axis.sections()) {
    const float left = sight.x_of_place(s.low), right = sight.x_of_place(s.high), middle = (left + right) / 2;
    if (!s.compressed || middle < sight.left() || middle > sight.right()) continue;
    for (const float x : {middle - apart, middle + apart}) {
      list.AddLine({x - half / 2, y + half}, {x + half / 2, y - half}, colour, frame.scene.scale);
    }
    const std::string words = std::string("for ").append(text::format_seconds(s.end_s - s.begin_s));
    const Point size = text_size(words);
    const float begin = middle - size.x / 2 - apart, end = middle + size.x / 2 + apart;
    const bool free =
        std::none_of(taken.begin(), taken.end(), [&](const auto& t) { return t.first < end && t.second > begin; });
    if (size.x >= right - left || !free) continue;
    draw_text_centred(list, {middle, y + half + size.y / 2}, frame.palette().faint_text.with_alpha(0.8f), words);
  }
}

void draw_time_labels(const EvolutionFrame& frame, ImDrawList& list, Rect area) {
  const layout::Palette& palette = frame.palette();
  const layout::TimeSight& sight = frame.sight;
  list.AddRectFilled({sight.left(), area.low.y}, {sight.right(), area.low.y + 1}, to_imgui(palette.grid));
  const auto ticks = layout::time_ticks(frame.picture.axis, sight.low(), sight.high(),
                                        sight.place_per_pixel() * static_cast<double>(frame.points(70)));
  double step = 1e9;
  for (std::size_t i = 1; i < ticks.size(); ++i) step = std::min(step, ticks[i] - ticks[i - 1]);
  std::vector<std::pair<float, float>> taken;
  for (const double t : ticks) {
    const float x = sight.x(t);
    const std::string words = text::format_tick(t, step);
    const float width = text_size(words).x,
                left = std::clamp(x - width / 2, sight.left(), std::max(sight.left(), sight.right() - width));
    taken.emplace_back(left, left + width);
    list.AddRectFilled({x, area.low.y}, {x + 1, area.low.y + frame.points(4)}, to_imgui(palette.faint_text));
    draw_text(list, {left, area.low.y + frame.points(4)}, palette.faint_text, words);
  }
  draw_breaks(frame, list, area.low.y, taken);
}

}  // namespace pclscope::gui
