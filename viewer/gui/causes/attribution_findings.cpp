#include "viewer/gui/causes/attribution_findings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/causes/attribution_change.hpp"
#include "viewer/gui/causes/attribution_words.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/condition_rows.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;
using layout::Rect;

constexpr std::size_t most_sentences = 16, longest_sentence = 1'000, most_marks = 100;
constexpr std::size_t most_conditions = 3;
constexpr int closed_lines = 3;

// What can be seen on links: ranks that talk between nodes, and slow links.
bool is_of_links(const Finding& finding) {
  return finding.cause == Cause::mapping || finding.cause == Cause::background;
}

std::string confidence_text(double confidence) {
  if (!std::isfinite(confidence)) return "-";
  char text[16];
  std::snprintf(text, sizeof text, "%.2f", std::clamp(confidence, 0.0, 1.0));
  return text;
}

float wrapped_height(const std::string& text, float width) {
  return ImGui::GetFont()->CalcTextSizeA(ImGui::GetFontSize(), HUGE_VALF, std::max(width, 1.f), text.c_str()).y;
}

// What the open finding says, paragraph by paragraph; the advice is the last.
std::vector<std::string> paragraphs(const Finding& f, const views::Sites& sites) {
  std::vector<std::string> found;
  for (const std::string& sentence : f.evidence) {
    if (found.size() >= most_sentences) break;
    found.push_back(std::string("- ").append(text::printable(std::string_view(sentence).substr(0, longest_sentence))));
  }
  if (const std::string site = finding_site(f, sites); !site.empty()) found.push_back(site);
  if (!f.advice.empty())
    found.push_back(
        std::string("What to do: ").append(text::printable(std::string_view(f.advice).substr(0, longest_sentence))));
  return found;
}

void draw_confidence(ImDrawList& list, const Scene& scene, double confidence, const Rect& at) {
  const layout::Palette& palette = *scene.palette;
  const double share = std::isfinite(confidence) ? std::clamp(confidence, 0.0, 1.0) : 0;
  const float pad = std::max(1.f, at.height() * 0.28f);
  const Rect bar{{at.low.x, at.low.y + pad}, {at.high.x, at.high.y - pad}};
  list.AddRectFilled(to_imgui(bar.low), to_imgui(bar.high), to_imgui(palette.grid));
  const layout::Rgba colour = share > 0.5 ? palette.successor : palette.calm;
  list.AddRectFilled(to_imgui(bar.low), {bar.low.x + bar.width() * static_cast<float>(share), bar.high.y},
                     to_imgui(colour));
  if (ImGui::IsWindowHovered() && at.holds(to_point(ImGui::GetIO().MousePos)))
    tooltip("Confidence " + confidence_text(confidence) +
            ": how clearly the cause stands out, by its cost and by how many separate events "
            "support it. Above 0.5 (blue) it is more likely than not.");
}

const char* why_empty(const Snapshot* snapshot) {
  if (snapshot == nullptr) return "nothing has come yet";
  if (snapshot->messages.matched == 0) return "no findings: no messages were matched so far";
  return "no findings: they are derived every half second of a running job; a dump of an older pclscope has none";
}

}  // namespace

void pick_finding(Selection& selection, const Snapshot& snapshot, std::size_t finding, std::int32_t region) {
  const Finding& f = snapshot.attribution.findings.at(finding);
  selection.finding = finding;
  selection.message.reset();
  if (region >= 0) selection.region = region;
  else selection.region.reset();
  if (std::isfinite(f.begin_s) && std::isfinite(f.end_s) && f.end_s > f.begin_s)
    selection.period = SelectedPeriod{f.begin_s, f.end_s};
  else selection.period.reset();
  selection.ranks = layout::ranks_of(f, snapshot.application.ranks);
  selection.rank.reset();
  const bool known =
      !f.ranks.empty() && std::binary_search(selection.ranks.begin(), selection.ranks.end(), f.ranks.front());
  if (known && f.cause != Cause::mapping) selection.rank = f.ranks.front();
  if (selection.rank && f.site != 0) selection.site = SelectedSite{*selection.rank, f.site};
}

void FindingsList::look_at(const Scene& scene, Selection& selection) {
  if (seen_ != scene.snapshot) {
    seen_ = scene.snapshot;
    sites_ = seen_ ? views::Sites(seen_->sites) : views::Sites();
    regions_ = seen_ ? layout::regions_of(*seen_) : std::vector<std::int32_t>();
    if (picked_ && selection.finding)
      selection.finding = seen_ ? layout::same_finding(*picked_, seen_->attribution.findings) : std::nullopt;
  }
  if (selection.finding && (!seen_ || *selection.finding >= seen_->attribution.findings.size()))
    selection.finding.reset();
  if (selection.finding) picked_ = seen_->attribution.findings[*selection.finding];
  else picked_.reset();
}

