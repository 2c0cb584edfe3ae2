// The status in detail. Looking at all ranks is done in a worker, once per snapshot. Declared in status_bar.hpp.
#include <algorithm>
#include <cmath>

#include "analysis/blocked/deadlock_text.hpp"
#include "interpose/record/functions.hpp"
#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/frame/status_bar.hpp"
#include "viewer/gui/frame/status_draw.hpp"
#include "viewer/gui/frame/status_words.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/views/efficiency_rows.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;
using layout::Rect;
using Shared = std::shared_ptr<const Snapshot>;

constexpr std::size_t most_functions = 6;

void heading(const Scene& scene, const char* words) {
  ImGui::Dummy({1, 4 * scene.scale});
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui(scene.palette->text));
  ImGui::TextUnformatted(words);
  ImGui::PopStyleColor();
}

// A wrapped paragraph; `meaning` when it is hovered.
void say(const Scene& scene, const std::string& words, Urgency urgency, const std::string& meaning = "") {
  if (words.empty()) return;
  ImGui::PushTextWrapPos(0);
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui(urgency_colour(urgency, *scene.palette)));
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
  if (ImGui::IsItemHovered() && !meaning.empty()) tooltip(meaning);
}

void say(const Scene& scene, const StatusItem& item) { say(scene, item.text, item.urgency, item.meaning); }

std::string function_text(std::uint16_t function) {
  return function == 0 ? "outside MPI" : std::string(record::function_name(function));
}

// Shades of one blue, the most frequent function strongest; outside MPI is the frame's grey.
layout::Rgba shade_of(std::size_t index, std::uint16_t function, const layout::Palette& palette) {
  if (function == 0) return palette.grid;
  return layout::mix(palette.successor, palette.panel, 0.16f * static_cast<float>(std::min<std::size_t>(index, 5)));
}

}  // namespace

struct StatusPanel::Inside {
  Shared asked;
  std::shared_ptr<const std::pair<Shared, StatusFacts>> facts;  // and whose they are
  std::unique_ptr<layout::Latest<Shared, std::pair<Shared, StatusFacts>>> worker;
  std::vector<Mark> marks;

  void look_at(const Scene& scene);
  void draw_connection(const Scene& scene) const;
  void draw_deadlocks(const Scene& scene, Selection& selection);
  void draw_efficiency(const Scene& scene, const Selection& selection) const;
  void draw_inside(const Scene& scene) const;
  void draw_blocked(const Scene& scene, Selection& selection);
  void draw_memory(const Scene& scene) const;
  // A paragraph over the whole width that can be clicked.
  bool row(const Scene& scene, const std::string& words, Urgency urgency, const std::string& name, const char* meaning);
};

void StatusPanel::Inside::look_at(const Scene& scene) {
  if (scene.snapshot && asked != scene.snapshot) {
    using Worker = layout::Latest<Shared, std::pair<Shared, StatusFacts>>;
    if (!worker)
      worker = std::make_unique<Worker>([](const Shared& s, const auto&) { return std::pair(s, status_facts(*s)); },
                                        scene.wake);
    asked = scene.snapshot;
    worker->ask(asked);
  }
  facts = worker ? worker->answer() : nullptr;
}

bool StatusPanel::Inside::row(const Scene& scene, const std::string& words, Urgency urgency, const std::string& name,
                              const char* meaning) {
  const float width = std::max(1.f, ImGui::GetContentRegionAvail().x), pad = 2 * scene.scale;
  const float room = std::max(1.f, width - 4 * pad);
  const float high = ImGui::GetFont()->CalcTextSizeA(ImGui::GetFontSize(), HUGE_VALF, room, words.c_str()).y + pad;
  const Point at = to_point(ImGui::GetCursorScreenPos());
  const bool clicked = ImGui::InvisibleButton(name.c_str(), {width, high});
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (ImGui::IsItemHovered()) {
    list.AddRectFilled(to_imgui(at), {at.x + width, at.y + high}, to_imgui(scene.palette->grid));
    tooltip(meaning);
  }
  list.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {at.x + 2 * pad, at.y + pad / 2},
               to_imgui(urgency_colour(urgency, *scene.palette)), words.c_str(), nullptr, room);
  if (ImGui::IsItemVisible()) marks.push_back({name, {at.x + width / 2, at.y + high / 2}});
  return clicked;
}

