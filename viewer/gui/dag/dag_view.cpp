// The DAG view: who depended on whom, from left to right in logical order, with a CS-glyph for each node.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/gui/dag/dag_critical.hpp"
#include "viewer/gui/dag/dag_details.hpp"
#include "viewer/gui/dag/dag_glyphs.hpp"
#include "viewer/gui/dag/dag_legend.hpp"
#include "viewer/gui/dag/dag_sheet.hpp"
#include "viewer/gui/dag/dag_worst.hpp"
#include "viewer/text/printable.hpp"

namespace pclscope::gui {
namespace {

constexpr float toolbar_width = 330, toolbar_height = 120;   // points of the view, less: no toolbar
constexpr std::size_t most_direct = 150, most_beyond = 120;  // links drawn afresh
constexpr std::size_t most_rank_labels = 500;
constexpr std::size_t most_readable = 1000;  // nodes: beyond, the logical timeline is offered
constexpr std::size_t most_rank_marks = 60, most_marks = 200;
constexpr float reach = 1.42f;  // of a glyph with its bars, ring radii

class DagView final : public View {
 public:
  const char* title() const override { return "how: dependencies"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override;
  bool unsettled() const override { return shows_graph_ && (sheet_.unsettled() || critical_.unsettled()); }
  bool wants_graph() const override { return true; }

 private:
  void draw_toolbar(const Scene& scene, Selection& selection);
  bool button(const char* label, const char* mark, const char* meaning);
  void search(Selection& selection);
  layout::Rect free_of_words(const layout::Rect& area, const Scene& scene) const;
  void find_visible(const layout::Rect& area);
  void react(const layout::Rect& area, bool over, Selection& selection);
  void draw_graph(ImDrawList& list, const layout::Rect& area, const Scene& scene, const Selection& selection);
  void draw_hovered_links(ImDrawList& list, const Scene& scene);
  void draw_route(ImDrawList& list, std::int32_t route, layout::Rgba colour, float width);
  void draw_selected_message(ImDrawList& list, const Scene& scene, const SelectedMessage& message);
  void draw_critical(ImDrawList& list, const Scene& scene);
  std::string toolbar_words() const;
  void draw_glyphs(ImDrawList& list, const Scene& scene, const Selection& selection);
  void draw_words(ImDrawList& list, const layout::Rect& area, const Scene& scene, const Selection& selection);
  GlyphPlace place(std::size_t node, const Scene& scene) const;

  DagSheet sheet_;
  DagCritical critical_;
  std::size_t on_path_ = 0;  // lines of the critical path that were drawn
  bool shows_graph_ = false;
  std::vector<std::size_t> visible_;  // nodes of the picture
  GlyphDetail detail_ = GlyphDetail::disc;
  float scale_ = 1;
  std::optional<std::size_t> hovered_;
  std::optional<std::size_t> hovered_bar_;
  std::array<char, 12> sought_{};
  std::string found_;  // what the search says
  WorstMessage worst_;
  std::vector<Mark> toolbar_marks_;
};

void DagView::draw(const Scene& scene, Selection& selection) {
  const ImVec2 whole = ImGui::GetContentRegionAvail();
  scale_ = scene.scale;
  toolbar_marks_.clear();
  const std::string empty = why_empty(scene, selection);
  shows_graph_ = empty.empty();
  if (shows_graph_ && whole.x >= toolbar_width * scene.scale && whole.y >= toolbar_height * scene.scale)
    draw_toolbar(scene, selection);
  const ImVec2 room = ImGui::GetContentRegionAvail(), size(std::max(room.x, 1.f), std::max(room.y, 1.f));
  const layout::Point low = to_point(ImGui::GetCursorScreenPos());
  const layout::Rect area{low, low + to_point(size)};
  ImGui::InvisibleButton("graph", size);
  const bool over = ImGui::IsItemHovered();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect(to_imgui(area.low), to_imgui(area.high), true);
  visible_.clear();
  if (shows_graph_) {
    sheet_.follow(scene, selection, free_of_words(area, scene));
    critical_.follow(scene, sheet_.picture() ? sheet_.picture()->basis->dag : nullptr);
    sheet_.react(area, over);
    find_visible(area);
    react(area, over, selection);
    draw_graph(list, area, scene, selection);
  } else {
    hovered_.reset();
    const layout::Point text = text_size(empty);
    const float left = std::max(area.low.x + 4 * scale_, area.middle().x - text.x / 2);
    draw_text(list, {left, area.middle().y - text.y / 2}, scene.palette->faint_text, empty, area.width() - 8 * scale_);
  }
  list.PopClipRect();
}

bool DagView::button(const char* label, const char* mark, const char* meaning) {
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(5 * scale_, 0));
  const bool pressed = ImGui::SmallButton(label);
  ImGui::PopStyleVar();
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  toolbar_marks_.push_back({mark, layout::Rect{to_point(low), to_point(high)}.middle()});
  if (ImGui::IsItemHovered()) tooltip(meaning);
  ImGui::SameLine();
  return pressed;
}

void DagView::draw_toolbar(const Scene& scene, Selection& selection) {
  const ImVec2 corner = ImGui::GetCursorPos();
  ImGui::SetCursorPos({corner.x + 6 * scale_, corner.y + 3 * scale_});
  ImGui::PushStyleColor(ImGuiCol_Button, to_imgui(scene.palette->grid));
  ImGui::PushStyleColor(ImGuiCol_FrameBg, to_imgui(scene.palette->grid));
  if (button("fit", "fit", "Show all of it (Home). Wheel: zoom; right button or arrow keys: move.")) sheet_.fit();
  const bool all = sheet_.all_shown();
  if (button(all ? "fold" : "unfold all", all ? "fold" : "unfold all",
             all ? "Fold what comes late, so that the rest is readable." : "Show all nodes.")) {
    if (all) sheet_.fold_again();
    else sheet_.unfold_all();
  }
  if (button("worst message", "worst", "Go to the node that received the message with the largest L.") &&
      sheet_.picture()) {
    const auto worst = worst_node(sheet_.picture()->whole());
    found_ = worst ? "" : "no message is late";
    worst_.clear();
    if (worst) {
      sheet_.centre_on(*worst, true);
      worst_.tell(scene, sheet_.picture()->whole(), *worst);
      selection.rank = sheet_.picture()->whole().nodes[*worst].rank;
      selection.message = worst_.message();
    }
  }
  if (selection.message != worst_.message()) worst_.clear();
  if (sheet_.picture() && sheet_.picture()->whole().nodes.size() > most_readable && scene.open_view &&
      button("logical timeline", "logical",
             "So many nodes are hard to follow in a graph. The logical timeline shows the same messages step by step, "
             "of all ranks: who was late first, and how far it went.")) {
    const Dag& dag = sheet_.picture()->whole();
    if (!selection.period && dag.to_s > dag.from_s) selection.period = SelectedPeriod{dag.from_s, dag.to_s};
    scene.open_view("logical");
  }
  ImGui::SetNextItemWidth(5 * ImGui::GetFontSize());
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(4 * scale_, 0));
  const bool entered =
      ImGui::InputTextWithHint("##rank", "rank ..", sought_.data(), sought_.size(),
                               ImGuiInputTextFlags_CharsDecimal | ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor(2);
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  toolbar_marks_.push_back({"search", layout::Rect{to_point(low), to_point(high)}.middle()});
  if (ImGui::IsItemHovered()) tooltip("A rank and Enter: brings its first node to the middle and marks all of them.");
  if (entered) search(selection);
  ImGui::SameLine();
  const layout::Point at = to_point(ImGui::GetCursorScreenPos());
  const std::string worst = worst_.words(scene);
  const std::string text = !found_.empty() ? found_ : !worst.empty() ? worst : toolbar_words();
  const float room = std::max(1.f, ImGui::GetContentRegionAvail().x);
  draw_text(*ImGui::GetWindowDrawList(), at,
            !found_.empty() ? scene.palette->warning
            : worst.empty() ? scene.palette->faint_text
                            : scene.palette->text,
            text, room);
  const layout::Rect where{at, at + layout::Point{std::min(room, text_size(text).x), ImGui::GetFontSize()}};
  if (!worst.empty()) toolbar_marks_.push_back({"worst told", where.middle()});
  if (!worst.empty() && ImGui::IsWindowHovered() && where.holds(to_point(ImGui::GetIO().MousePos))) tooltip(worst);
  ImGui::NewLine();
  ImGui::SetCursorPosX(corner.x);
}

std::string DagView::toolbar_words() const {
  if (!sheet_.picture()) return "laying out ..";
  const Dag& dag = sheet_.picture()->whole();
  const auto start = sheet_.start();
  const std::string nodes = fold_status(*sheet_.picture());
  return start && *start < dag.nodes.size() ? first_look_words(dag, *start) + "; " + nodes : nodes;
}

void DagView::search(Selection& selection) {
  const layout::DagPicture* picture = sheet_.picture();
  if (!picture || sought_[0] == 0) return;
  const long rank = std::strtol(sought_.data(), nullptr, 10);
  const auto& nodes = picture->whole().nodes;
  const auto first = std::find_if(nodes.begin(), nodes.end(), [&](const DagNode& n) { return n.rank == rank; });
  found_ = std::string("rank ").append(std::to_string(rank));
  if (first == nodes.end()) {
    found_ += " has no messages here";
    return;
  }
  const auto node = static_cast<std::size_t>(first - nodes.begin());
  const auto here = static_cast<std::size_t>(picture->place[node]);
  sheet_.centre_on(node, false);
  selection.rank = static_cast<std::int32_t>(rank);
  if (picture->dag.nodes[here].rank == rank) found_.clear();
  else found_ += std::string(" is folded into rank ").append(std::to_string(picture->dag.nodes[here].rank));
}

layout::Rect DagView::free_of_words(const layout::Rect& area, const Scene& scene) const {
  const auto legend = dag_legend_box(area, scale_);
  const float line = ImGui::GetFontSize() + 2 * scale_, lines = scene.dag.dag->partial ? 2.5f : 1.5f;
  layout::Rect free = area;
  if (legend) free.high.y = legend->low.y;
  if (free.height() > 6 * line) free.low.y += lines * line;
  return free;
}

void DagView::find_visible(const layout::Rect& area) {
  const layout::DagPicture* picture = sheet_.picture();
  if (!picture) return;
  const layout::Point low = sheet_.to_plane(area.low), high = sheet_.to_plane(area.high);
  const layout::Rect seen{{low.x - reach, low.y - reach}, {high.x + reach, high.y + reach}};
  for (std::size_t i = 0; i < picture->layout.at.size(); ++i)
    if (seen.holds(sheet_.at(i))) visible_.push_back(i);
  detail_ = glyph_detail(sheet_.zoom(), visible_.size(), scale_);
}

void DagView::react(const layout::Rect& area, bool over, Selection& selection) {
  hovered_.reset();
  hovered_bar_.reset();
  const layout::DagPicture* picture = sheet_.picture();
  const layout::Point mouse = to_point(ImGui::GetIO().MousePos);
  const auto legend = dag_legend_box(area, scale_);
  if (!picture || !over || !area.holds(mouse) || (legend && legend->holds(mouse))) return;
  const float within = std::max(detail_ == GlyphDetail::full ? reach : 1.1f, 5 * scale_ / sheet_.zoom());
  const layout::Point at = sheet_.to_plane(mouse);
  float nearest = within;
  for (const std::size_t node : visible_) {
    const float away = layout::distance(at, sheet_.at(node));
    if (away <= nearest) nearest = away, hovered_ = node;
  }
  if (hovered_ && detail_ == GlyphDetail::full) {
    const int bar = layout::bar_at(picture->glyphs[*hovered_], at - sheet_.at(*hovered_));
    if (bar >= 0) hovered_bar_ = static_cast<std::size_t>(bar);
  }
  if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left)) return;
  found_.clear();
  selection.message.reset();
  if (!hovered_) return selection.rank.reset();
  const DagNode& node = picture->dag.nodes[*hovered_];
  selection.rank = node.rank;
  if (hovered_bar_) {
    const layout::GlyphBar& bar = picture->glyphs[*hovered_].bars[*hovered_bar_];
    const DagMessage& m = worst_of(node, bar);
    if (!picture->is_fold(*hovered_))
      selection.message = SelectedMessage{bar.sent ? node.rank : m.peer, bar.sent ? m.peer : node.rank, m.begin_s};
  }
  if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) sheet_.toggle(*hovered_);
}

