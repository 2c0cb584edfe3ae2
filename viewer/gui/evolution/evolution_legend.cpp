// One line that says what colours, sizes and shapes of the evolution view mean.
#include <algorithm>
#include <array>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/evolution/evolution_frame.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;
using layout::Rect;

// Draws entries from left to right as long as there is room.
class Line {
 public:
  Line(const EvolutionFrame& frame, Rect area)
      : frame_(frame), area_(area), list_(*ImGui::GetWindowDrawList()), x_(area.low.x) {}
  bool begin(int part, float width) {
    if (x_ + width > area_.high.x) return false;
    const Point mouse = to_point(ImGui::GetIO().MousePos);
    const Rect at{{x_, area_.low.y}, {x_ + width, area_.high.y}};
    if (at.holds(mouse) && ImGui::IsWindowHovered()) tooltip(legend_words(part));
    return true;
  }
  void word(const std::string& words) {
    draw_text(list_, {x_, area_.middle().y - text_size(words).y / 2}, frame_.palette().faint_text, words);
    x_ += text_size(words).x + frame_.points(4);
  }
  void gap() { x_ += frame_.points(10); }
  void colours() {
    static constexpr std::array<double, 6> stops{0.25, 0.5, 1, 2, 4, 8};
    const float piece = frame_.points(12), h = area_.height() * 0.25f;
    for (std::size_t i = 0; i + 1 < stops.size(); ++i, x_ += piece) {
      const ImU32 a = to_imgui(frame_.palette().latency(stops[i])),
                  b = to_imgui(frame_.palette().latency(stops[i + 1]));
      list_.AddRectFilledMultiColor({x_, area_.middle().y - h}, {x_ + piece, area_.middle().y + h}, a, b, b, a);
    }
    x_ += frame_.points(4);
  }
  void sizes() {
    for (const float radius : {2.f, 4.f, 6.f}) {
      x_ += frame_.points(radius);
      list_.AddCircleFilled({x_, area_.middle().y}, frame_.points(radius), to_imgui(frame_.palette().latency(1)), 14);
      x_ += frame_.points(radius + 2);
    }
    x_ += frame_.points(2);
  }
  void shape(PeriodKind kind) {
    const float w = frame_.points(16), top = area_.low.y + frame_.points(2), bottom = area_.high.y - frame_.points(2);
    const ImU32 colour = to_imgui(frame_.palette().text.with_alpha(0.3f));
    if (kind == PeriodKind::growth) list_.AddTriangleFilled({x_, bottom}, {x_ + w, bottom}, {x_ + w, top}, colour);
    else list_.AddRectFilled({x_, top}, {x_ + w, bottom}, colour);
    x_ += w + frame_.points(4);
  }
  void breaks() {
    const float h = area_.height() * 0.25f, y = area_.middle().y;
    for (int i = 0; i < 2; ++i, x_ += frame_.points(4))
      list_.AddLine({x_, y + h}, {x_ + h, y - h}, to_imgui(frame_.palette().faint_text), frame_.scene.scale);
    x_ += frame_.points(6);
  }

 private:
  const EvolutionFrame& frame_;
  Rect area_;
  ImDrawList& list_;
  float x_;
};

// What is compressed, or why nothing is.
void draw_breaks(const EvolutionFrame& frame, Line& line) {
  const bool breaks = !frame.picture.axis.linear();
  const std::string last = breaks                              ? "compressed"
                           : frame.picture.nothing_to_compress ? "no growth, no steady period: nothing to compress"
                                                               : "";
  if (last.empty() || !line.begin(3, text_size(last).x + frame.points(30))) return;
  if (breaks) line.breaks();
  line.word(last);
}

}  // namespace

void draw_evolution_legend(const EvolutionFrame& frame, Rect area) {
  Line line(frame, area);
  const auto width = [&](const std::string& words, float shapes) { return text_size(words).x + frame.points(shapes); };
  if (!line.begin(0, width("1/4 8x ratio", 80))) return;
  line.word("1/4");
  line.colours();
  line.word("8x ratio");
  line.gap();
  if (const layout::HeatSheet& sheet = frame.picture.heat.sheet; sheet.sound()) {
    const std::string words = text::format_count(sheet.order.size()) + " regions, the worst on top";
    if (line.begin(4, width(words, 4))) line.word(words);
    return line.gap(), draw_breaks(frame, line);
  }
  const std::string rate = std::string("delayed/s, largest ")
                               .append(text::format_short_count(
                                   static_cast<std::uint64_t>(std::clamp(frame.picture.largest_rate, 0.f, 1e18f))));
  if (!line.begin(1, width(rate, 44))) return;
  line.sizes();
  line.word(rate);
  line.gap();
  if (!line.begin(2, width("growth steady", 60))) return;
  line.shape(PeriodKind::growth);
  line.word("growth");
  line.shape(PeriodKind::steady);
  line.word("steady");
  line.gap();
  draw_breaks(frame, line);
}

}  // namespace pclscope::gui
