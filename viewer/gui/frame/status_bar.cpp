#include "viewer/gui/frame/status_bar.hpp"

#include <algorithm>
#include <chrono>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/selected_call.hpp"
#include "viewer/gui/frame/status_draw.hpp"
#include "viewer/gui/frame/status_words.hpp"
#include "viewer/views/sentences.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;
using layout::Rect;

}  // namespace

layout::Rgba urgency_colour(Urgency urgency, const layout::Palette& palette) {
  switch (urgency) {
    case Urgency::good: return palette.good;
    case Urgency::warning: return palette.warning;
    case Urgency::bad: return palette.bad;
    case Urgency::calm: break;
  }
  return palette.faint_text;
}

std::int64_t realtime_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

struct StatusBar::Inside {
  std::shared_ptr<const Snapshot> seen;
  const RankSummary* longest = nullptr;  // in `seen`
  std::string told, told_in_lines;       // the sentences about it
  std::vector<Mark> marks;
  bool hovered = false;  // the window of the strip
  views::Sites sites;    // of `seen`

  void look_at(const Scene& scene) {
    if (seen == scene.snapshot) return;
    seen = scene.snapshot;
    longest = seen ? longest_blocked(*seen) : nullptr;
    told.clear();
    told_in_lines.clear();
    sites = views::Sites(seen ? seen->sites : std::vector<CallSite>());
    if (!seen) return;
    for (const std::string& sentence : views::sentences(*seen, sites)) {
      told += (told.empty() ? "" : " ") + sentence;
      told_in_lines += (told_in_lines.empty() ? "" : "\n") + sentence;
    }
  }
  // Draws an item up to `right`, moves x behind it. False: no room.
  bool put(const Scene& scene, const StatusItem& item, float& x, float y, float right) const;
  // The same, ended by x and clickable; x moves left.
  bool put_button(const Scene& scene, const StatusItem& item, const char* name, float& x, float y, float left);
  void draw_told(const Scene& scene, float left, float right, float y) const;
  void draw_first(const Scene& scene, const Selection& selection, float left, float right, float y);
  void draw_second(const Scene& scene, Selection& selection, float left, float right, float y);
};

bool StatusBar::Inside::put(const Scene& scene, const StatusItem& item, float& x, float y, float right) const {
  if (item.text.empty()) return true;
  const Point size = text_size(item.text);
  const float room = right - x;
  if (room < std::min(size.x, 60 * scene.scale)) return false;
  draw_text(*ImGui::GetWindowDrawList(), {x, y}, urgency_colour(item.urgency, *scene.palette), item.text, room);
  const Rect at{{x, y}, {x + std::min(size.x, room), y + size.y}};
  if (hovered && !item.meaning.empty() && at.holds(to_point(ImGui::GetIO().MousePos))) tooltip(item.meaning);
  x += std::min(size.x, room) + 16 * scene.scale;
  return true;
}

bool StatusBar::Inside::put_button(const Scene& scene, const StatusItem& item, const char* name, float& x, float y,
                                   float left) {
  const Point size = text_size(item.text);
  if (x - size.x < left) return false;
  x -= size.x;
  ImGui::SetCursorScreenPos({x, y});
  const bool clicked = ImGui::InvisibleButton(name, {size.x, size.y});
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Rgba colour = urgency_colour(item.urgency, *scene.palette);
  draw_text(list, {x, y}, colour, item.text);
  if (ImGui::IsItemHovered()) {
    list.AddLine({x, y + size.y}, {x + size.x, y + size.y}, to_imgui(colour));
    tooltip(item.meaning);
  }
  marks.push_back({name, {x + size.x / 2, y + size.y / 2}});
  x -= 16 * scene.scale;
  return clicked;
}

// What it comes to.
void StatusBar::Inside::draw_told(const Scene& scene, float left, float right, float y) const {
  std::string words = told;
  if (only_traffic(scene)) words = "which links carry what, without a run";
  else if (told.empty() && scene.snapshot) words = views::so_far(*scene.snapshot, "nothing is known of ranks' time");
  else if (told.empty()) words = "nothing is known of ranks' time yet";
  const layout::Rgba colour = told.empty() ? scene.palette->faint_text : scene.palette->text;
  draw_text(*ImGui::GetWindowDrawList(), {left, y}, colour, words, std::max(1.f, right - left));
  const Rect at{{left, y}, {right, y + ImGui::GetFontSize()}};
  if (hovered && !told.empty() && at.holds(to_point(ImGui::GetIO().MousePos))) tooltip(told_in_lines);
}