void DagView::draw_graph(ImDrawList& list, const layout::Rect& area, const Scene& scene, const Selection& selection) {
  sheet_.draw_image(list, area, scene);
  if (!sheet_.picture()) return draw_text_centred(list, area.middle(), scene.palette->faint_text, "laying out ..");
  on_path_ = 0;
  if (!sheet_.gliding()) draw_critical(list, scene);
  if (!sheet_.gliding()) draw_hovered_links(list, scene);
  if (selection.message && !sheet_.gliding()) draw_selected_message(list, scene, *selection.message);
  draw_glyphs(list, scene, selection);
  draw_words(list, area, scene, selection);
  const auto legend = dag_legend_box(area, scale_);
  const bool on_legend = legend && draw_dag_legend(list, *legend, scene);
  if (!hovered_ || on_legend || scene.snapshot == nullptr) return;
  const layout::DagPicture& picture = *sheet_.picture();
  std::string text = node_details(picture, *hovered_, scene.snapshot->application.nodes);
  if (hovered_bar_)
    text = bar_details(picture, *hovered_, picture.glyphs[*hovered_].bars[*hovered_bar_]).append("\n\n").append(text);
  tooltip(text);
}

void DagView::draw_route(ImDrawList& list, std::int32_t route, layout::Rgba colour, float width) {
  const layout::DagRoute& r = sheet_.picture()->routes[static_cast<std::size_t>(route)];
  const std::uint32_t messages = sheet_.picture()->dag.edges[static_cast<std::size_t>(r.edge)].messages;
  draw_link(list, r.knots, sheet_.zoom(), sheet_.offset(), colour, layout::link_width(messages, width));
}

