// What the routes view puts onto the draw list: its head line with buttons, the image, what is picked, the legend.
#include <algorithm>
#include <cmath>

#include "viewer/gui/routes/routes_view.hpp"
#include "viewer/gui/routes/routes_words.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;
using layout::Rgba;

constexpr std::size_t most_labels = 250, most_marked_nodes = 200, most_marked_links = 60;

// The chosen one framed.
bool button(const char* word, bool chosen, const layout::Palette& palette) {
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui(chosen ? palette.text : palette.faint_text));
  ImGui::PushStyleColor(ImGuiCol_Button, to_imgui(chosen ? palette.grid : palette.panel));
  const bool clicked = ImGui::SmallButton(word);
  ImGui::PopStyleColor(2);
  return clicked;
}

float button_width(std::string_view word) {
  return text_size(word).x + 2 * ImGui::GetStyle().FramePadding.x + ImGui::GetStyle().ItemSpacing.x;
}

}  // namespace

// The heaviest link in one line; clicking it picks that link.
void RoutesView::draw_header(const Scene& scene, Selection& selection) {
  const layout::Palette& palette = *scene.palette;
  const session::NetworkCase& network = *placed_->graph->shown->network;
  const mapping::LoadedLink& heaviest = placed_->heaviest;
  std::string words = "no link is used: all messages stay on their nodes";
  if (heaviest.bytes > 0)
    words = "heaviest link: " + session::vertex_name(network, heaviest.from) + " -> " +
            session::vertex_name(network, heaviest.to) + ", " + text::format_bytes(heaviest.bytes) + " by " +
            text::format_count(placed_->over_heaviest) + (placed_->over_heaviest == 1 ? " route" : " routes");
  if (!network.change.empty()) words += "   after: " + network.change;
  const auto offers = layout::merge_offers(placed_->shape);
  const bool shaped = placed_->shape.kind != layout::NetworkKind::other;
  float buttons = button_width("?") + button_width("size") + button_width("hops") + button_width("hop-bytes");
  if (shaped) buttons += button_width("places") + button_width("forces");
  for (const auto& offer : offers) buttons += button_width(offer.name);
  if (!offers.empty()) buttons += button_width("merge");
  const float room = ImGui::GetContentRegionAvail().x, gap = ImGui::GetStyle().ItemSpacing.x;
  const bool live = scene.network->follows(scene);
  if (live) buttons += button_width("all so far");
  const bool two_lines = room - buttons < 260 * scene.scale;
  const float width = std::max(40 * scene.scale, two_lines ? room - 2 * gap : room - buttons - 3 * gap);
  const Point start = to_point(ImGui::GetCursorScreenPos());
  ImGui::InvisibleButton("heaviest", ImVec2(width, ImGui::GetTextLineHeight() + 2));
  if (heaviest.bytes > 0) {
    if (ImGui::IsItemClicked()) scene.network->pick_link(heaviest.from, heaviest.to, selection);
    header_marks_.push_back({"heaviest link", middle_of_item()});
  }
  if (ImGui::IsItemHovered()) tooltip(words + "\n\nclick: selects it, and the ranks of its routes");
  draw_text(*ImGui::GetWindowDrawList(), {start.x + gap, start.y}, palette.text, words, width - gap);
  if (!two_lines) ImGui::SameLine(0, gap);
  else ImGui::SetCursorPosX(ImGui::GetCursorPosX() + gap);
  for (const auto colour : {layout::LinkColour::bytes, layout::LinkColour::hops, layout::LinkColour::hop_bytes}) {
    if (button(name_of(colour), colour_ == colour, palette)) colour_ = colour;
    header_marks_.push_back({std::string("colour ") + name_of(colour), middle_of_item()});
    if (ImGui::IsItemHovered()) tooltip(meaning_of(colour));
    ImGui::SameLine(0, gap);
  }
  if (shaped) {
    if (button("places", !by_forces(), palette)) chosen_forces_ = false;
    header_marks_.push_back({"places by coordinates", middle_of_item()});
    if (ImGui::IsItemHovered()) tooltip("nodes lie by their coordinates or groups (key L)");
    ImGui::SameLine(0, gap);
    if (button("forces", by_forces(), palette)) chosen_forces_ = true;
    header_marks_.push_back({"places by forces", middle_of_item()});
    if (ImGui::IsItemHovered()) tooltip("nodes whose links carry much lie near to each other (key L)");
    ImGui::SameLine(0, gap);
  }
  if (live) {
    using Of = NetworkState::TrafficOf;
    const bool newest = scene.network->traffic_of() == Of::newest;
    if (button(newest ? "newest" : "all so far", newest, palette))
      scene.network->set_traffic_of(newest ? Of::all : Of::newest);
    header_marks_.push_back({"newest traffic", middle_of_item()});
    if (ImGui::IsItemHovered())
      tooltip("links carry all traffic of the job so far, or what it has sent in the newest seconds (key W)");
    ImGui::SameLine(0, gap);
  }
  draw_merges(scene);
  button("?", false, palette);
  if (ImGui::IsItemHovered()) tooltip(routes_help());
  draw_filter(scene);
}