void StatusPanel::Inside::draw_connection(const Scene& scene) const {
  say(scene, connection_item(scene));
  say(scene, age_item(scene, realtime_ns()));
  say(scene, job_item(scene));
  if (scene.connection.phase == session::Phase::lost)
    say(scene, "The views are dimmed: they show what came last, not what is now. The job itself may well run on.",
        Urgency::bad);
}

void StatusPanel::Inside::draw_deadlocks(const Scene& scene, Selection& selection) {
  const StatusFacts& f = facts->second;
  const Snapshot& snapshot = *facts->first;
  for (std::size_t i = 0; i < f.deadlocks.size(); ++i) {
    if (row(scene, f.deadlocks[i], Urgency::bad, "deadlock " + std::to_string(i), "Click: selects these ranks."))
      select_deadlock(selection, snapshot, i);
  }
  if (snapshot.deadlocks.size() > f.deadlocks.size())
    say(scene, "... " + std::to_string(snapshot.deadlocks.size() - f.deadlocks.size()) + " more deadlocks",
        Urgency::bad);
}

void StatusPanel::Inside::draw_efficiency(const Scene& scene, const Selection& selection) const {
  const StatusFacts& f = facts->second;
  heading(scene, "efficiency");
  if (!f.efficiency.known()) return say(scene, "not known: no rank has been running, or an older dump", Urgency::calm);
  if (!f.efficiency.useful_known()) return say(scene, views::efficiency_text(f.efficiency), Urgency::calm);
  const auto chosen =
      std::find_if(f.of_region.begin(), f.of_region.end(), [&](const auto& r) { return r.first == selection.region; });
  const bool some = chosen != f.of_region.end();
  draw_efficiencies(scene, f.efficiency, some ? &chosen->second : nullptr, some ? chosen->first : -1);
}

void StatusPanel::Inside::draw_inside(const Scene& scene) const {
  const StatusFacts& f = facts->second;
  heading(scene, "what ranks are in now");
  if (f.ranks == 0)
    return say(scene, f.finished > 0 ? "all ranks have finished" : "no rank has called MPI_Init yet", Urgency::calm);
  const Point at = to_point(ImGui::GetCursorScreenPos());
  const float width = std::max(1.f, ImGui::GetContentRegionAvail().x), high = ImGui::GetFontSize();
  float x = at.x;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  ImGui::Dummy({width, high + 3 * scene.scale});
  std::string legend;
  for (std::size_t i = 0; i < f.inside.size(); ++i) {
    const double share = static_cast<double>(f.inside[i].ranks) / static_cast<double>(f.ranks);
    const float end = std::min(x + width * static_cast<float>(share), at.x + width);
    const Rect part{{x, at.y}, {end, at.y + high}};
    const std::string words = function_text(f.inside[i].function) + " " + text::format_share(share);
    list.AddRectFilled(to_imgui(part.low), to_imgui(part.high),
                       to_imgui(shade_of(i, f.inside[i].function, *scene.palette)));
    list.AddLine({end, at.y}, {end, at.y + high}, to_imgui(scene.palette->background));
    if (ImGui::IsWindowHovered() && part.holds(to_point(ImGui::GetIO().MousePos)))
      tooltip(words + ": " + text::format_count(f.inside[i].ranks) + " of " + text::format_count(f.ranks) + " ranks");
    if (i < most_functions || f.inside[i].function == 0) legend += (legend.empty() ? "" : ", ") + words;
    x = end;
  }
  if (f.finished > 0) legend += "; " + text::format_count(f.finished) + " ranks finished";
  say(scene, legend, Urgency::calm, "The bar: ranks by the MPI function that they are inside now, grey outside MPI.");
}