void DagView::draw_hovered_links(ImDrawList& list, const Scene& scene) {
  if (!hovered_) return;
  const layout::DagPicture& picture = *sheet_.picture();
  for (const bool backwards : {true, false}) {
    const layout::Rgba colour = backwards ? scene.palette->predecessor : scene.palette->successor;
    for (const std::int32_t route :
         layout::routes_beyond(picture, static_cast<std::int32_t>(*hovered_), backwards, most_beyond))
      draw_route(list, route, colour.with_alpha(0.35f), 0.8f * scale_);
    const auto& direct = (backwards ? picture.into : picture.out_of)[*hovered_];
    for (std::size_t i = 0; i < std::min(direct.size(), most_direct); ++i)
      draw_route(list, direct[i], colour, 1.8f * scale_);
  }
}

void DagView::draw_selected_message(ImDrawList& list, const Scene& scene, const SelectedMessage& message) {
  const layout::DagPicture& picture = *sheet_.picture();
  for (std::size_t i = 0; i < picture.dag.nodes.size(); ++i) {
    for (const DagMessage& m : picture.dag.nodes[i].sent) {
      if (picture.is_fold(i) || picture.dag.nodes[i].rank != message.source || m.peer != message.destination ||
          std::abs(m.begin_s - message.begin_s) > 1e-9)
        continue;
      for (const std::int32_t route : picture.out_of[i])
        if (picture.dag.edges[static_cast<std::size_t>(picture.routes[static_cast<std::size_t>(route)].edge)].to ==
            m.other_node)
          draw_route(list, route, scene.palette->selection, 2.2f * scale_);
    }
  }
}