void RoutesView::draw_merges(const Scene& scene) {
  const auto offers = layout::merge_offers(placed_->shape);
  if (offers.empty()) return;
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui(scene.palette->faint_text));
  ImGui::TextUnformatted("merge");
  ImGui::PopStyleColor();
  const bool grid = placed_->shape.kind == layout::NetworkKind::grid;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    ImGui::SameLine(0, gap / 2);
    const layout::Merged bit = layout::Merged{1} << i;
    if (button(offers[i].name.c_str(), (merged_ & bit) != 0, *scene.palette))
      merge(grid || (merged_ & bit) != 0 ? merged_ ^ bit : bit);
    header_marks_.push_back({"merge " + offers[i].name, middle_of_item()});
    if (ImGui::IsItemHovered()) tooltip(offers[i].meaning + " (key M)");
  }
  ImGui::SameLine(0, gap);
}

// Which routes are shown, where it is not all of them; what was applied.
void RoutesView::draw_filter(const Scene& scene) {
  NetworkState& state = *scene.network;
  const session::NetworkFilter& filter = state.filter();
  if (!filter.any() && !state.can_undo() && !state.can_redo()) return;
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + gap);
  if (filter.any()) {
    const auto& shown = *placed_->graph->shown;
    const std::string words = text::format_count(shown.routes.size()) + " of " +
                              text::format_count(shown.network->routes.routes.size()) + " routes:";
    ImGui::TextUnformatted(words.c_str());
    ImGui::SameLine(0, gap);
  }
  if (filter.lasso) {
    if (button(filter.lasso->crossing ? "in the lasso or crossing it" : "in the lasso", true, *scene.palette)) {
      crossing_ = !crossing_;
      auto lasso = filter.lasso;
      lasso->crossing = crossing_;
      state.set_lasso(std::move(lasso));
    }
    header_marks_.push_back({"lasso crossing", middle_of_item()});
    if (ImGui::IsItemHovered()) tooltip("click, key X: only what lies within, or also what crosses it");
    ImGui::SameLine(0, gap);
  }
  if (filter.brush) {
    ImGui::TextUnformatted("in the ranking's range");
    ImGui::SameLine(0, gap);
  }
  if (filter.any()) {
    if (button("show all", false, *scene.palette)) {
      state.set_lasso(std::nullopt);
      state.set_brush(std::nullopt);
    }
    header_marks_.push_back({"show all routes", middle_of_item()});
    ImGui::SameLine(0, gap);
  }
  if (state.can_undo()) {
    if (button("undo", false, *scene.palette)) state.undo();
    header_marks_.push_back({"undo", middle_of_item()});
    ImGui::SameLine(0, gap);
  }
  if (state.can_redo()) {
    if (button("redo", false, *scene.palette)) state.redo();
    header_marks_.push_back({"redo", middle_of_item()});
    ImGui::SameLine(0, gap);
  }
  ImGui::NewLine();
}

