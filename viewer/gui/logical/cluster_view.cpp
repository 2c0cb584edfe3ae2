// The clustered timeline: ranks of a phase that behave alike, as one row each (views.md, "Time").
#include <imgui.h>

#include <algorithm>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/logical/cluster_glyphs.hpp"
#include "viewer/gui/logical/logical_words.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::gui {
namespace {

using layout::ClusterPicture;
using layout::PhaseClusters;
using layout::Point;
using layout::Rect;

constexpr float least_row = 16;     // points
constexpr float focus_row = 15;     // points
constexpr float tree_width = 0.1f;  // of the view's
constexpr float node_reach = 8;     // points, of a node

struct Request {
  std::shared_ptr<const session::LogicalRun> run;
  std::uint32_t phase = 0;
  logical::Metric metric = logical::Metric::lateness;
  std::optional<std::vector<std::uint32_t>> open;  // none: as at first
  std::optional<std::int32_t> focus;
  bool operator==(const Request&) const = default;
};
struct Answer {
  Request of;
  std::vector<std::uint32_t> open;
  ClusterPicture picture;
};

// Clusters of a phase are kept: opening a row needs no others.
class ClusterWork {
 public:
  Answer operator()(const Request& request) {
    const auto phase = request.run->phases[request.phase];
    if (!clusters_ || clusters_->phase != phase || clusters_->metric != request.metric)
      clusters_ =
          std::make_shared<const PhaseClusters>(layout::cluster_phase(phase, request.metric, request.run->ranks));
    Answer answer;
    answer.of = request;
    answer.open = request.open.value_or(layout::open_at_first(clusters_->tree));
    answer.picture = layout::cluster_rows(clusters_, answer.open, request.focus);
    return answer;
  }

 private:
  std::shared_ptr<const PhaseClusters> clusters_;
};

class ClusterView final : public View {
 public:
  const char* title() const override { return "who is alike: clustered timeline"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }
  std::vector<ViewAxis> axes() const override {
    if (area_.width() < 1) return {};
    return {{AxisKind::steps, area_, [axis = axis_](float x) { return axis.step(x); },
             [axis = axis_](double step) { return axis.x(step); }}};
  }
  bool unsettled() const override { return reading_ || (worker_ && worker_->busy()); }

 private:
  void choose_phase(const Scene& scene, const Selection& selection);
  void ask(const Scene& scene);
  void draw_header(const Scene& scene, Selection& selection, const Rect& at);
  void draw_rows(const Scene& scene, Selection& selection, const Rect& at);
  void react_to_rows(const Scene& scene, Selection& selection, const std::vector<Rect>& rows);
  void open_or_close(std::uint32_t node);