// One bold line, as in the rank timeline: along links, and from a rank's node to its next.
void DagView::draw_critical(ImDrawList& list, const Scene& scene) {
  const layout::DagPicture& picture = *sheet_.picture();
  const layout::Rgba colour = scene.palette->selection;
  const float width = 3 * scale_, left = list.GetClipRectMin().x, right = list.GetClipRectMax().x;
  const auto link = [&](std::size_t from, std::size_t to) {
    for (const std::int32_t route : picture.out_of[from]) {
      const DagEdge& edge =
          picture.dag.edges[static_cast<std::size_t>(picture.routes[static_cast<std::size_t>(route)].edge)];
      if (static_cast<std::size_t>(edge.to) == to) return route;
    }
    return std::int32_t{-1};
  };
  const auto draw_line = [&](std::size_t from, std::size_t to) {
    const layout::Point a = sheet_.to_screen(sheet_.at(from)), b = sheet_.to_screen(sheet_.at(to));
    if (std::max(a.x, b.x) < left || std::min(a.x, b.x) > right) return;
    ++on_path_;
    const std::int32_t forth = link(from, to), route = forth >= 0 ? forth : link(to, from);
    if (route < 0) return list.AddLine(to_imgui(a), to_imgui(b), to_imgui(colour), width);
    draw_link(list, picture.routes[static_cast<std::size_t>(route)].knots, sheet_.zoom(), sheet_.offset(), colour,
              width);
    // Links begin beyond the bars.
    const layout::Point reach_right{layout::port * sheet_.zoom(), 0};
    const layout::Point out = forth >= 0 ? a : b, in = forth >= 0 ? b : a;
    list.AddLine(to_imgui(out), to_imgui(out + reach_right), to_imgui(colour), width);
    list.AddLine(to_imgui(in - reach_right), to_imgui(in), to_imgui(colour), width);
  };
  for (const layout::DagPathPiece& piece : critical_.pieces()) {
    for (std::size_t i = 1; i < piece.size(); ++i) {
      const std::int32_t from = picture.place[static_cast<std::size_t>(piece[i - 1])],
                         to = picture.place[static_cast<std::size_t>(piece[i])];
      if (from >= 0 && to >= 0 && from != to) draw_line(static_cast<std::size_t>(from), static_cast<std::size_t>(to));
    }
  }
}