// Whether it is alive, and what it is; at the right end the selected call.
void StatusBar::Inside::draw_first(const Scene& scene, const Selection& selection, float left, float right, float y) {
  if (const SelectedCall* call = selected_call(selection)) {
    const std::string line = call_line(*call, sites);
    std::string meaning = line + "\n";
    for (const std::string& frame : call_path(call->site, sites)) meaning += "\n" + frame;
    if (put_button(scene, {line, Urgency::calm, meaning + "\n\nThe selected call. Click: copies this."},
                   "selected call", right, y, left + (right - left) * 0.3f))
      ImGui::SetClipboardText(meaning.c_str());
  }
  const StatusItem connection = connection_item(scene);
  const float dot = ImGui::GetFontSize() * 0.32f;
  ImGui::GetWindowDrawList()->AddCircleFilled({left + dot, y + ImGui::GetFontSize() / 2}, dot,
                                              to_imgui(urgency_colour(connection.urgency, *scene.palette)));
  float x = left + 3 * dot;
  put(scene, connection, x, y, right);
  if (scene.paused)
    put(scene, {"paused", Urgency::warning, "The picture stands still; data is still collected. Space goes on."}, x, y,
        right);
  put(scene, age_item(scene, realtime_ns()), x, y, right);
  put(scene, job_item(scene), x, y, right);
}

// How complete it is; at the right end who is stuck.
void StatusBar::Inside::draw_second(const Scene& scene, Selection& selection, float left, float right, float y) {
  const Snapshot& snapshot = *scene.snapshot;
  const std::string stuck =
      snapshot.deadlocks.size() == 1 ? "DEADLOCK" : std::to_string(snapshot.deadlocks.size()) + " DEADLOCKS";
  const char* meaning =
      "Ranks wait for each other and for nobody else. Click: selects them; the details (key i) say who waits where.";
  if (!snapshot.deadlocks.empty() && put_button(scene, {stuck, Urgency::bad, meaning}, "deadlock", right, y, left))
    select_deadlock(selection, snapshot, 0);
  meaning = "The rank that has been inside one MPI call longest. Click: selects it.";
  if (longest != nullptr &&
      put_button(scene, {blocked_text(*longest), Urgency::calm, meaning}, "blocked", right, y, left))
    select_rank(selection, snapshot, longest->rank);
  std::vector<StatusItem> items = count_items(scene);
  items.push_back(clock_item(snapshot));
  items.push_back(memory_item(snapshot));
  for (const StatusItem& item : items) {
    if (!put(scene, item, left, y, right)) break;
  }
}

StatusBar::StatusBar() : inside_(std::make_unique<Inside>()) {}
StatusBar::~StatusBar() = default;

float StatusBar::height(float scale) { return 3 * ImGui::GetFontSize() + 14 * scale; }

std::vector<Mark> StatusBar::marks() const { return inside_->marks; }
const views::Sites& StatusBar::sites() const { return inside_->sites; }

void StatusBar::draw(const Scene& scene, Selection& selection) {
  Inside& in = *inside_;
  in.look_at(scene);
  in.marks.clear();
  in.hovered = ImGui::IsWindowHovered();
  const float s = scene.scale, pad = 8 * s, high = height(s);
  const Point low = to_point(ImGui::GetCursorScreenPos());
  const Rect strip{low, low + Point{std::max(1.f, ImGui::GetContentRegionAvail().x), high}};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(to_imgui(strip.low), to_imgui(strip.high), to_imgui(scene.palette->panel));
  in.marks.push_back({"status", strip.middle()});
  const float line = ImGui::GetFontSize() + 3 * s;
  const float top = strip.low.y + 4 * s, first = top + line, second = first + line;
  const float left = strip.low.x + pad, right = strip.high.x - pad;
  in.draw_told(scene, left, right, top);
  in.draw_first(scene, selection, left, right, first);
  if (scene.snapshot) in.draw_second(scene, selection, left, right, second);
  ImGui::SetCursorScreenPos({strip.low.x, strip.high.y});
}

}  // namespace pclscope::gui