// The image may be of an older view: it is stretched to where its corners lie now.
void RoutesView::draw_image(ImDrawList& list, const Scene&) const {
  if (!shown_ || image_.id() == nullptr || shown_->image.width == 0) return;
  const layout::RoutePicture& then = shown_->picture;
  const auto now = [&](Point corner) { return to_imgui(camera_.to_screen((corner - then.offset) * (1 / then.zoom))); };
  const Point low = then.area.low,
              high = low + Point{static_cast<float>(shown_->image.width), static_cast<float>(shown_->image.height)};
  list.AddImage(image_.id(), now(low), now(high));
}

namespace {

// The graph's links that a proposal's other ways cross, each once, ascending.
std::vector<std::int32_t> links_of(const session::RouteProposal& proposal, const layout::NetworkGraph& graph) {
  std::vector<std::int32_t> links;
  const auto node_of = [&](std::int32_t vertex) { return graph.node_of[static_cast<std::size_t>(vertex)]; };
  for (const session::RouteChange& change : proposal.changes)
    for (std::size_t i = 1; i < change.path.size(); ++i)
      if (const std::int32_t link = graph.find(node_of(change.path[i - 1]), node_of(change.path[i])); link >= 0)
        links.push_back(link);
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

}  // namespace

// What is under the mouse, picked or proposed, outlined.
void RoutesView::draw_picked(ImDrawList& list, const Scene& scene, const Selection& selection) const {
  const layout::NetworkGraph& graph = *placed_->graph;
  layout::RoutePicture now = picture(scene);
  now.zoom = camera_.zoom();
  now.offset = camera_.offset();
  const auto ring = [&](std::int32_t node, Rgba colour) {
    const auto& at = graph.nodes[static_cast<std::size_t>(node)];
    const float radius = std::max(layout::node_radius(now, at), layout::ring_radius(now, at)) + 3 * scene.scale;
    list.AddCircle(to_imgui(now.to_screen((*placed_->places)[static_cast<std::size_t>(node)])), radius,
                   to_imgui(colour), 0, 1.5f * scene.scale);
  };
  const auto outline = [&](std::int32_t number, Rgba colour) {  // both edges of the line
    const float width = layout::link_width(now, graph.links[static_cast<std::size_t>(number)].bytes);
    for (const float from : {-1.5f * scene.scale, width}) {
      std::vector<ImVec2> points;
      for (const Point p : layout::strip_line(now, {number, -1, from, 1.5f * scene.scale, 0}))
        points.push_back(to_imgui(p));
      list.AddPolyline(points.data(), static_cast<int>(points.size()), to_imgui(colour), 0, 1.5f * scene.scale);
    }
  };
  if (const NetworkPick* picked = scene.network->picked(selection)) {
    const auto node_of = [&](std::int32_t vertex) { return graph.node_of[static_cast<std::size_t>(vertex)]; };
    if (picked->kind == NetworkPick::Kind::vertex) ring(node_of(picked->from), scene.palette->selection);
    if (picked->kind == NetworkPick::Kind::link) {
      const std::int32_t number = graph.find(node_of(picked->from), node_of(picked->to));
      if (number >= 0) outline(number, scene.palette->selection);
      else if (node_of(picked->from) == node_of(picked->to)) ring(node_of(picked->from), scene.palette->selection);
    }
    if (picked->kind == NetworkPick::Kind::route) {
      const auto& path = graph.shown->network->routes.routes[picked->route].path;
      ring(node_of(path.front()), scene.palette->successor);
      ring(node_of(path.back()), scene.palette->predecessor);
    }
  }
  const auto proposal = scene.network->proposal();  // other ways that are looked at
  if (proposal && proposal->of == graph.shown->network)
    for (const std::int32_t number : links_of(*proposal, graph)) outline(number, scene.palette->successor);
  if (hit_.node >= 0) ring(hit_.node, scene.palette->text);
  else if (hit_.link >= 0) outline(hit_.link, scene.palette->text);
}

void RoutesView::draw_labels(ImDrawList& list, const Scene& scene) const {
  const layout::NetworkGraph& graph = *placed_->graph;
  if (camera_.zoom() < 55 * scene.scale) return;
  layout::RoutePicture now = picture(scene);
  now.zoom = camera_.zoom();
  now.offset = camera_.offset();
  // Who carries most first; a name that would lie on another one is left out.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (area_.holds(now.to_screen((*placed_->places)[i]))) order.push_back(i);
  const auto degree = [&](std::size_t i) { return graph.nodes[i].in + graph.nodes[i].out; };
  const std::size_t kept = std::min(order.size(), most_labels);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [&](std::size_t a, std::size_t b) { return std::pair(-degree(a), a) < std::pair(-degree(b), b); });
  std::vector<layout::Rect> taken;
  for (std::size_t k = 0; k < kept; ++k) {
    const layout::GraphNode& node = graph.nodes[order[k]];
    const Point at = now.to_screen((*placed_->places)[order[k]]);
    const float radius = std::max(layout::node_radius(now, node), layout::ring_radius(now, node));
    const std::string name = node.vertices.size() == 1 ? session::vertex_name(*graph.shown->network, node.vertices[0])
                                                       : merged_label(*graph.shown->network, node.vertices);
    const Point size = text_size(name), low{at.x - size.x / 2, at.y + radius + 1};
    const layout::Rect box{low, low + size};
    const bool free = std::none_of(taken.begin(), taken.end(), [&](const layout::Rect& other) {
      return box.low.x < other.high.x && other.low.x < box.high.x && box.low.y < other.high.y &&
             other.low.y < box.high.y;
    });
    if (!free || size.x > 1.6f * camera_.zoom()) continue;
    taken.push_back(box);
    draw_text(list, low, scene.palette->faint_text, name);
  }
}

