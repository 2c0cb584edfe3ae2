// What is worst (Fujiwara et al. 4.3): routes, links or vertices by a metric, largest first. A brush says which routes
// the network views show; below, these routes one by one.
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/controls.hpp"
#include "viewer/gui/ranking/ranking_rows.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/layout/ranking_plot.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;
using layout::RankingPlot;
using layout::Rect;
using session::NetworkMetric;
using session::NetworkThing;

constexpr std::size_t most_row_marks = 20;
constexpr float drag_points = 3;  // less is a click

struct MetricButton {
  NetworkMetric metric;
  const char* label;
  const char* meaning;
};
constexpr MetricButton metric_buttons[] = {
    {NetworkMetric::route_load, "heaviest link", "Of each route: the bytes over the heaviest link on it."},
    {NetworkMetric::route_length, "length", "Of each route: its links."},
    {NetworkMetric::route_bytes, "bytes", "Of each route: what the first rank sends to the second."},
    {NetworkMetric::route_hop_bytes, "hop-bytes", "Of each route: its bytes times its links."},
    {NetworkMetric::link_load, "links", "Of each link, one direction: the bytes over it."},
    {NetworkMetric::vertex_out, "out", "Of each vertex: the bytes over the links out of it."},
    {NetworkMetric::vertex_in, "in", "Of each vertex: the bytes over the links into it."}};

const char* plural(NetworkThing thing) {
  return thing == NetworkThing::route ? "routes" : thing == NetworkThing::link ? "links" : "vertices";
}

std::string value_words(NetworkMetric metric, double value) {
  if (metric == NetworkMetric::route_length)
    return std::to_string(static_cast<std::int64_t>(value)) + (value == 1 ? " link" : " links");
  return text::format_bytes(value);
}

class RankingView final : public View {
 public:
  const char* title() const override { return "what is worst: routes, links and vertices by a metric"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }
  bool unsettled() const override { return reading_; }
  bool needs_run() const override { return false; }

 private:
  void draw_controls(const Scene& scene, Point at, float right);
  void draw_plot(const Scene& scene, const Selection& selection, const Rect& area);
  void draw_lit(const Scene& scene, const Selection& selection, const RankingPlot& plot) const;
  void react(const Scene& scene, Selection& selection, const RankingPlot& plot);
  void draw_rows(const Scene& scene, Selection& selection, const Rect& area);
  void draw_row(const Scene& scene, std::size_t row, float y, const std::vector<float>& ends);
  void pick(std::size_t place, NetworkState& network, Selection& selection) const;
  void brush_top(NetworkState& network) const;
  const session::NetworkBrush* brush(const NetworkState& network) const {
    const auto& set = network.filter().brush;
    return set && set->metric == metric_ ? &*set : nullptr;
  }
  std::string thing_words(std::size_t place) const;

  layout::Latest<RankingQuestion, RankingRows>& maker(const Scene& scene);
  std::unique_ptr<layout::Latest<RankingQuestion, RankingRows>> maker_;
  RankingQuestion asked_;
  std::shared_ptr<const RankingRows> rows_;
  NetworkMetric metric_ = NetworkMetric::route_load;
  bool logarithmic_ = false, reading_ = false, dragging_ = false;
  double top_ = 5, drag_from_ = 0;  // percent; a place
  std::size_t first_row_ = 0;
  float wheel_ = 0;
  std::vector<Mark> marks_;
};

layout::Latest<RankingQuestion, RankingRows>& RankingView::maker(const Scene& scene) {
  if (!maker_)
    maker_ = std::make_unique<layout::Latest<RankingQuestion, RankingRows>>(
        [keeper = std::make_shared<RankingMaker>()](const RankingQuestion& question, const auto&) {
          return keeper->make(question);
        },
        scene.wake);
  return *maker_;
}

