// The field that finds ranks, regions, functions and lines (Ctrl-F, /).
#include <imgui.h>

#include <algorithm>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/frame/app.hpp"
#include "viewer/text/printable.hpp"

namespace pclscope::gui {

void App::find() {
  search_.open = true;
  search_.fresh = true;
}

void App::draw_search(float width, float top) {
  if (!search_.open || !scene_.snapshot) return;
  const float s = scene_.scale, wide = std::min(width - 20 * s, 46 * ImGui::GetFontSize());
  ImGui::SetNextWindowPos({width / 2, top + 10 * s}, ImGuiCond_Always, {0.5f, 0});
  ImGui::SetNextWindowSize({std::max(wide, 1.f), 0});
  ImGui::Begin("search", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_AlwaysAutoResize);
  if (search_.fresh) ImGui::SetKeyboardFocusHere();
  search_.fresh = false;
  ImGui::SetNextItemWidth(-1);
  const bool entered = ImGui::InputTextWithHint("##words", "rank, region, function, file.c:42", search_.words.data(),
                                                search_.words.size(), ImGuiInputTextFlags_EnterReturnsTrue);
  const std::string words = search_.words.data();
  if (words != search_.found_for || search_.found_in != scene_.snapshot) {
    search_.chosen = words == search_.found_for ? search_.chosen : 0;
    search_.found_for = words;
    search_.found_in = scene_.snapshot;
    search_.hits = search(*scene_.snapshot, words, selection_);
  }
  const auto& hits = search_.hits;
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key)); };
  if (pressed(ImGuiKey_DownArrow)) ++search_.chosen;
  if (pressed(ImGuiKey_UpArrow) && search_.chosen > 0) --search_.chosen;
  search_.chosen = hits.empty() ? 0 : std::min(search_.chosen, hits.size() - 1);
  const SearchHit* taken = entered && !hits.empty() ? &hits[search_.chosen] : nullptr;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::Selectable(hits[i].text.c_str(), i == search_.chosen)) taken = &hits[i];
    ImGui::PopID();
    search_.marks.resize(i + 1);
    search_.marks[i] = {"hit " + std::to_string(i) + " " + hits[i].text, middle_of_item()};
    if (hits[i].why.empty()) continue;
    ImGui::SameLine();
    ImGui::TextDisabled("  %s", hits[i].why.c_str());
  }
  search_.marks.resize(hits.size());
  if (!words.empty() && hits.empty()) ImGui::TextDisabled("nothing of that name");
  if (words.empty()) ImGui::TextDisabled("Enter selects, Esc closes");
  ImGui::End();
  if (taken == nullptr || !taken->selects) return;
  selection_ = taken->selection;
  chosen_ = true;
  search_.open = false;
}

}  // namespace pclscope::gui
