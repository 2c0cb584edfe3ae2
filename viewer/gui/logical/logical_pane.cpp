#include "viewer/gui/logical/logical_pane.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"

namespace pclscope::gui {
namespace {

constexpr float number_room = 14;  // points between phases that have numbers
constexpr std::size_t most_phase_lines = 400;
constexpr std::size_t most_lit_messages = 200;

}  // namespace

using layout::LogicalSight;
using layout::Point;
using layout::Rect;

// Asks for a picture of now if there is none yet.
void LogicalPane::follow(const Scene& scene, const Rect& area, const layout::LogicalImageRequest& wanted) {
  if (!painter_)
    painter_ = std::make_unique<Painter>([](const layout::LogicalImageRequest& request,
                                            const auto& stopping) { return layout::draw_logical(request, stopping); },
                                         scene.wake);
  run_ = wanted.run;
  sight_ = wanted.sight;
  area_ = area;
  if (!(wanted == asked_)) painter_->ask(asked_ = wanted);
  const auto answer = painter_->answer();
  if (answer && answer != shown_ && !answer->image.rgba.empty()) {
    shown_ = answer;
    texture_.upload(shown_->image);
  }
}

// The last whole picture, where it belongs in the sight of now.
void LogicalPane::draw(ImDrawList& list, const Scene& scene, const std::string& which, std::vector<Mark>& marks) {
  if (!shown_) return;
  const LogicalSight& of = shown_->of.sight;
  const Point low = area_.low + Point{sight_.x(of.step0), sight_.y(of.rank0)},
              high = area_.low + Point{sight_.x(of.step1), sight_.y(of.rank1)};
  list.PushClipRect(to_imgui(area_.low), to_imgui(area_.high), true);
  if (texture_.id()) list.AddImage(texture_.id(), to_imgui(low), to_imgui(high));
  list.PopClipRect();
  marks.push_back({which + "logical boxes " + std::to_string(shown_->pixels.boxes), area_.middle()});
  if (shown_->of.run == run_ && shown_->pixels.phase != logical::none) {
    if (const auto pixel = pixel_of({shown_->pixels.phase, shown_->pixels.box}))
      marks.push_back({which + "latest event", *pixel});
  }
  draw_first(list, scene, which, marks);
}

// An arrow at the event where lateness begins: who is late first.
void LogicalPane::draw_first(ImDrawList& list, const Scene& scene, const std::string& which,
                             std::vector<Mark>& marks) const {
  if (shown_->of.run != run_ || shown_->pixels.first_phase == logical::none) return;
  const EventPlace place{shown_->pixels.first_phase, shown_->pixels.first_box};
  const Rect box = place_of(place);
  const auto pixel = pixel_of(place);
  if (!pixel) return;
  marks.push_back({which + "late first", *pixel});
  const float s = scene.scale, size = 7 * s, x = std::max(box.low.x, area_.low.x + size), y = box.middle().y;
  const ImVec2 tip{x, y}, upper{x - size, y - size * 0.6f}, lower{x - size, y + size * 0.6f};
  list.AddTriangleFilled(tip, upper, lower, to_imgui(scene.palette->selection));
  list.AddTriangle(tip, upper, lower, to_imgui(scene.palette->background));
  if (box.width() >= 5 && box.height() >= 5)
    list.AddRect(to_imgui(box.low), to_imgui(box.high), to_imgui(scene.palette->selection), 0, 0, 1.5f * s);
}

Rect LogicalPane::place_of(EventPlace place) const {
  const session::LogicalPhase& phase = *run_->phases[place.phase];
  const double step = phase.boxes[place.box].step, rank = phase.rank_of(place.box);
  const Point low = area_.low + Point{sight_.x(step), sight_.y(rank)};
  return {low, low + Point{std::max(1.f, static_cast<float>(sight_.step_width())),
                           std::max(1.f, static_cast<float>(sight_.rank_height()))}};
}

// Where the mouse, which stands on whole pixels, is on the box: none where nothing of it is in the picture.
std::optional<Point> LogicalPane::pixel_of(EventPlace place) const {
  const session::LogicalPhase& phase = *run_->phases[place.phase];
  const double step = phase.boxes[place.box].step, rank = phase.rank_of(place.box);
  if (step + 1 <= sight_.step0 || step >= sight_.step1 || rank + 1 <= sight_.rank0 || rank >= sight_.rank1) return {};
  // Of a box of a pixel or more one behind its edge: at() asks what is at a pixel's begin there.
  const auto whole = [](float low, float begin, double size, int pixels) {
    float pixel = std::floor(begin + static_cast<float>(size) / 2);
    if (size >= 1 && pixel < begin - 1e-3f) ++pixel;
    return std::ceil(low + std::clamp(pixel, 0.f, static_cast<float>(pixels - 1)));
  };
  return Point{whole(area_.low.x, sight_.x(step), sight_.step_width(), sight_.width),
               whole(area_.low.y, sight_.y(rank), sight_.rank_height(), sight_.height)};
}

// A line where each begins, over its ranks; numbers where there is room.
void LogicalPane::draw_phases(ImDrawList& list, const Scene& scene, const std::vector<std::uint32_t>* numbers) const {
  if (!shown_ || shown_->of.run != run_) return;
  const layout::Palette& p = *scene.palette;
  float free_from = area_.low.x;
  std::size_t lines = 0;
  const bool room = area_.width() > 3 * scene.scale * static_cast<float>(shown_->phases.size()) ||
                    shown_->phases.size() < most_phase_lines;
  for (const std::uint32_t number : shown_->named) {
    const session::LogicalPhase& phase = *run_->phases[number];
    const float x = area_.low.x + sight_.x(phase.first_step);
    if (x > area_.high.x) continue;
    const float top = std::max(area_.low.y, area_.low.y + sight_.y(phase.parts.front().rank)),
                bottom = std::min(area_.high.y, area_.low.y + sight_.y(phase.parts.back().rank + 1));
    if (room && ++lines <= most_phase_lines && x >= area_.low.x)
      list.AddRectFilled({x - 1, top - 2 * scene.scale}, {x, bottom}, to_imgui(p.selection.with_alpha(0.75f)));
    const float at = std::max(x, area_.low.x);
    if (at < free_from) continue;
    const std::string text = std::to_string(numbers != nullptr ? (*numbers)[number] : number);
    if (at + text_size(text).x > area_.high.x) continue;
    draw_text(list, {at + 1, area_.low.y - line_height()}, p.faint_text, text);
    free_from = at + text_size(text).x + number_room * scene.scale;
  }
}

// Of a pixel that stands for several the one with the largest value, as drawn.
EventPlace LogicalPane::at(Point mouse) const {
  EventPlace best;
  if (!shown_ || shown_->of.run != run_) return best;
  const Point in{std::floor(mouse.x - area_.low.x), std::floor(mouse.y - area_.low.y)};
  const auto range = [](double low, double high, double most) {
    return std::pair(
        static_cast<std::int64_t>(std::clamp(std::floor(low), 0.0, most)),
        static_cast<std::int64_t>(std::clamp(std::max(std::floor(low) + 1, std::ceil(high - 1e-9)), 0.0, most)));
  };
  const auto [step0, step1] =
      range(sight_.step(in.x), sight_.step_width() >= 1 ? 0 : sight_.step(in.x + 1), run_->steps);
  const auto [rank0, rank1] =
      range(sight_.rank(in.y), sight_.rank_height() >= 1 ? 0 : sight_.rank(in.y + 1), run_->ranks);
  float most = -1;
  const auto [first, last] = run_->phases_within(static_cast<double>(step0), static_cast<double>(step1));
  for (std::uint32_t number = first; number < last; ++number) {
    const session::LogicalPhase& phase = *run_->phases[number];
    if (phase.first_step >= step1 || phase.first_step + phase.steps <= step0) continue;
    auto part = std::partition_point(phase.parts.begin(), phase.parts.end(),
                                     [r = rank0](const logical::Part& q) { return q.rank < r; });
    for (; part != phase.parts.end() && part->rank < rank1; ++part) {
      const auto begin = phase.boxes.begin() + part->first, end = phase.boxes.begin() + part->end;
      auto box = std::partition_point(begin, end, [s = step0](const auto& b) { return b.step < s; });
      for (; box != end && box->step < step1; ++box)
        if (const float value = phase.value(*box, shown_->of.metric); value > most)
          most = value, best = {number, static_cast<std::uint32_t>(box - phase.boxes.begin())};
    }
  }
  return best;
}

// The event at that rank and step.
EventPlace LogicalPane::event_at(std::int32_t rank, std::uint32_t step) const {
  for (auto [p, last] = run_->phases_within(step, step + 1.0); p < last; ++p) {
    const session::LogicalPhase& phase = *run_->phases[p];
    if (step < phase.first_step || step >= phase.first_step + phase.steps) continue;
    if (const std::uint32_t box = phase.box_at(rank, step); box != logical::none) return {p, box};
  }
  return {};
}

// Its messages, however many there are else.
void LogicalPane::light(ImDrawList& list, const Scene& scene, EventPlace place) const {
  const Rect box = place_of(place);
  list.PushClipRect(to_imgui(area_.low), to_imgui(area_.high), true);
  list.AddRect(to_imgui(box.low - Point{1, 1}), to_imgui(box.high + Point{1, 1}), to_imgui(scene.palette->selection));
  const session::LogicalPhase& phase = *run_->phases[place.phase];
  std::size_t drawn = 0;
  for (const std::uint32_t other : phase.partners_of(phase.boxes[place.box])) {
    if (++drawn > most_lit_messages) break;
    list.AddLine(to_imgui(box.middle()), to_imgui(place_of({place.phase, other}).middle()),
                 to_imgui(scene.palette->selection), 2);
  }
  list.PopClipRect();
}

}  // namespace pclscope::gui