GlyphPlace DagView::place(std::size_t node, const Scene& scene) const {
  return {sheet_.to_screen(sheet_.at(node)), sheet_.zoom(), detail_, scene.scale};
}

void DagView::draw_glyphs(ImDrawList& list, const Scene& scene, const Selection& selection) {
  const layout::DagPicture& picture = *sheet_.picture();
  const bool labels = detail_ != GlyphDetail::disc || visible_.size() <= most_rank_labels;
  for (const std::size_t node : visible_) {
    const std::int32_t rank = picture.dag.nodes[node].rank;
    const layout::Rgba colour = scene.palette->latency(layout::ellipse_ratio(picture, node));
    const GlyphPlace at = place(node, scene);
    draw_glyph(list, picture.glyphs[node], at, *scene.palette, colour, labels ? rank : -1,
               picture.stands_for[node].size() - 1);
    GlyphPlace around = at;
    around.radius = std::max(at.radius * (detail_ == GlyphDetail::full ? 1.45f : 1.15f), 4 * scale_);
    if (selection.rank == rank) draw_ring(list, around, scene.palette->selection, 2 * scale_);
    else if (std::binary_search(selection.ranks.begin(), selection.ranks.end(), rank))
      draw_ring(list, around, scene.palette->selection.with_alpha(0.5f), scale_);
    if (hovered_ == node) draw_ring(list, around, scene.palette->text, scale_);
    if (hovered_ == node && hovered_bar_)
      outline_bar(list, picture.glyphs[node].bars[*hovered_bar_], at, scene.palette->text);
  }
}

void DagView::draw_words(ImDrawList& list, const layout::Rect& area, const Scene& scene, const Selection& selection) {
  const layout::Palette& palette = *scene.palette;
  const Dag& dag = sheet_.picture()->whole();
  const float pad = 6 * scale_, line = ImGui::GetFontSize() + 2 * scale_, width = std::max(1.f, area.width() - 2 * pad);
  layout::Point at{area.low.x + pad, area.low.y + pad / 2};
  const auto say = [&](layout::Rgba colour, const std::string& text) {
    const layout::Point size = text_size(text);
    list.AddRectFilled(to_imgui(at), {at.x + std::min(size.x, width), at.y + size.y},
                       to_imgui(palette.background.with_alpha(0.8f)));
    draw_text(list, at, colour, text, width);
  };
  const std::string title = graph_title(dag),
                    axis = "left: earlier    logical order, a column per layer    right: later";
  say(palette.faint_text, title);
  const float left = area.high.x - text_size(axis).x - pad;
  if (left > at.x + text_size(title).x + 2 * pad) {
    at.x = left;
    say(palette.faint_text, axis);
  }
  at = {area.low.x + pad, at.y + line};
  if (dag.partial) say(palette.warning, partial_words(scene));
  if (dag.partial) at.y += line;
  if (const std::string words = not_newest_words(scene, selection); !words.empty()) say(palette.warning, words);
}

std::vector<Mark> DagView::marks() const {
  std::vector<Mark> marks = toolbar_marks_;
  const layout::DagPicture* picture = sheet_.picture();
  if (!picture || !shows_graph_) return marks;
  if (sheet_.links_shown() > 0)
    marks.push_back({std::string("links ").append(std::to_string(sheet_.links_shown())), sheet_.to_screen({})});
  if (on_path_ > 0) marks.push_back({std::string("path ").append(std::to_string(on_path_)), sheet_.to_screen({})});
  std::set<std::int32_t> ranks;
  for (const std::size_t node : visible_) {
    const std::int32_t rank = picture->dag.nodes[node].rank;
    if (ranks.size() < most_rank_marks && ranks.insert(rank).second)
      marks.push_back({std::string("rank ").append(std::to_string(rank)), sheet_.to_screen(sheet_.at(node))});
  }
  for (const std::size_t node : visible_) {
    if (marks.size() >= most_marks) break;
    marks.push_back({std::string("node ").append(std::to_string(picture->stands_for[node].front())),
                     sheet_.to_screen(sheet_.at(node))});
  }
  return marks;
}

}  // namespace

std::unique_ptr<View> make_dag_view() { return std::make_unique<DagView>(); }

}  // namespace pclscope::gui
