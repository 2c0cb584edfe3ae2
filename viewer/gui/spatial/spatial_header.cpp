// The spatial view's head line with its buttons, and its legend.
#include <algorithm>
#include <array>
#include <cmath>

#include "viewer/gui/spatial/spatial_view.hpp"
#include "viewer/gui/spatial/spatial_words.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;
using layout::SpatialColouring;

// One of two words, the chosen one framed.
bool choice(const char* word, bool chosen, const layout::Palette& palette) {
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui(chosen ? palette.text : palette.faint_text));
  ImGui::PushStyleColor(ImGuiCol_Button, to_imgui(chosen ? palette.grid : palette.panel));
  const bool clicked = ImGui::SmallButton(word);
  ImGui::PopStyleColor(2);
  return clicked;
}

}  // namespace

// The worst region in one line; clicking it picks that region.
void SpatialView::draw_header(const Scene& scene, Selection& selection) {
  const layout::Palette& palette = *scene.palette;
  const float room = ImGui::GetContentRegionAvail().x, gap = ImGui::GetStyle().ItemSpacing.x,
              pad = 2 * ImGui::GetStyle().FramePadding.x;
  const std::string release =
      pins_.empty() ? std::string() : std::string("unpin ").append(std::to_string(pins_.size()));
  float buttons = text_size("delay").x + pad + gap + text_size("latency").x + text_size("regions").x +
                  text_size("?").x + 3 * (pad + gap);
  if (!release.empty()) buttons += text_size(release).x + pad + gap;
  const Point start = to_point(ImGui::GetCursorScreenPos());
  const float words = room - buttons - 2 * gap;
  if (words > 40 * scene.scale) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    ImGui::InvisibleButton("worst", ImVec2(words, ImGui::GetTextLineHeight() + 2));
    if (worst_ && ImGui::IsItemClicked()) pick(selection, {worst_, {}, {}, {}});
    if (ImGui::IsItemHovered()) tooltip(headline_ + (worst_ ? "\n\nclick: pick this region" : ""));
    if (worst_) header_marks_.push_back({"worst region", middle_of_item()});
    const float square = ImGui::GetTextLineHeight() * 0.6f, top = start.y + (ImGui::GetTextLineHeight() - square) / 2;
    if (worst_)
      list.AddRectFilled({start.x + gap / 2, top}, {start.x + gap / 2 + square, top + square},
                         to_imgui(colours_->regions[*worst_]));
    draw_text(list, {start.x + gap + (worst_ ? square : 0), start.y}, palette.text, headline_, words - square - gap);
    ImGui::SameLine(0, gap);
  }
  if (choice("delay", colouring_ == SpatialColouring::harm, palette)) chosen_ = SpatialColouring::harm;
  header_marks_.push_back({"delay mode", middle_of_item()});
  if (ImGui::IsItemHovered()) tooltip(legend_words(SpatialColouring::harm));
  ImGui::SameLine(0, gap / 2);
  if (choice("latency", colouring_ == SpatialColouring::latency, palette)) chosen_ = SpatialColouring::latency;
  header_marks_.push_back({"latency mode", middle_of_item()});
  if (ImGui::IsItemHovered()) tooltip(legend_words(SpatialColouring::latency));
  ImGui::SameLine(0, gap / 2);
  if (choice("regions", colouring_ == SpatialColouring::regions, palette)) chosen_ = SpatialColouring::regions;
  header_marks_.push_back({"region mode", middle_of_item()});
  if (ImGui::IsItemHovered()) tooltip(legend_words(SpatialColouring::regions));
  if (!release.empty()) {
    ImGui::SameLine(0, gap / 2);
    if (choice(release.c_str(), false, palette)) {
      pins_.clear();
      ask_layout();
    }
    header_marks_.push_back({"unpin", middle_of_item()});
    if (ImGui::IsItemHovered())
      tooltip("regions that were dragged stay where they were put; click: let them move again");
  }
  ImGui::SameLine(0, gap / 2);
  choice("?", false, palette);
  if (ImGui::IsItemHovered()) tooltip(help_words());
}

void SpatialView::draw_legend(ImDrawList& list, const Scene& scene) const {
  const float line = text_size("0").y, pad = 6 * scene.scale, bar = 90 * scene.scale;
  if (area_.width() < 260 * scene.scale || area_.height() < 120 * scene.scale) return;
  const layout::Palette& palette = *scene.palette;
  const bool latency = colouring_ == SpatialColouring::latency;
  const bool harm = colouring_ == SpatialColouring::harm;
  const std::string words = harm ? text::format_ratio(colours_->harm_top).append("  delay caused, in ranks, whole run")
                            : !latency ? std::string("colour: region")
                                       : text::format_count(static_cast<std::uint64_t>(colours_->top))
                                             .append("x  latency ratio")
                                             .append(period_ ? ", selected period" : ", whole run");
  const std::string sizes = placed_->links.empty() ? std::string("area: ranks; no messages between regions")
                                                   : std::string("area: ranks; line width: messages");
  const float left = area_.low.x + pad, top = area_.high.y - 2 * line - pad;
  const float width = std::max(text_size(sizes).x, text_size("1/4").x + text_size(words).x + bar + 2 * pad) + pad;
  list.AddRectFilled({left - pad, top - pad / 2}, {left + width, area_.high.y},
                     to_imgui(palette.background.with_alpha(0.8f)));
  float x = left;
  if (latency) {
    draw_text(list, {x, top}, palette.faint_text, "1/4");
    x += text_size("1/4").x + pad;
    const double most = colours_->top;
    const std::array<double, 5> stops{0.25, 0.5, 1, std::sqrt(most), most};
    const float piece = bar / (stops.size() - 1);
    for (std::size_t i = 0; i + 1 < stops.size(); ++i, x += piece) {
      const ImU32 a = to_imgui(palette.latency(stops[i], stops.back())),
                  b = to_imgui(palette.latency(stops[i + 1], stops.back()));
      list.AddRectFilledMultiColor({x, top + line * 0.2f}, {x + piece, top + line * 0.8f}, a, b, b, a);
    }
    x += pad;
  }
  if (harm) {
    draw_text(list, {x, top}, palette.faint_text, "0");
    x += text_size("0").x + pad;
    constexpr int pieces = 2;  // of even slope
    for (int i = 0; i < pieces; ++i, x += bar / pieces) {
      const ImU32 a = to_imgui(palette.harm(static_cast<double>(i) / pieces)),
                  b = to_imgui(palette.harm(static_cast<double>(i + 1) / pieces));
      list.AddRectFilledMultiColor({x, top + line * 0.2f}, {x + bar / pieces, top + line * 0.8f}, a, b, b, a);
    }
    x += pad;
  }
  draw_text(list, {x, top}, palette.faint_text, words);
  draw_text(list, {left, top + line}, palette.faint_text, sizes);
  const layout::Rect legend{{left, top}, {left + width, area_.high.y}};
  if (ImGui::IsItemHovered() && !grab_ && legend.holds(to_point(ImGui::GetIO().MousePos)) && !hit_.region)
    tooltip(legend_words(colouring_));
}

}  // namespace pclscope::gui
