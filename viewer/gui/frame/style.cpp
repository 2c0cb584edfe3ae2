#include "viewer/gui/frame/style.hpp"

#include <imgui.h>
#include <unistd.h>

#include <cmath>

#include "viewer/gui/base/canvas.hpp"

namespace pclscope::gui {
namespace {

constexpr const char* font_files[] = {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
                                      "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
                                      "/usr/share/fonts/dejavu/DejaVuSans.ttf", "/usr/share/fonts/TTF/DejaVuSans.ttf",
                                      "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf"};
constexpr float points = 13;

ImVec4 colour(layout::Rgba c, float alpha = 1) { return ImGui::ColorConvertU32ToFloat4(to_imgui(c.with_alpha(alpha))); }

}  // namespace

void load_font(float scale) {
  ImFontAtlas* fonts = ImGui::GetIO().Fonts;
  fonts->Clear();
  const float pixels = std::round(points * scale);
  for (const char* file : font_files) {
    if (::access(file, R_OK) == 0 && fonts->AddFontFromFileTTF(file, pixels)) return;
  }
  ImFontConfig own;
  own.SizePixels = pixels;
  fonts->AddFontDefault(&own);
}

void apply_style(const layout::Palette& p, float scale) {
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  if (p.theme == layout::Theme::dark) ImGui::StyleColorsDark();
  else ImGui::StyleColorsLight();
  style.WindowRounding = style.ChildRounding = style.FrameRounding = style.GrabRounding = 2;
  style.WindowBorderSize = style.ChildBorderSize = 0;
  style.Colors[ImGuiCol_WindowBg] = colour(p.panel);
  style.Colors[ImGuiCol_ChildBg] =
      colour(p.background, 0);  // nothing is filled twice: software renderers pay per pixel
  style.Colors[ImGuiCol_PopupBg] = colour(p.panel, 0.97f);
  style.Colors[ImGuiCol_Text] = colour(p.text);
  style.Colors[ImGuiCol_TextDisabled] = colour(p.faint_text);
  style.Colors[ImGuiCol_Border] = colour(p.grid);
  style.Colors[ImGuiCol_Separator] = colour(p.grid);
  style.ScaleAllSizes(scale);
}

}  // namespace pclscope::gui