  StepAxis axis_;
  Rect area_{};  // of its steps, as drawn last
  using Worker = layout::Latest<Request, Answer>;
  std::shared_ptr<const session::LogicalRun> run_, chosen_of_;
  std::shared_ptr<const Answer> shown_;
  std::unique_ptr<Worker> worker_;
  Request asked_;
  bool any_asked_ = false;
  Request wanted_;
  std::optional<SelectedSteps> chosen_in_;
  std::optional<std::uint32_t> chosen_phase_;
  bool reading_ = false;
  std::vector<Mark> marks_;
};

void ClusterView::draw(const Scene& scene, Selection& selection) {
  marks_.clear();
  area_ = {};
  const Point low = to_point(ImGui::GetCursorScreenPos());
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const Rect whole{low, low + Point{std::max(size.x, 1.f), std::max(size.y, 1.f)}};
  if (scene.logical == nullptr) return;
  run_ = scene.logical->run(scene);
  reading_ = scene.logical->reading();
  const float line = line_height(), s = scene.scale;
  const bool whole_run = run_ && run_->whole && !run_->phases.empty();
  if (!whole_run) {  // phases have their numbers when all are known
    const std::string words = scene.logical->words(scene);
    draw_text(*ImGui::GetWindowDrawList(),
              whole.middle() - Point{std::min(text_size(words).x, whole.width() - 8 * s) / 2, line / 2},
              scene.palette->faint_text, words, whole.width() - 8 * s);
    return;
  }
  choose_phase(scene, selection);
  ask(scene);
  if (whole.width() < 60 * s || whole.height() < 3 * line) return;
  draw_header(scene, selection, {whole.low, {whole.high.x, whole.low.y + line}});
  draw_rows(scene, selection,
            {{whole.low.x + 4 * s, whole.low.y + line + 6 * s}, {whole.high.x - 4 * s, whole.high.y - 2 * s}});
}

// The selected phase, or of those in sight the one with most of the metric.
void ClusterView::choose_phase(const Scene& scene, const Selection& selection) {
  const auto metric = static_cast<std::size_t>(scene.logical->metric);
  std::uint32_t phase = wanted_.phase;
  if (selection.phase && *selection.phase < run_->phases.size()) {
    phase = *selection.phase;
    chosen_of_ = nullptr;
  } else if (chosen_of_ != run_ || chosen_in_ != selection.steps || wanted_.metric != scene.logical->metric) {
    chosen_of_ = run_;
    chosen_in_ = selection.steps;
    double most = -1;
    for (std::uint32_t p = 0; p < run_->phases.size(); ++p) {
      const session::LogicalPhase& of = *run_->phases[p];
      if (selection.steps && (of.first_step >= selection.steps->end ||
                              static_cast<double>(of.first_step) + of.steps <= selection.steps->first))
        continue;
      if (of.sums[metric] > most) most = of.sums[metric], phase = p;
    }
  }
  if (wanted_.run != run_ || wanted_.phase != phase || wanted_.metric != scene.logical->metric)
    wanted_ = {run_, phase, scene.logical->metric, std::nullopt, std::nullopt};
}

void ClusterView::ask(const Scene& scene) {
  if (!worker_)
    worker_ = std::make_unique<Worker>(
        [work = std::make_shared<ClusterWork>()](const Request& request, const auto&) { return (*work)(request); },
        scene.wake);
  if (!any_asked_ || !(wanted_ == asked_)) worker_->ask(asked_ = wanted_);
  any_asked_ = true;
  if (const auto answer = worker_->answer()) shown_ = answer;
}

void ClusterView::draw_header(const Scene& scene, Selection& selection, const Rect& at) {
  const float s = scene.scale;
  const layout::Palette& p = *scene.palette;
  ImGui::SetCursorScreenPos({at.low.x + 6 * s, at.low.y});
  ImGui::PushStyleColor(ImGuiCol_Button, to_imgui(p.grid));
  const auto step_to = [&](const char* label, const char* mark, std::uint32_t phase) {
    if (ImGui::SmallButton(label) && phase < run_->phases.size()) selection.phase = phase;
    marks_.push_back({mark, middle_of_item()});
    if (ImGui::IsItemHovered()) tooltip("the phase before, the phase behind");
    ImGui::SameLine(0, 4 * s);
  };
  step_to("<", "phase before", wanted_.phase - 1);
  step_to(">", "phase behind", wanted_.phase + 1);
  ImGui::PopStyleColor();
  std::string text = "phase " + std::to_string(wanted_.phase) + " of " + text::format_count(run_->phases.size());
  if (!selection.phase)
    text += " (most " + std::string(name_of(wanted_.metric)) + (selection.steps ? " in sight)" : ")");
  if (shown_ && shown_->of.phase == wanted_.phase && shown_->of.run == run_) {
    const PhaseClusters& of = *shown_->picture.of;
    text += of.too_large
                ? ": too many events for clusters"
                : ": " + text::format_count(of.phase->parts.size()) + " ranks, " + std::to_string(of.tree.clusters) +
                      (of.tree.clusters == 1 ? " cluster" : " clusters") + " by " + name_of(of.metric);
    if (of.pattern != logical::Pattern::none) text += std::string(", exchange: ") + logical::name_of(of.pattern);
  } else {
    text += ": finding clusters";
  }
  const float x = ImGui::GetCursorScreenPos().x + 4 * s;
  draw_text(*ImGui::GetWindowDrawList(), {x, at.low.y}, p.faint_text, text, std::max(1.f, at.high.x - x));
}

void ClusterView::draw_rows(const Scene& scene, Selection& selection, const Rect& at) {
  if (!shown_ || shown_->picture.rows.empty()) return;
  const ClusterPicture& picture = shown_->picture;
  const session::LogicalPhase& phase = *picture.of->phase;
  const float s = scene.scale, tree = std::clamp(at.width() * tree_width, 24 * s, 120 * s);
  const float left = at.low.x + tree + 4 * s;
  if (at.high.x - left < 8) return;
  StepAxis axis{left, at.high.x, static_cast<double>(phase.first_step),
                static_cast<double>(phase.first_step) + std::max(1u, phase.steps)};
  if (selection.steps) {  // the same steps as in the timeline, as far as they are of this phase
    const double first = std::max(axis.first, selection.steps->first), end = std::min(axis.end, selection.steps->end);
    if (end > first) axis.first = first, axis.end = end;
  }
  axis_ = axis;
  area_ = {{axis.left, at.low.y}, {axis.right, at.high.y}};
  const ClusterPaint paint{scene, picture, axis};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect(to_imgui(at.low), to_imgui(at.high), true);
  // Focus ranks above, at most a third of the view.
  const float focus_high = std::min(at.height() * 0.4f, static_cast<float>(picture.focus.size()) * focus_row * s);
  const Rect focus{{left, at.low.y}, {at.high.x, at.low.y + focus_high}};
  if (focus_high > 4) draw_focus_ranks(paint, focus, tree);
  const float top = focus.high.y + 6 * s, room = at.high.y - top;
  list.AddLine({at.low.x, top - 3 * s}, {at.high.x, top - 3 * s}, to_imgui(scene.palette->grid));
  // Heights grow with members.
  std::size_t members = 0;
  for (const auto& row : picture.rows) members += picture.of->tree.nodes[row.node].ranks.size();
  const float least = std::min(least_row * s, room / static_cast<float>(picture.rows.size()));
  const float spare = std::max(0.f, room - least * static_cast<float>(picture.rows.size()));
  std::vector<Rect> rows;
  std::vector<float> middles;
  float y = top;
  for (const auto& row : picture.rows) {
    const auto share = static_cast<float>(static_cast<double>(picture.of->tree.nodes[row.node].ranks.size()) /
                                          static_cast<double>(std::max<std::size_t>(members, 1)));
    rows.push_back({{left, y}, {at.high.x, y + least + spare * share}});
    middles.push_back(rows.back().middle().y);
    y = rows.back().high.y;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& ranks = picture.of->tree.nodes[picture.rows[i].node].ranks;
    const bool faded = selection.ranks.size() > 1 && selection.ranks != ranks;
    draw_cluster_row(paint, picture.rows[i], rows[i], faded);
    const std::string count = text::format_short_count(ranks.size());
    if (rows[i].height() > 1.6f * ImGui::GetFontSize() && text_size(count).x < tree * 0.7f)
      draw_text(list, {left - 6 * s - text_size(count).x, middles[i] - ImGui::GetFontSize() - 1},
                scene.palette->faint_text, count);
    if (selection.ranks == ranks)
      list.AddRect(to_imgui(rows[i].low), to_imgui(rows[i].high), to_imgui(scene.palette->selection));
  }
  const std::vector<TreeMark> nodes =
      draw_tree(paint, shown_->open, middles, {{at.low.x, top}, {left - 4 * s, at.high.y}});
  list.PopClipRect();
  ImGui::SetCursorScreenPos({at.low.x, top});
  ImGui::InvisibleButton("clusters", {at.width(), std::max(1.f, at.high.y - top)});
  const Point mouse = to_point(ImGui::GetIO().MousePos);
  for (const TreeMark& node : nodes) marks_.push_back({"cluster node " + std::to_string(node.node), node.at});
  for (std::size_t i = 0; i < rows.size(); ++i)
    marks_.push_back({"cluster row " + std::to_string(i), {rows[i].middle().x, rows[i].middle().y}});
  marks_.push_back({"cluster rows " + std::to_string(rows.size()), {at.low.x, top}});
  if (!ImGui::IsItemHovered()) return;
  for (const TreeMark& node : nodes) {
    if (layout::distance(node.at, mouse) > node_reach * s) continue;
    const auto& of = picture.of->tree.nodes[node.node];
    tooltip(text::format_count(of.ranks.size()) + " ranks, the nearest of the two groups " +
            value_words(picture.of->metric, of.distance_s) + " apart\nclick: " + (node.open ? "close" : "open"));
    if (ImGui::IsMouseClicked(0)) open_or_close(node.node);
    return;
  }
  react_to_rows(scene, selection, rows);
}

void ClusterView::open_or_close(std::uint32_t node) {
  std::vector<std::uint32_t> open = shown_->open;
  const auto at = std::lower_bound(open.begin(), open.end(), node);
  if (at != open.end() && *at == node) open.erase(at);
  else open.insert(at, node);
  wanted_.open = std::move(open);
}

void ClusterView::react_to_rows(const Scene& scene, Selection& selection, const std::vector<Rect>& rows) {
  const ClusterPicture& picture = shown_->picture;
  const Point mouse = to_point(ImGui::GetIO().MousePos);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].holds(mouse)) continue;
    const auto& node = picture.of->tree.nodes[picture.rows[i].node];
    std::string words = text::format_count(node.ranks.size()) + (node.ranks.size() == 1 ? " rank: " : " ranks: ") +
                        text::compact_ranks(node.ranks, 60) + "\nmedoid: rank " + std::to_string(node.medoid);
    const double first = picture.of->phase->first_step;
    double sight0 = first, sight1 = first + std::max(1u, picture.of->phase->steps);
    if (selection.steps && std::min(sight1, selection.steps->end) > std::max(sight0, selection.steps->first))
      sight0 = std::max(sight0, selection.steps->first), sight1 = std::min(sight1, selection.steps->end);
    const auto step = static_cast<std::uint32_t>(sight0 + (mouse.x - rows[i].low.x) / std::max(1.f, rows[i].width()) *
                                                              (sight1 - sight0));
    const auto& glyphs = picture.rows[i].glyphs;
    const auto glyph = std::lower_bound(glyphs.begin(), glyphs.end(), step,
                                        [](const layout::ClusterGlyph& g, std::uint32_t of) { return g.step < of; });
    if (glyph != glyphs.end() && glyph->step == step) {
      constexpr const char* names[] = {"send", "receive", "in a collective"};
      words += "\nstep " + std::to_string(step) + ":";
      for (std::size_t w = 0; w < 3; ++w)
        if (glyph->share[w] > 0)
          words += "\n" + text::format_share(static_cast<double>(glyph->share[w])) + " " + names[w] + ", mean " +
                   name_of(picture.of->metric) + " " +
                   value_words(picture.of->metric,
                               static_cast<double>(glyph->mean_ns[w]) * session::unit_of(picture.of->metric));
    }
    words += "\nclick: selects them; above: their medoid and whom it exchanges messages with";
    tooltip(words);
    if (ImGui::IsMouseClicked(0) && scene.snapshot) {
      const bool again = selection.ranks == node.ranks;
      selection.ranks = again ? std::vector<std::int32_t>() : node.ranks;
      wanted_.focus = again ? std::nullopt : std::optional(node.medoid);
    }
  }
}

}  // namespace

std::unique_ptr<View> make_clusters_view() { return std::make_unique<ClusterView>(); }

}  // namespace pclscope::gui
