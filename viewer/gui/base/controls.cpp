#include "viewer/gui/base/controls.hpp"

#include <algorithm>

#include "viewer/gui/base/canvas.hpp"

namespace pclscope::gui {

ControlRow::ControlRow(const Scene& scene, std::vector<Mark>& marks, std::string prefix, layout::Point at, float right)
    : scene_(scene), marks_(marks), prefix_(std::move(prefix)), x_(at.x), y_(at.y), right_(right) {}

void ControlRow::next_row(float left) {
  x_ = left;
  y_ += line_height() + 4 * scene_.scale;
}

bool ControlRow::button(const char* label, const char* meaning, bool lit) {
  const float wide = text_size(label).x + 2 * ImGui::GetStyle().FramePadding.x;
  if (x_ + wide > right_) return false;
  ImGui::SetCursorScreenPos({x_, y_});
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui(lit ? scene_.palette->text : scene_.palette->faint_text));
  ImGui::PushStyleColor(ImGuiCol_Button, to_imgui(lit ? scene_.palette->grid : scene_.palette->panel));
  const bool pressed = ImGui::SmallButton(label);
  ImGui::PopStyleColor(2);
  marks_.push_back({prefix_ + " " + label, middle_of_item()});
  if (ImGui::IsItemHovered()) tooltip(meaning);
  x_ += wide + 4 * scene_.scale;
  return pressed;
}

bool ControlRow::number(const char* label, const char* meaning, double& value, double least, double most,
                        int characters) {
  const float wide = text_size("0").x * static_cast<float>(characters) + 2 * ImGui::GetStyle().FramePadding.x;
  if (x_ + wide > right_) return false;
  ImGui::SetCursorScreenPos({x_, y_});
  ImGui::SetNextItemWidth(wide);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ImGui::GetStyle().FramePadding.x, 0));
  double typed = value;
  const std::string id = std::string("##") + label;
  const bool entered = ImGui::InputDouble(id.c_str(), &typed, 0, 0, "%.4g", ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PopStyleVar();
  marks_.push_back({prefix_ + " " + label, middle_of_item()});
  if (ImGui::IsItemHovered()) tooltip(meaning);
  x_ += wide + 4 * scene_.scale;
  if (!entered) return false;
  value = typed >= least ? std::min(typed, most) : least;  // what is no number is the least
  return true;
}

void ControlRow::words(std::string_view words, layout::Rgba colour) {
  const float room = right_ - x_;
  if (room <= 0 || words.empty()) return;
  draw_text(*ImGui::GetWindowDrawList(), {x_, y_}, colour, words, room);
  x_ += std::min(room, text_size(words).x) + 8 * scene_.scale;
}

bool typed_here(char character) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput || !ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem)) return false;
  return std::any_of(io.InputQueueCharacters.begin(), io.InputQueueCharacters.end(),
                     [&](ImWchar typed) { return typed == static_cast<ImWchar>(character); });
}

}  // namespace pclscope::gui