void RoutesView::draw_lasso(ImDrawList& list, const Scene& scene) const {
  if (lasso_.size() < 2) return;
  std::vector<ImVec2> line;
  for (const Point p : lasso_) line.push_back(to_imgui(p));
  list.AddPolyline(line.data(), static_cast<int>(line.size()), to_imgui(scene.palette->selection), ImDrawFlags_Closed,
                   1.5f * scene.scale);
}

// Where routes and bytes are from, what they add up to, and what colours say.
void RoutesView::draw_legend(ImDrawList& list, const Scene& scene) const {
  if (area_.width() < 300 * scene.scale || area_.height() < 160 * scene.scale) return;
  const layout::Palette& palette = *scene.palette;
  const layout::NetworkGraph& graph = *placed_->graph;
  const session::NetworkCase& network = *graph.shown->network;
  const float line = line_height(), pad = 6 * scene.scale, bar = 80 * scene.scale;
  const float left = area_.low.x + pad, top = area_.high.y - 3 * line - pad / 2, width = area_.width() - 2 * pad;
  list.AddRectFilled({area_.low.x, top - pad / 2}, to_imgui(area_.high), to_imgui(palette.background.with_alpha(0.8f)));
  const std::string known = network.title + "; routes " + network.routes_from + "; traffic: " + network.traffic_from;
  draw_text(list, {left, top}, palette.faint_text, known, width);
  double inside = 0;
  for (const layout::GraphNode& node : graph.nodes) inside += node.inside;
  std::string sums = text::format_bytes(graph.sum) + " over links (bytes x hops) of " +
                     text::format_count(graph.shown->routes.size()) + " routes, on " + text::format_count(graph.used) +
                     (network.topology ? " of " + text::format_count(graph.links.size()) : "") + " directed links";
  if (inside > 0) sums += "; " + text::format_bytes(inside) + " of them inside merged nodes";
  std::string how = placed_->how;
  if (forces_ && forces_->busy() && by_forces()) {
    const std::lock_guard lock(progress_->mutex);
    how += progress_->words.empty() ? std::string() : " (" + progress_->words + ")";
  }
  draw_text(list, {left, top + line}, palette.faint_text, sums + "; nodes lie " + how, width);
  float x = left;
  const auto scale = [&](const std::string& low, const std::string& high, auto&& colour_at) {
    const float y = top + 2 * line;
    draw_text(list, {x, y}, palette.faint_text, low);
    x += text_size(low).x + pad;
    constexpr int pieces = 8;
    for (int i = 0; i < pieces; ++i, x += bar / pieces) {
      const ImU32 a = to_imgui(colour_at(i / double{pieces})), b = to_imgui(colour_at((i + 1) / double{pieces}));
      list.AddRectFilledMultiColor({x, y + line * 0.15f}, {x + bar / pieces, y + line * 0.7f}, a, b, b, a);
    }
    x += pad;
    draw_text(list, {x, y}, palette.faint_text, high);
    x += text_size(high).x + 3 * pad;
  };
  const double most = graph.most(colour_);
  const std::string top_value =
      colour_ == layout::LinkColour::hops ? text::format_ratio(most) : text::format_bytes(most);
  scale("link, 0", top_value + " " + name_of(colour_), [&](double share) { return palette.share(share); });
  if (x + 200 * scene.scale < area_.high.x)
    scale("circle: all out", "all in, area: in + out up to " + text::format_bytes(graph.most_degree),
          [&](double share) { return palette.latency(std::pow(4.0, 2 * share - 1), 4); });
}

