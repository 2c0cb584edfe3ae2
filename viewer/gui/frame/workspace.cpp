#include "viewer/gui/frame/workspace.hpp"

#include <imgui.h>

#include <algorithm>

#include "viewer/gui/base/canvas.hpp"

namespace pclscope::gui {
namespace {

constexpr float title_lines = 1.5f;  // height of a view's title, in lines of text

// As many as rows, or one more.
std::size_t grid_columns(std::size_t cells) {
  std::size_t columns = 1;
  while (columns * columns < cells) ++columns;
  return columns;
}

}  // namespace

Workspace::Workspace(const WorkspaceEntry& entry, std::span<const ViewEntry> views) : entry_(entry) {
  for (const ViewEntry& view : views) {
    if (view.workspace == entry.key) cells_.push_back({view, nullptr, {}});
  }
  // Views of one time axis lie under each other.
  const std::size_t columns = entry.key == WorkspaceKey::calls ? 1 : grid_columns(cells_.size()),
                    rows = (cells_.size() + columns - 1) / columns;
  for (std::size_t i = 1; i <= columns; ++i) columns_.push_back(static_cast<float>(i) / static_cast<float>(columns));
  for (std::size_t i = 1; i <= rows; ++i) rows_.push_back(static_cast<float>(i) / static_cast<float>(rows));
}

bool Workspace::show_alone(std::string_view name) {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (cells_[i].entry.name == name) return alone_ = static_cast<int>(i), true;
  }
  return false;
}

bool Workspace::has(std::string_view name) const {
  return std::any_of(cells_.begin(), cells_.end(), [&](const Cell& cell) { return cell.entry.name == name; });
}

void Workspace::show_next(int by) {
  const int states = static_cast<int>(cells_.size()) + 1;  // the first: all
  alone_ = (alone_ + 1 + by + states) % states - 1;
}

bool Workspace::unsettled() const {
  bool moving = false;
  each_shown([&](const View& view, const layout::Rect&) { moving = moving || view.unsettled(); });
  return moving;
}

bool Workspace::awaits() const {
  bool any = false;
  each_shown([&](const View& view, const layout::Rect&) { any = any || view.awaits(); });
  return any;
}

bool Workspace::wants_graph() const {
  bool any = false;
  each_shown([&](const View& view, const layout::Rect&) { any = any || view.wants_graph(); });
  return any;
}

std::vector<ViewAxis> Workspace::axes() const {
  std::vector<ViewAxis> all;
  each_shown([&](const View& view, const layout::Rect&) {
    for (ViewAxis& axis : view.axes()) all.push_back(std::move(axis));
  });
  return all;
}

void Workspace::each_shown(const std::function<void(const View&, const layout::Rect&)>& visit) const {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (shown(i)) visit(*cells_[i].view, cells_[i].at);
  }
}

void Workspace::draw(const Scene& scene, Selection& selection, layout::Rect area) {
  if (alone_ >= 0) draw_cell(scene, selection, static_cast<std::size_t>(alone_), area);
  else draw_grid(scene, selection, area);
}

