#include "viewer/gui/calls/call_singles.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "interpose/record/functions.hpp"
#include "viewer/gui/base/selected_call.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::gui {
namespace {

using layout::CallBox;
using layout::CallEdge;
using layout::CallPicture;
using layout::Point;
using layout::Rect;
using session::CallShape;

constexpr float reach_points = 5;  // around the mouse
constexpr std::size_t most_told = 6;
constexpr std::size_t names_of_ranks = 24;  // columns
constexpr int arch_parts = 64;

float arch_at(float u) { return static_cast<float>(session::arch_height(static_cast<double>(u))); }

std::vector<std::int32_t> ranks_of(const Selection& selection) {
  if (!selection.ranks.empty()) return selection.ranks;
  return selection.rank ? std::vector{*selection.rank} : std::vector<std::int32_t>();
}

Rect around_mouse(const Scene& scene) {
  const Point mouse = to_point(ImGui::GetIO().MousePos), reach{reach_points * scene.scale, reach_points * scene.scale};
  return {mouse - reach, mouse + reach};
}

}  // namespace

double CallSight::duration_at(float y) const {
  const layout::DurationRange range = picture.durations;
  return range.low + static_cast<double>((area.high.y - y) / area.height()) * (range.high - range.low);
}

float CallSight::y_of(double log2_ns) const {
  const layout::DurationRange range = picture.durations;
  return area.high.y - static_cast<float>((log2_ns - range.low) / (range.high - range.low)) * area.height();
}

CallBox CallSight::box_at(Rect pixels) const {
  return {{plot.second_at(pixels.low.x), plot.second_at(pixels.high.x)},
          {duration_at(pixels.high.y), duration_at(pixels.low.y)}};
}

CallBox CallSight::drawn_in(Rect pixels) const {
  CallBox box = box_at(pixels);
  const double shortest_s = std::exp2(box.durations.low) * 1e-9, longest_s = std::exp2(box.durations.high) * 1e-9;
  if (shape == CallShape::lines) box.time.begin_s -= longest_s;
  if (shape == CallShape::arches) box.time = {box.time.begin_s - longest_s / 2, box.time.end_s - shortest_s / 2};
  return box;
}

Rect CallSight::pixels_of(const CallBox& box) const {
  const auto x = [&](double s) { return std::clamp(plot.x_of(s), area.low.x, std::max(area.low.x, area.high.x)); };
  const auto y = [&](double d) { return std::clamp(y_of(d), area.low.y, std::max(area.low.y, area.high.y)); };
  return {{x(box.time.begin_s), y(box.durations.high)}, {x(box.time.end_s), y(box.durations.low)}};
}

CallQuestionOfPart CallSight::question(const CallBox& box, const Selection& selection) const {
  CallQuestionOfPart question;
  question.run = run;
  question.density = picture.density;
  question.part = layout::part_of(*picture.density, edge, box, selection.function);
  return question;
}

bool CallSingles::follow(const Scene& scene, const Selection& selection, const CallSight& sight) {
  words_.clear();
  const std::vector<std::int32_t> ranks = ranks_of(selection);
  if (ranks.empty() || !sight.run || sight.run->count.stored == 0) {
    lit_.reset();
    return false;
  }
  if (!painter_)
    painter_ = std::make_unique<Painter>(
        [](const layout::LitRequest& request, const auto& stopping) { return layout::light_calls(request, stopping); },
        scene.wake);
  const Rect area = sight.area;
  layout::LitRequest wanted{sight.run,
                            ranks,
                            selection.function,
                            sight.edge,
                            sight.shape,
                            sight.plot.shown(),
                            sight.picture.durations,
                            std::clamp(static_cast<int>(area.width()), 1, 4096),
                            std::clamp(static_cast<int>(area.height()), 1, 4096),
                            sight.picture.colours};
  if (!(wanted == asked_)) painter_->ask(asked_ = std::move(wanted));
  if (auto answer = painter_->answer(); answer && answer != lit_) {
    lit_ = std::move(answer);
    if (!lit_->image.rgba.empty()) texture_.upload(lit_->image);
  }
  const std::string name =
      ranks.size() == 1 ? "rank " + std::to_string(ranks[0]) : "ranks " + text::compact_ranks(ranks, names_of_ranks);
  const bool known = lit_ && lit_->of.ranks == ranks;
  if (!known) words_ = "looking up the calls of " + name;
  else if (lit_->calls == 0) words_ = "no call of " + name + " is stored here";
  else words_ = text::format_count(lit_->calls) + (lit_->calls == 1 ? " call of " : " calls of ") + name;
  if (known && !sight.run->lacks.empty()) words_ += "; looked for in " + sight.run->lacks;
  return known && lit_->calls > 0;
}

void CallSingles::draw_lit(const CallSight& sight) const {
  const Rect area = sight.area;
  const auto shown = sight.plot.shown();
  const auto x = [&](double second) {
    return area.low.x + static_cast<float>((second - shown.begin_s) / std::max(shown.length_s(), 1e-12)) * area.width();
  };
  if (!lit_ || texture_.id() == nullptr) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect(to_imgui(area.low), to_imgui(area.high), true);
  list.AddImage(texture_.id(), {x(lit_->of.range.begin_s), area.low.y}, {x(lit_->of.range.end_s), area.high.y});
  list.PopClipRect();
}