void RankingView::draw(const Scene& scene, Selection& selection) {
  marks_.clear();
  const Point low = to_point(ImGui::GetCursorScreenPos()), size = to_point(ImGui::GetContentRegionAvail());
  if (size.x < 8 || size.y < 8 || scene.network == nullptr) return;
  NetworkState& network = *scene.network;
  const session::NetworkCasePtr current = network.current(scene);
  const auto shown = network.shown(scene);
  reading_ = network.reading();
  const float s = scene.scale, line = line_height();
  if (!current) {
    const std::string words = network.words(scene);
    return draw_text(*ImGui::GetWindowDrawList(), {low.x + 6 * s, low.y + size.y / 2}, scene.palette->faint_text, words,
                     size.x - 12 * s);
  }
  if (shown && (asked_.shown != shown || asked_.metric != metric_)) maker(scene).ask(asked_ = {shown, metric_});
  if (maker_) rows_ = maker_->answer();
  reading_ = reading_ || !shown || shown->network != network.current(scene) || shown->filter != network.filter() ||
             !rows_ || rows_->shown != shown || rows_->ranking->metric != metric_;
  draw_controls(scene, {low.x + 6 * s, low.y + 2 * s}, low.x + size.x - 4 * s);
  if (!rows_) return;
  const float head = 2 * line + 10 * s, axis = text_size("1023.9 MiB").x + 10 * s;
  const float rows_height = size.y > 14 * line ? (size.y - head) * 0.5f : 0;
  const Rect plot{{low.x + axis, low.y + head + 4 * s},
                  {low.x + size.x - 8 * s, low.y + size.y - rows_height - line - 8 * s}};
  if (plot.width() >= 8 && plot.height() >= 8) draw_plot(scene, selection, plot);
  if (plot.width() >= 8 && plot.height() >= 8)
    react(scene, selection, layout::ranking_plot(rows_->ranking->values, plot, logarithmic_));
  if (rows_height > 0)
    draw_rows(scene, selection, {{low.x + 6 * s, low.y + size.y - rows_height}, low + size - Point{4 * s, 2 * s}});
}

void RankingView::draw_controls(const Scene& scene, Point at, float right) {
  NetworkState& network = *scene.network;
  ControlRow row(scene, marks_, "ranking", at, right);
  for (const MetricButton& button : metric_buttons)
    if (row.button(button.label, button.meaning, metric_ == button.metric)) metric_ = button.metric;
  row.next_row(at.x);
  if (row.button("log", "A logarithmic axis of values (key l).", logarithmic_) || typed_here('l'))
    logarithmic_ = !logarithmic_;
  row.space();
  const bool top = row.button("top", "Show the routes of the first so many percent alone (key p).");
  const bool entered = row.number("percent", "Percent, and Enter.", top_, 0.001, 100, 6);
  row.words("%", scene.palette->faint_text);
  if ((top || entered || typed_here('p')) && rows_) brush_top(network);
  if (network.filter().brush && row.button("all", "Show all routes (double click in the plot).")) {
    network.set_brush(std::nullopt);
  }
  if (network.filter().lasso && row.button("no lasso", "Show routes of all vertices.")) network.set_lasso(std::nullopt);
  if (rows_ && rows_->shown)
    row.words(text::format_count(rows_->shown->routes.size()) + " of " +
                  text::format_count(rows_->network->routes.routes.size()) + " routes are shown",
              scene.palette->faint_text);
}

void RankingView::brush_top(NetworkState& network) const {
  if (rows_->ranking->metric != metric_) return;
  network.set_brush(session::NetworkBrush{metric_, 0, layout::top_count(rows_->ranking->order.size(), top_)});
}

void RankingView::draw_plot(const Scene& scene, const Selection& selection, const Rect& area) {
  const RankingPlot plot = layout::ranking_plot(rows_->ranking->values, area, logarithmic_);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  const float s = scene.scale;
  if (plot.count == 0)
    return draw_text_centred(list, area.middle(), p.faint_text,
                             "no message leaves its vertex: there is nothing to rank");
  const auto label = [&](double value) {
    const float y = plot.y(value);
    list.AddLine({area.low.x, y}, {area.high.x, y}, to_imgui(p.grid.with_alpha(0.5f)));
    const std::string words = value_words(rows_->ranking->metric, value);
    draw_text(list, {area.low.x - text_size(words).x - 5 * s, y - line_height() / 2}, p.faint_text, words);
  };
  if (logarithmic_) {
    for (double value = plot.most; value >= plot.least; value /= 10) label(value);
  } else {
    for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) label(plot.least + share * (plot.most - plot.least));
  }
  const session::NetworkBrush* held = brush(*scene.network);
  const float left = held ? plot.x(static_cast<double>(held->first)) : area.low.x,
              right = held ? plot.x(static_cast<double>(held->end)) : area.high.x;
  if (held)
    list.AddRectFilled({left, area.low.y}, {std::max(right, left + s), area.high.y},
                       to_imgui(p.selection.with_alpha(0.12f)));
  const std::vector<layout::RankingColumn> columns = layout::ranking_columns(rows_->ranking->values, plot);
  for (const layout::RankingColumn& column : columns) {
    const bool in = column.x + 1 > left && column.x < std::max(right, left + 1);
    const double share = plot.most > 0 ? column.most / plot.most : 0;
    const layout::Rgba colour = in ? p.share(std::sqrt(share)) : p.edge.with_alpha(0.6f);
    list.AddRectFilled({column.x, plot.y(column.most)}, {column.x + 1, area.high.y}, to_imgui(colour));
  }
  list.AddRect(to_imgui(area.low), to_imgui(area.high), to_imgui(p.grid));
  draw_lit(scene, selection, plot);
  const char* things = plural(session::thing_of(rows_->ranking->metric));
  std::string words = text::format_count(plot.count) + " " + things + ", the worst on the left";
  if (held) words += ": places " + std::to_string(held->first + 1) + " to " + std::to_string(held->end);
  draw_text(list, {area.low.x, area.high.y + 2 * s}, p.faint_text, words, area.width());
  marks_.push_back({"ranking bars " + std::to_string(plot.count), area.middle()});
  marks_.push_back({"ranking first", {area.low.x + 1, area.middle().y}});
  marks_.push_back({"ranking last", {area.high.x - 1, area.middle().y}});
}