void Workspace::draw_cell(const Scene& scene, Selection& selection, std::size_t index, layout::Rect at) {
  Cell& cell = cells_[index];
  if (!cell.view) cell.view = cell.entry.make();
  cell.at = at;
  const float title = ImGui::GetTextLineHeight() * title_lines;
  if (at.width() < 4 || at.height() < title + 4) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  ImGui::SetCursorPos(to_imgui(at.low));
  ImGui::PushID(cell.entry.name);
  ImGui::InvisibleButton("title", {at.width(), title});
  if (ImGui::IsItemHovered()) {
    tooltip("double click: this view alone, and back (key v: the next one alone; 0: all)");
    if (ImGui::IsMouseDoubleClicked(0)) alone_ = alone_ >= 0 ? -1 : static_cast<int>(index);
  }
  const float pad = 6 * scene.scale;
  list.AddRectFilled(to_imgui(at.low), {at.high.x, at.low.y + title}, to_imgui(p.panel));
  draw_text(list, at.low + layout::Point{pad, title * 0.15f}, p.faint_text, cell.view->title(), at.width() - 2 * pad);
  ImGui::SetCursorPos({at.low.x, at.low.y + title});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::BeginChild("view", {at.width(), at.height() - title}, false,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoBackground);
  if (scene.network != nullptr && scene.network->only_traffic() && cell.view->needs_run()) {
    draw_text_centred(*ImGui::GetWindowDrawList(), layout::Rect{{at.low.x, at.low.y + title}, at.high}.middle(),
                      p.faint_text, "there is no run: this window shows traffic alone");
  } else {
    cell.view->draw(scene, selection);
  }
  ImGui::EndChild();
  ImGui::PopStyleVar();
  ImGui::PopID();
}

// Row by row; the last cell reaches to the right edge.
void Workspace::draw_grid(const Scene& scene, Selection& selection, layout::Rect area) {
  const float half = std::max(2.f, 3 * scene.scale) / 2;  // of the gap between cells
  const auto x_of = [&](std::size_t column) { return column == 0 ? 0 : area.width() * columns_[column - 1]; };
  const auto y_of = [&](std::size_t row) { return area.low.y + (row == 0 ? 0 : area.height() * rows_[row - 1]); };
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const std::size_t column = i % columns_.size(), row = i / columns_.size();
    const std::size_t end = i + 1 == cells_.size() ? columns_.size() : column + 1;
    const bool right = end == columns_.size(), lowest = row + 1 == rows_.size();
    draw_cell(scene, selection, i,
              {{column == 0 ? 0 : x_of(column) + half, row == 0 ? area.low.y : y_of(row) + half},
               {right ? area.high.x : x_of(end) - half, lowest ? area.high.y : y_of(row + 1) - half}});
    if (!right)
      list.AddRectFilled({x_of(end) - half, y_of(row)}, {x_of(end) + half, lowest ? area.high.y : y_of(row + 1)},
                         to_imgui(scene.palette->panel));
  }
  for (std::size_t row = 1; row < rows_.size(); ++row)
    list.AddRectFilled({0, y_of(row) - half}, {area.high.x, y_of(row) + half}, to_imgui(scene.palette->panel));
  const float grip = 8 * scene.scale;
  for (std::size_t i = 1; i < columns_.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    draw_splitter("split x", {{x_of(i) - grip / 2, area.low.y}, {x_of(i) + grip / 2, area.high.y}}, columns_, i,
                  area.width(), true);
    ImGui::PopID();
  }
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    draw_splitter("split y", {{0, y_of(i) - grip / 2}, {area.high.x, y_of(i) + grip / 2}}, rows_, i, area.height(),
                  false);
    ImGui::PopID();
  }
}

// Between places i - 1 and i of `ends`, which are parts of `length`.
void Workspace::draw_splitter(const char* id, layout::Rect grip, std::vector<float>& ends, std::size_t i, float length,
                              bool across) {
  if (grip.width() < 1 || grip.height() < 1) return;
  ImGui::SetCursorPos(to_imgui(grip.low));
  ImGui::InvisibleButton(id, {grip.width(), grip.height()});
  if (ImGui::IsItemHovered() || ImGui::IsItemActive())
    ImGui::SetMouseCursor(across ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
  if (!ImGui::IsItemActive()) return;
  const float moved = across ? ImGui::GetIO().MouseDelta.x : ImGui::GetIO().MouseDelta.y;
  const float low = (i > 1 ? ends[i - 2] : 0) + 0.1f / static_cast<float>(ends.size() - 1);
  const float high = ends[i] - 0.1f / static_cast<float>(ends.size() - 1);
  ends[i - 1] = std::clamp(ends[i - 1] + moved / length, std::min(low, high), high);
}

}  // namespace pclscope::gui