std::shared_ptr<const layout::MappingPreview> FindingsList::preview_of(const Scene& scene, const Finding& finding) {
  if (seen_->traffic.empty() || seen_->application.nodes.size() < 2) {
    const auto told = layout::told_mapping(finding, seen_->attribution);
    layout::MappingPreview nothing;
    nothing.problem = "before and after: who sends how much to whom is in the dump only";
    return std::make_shared<const layout::MappingPreview>(told ? *told : nothing);
  }
  using Worker = layout::Latest<std::shared_ptr<const Snapshot>, layout::MappingPreview>;
  if (!worker_)
    worker_ = std::make_unique<Worker>(
        [](const auto& snapshot, const auto&) { return layout::preview_mapping(*snapshot); }, scene.wake);
  if (asked_ != seen_) {
    asked_ = seen_;
    worker_->ask(seen_);
  }
  if (auto answer = worker_->answer()) return answer;
  layout::MappingPreview waiting;
  waiting.problem = "looking for a better placement ...";
  return std::make_shared<const layout::MappingPreview>(waiting);
}

float FindingsList::open_height(const Scene& scene, const Finding& finding, float width) const {
  float height = 6 * scene.scale;
  for (const std::string& paragraph : paragraphs(finding, sites_))
    height += wrapped_height(paragraph, width) + 3 * scene.scale;
  return height;
}

void FindingsList::draw_open(const Scene& scene, const Finding& finding, const Rect& at) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  float y = at.low.y;
  for (const std::string& paragraph : paragraphs(finding, sites_)) {
    const bool advice = paragraph.front() != '-';
    list.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {at.low.x, y},
                 to_imgui(advice ? scene.palette->text : scene.palette->faint_text), paragraph.c_str(), nullptr,
                 std::max(at.width(), 1.f));
    y += wrapped_height(paragraph, at.width()) + 3 * scene.scale;
  }
}

void FindingsList::draw_row(const Scene& scene, const Finding& f, std::size_t row, const Selection& selection,
                            const Rect& at) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& palette = *scene.palette;
  const float pad = 8 * scene.scale, line = line_height();
  const bool selected = selection.finding == row;
  const bool touched = ImGui::IsItemHovered();
  if (touched || selected) list.AddRectFilled(to_imgui(at.low), to_imgui(at.high), to_imgui(palette.panel));
  list.AddRectFilled(to_imgui(at.low), {at.low.x + 3 * scene.scale, at.high.y},
                     to_imgui(palette.region(regions_[row])));
  if (selected)
    list.AddRect(to_imgui(at.low), to_imgui(at.high), to_imgui(palette.selection), 0, 0, 1.5f * scene.scale);
  const Point text{at.low.x + pad, at.low.y + 3 * scene.scale};
  const float number = text_size("0.00").x, bar = 56 * scene.scale, right = at.high.x - pad;
  const bool roomy = at.width() > 200 * scene.scale;
  const std::string title = std::to_string(row + 1) + "  " + finding_title(f);
  const bool with_bar =
      roomy && text_size(title).x <= right - bar - number - 2 * pad - text.x;  // words go before pictures
  draw_text(list, text, palette.text, title,
            (with_bar ? right - bar - number - 2 * pad
             : roomy  ? right - number - pad
                      : right) -
                text.x);
  if (with_bar) {
    draw_confidence(list, scene, f.confidence,
                    {{right - number - pad - bar, text.y}, {right - number - pad, text.y + ImGui::GetFontSize()}});
  }
  if (roomy) draw_text(list, {right - number, text.y}, palette.text, confidence_text(f.confidence));
  draw_text(list, {text.x, text.y + line}, palette.faint_text, finding_place(f, regions_[row], *seen_, sites_),
            right - text.x);
  draw_text(list, {text.x, text.y + 2 * line}, palette.faint_text, finding_time(f), right - text.x);
  const float mouse_y = ImGui::GetIO().MousePos.y;
  if (touched && ImGui::GetIO().MousePos.x < right - bar - number - pad && mouse_y < text.y + line)
    tooltip(std::string(cause_meaning(f.cause)).append("\nClick: selects its region, period and ranks in all views."));
}

// Opens the routes with those that the finding is about lit: of slow links those between their nodes, else those of the
// ranks to be moved.
void FindingsList::draw_links_button(const Scene& scene, Selection& selection, std::size_t row, Point at) {
  ImGui::SetCursorScreenPos(to_imgui(at));
  ImGui::PushID(static_cast<int>(row));
  if (ImGui::SmallButton("show its links")) {
    const Finding& finding = seen_->attribution.findings[row];
    pick_finding(selection, *seen_, row, regions_[row]);
    selection.rank.reset();
    if (scene.network != nullptr && !finding.nodes.empty()) scene.network->pick_node_pairs(finding.nodes);
    scene.open_view("routes");
  }
  marks_.push_back({"links of finding " + std::to_string(row), middle_of_item()});
  if (ImGui::IsItemHovered()) tooltip("opens the routes with the finding's lit");
  ImGui::PopID();
}

void FindingsList::draw_change(const Scene& scene, const Finding& finding, const Rect& at) {
  draw_mapping_change(*ImGui::GetWindowDrawList(), *scene.palette, scene.scale, *preview_of(scene, finding), at);
}