void RoutesView::make_marks(const Scene& scene) {
  marks_ = header_marks_;
  const layout::NetworkGraph& graph = *placed_->graph;
  const layout::RoutePicture now = picture(scene);
  const Point middle = area_.middle();
  marks_.push_back({"routes shown " + std::to_string(graph.shown->routes.size()), middle});
  marks_.push_back({"routes links " + std::to_string(graph.used), middle});
  marks_.push_back({"routes nodes " + std::to_string(graph.nodes.size()), middle});
  marks_.push_back({"routes lie " + placed_->how, middle});
  if (std::isfinite(graph.sum) && graph.sum < 9e15)
    marks_.push_back({"routes bytes " + std::to_string(static_cast<std::int64_t>(std::llround(graph.sum))), middle});
  if (shown_ && shown_->strips > 0) marks_.push_back({"routes apart " + std::to_string(shown_->strips), middle});
  if (graph.nodes.size() <= most_marked_nodes)
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      marks_.push_back({"vertex " + std::to_string(graph.nodes[i].vertices[0]), now.to_screen((*placed_->places)[i])});
  std::vector<std::size_t> heavy;
  for (std::size_t i = 0; i < graph.links.size(); ++i)
    if (graph.links[i].bytes > 0) heavy.push_back(i);
  const std::size_t kept = std::min(heavy.size(), most_marked_links);
  std::partial_sort(heavy.begin(), heavy.begin() + static_cast<std::ptrdiff_t>(kept), heavy.end(),
                    [&](std::size_t a, std::size_t b) {
                      return std::pair(-graph.links[a].bytes, a) < std::pair(-graph.links[b].bytes, b);
                    });
  for (std::size_t i = 0; i < kept; ++i) {
    const layout::GraphLink& link = graph.links[heavy[i]];
    const auto along = layout::link_line(now, link, layout::link_width(now, link.bytes));
    const Point at = along.size() == 2 ? (along[0] + along[1]) * 0.5f : along[along.size() / 2];
    marks_.push_back({"link " + std::to_string(graph.nodes[static_cast<std::size_t>(link.from)].vertices[0]) + "-" +
                          std::to_string(graph.nodes[static_cast<std::size_t>(link.to)].vertices[0]),
                      at});
  }
}

}  // namespace pclscope::gui
