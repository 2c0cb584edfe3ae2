#include "viewer/gui/calls/single_list.hpp"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/selected_call.hpp"
#include "viewer/gui/calls/call_parts.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;
using layout::Rect;

constexpr std::size_t most_listed = 64;
constexpr float most_lines = 14, most_share = 0.45f;

std::string seconds_of(std::uint64_t ns) { return text::format_seconds(static_cast<double>(ns) * 1e-9); }

// "began from 1.2 s to 1.3 s and took 1.00 ms to 20.0 ms"
std::string part_words(const session::CallPart& part) {
  const layout::CallBox box = layout::box_of(part);
  return std::string(part.by_end ? "ended" : "began") + " from " + text::format_seconds(box.time.begin_s) + " to " +
         text::format_seconds(box.time.end_s) + " and took " + seconds_of(part.least_ns) + " to " +
         seconds_of(part.below_ns);
}

}  // namespace

float SingleList::height(float of, float scale) {
  return std::min(most_lines * line_height() + 8 * scale, of * most_share);
}

void SingleList::draw(const Scene& scene, Selection& selection, Rect area, CallQuestionOfPart question,
                      const views::Sites& sites, std::vector<Mark>& marks) {
  ImGui::GetWindowDrawList()->AddRectFilled(to_imgui(area.low), to_imgui(area.high), to_imgui(scene.palette->panel));
  question.most = most_listed;
  search_.ask(scene, std::move(question));
  if (auto answer = search_.answer()) shown_ = std::move(answer);
  if (!shown_) {
    draw_text(*ImGui::GetWindowDrawList(), area.low + Point{8 * scene.scale, 4 * scene.scale},
              scene.palette->faint_text, "looking calls up", area.width());
    return;
  }
  draw_head(scene, area, *shown_, sites, marks);
  if (is_open()) draw_rows(scene, selection, area, *shown_, sites, marks);
}

// How many there are of which part; who and where most of their time was.
void SingleList::draw_head(const Scene& scene, Rect area, const CallsOfPart& calls, const views::Sites& sites,
                           std::vector<Mark>& marks) {
  const float s = scene.scale, top = area.low.y + 3 * s;
  float right = area.high.x - 6 * s;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (call_button(scene, "close", "close list", false, right, top, marks, "no rectangle (also: a click with shift)"))
    return close();
  const float left = area.low.x + 8 * s, room = std::max(1.f, right - left - 8 * s);
  const std::string words = stored_words(scene, calls) + (calls.of.run ? " that " : "; ") + part_words(calls.of.part) +
                            (calls.found.longest.empty() ? "" : "; longest first");
  draw_text(list, {left, top}, scene.palette->text, words, room);
  marks.push_back({"listed " + std::to_string(calls.found.stored) + " of " + std::to_string(calls.counted),
                   {left + 4 * s, top + 4 * s}});
  if (calls.found.longest.empty()) return;
  std::string most = "most time: ";
  const auto add = [&](const std::string& name, const session::FoundCalls::Sum& sum, bool first) {
    most += (first ? "" : ", ") + name + " (" + text::format_count(sum.calls) +
            (sum.calls == 1 ? " call, " : " calls, ") + seconds_of(sum.ns) + ")";
  };
  for (std::size_t i = 0; i < calls.found.ranks.size(); ++i)
    add("rank " + std::to_string(calls.found.ranks[i].of), calls.found.ranks[i], i == 0);
  most += "; at ";
  for (std::size_t i = 0; i < calls.found.sites.size(); ++i)
    add(sites.brief(calls.found.sites[i].of), calls.found.sites[i], i == 0);
  draw_text(list, {left, top + line_height()}, scene.palette->faint_text, most, area.high.x - left - 8 * s);
}

void SingleList::draw_rows(const Scene& scene, Selection& selection, Rect area, const CallsOfPart& calls,
                           const views::Sites& sites, std::vector<Mark>& marks) {
  const float s = scene.scale, line = line_height(), left = area.low.x + 8 * s;
  const float top = area.low.y + 2 * line + 6 * s;
  const auto fit = static_cast<std::size_t>(std::max(0.f, std::floor((area.high.y - top) / line)));
  const std::size_t rows = std::min(fit, calls.found.longest.size());
  std::vector<std::array<std::string, 5>> cells;
  std::array<float, 5> wide{};
  for (std::size_t i = 0; i < rows; ++i) {
    CallCells c = cells_of(calls.found.longest[i], sites);
    cells.push_back(
        {std::move(c.rank), std::move(c.function), std::move(c.took), std::move(c.from), std::move(c.where)});
    for (std::size_t k = 0; k < wide.size(); ++k) wide[k] = std::max(wide[k], text_size(cells.back()[k]).x + 14 * s);
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const SelectedCall* selected = selected_call(selection);
  for (std::size_t i = 0; i < rows; ++i) {
    const float y = top + static_cast<float>(i) * line;
    const SelectedCall call = selected_of(calls.found.longest[i]);
    ImGui::SetCursorScreenPos({area.low.x, y});
    ImGui::PushID(static_cast<int>(i));
    const bool clicked = ImGui::InvisibleButton("call", {std::max(1.f, area.width()), line});
    ImGui::PopID();
    const bool hovered = ImGui::IsItemHovered(), is_it = selected != nullptr && *selected == call;
    if (hovered || is_it)
      list.AddRectFilled({area.low.x + 2 * s, y}, {area.high.x - 2 * s, y + line},
                         to_imgui(is_it ? scene.palette->selection.with_alpha(0.3f) : scene.palette->grid), 3 * s);
    float x = left;
    for (std::size_t k = 0; k < wide.size(); ++k) {
      const bool number = k == 2 || k == 3;  // to the right
      const float at = number ? x + wide[k] - 14 * s - text_size(cells[i][k]).x : x;
      if (at < area.high.x - 8 * s)
        draw_text(list, {at, y + line * 0.08f}, k == 4 ? scene.palette->faint_text : scene.palette->text, cells[i][k],
                  area.high.x - at - 8 * s);
      x += wide[k];
    }
    if (hovered) {
      std::string words = call_line(call, sites);
      for (const std::string& frame : call_path(call.site, sites)) words += "\n  " + frame;
      tooltip(words + "\nclick: selects it everywhere");
    }
    if (i < 32) marks.push_back({"call " + std::to_string(i + 1), {left + 4 * s, y + line / 2}});
    if (clicked && scene.snapshot) select_call(call, *scene.snapshot, selection);
  }
}

}  // namespace pclscope::gui