void CallSingles::draw_selected(const Scene& scene, const Selection& selection, const CallSight& sight) const {
  const SelectedCall* call = selected_call(selection);
  if (call == nullptr) return;
  const double length = std::log2(static_cast<double>(std::max<std::int64_t>(call->end_ns - call->begin_ns, 1)));
  const auto x = [&](std::int64_t ns) { return sight.plot.x_of(static_cast<double>(ns) * 1e-9); };
  const float y = sight.y_of(length), begin = x(call->begin_ns), end = x(call->end_ns);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImU32 colour = to_imgui(scene.palette->selection);
  list.PushClipRect(to_imgui(sight.area.low), to_imgui(sight.area.high), true);
  if (sight.shape == CallShape::arches) {
    const float middle = (begin + end) / 2, half = std::max((end - begin) / 2, 1.f);
    for (int i = 0; i <= arch_parts; ++i) {  // equal angles
      const float u = -std::cos(std::numbers::pi_v<float> * static_cast<float>(i) / arch_parts);
      list.PathLineTo({middle + u * half, sight.area.high.y - (sight.area.high.y - y) * arch_at(u)});
    }
    list.PathStroke(colour, 0, 2 * scene.scale);
  } else {
    list.AddLine({std::max(begin, sight.area.low.x), y}, {std::min(end, sight.area.high.x), y}, colour);
    list.AddCircle({sight.edge == CallEdge::start ? begin : end, y}, 6 * scene.scale, colour, 16, 2 * scene.scale);
  }
  list.PopClipRect();
}

void CallSingles::explain(const Scene& scene, const Selection& selection, const CallSight& sight) {
  const Point mouse = to_point(ImGui::GetIO().MousePos);
  const double second = sight.plot.second_at(mouse.x), duration = sight.duration_at(mouse.y);
  std::string words = (sight.shape == CallShape::arches ? "arches with their top here, at " : "at ") +
                      text::format_seconds(second) + ", calls of about " +
                      text::format_seconds(std::exp2(duration) * 1e-9) + ":";
  const auto counted = layout::calls_at(sight.picture, second, duration);
  for (const CallPicture::Entry& entry : counted)
    words += "\n  " + std::string(record::function_name(entry.function)) + "  " + text::format_count(entry.calls);
  if (counted.empty()) words += " none";
  CallQuestionOfPart question = sight.question(sight.drawn_in(around_mouse(scene)), selection);
  question.most = most_told;
  near_.ask(scene, std::move(question));
  const auto near = near_.answer();
  if (!near || (near->counted == 0 && near->found.stored == 0)) return tooltip(words);
  words += "\n\nnear here: " + stored_words(scene, *near);
  for (const session::FoundCall& call : near->found.longest) {
    const CallCells cells = cells_of(call, sight.sites);
    words += "\n  " + cells.took + "  " + cells.rank + "  " + cells.function + "  " + sight.sites.brief(call.call.site);
  }
  if (!near->found.longest.empty()) words += "\nclick: selects the nearest; shift + drag: lists a rectangle";
  tooltip(words);
}

void CallSingles::click(const Scene& scene, const Selection& selection, const CallSight& sight) {
  if (!sight.run) return;
  const Point mouse = to_point(ImGui::GetIO().MousePos);
  const layout::TimeRange shown = sight.plot.shown();
  const layout::DurationRange range = sight.picture.durations;
  const float reach = reach_points * scene.scale;
  CallBox box = sight.drawn_in(around_mouse(scene));
  if (sight.shape == CallShape::arches) {  // all that are as high, and perhaps pass here
    box.durations.high = range.high;
    box.time = {sight.plot.second_at(mouse.x - reach) - std::exp2(range.high) * 1e-9,
                sight.plot.second_at(mouse.x + reach)};
  }
  CallQuestionOfPart question = sight.question(box, selection);
  session::CallPoint point;
  point.shape = sight.shape;
  point.foot_log2_ns = range.low;
  point.at_ns = sight.plot.second_at(mouse.x) * 1e9;
  point.log2_ns = sight.duration_at(mouse.y);
  point.ns_per_pixel = std::max(shown.length_s() * 1e9 / static_cast<double>(sight.area.width()), 1e-3);
  point.octaves_per_pixel = (range.high - range.low) / static_cast<double>(sight.area.height());
  question.point = point;
  click_.ask(scene, std::move(question));
}

void CallSingles::select(const Scene& scene, Selection& selection) {
  const auto found = click_.answer();
  if (!found) return;
  const auto& point = found->of.point;
  const double reach = static_cast<double>(reach_points * scene.scale);
  // Of lines and arches more is looked at than what is near.
  const bool near = found->found.nearest && point &&
                    (point->shape == CallShape::points ||
                     point->distance(found->found.nearest->call, found->of.part.by_end) <= reach * reach);
  if (near && scene.snapshot) select_call(selected_of(*found->found.nearest), *scene.snapshot, selection);
  click_.forget();
}

}  // namespace pclscope::gui