// Where the selected routes stand, by a mark below the axis.
void RankingView::draw_lit(const Scene& scene, const Selection& selection, const RankingPlot& plot) const {
  if (session::thing_of(rows_->ranking->metric) != NetworkThing::route ||
      rows_->network != scene.network->current(scene))
    return;
  const auto lit = scene.network->lit(selection);
  if (lit->empty()) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto& order = rows_->ranking->order;
  float last = -1;
  for (std::size_t place = 0; place < order.size(); ++place) {
    if (!std::binary_search(lit->begin(), lit->end(), order[place])) continue;
    const float x = plot.x(static_cast<double>(place) + 0.5);
    if (x - last < 1) continue;
    last = x;
    const float y = plot.area.high.y, wide = 3 * scene.scale;
    list.AddTriangleFilled({x, y - 2 * wide}, {x - wide, y}, {x + wide, y}, to_imgui(scene.palette->selection));
  }
}

std::string RankingView::thing_words(std::size_t place) const {
  const session::NetworkCase& network = *rows_->network;
  const std::uint32_t number = rows_->ranking->order[place];
  const std::string where = "place " + std::to_string(place + 1) + ": ",
                    value = value_words(rows_->ranking->metric, rows_->ranking->values[place]);
  switch (session::thing_of(rows_->ranking->metric)) {
    case NetworkThing::route: {
      const mapping::Route& route = network.routes.routes[number];
      return where + "rank " + session::rank_name(network, route.source) + " to rank " +
             session::rank_name(network, route.destination) + ", " + value;
    }
    case NetworkThing::link: {
      const auto link = static_cast<std::int32_t>(number);
      return where + "from " + session::vertex_name(network, network.links->from(link)) + " to " +
             session::vertex_name(network, network.links->to(link)) + ", " + value;
    }
    case NetworkThing::vertex:
      return where + session::vertex_name(network, static_cast<std::int32_t>(number)) + ", " + value;
  }
  return where;
}

void RankingView::pick(std::size_t place, NetworkState& network, Selection& selection) const {
  const std::uint32_t number = rows_->ranking->order[place];
  switch (session::thing_of(rows_->ranking->metric)) {
    case NetworkThing::route: return network.pick_route(number, selection);
    case NetworkThing::link: {
      const auto link = static_cast<std::int32_t>(number);
      return network.pick_link(rows_->network->links->from(link), rows_->network->links->to(link), selection);
    }
    case NetworkThing::vertex: return network.pick_vertex(static_cast<std::int32_t>(number), selection);
  }
}

// Drag: a brush. Click: what is there. Double click: no brush.
void RankingView::react(const Scene& scene, Selection& selection, const RankingPlot& plot) {
  ImGui::SetCursorScreenPos(to_imgui(plot.area.low));
  ImGui::InvisibleButton("ranking", {plot.area.width(), plot.area.height()});
  NetworkState& network = *scene.network;
  if (plot.count == 0 || rows_->network != network.current(scene)) return;
  const ImGuiIO& io = ImGui::GetIO();
  const double place = plot.place(io.MousePos.x);
  const auto whole = std::min(static_cast<std::size_t>(place), plot.count - 1);
  if (ImGui::IsItemHovered() && !ImGui::IsItemActive()) tooltip(thing_words(whole));
  if (ImGui::IsItemActivated()) {
    drag_from_ = place;
    dragging_ = false;
  }
  if (ImGui::IsItemActive() && std::abs(plot.x(place) - plot.x(drag_from_)) > drag_points * scene.scale)
    dragging_ = true;
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) return network.set_brush(std::nullopt);
  if (ImGui::IsItemActive() && dragging_) {
    const double low = std::min(place, drag_from_), high = std::max(place, drag_from_);
    const auto first = static_cast<std::size_t>(std::floor(low));
    const auto end = std::min(plot.count, static_cast<std::size_t>(std::ceil(high)));
    network.set_brush(session::NetworkBrush{rows_->ranking->metric, std::min(first, plot.count - 1),
                                            std::max(end, std::min(first, plot.count - 1) + 1)});
  }
  if (ImGui::IsItemDeactivated() && !dragging_ && plot.area.holds(to_point(io.MousePos)))
    pick(whole, network, selection);
}