void StatusPanel::Inside::draw_blocked(const Scene& scene, Selection& selection) {
  const StatusFacts& f = facts->second;
  heading(scene, "blocked longest");
  if (f.blocked.empty())
    return say(scene, facts->first->finished ? "the job has ended" : "no rank has been inside one call for 0.1 s",
               Urgency::calm);
  for (std::size_t i = 0; i < f.blocked.size(); ++i) {
    const views::BlockedGroup& group = f.blocked[i];
    const RankSummary& like = group.like;
    std::string words = text::format_seconds(like.call_for_s) + "  " + (group.ranks.size() == 1 ? "rank " : "ranks ") +
                        text::compact_ranks(group.ranks, 24) + " in " + function_text(like.call_function);
    if (f.sites.find(like.call_site) != nullptr) words += " at " + f.sites.brief(like.call_site);
    words += ", for " + blocked::waits_text(like);
    if (row(scene, words, Urgency::calm, "blocked " + std::to_string(i), "Click: selects these ranks."))
      select_ranks(selection, *facts->first, group.ranks, like.rank);
  }
  if (f.more_blocked > 0)
    say(scene, "... " + std::to_string(f.more_blocked) + " more groups of blocked ranks", Urgency::calm);
}

void StatusPanel::Inside::draw_memory(const Scene& scene) const {
  heading(scene, "memory");
  const StatusItem kept = memory_item(*scene.snapshot);
  if (kept.text.empty()) say(scene, "nothing is said of the aggregator's memory", Urgency::calm);
  else
    say(scene, kept.text + (kept.urgency == Urgency::warning ? kept.meaning.substr(kept.meaning.find('\n')) : ""),
        kept.urgency, kept.meaning);
  if (!scene.history) return;
  say(scene,
      "this viewer's history " + text::format_bytes(static_cast<double>(scene.history->bytes())) +
          (scene.history->thinned() ? ", calm times thinned" : ""),
      Urgency::calm,
      "Windows of all regions that the viewer remembers. Beyond its budget (--history) growth and steady periods "
      "stay, calm ones are "
      "thinned.");
}

StatusPanel::StatusPanel() : inside_(std::make_unique<Inside>()) {}
StatusPanel::~StatusPanel() = default;
bool StatusPanel::unsettled() const { return inside_->worker && inside_->worker->busy(); }
std::vector<Mark> StatusPanel::marks() const { return inside_->marks; }

void StatusPanel::draw(const Scene& scene, Selection& selection) {
  Inside& in = *inside_;
  in.look_at(scene);
  in.marks.clear();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  if (size.x < 4 || size.y < 4) return;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(8 * scene.scale, 6 * scene.scale));
  if (ImGui::BeginChild("status details", size, false, ImGuiWindowFlags_AlwaysUseWindowPadding)) {
    in.draw_connection(scene);
    if (in.facts) in.draw_deadlocks(scene, selection);
    if (scene.snapshot) {
      heading(scene, "messages");
      for (const StatusItem& item : count_items(scene)) say(scene, item);
      if (in.facts) in.draw_efficiency(scene, selection);
      heading(scene, "clocks");
      const StatusItem clock = clock_item(*scene.snapshot);
      if (clock.text.empty()) say(scene, "one node, one clock", Urgency::calm);
      else say(scene, clock);
      if (in.facts) {
        for (const std::string& line : in.facts->second.network) say(scene, line, Urgency::calm);
        in.draw_inside(scene);
        in.draw_blocked(scene, selection);
      }
      in.draw_memory(scene);
    }
  }
  ImGui::EndChild();
  ImGui::PopStyleVar();
}

}  // namespace pclscope::gui
