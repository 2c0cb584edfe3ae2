// What the window says of itself: keys, and the hint on the first run.
#include <imgui.h>

#include <algorithm>

#include "viewer/gui/frame/app.hpp"

namespace pclscope::gui {
namespace {

constexpr const char* key_lines[][2] = {
    {"click", "select a region, a rank, a finding, a period: all views follow"},
    {"double click", "open a region, fold or unfold a node, show a view alone"},
    {"wheel, right drag", "zoom and move; Home: all of it again"},
    {"shift", "a ruler at the mouse, across all views of that axis; dragging measures"},
    {"shift + drag", "lasso ranks (spatial view), list calls (call view)"},
    {"1 2 3 4", "workspace: Latency, Time, Calls, Network (those that have views)"},
    {"v, V, 0", "the next or previous view alone, all again"},
    {"Ctrl-F, /", "find a rank, a region, a function, file:line"},
    {"Ctrl-C", "copy what is selected, as a line of text"},
    {"Alt + left, right", "back and forward through what was selected"},
    {"space", "pause; data is still collected"},
    {"c", "keep the selected period to compare the next one with (logical timeline), again: no more"},
    {"i", "details: connection, clocks, what ranks are doing"},
    {"r, R", "turn the region graph"},
    {"p, l; f, g", "over the ranking: the first percent alone, a log axis; over the matrix: folding, the lens"},
    {"t", "dark or light"},
    {"Esc", "close this; all views; nothing selected"},
    {"q", "quit"},
};

}  // namespace

void App::draw_details(float width, float height) {
  ImGui::SetNextWindowPos({width / 2, height / 2}, ImGuiCond_Appearing, {0.5f, 0.5f});
  ImGui::SetNextWindowSize({width * 0.6f, height * 0.7f}, ImGuiCond_Appearing);
  if (ImGui::Begin("details", &details_, ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings)) {
    status_panel_.draw(scene_, selection_);
  }
  ImGui::End();
}

void App::draw_help(float width, float height) {
  ImGui::SetNextWindowPos({width / 2, height / 2}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::Begin("keys", &help_,
               ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings);
  if (ImGui::BeginTable("keys", 2)) {
    for (const auto& line : key_lines) {
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(line[0]);
      ImGui::TableNextColumn();
      ImGui::TextDisabled("%s", line[1]);
    }
    ImGui::EndTable();
  }
  ImGui::TextDisabled("Hover anything to learn what its colour and size mean.");
  ImGui::End();
}

// What Ctrl-C has put into the clipboard.
void App::draw_copied(float width, float height) {
  ImGui::SetNextWindowPos({width / 2, height - 12 * scene_.scale}, ImGuiCond_Always, {0.5f, 1});
  ImGui::Begin("copied", nullptr,
               ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoInputs);
  ImGui::PushTextWrapPos(std::min(width - 40 * scene_.scale, 60 * ImGui::GetFontSize()));
  const std::string words = copied_.empty() ? "nothing is selected: nothing was copied" : "copied: " + copied_;
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopTextWrapPos();
  ImGui::End();
}

void App::draw_hint(float width, float height) {
  ImGui::SetNextWindowPos({width / 2, height - 12 * scene_.scale}, ImGuiCond_Always, {0.5f, 1});
  ImGui::Begin("hint", nullptr,
               ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PushTextWrapPos(std::min(width - 40 * scene_.scale, 60 * ImGui::GetFontSize()));
  ImGui::TextUnformatted(
      "Red is late. Click a region (top left) or a finding (bottom right): all views follow. Drag the slider to pick "
      "a time.");
  ImGui::PopTextWrapPos();
  ImGui::TextDisabled("? shows the keys, hovering explains; any key closes this");
  ImGui::SameLine();
  if (ImGui::SmallButton("ok")) hint_ = false;
  ImGui::End();
}

}  // namespace pclscope::gui