void RankingView::draw_row(const Scene& scene, std::size_t row, float y, const std::vector<float>& ends) {
  const session::NetworkCase& network = *rows_->network;
  const std::uint32_t number = rows_->routes[row];
  const mapping::Route& route = network.routes.routes[number];
  const std::string cells[] = {
      session::rank_name(network, route.source), session::rank_name(network, route.destination),
      text::format_bytes(route.bytes),           std::to_string(route.length()),
      text::format_bytes(route.hop_bytes()),     text::format_bytes(network.heaviest[number])};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < ends.size(); ++i)
    draw_text(list, {ends[i] - text_size(cells[i]).x, y}, scene.palette->text, cells[i]);
}

void RankingView::draw_rows(const Scene& scene, Selection& selection, const Rect& area) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  const float line = line_height(), s = scene.scale;
  constexpr const char* heads[] = {"from rank", "to rank", "bytes", "links", "hop-bytes", "heaviest link"};
  std::vector<float> ends;
  float x = area.low.x;
  for (const char* head : heads) {
    x += std::max(text_size(head).x, text_size("1023.9 MiB").x) + 12 * s;
    if (x > area.high.x) break;
    ends.push_back(x);
    draw_text(list, {x - text_size(head).x, area.low.y}, p.faint_text, head);
  }
  const std::size_t count = rows_->routes.size();
  const auto fit = static_cast<std::size_t>(std::max(0.f, (area.height() - line) / line));
  marks_.push_back({"ranking rows " + std::to_string(count), {area.middle().x, area.low.y + line / 2}});
  if (fit == 0 || ends.empty()) return;
  ImGui::SetCursorScreenPos({area.low.x, area.low.y + line});
  ImGui::InvisibleButton("rows", {area.width(), line * static_cast<float>(fit)});
  const ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsItemHovered()) {
    wheel_ -= 3 * io.MouseWheel;
    const float whole = std::trunc(wheel_);
    wheel_ -= whole;
    const double moved = static_cast<double>(first_row_) + static_cast<double>(whole);
    first_row_ = static_cast<std::size_t>(std::max(0.0, moved));
  }
  first_row_ = std::min(first_row_, count > fit ? count - fit : 0);
  const bool current = rows_->network == scene.network->current(scene);
  const auto lit = scene.network->lit(selection);
  for (std::size_t i = 0; i < fit && first_row_ + i < count; ++i) {
    const float y = area.low.y + line * static_cast<float>(i + 1);
    const std::size_t row = first_row_ + i;
    const Rect at{{area.low.x, y}, {area.high.x, y + line}};
    const bool hovered = ImGui::IsItemHovered() && at.holds(to_point(io.MousePos));
    if (current && std::binary_search(lit->begin(), lit->end(), rows_->routes[row]))
      list.AddRectFilled(to_imgui(at.low), to_imgui(at.high), to_imgui(p.selection.with_alpha(0.15f)));
    else if (hovered) list.AddRectFilled(to_imgui(at.low), to_imgui(at.high), to_imgui(p.grid.with_alpha(0.5f)));
    draw_row(scene, row, y, ends);
    if (i < most_row_marks) {
      const mapping::Route& route = rows_->network->routes.routes[rows_->routes[row]];
      marks_.push_back({"route " + session::rank_name(*rows_->network, route.source) + "-" +
                            session::rank_name(*rows_->network, route.destination),
                        at.middle()});
    }
    if (hovered && current && ImGui::IsMouseClicked(0)) scene.network->pick_route(rows_->routes[row], selection);
  }
}

}  // namespace

std::unique_ptr<View> make_ranking_view() { return std::make_unique<RankingView>(); }

}  // namespace pclscope::gui