void FindingsList::draw_rows(const Scene& scene, Selection& selection) {
  const std::vector<Finding>& findings = seen_->attribution.findings;
  const float width = std::max(ImGui::GetContentRegionAvail().x, 1.f), pad = 8 * scene.scale;
  layout::RowStack rows{findings.size(), closed_lines * line_height() + 8 * scene.scale, selection.finding, 0};
  if (!rows.open && findings.front().cause > Cause::unknown) rows.open = 0;  // the answer, without being asked
  float change = 0;
  if (rows.open) {
    const Finding& f = findings[*rows.open];
    if (f.cause == Cause::mapping)
      change = mapping_change_height(*preview_of(scene, f), width - 2 * pad, scene.scale) + pad;
    rows.extra = open_height(scene, f, width - 2 * pad) + change;
    if (is_of_links(f) && scene.open_view) rows.extra += 1.5f * line_height();
  }
  const Point origin = to_point(ImGui::GetCursorScreenPos());
  const float scrolled = ImGui::GetScrollY();
  const auto shown = rows.shown(scrolled, scrolled + ImGui::GetWindowHeight());
  for (std::size_t i = shown.first; i < shown.last; ++i) {
    const Rect closed{{origin.x, origin.y + rows.top(i)}, {origin.x + width, origin.y + rows.top(i) + rows.height}};
    ImGui::SetCursorScreenPos(to_imgui(closed.low));
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::InvisibleButton("finding", {width, rows.height})) {
      if (selection.finding == i) selection.finding.reset();
      else pick_finding(selection, *seen_, i, regions_[i]);
    }
    ImGui::PopID();
    const Finding& f = findings[i];
    if (ImGui::IsItemHovered() && f.end_s > f.begin_s) hinted_ = SelectedPeriod{f.begin_s, f.end_s};
    draw_row(scene, f, i, selection, closed);
    if (marks_.size() < most_marks) marks_.push_back({"finding " + std::to_string(i), closed.middle()});
    if (rows.open != i) continue;
    const Rect open{{closed.low.x + pad, closed.high.y + 2 * scene.scale},
                    {closed.high.x - pad, closed.high.y + rows.extra}};
    draw_open(scene, f, open);
    if (is_of_links(f) && scene.open_view)
      draw_links_button(scene, selection, i, {open.low.x, open.low.y + open_height(scene, f, open.width())});
    if (change > 0) draw_change(scene, f, {{open.low.x, open.high.y - change + pad / 2}, open.high});
  }
  ImGui::SetCursorScreenPos(to_imgui(origin));
  ImGui::Dummy({1, rows.total()});
}

// Of the run, above the causes: a line each, the whole of it and what to do under the mouse. Returns their height.
float FindingsList::draw_conditions(const Scene& scene, const Rect& area) const {
  if (!seen_) return 0;
  float y = area.low.y;
  for (std::size_t i = 0; i < std::min(seen_->conditions.size(), most_conditions); ++i) {
    const std::string line = views::condition_line(seen_->conditions[i], *seen_);
    const Rect at{{area.low.x, y}, {area.high.x, y + line_height()}};
    if (at.high.y > area.high.y) break;
    draw_text(*ImGui::GetWindowDrawList(), at.low, scene.palette->text, "condition: " + line, area.width());
    if (ImGui::IsWindowHovered() && at.holds(to_point(ImGui::GetIO().MousePos)))
      tooltip(line + "\n" + views::condition_advice(seen_->conditions[i], *seen_));
    y = at.high.y;
  }
  return y - area.low.y;
}

void FindingsList::draw(const Scene& scene, Selection& selection, const Rect& area) {
  look_at(scene, selection);
  marks_.clear();
  hinted_.reset();
  if (area.width() < 4 || area.height() < 4) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float title = line_height() + 2 * scene.scale;
  draw_text(list, area.low, scene.palette->text, "findings: why messages are late", area.width());
  if (ImGui::IsWindowHovered() &&
      Rect{area.low, {area.high.x, area.low.y + title}}.holds(to_point(ImGui::GetIO().MousePos)))
    tooltip(
        "Causes, the one that matters most first: where it acts (the strip has its region's colour), since when, "
        "what it costs, and "
        "how sure that is (bar). Click one to see it in all views and to read its evidence.");
  const float top = title + draw_conditions(scene, {{area.low.x, area.low.y + title}, area.high});
  if (area.height() - top < 4) return;
  ImGui::SetCursorScreenPos({area.low.x, area.low.y + top});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  if (ImGui::BeginChild("findings", {area.width(), area.height() - top}, false, 0)) {
    if (seen_ && !seen_->attribution.findings.empty()) draw_rows(scene, selection);
    else {
      ImGui::PushTextWrapPos(0);
      ImGui::PushStyleColor(ImGuiCol_Text, to_imgui(scene.palette->faint_text));
      ImGui::TextUnformatted(why_empty(seen_.get()));
      ImGui::PopStyleColor();
      ImGui::PopTextWrapPos();
    }
  }
  ImGui::EndChild();
  ImGui::PopStyleVar();
}

}  // namespace pclscope::gui
