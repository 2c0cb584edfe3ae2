// Mouse and keys of the routes view.
#include <algorithm>

#include "viewer/gui/routes/routes_view.hpp"
#include "viewer/gui/routes/routes_words.hpp"

namespace pclscope::gui {
namespace {

constexpr float steady = 4;  // pixels that a click may wander
constexpr float reach = 4;   // points around what is under the mouse
constexpr std::size_t most_lasso = 2000;

// Even-odd rule.
bool is_inside(const std::vector<layout::Point>& polygon, layout::Point p) {
  bool in = false;
  for (std::size_t i = 0, j = polygon.size() - 1; i < polygon.size(); j = i++) {
    const layout::Point a = polygon[i], b = polygon[j];
    if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) in = !in;
  }
  return in;
}

// Letters have the numbers of their ASCII code, as GLFW's.
bool letter_pressed(char letter) { return ImGui::IsKeyPressed(static_cast<unsigned char>(letter), false); }

}  // namespace

void RoutesView::react(const Scene& scene, Selection& selection, bool hovered, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  hit_ = hovered && !grab_ ? layout::hit_routes(picture(scene), to_point(io.MousePos), reach * scene.scale)
                           : layout::RouteHit{};
  if (hovered) keys(scene, selection);
  if (active && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) press();
  if (grab_ && active && ImGui::IsMouseDown(ImGuiMouseButton_Left)) drag(scene);
  if (grab_ && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) release(scene, selection);
  if (hovered && hit_.node >= 0 && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) toggle(hit_.node);
  if (!hovered || grab_ || ImGui::IsMouseDown(ImGuiMouseButton_Right)) return;
  if (hit_.node >= 0) tooltip(node_words(*placed_->graph, hit_.node));
  else if (hit_.link >= 0)
    tooltip((hit_.route >= 0 ? route_words(*placed_->graph, static_cast<std::uint32_t>(hit_.route)) + "\n\n"
                             : std::string()) +
            link_words(*placed_->graph, hit_.link));
}

void RoutesView::press() {
  grab_ = Grab{to_point(ImGui::GetIO().MousePos), false, ImGui::GetIO().KeyShift};
  lasso_.clear();
}

void RoutesView::drag(const Scene& scene) {
  const layout::Point mouse = to_point(ImGui::GetIO().MousePos);
  if (!grab_->moving && distance(mouse, grab_->from) < steady * scene.scale) return;
  grab_->moving = true;
  if (!grab_->lasso) return camera_.pan(to_point(ImGui::GetIO().MouseDelta));
  if (lasso_.empty()) lasso_.push_back(grab_->from);
  if (lasso_.size() < most_lasso && distance(lasso_.back(), mouse) > 2) lasso_.push_back(mouse);
}

void RoutesView::release(const Scene& scene, Selection& selection) {
  const Grab grab = *grab_;
  grab_.reset();
  if (grab.lasso && grab.moving) {
    take_lasso(scene);
  } else if (!grab.moving) {
    hit_ = layout::hit_routes(picture(scene), grab.from, reach * scene.scale);
    pick(scene, selection);
  }
  lasso_.clear();
}

// A click on nothing selects nothing.
void RoutesView::pick(const Scene& scene, Selection& selection) {
  const layout::NetworkGraph& graph = *placed_->graph;
  NetworkState& state = *scene.network;
  if (hit_.node >= 0) {
    const auto& node = graph.nodes[static_cast<std::size_t>(hit_.node)];
    if (node.vertices.size() == 1) return state.pick_vertex(node.vertices[0], selection);
    std::vector<std::uint32_t> routes;
    std::vector<std::int32_t> ranks;
    for (std::size_t i = 0; i < graph.links.size(); ++i) {
      if (graph.links[i].from != hit_.node && graph.links[i].to != hit_.node) continue;
      for (const layout::RouteOnLink& on : graph.routes_on(i)) routes.push_back(on.route);
    }
    std::sort(routes.begin(), routes.end());
    routes.erase(std::unique(routes.begin(), routes.end()), routes.end());
    for (const std::int32_t v : node.vertices) {
      const auto& here = graph.shown->network->ranks_at[static_cast<std::size_t>(v)];
      ranks.insert(ranks.end(), here.begin(), here.end());
    }
    std::sort(ranks.begin(), ranks.end());
    return state.pick_routes(std::move(routes), std::move(ranks), selection);
  }
  if (hit_.link < 0) {
    selection.ranks.clear();
    selection.rank.reset();
    return;
  }
  if (hit_.route >= 0) return state.pick_route(static_cast<std::uint32_t>(hit_.route), selection);
  const layout::GraphLink& link = graph.links[static_cast<std::size_t>(hit_.link)];
  const auto& from = graph.nodes[static_cast<std::size_t>(link.from)].vertices;
  const auto& to = graph.nodes[static_cast<std::size_t>(link.to)].vertices;
  if (from.size() == 1 && to.size() == 1) return state.pick_link(from[0], to[0], selection);
  std::vector<std::uint32_t> routes;
  for (const layout::RouteOnLink& on : graph.routes_on(static_cast<std::size_t>(hit_.link))) routes.push_back(on.route);
  std::sort(routes.begin(), routes.end());
  state.pick_routes(std::move(routes), {}, selection);
}

void RoutesView::take_lasso(const Scene& scene) {
  if (lasso_.size() < 3) return;
  session::NetworkLasso lasso;
  lasso.crossing = crossing_;
  const layout::RoutePicture now = picture(scene);
  for (std::size_t i = 0; i < placed_->places->size(); ++i) {
    if (!is_inside(lasso_, now.to_screen((*placed_->places)[i]))) continue;
    const auto& vertices = placed_->graph->nodes[i].vertices;
    lasso.vertices.insert(lasso.vertices.end(), vertices.begin(), vertices.end());
  }
  std::sort(lasso.vertices.begin(), lasso.vertices.end());
  scene.network->set_lasso(std::move(lasso));
}

// A merged node opens; one of an open group closes it.
void RoutesView::toggle(std::int32_t node) {
  const std::int32_t group = placed_->graph->nodes[static_cast<std::size_t>(node)].group;
  const auto& groups = placed_->grouping.group;
  const auto before = opened_.size();
  std::erase_if(opened_, [&](std::int32_t vertex) { return groups[static_cast<std::size_t>(vertex)] == group; });
  if (opened_.size() < before) return;
  opened_.push_back(placed_->graph->nodes[static_cast<std::size_t>(node)].vertices[0]);
  std::sort(opened_.begin(), opened_.end());
}

// All that the lasso has; without one all are closed again.
void RoutesView::open_lasso(const Scene& scene) {
  const auto& lasso = scene.network->filter().lasso;
  if (!lasso) return opened_.clear();
  for (const std::int32_t vertex : lasso->vertices)
    if (std::find(opened_.begin(), opened_.end(), vertex) == opened_.end()) opened_.push_back(vertex);
  std::sort(opened_.begin(), opened_.end());
}

void RoutesView::merge(layout::Merged merged) {
  merged_ = merged;
  opened_.clear();
}

void RoutesView::keys(const Scene& scene, Selection&) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput || io.KeyCtrl || io.KeyAlt) return;
  NetworkState& state = *scene.network;
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape), false)) {
    grab_.reset();  // the lasso that is there ends with it, too (App::escape)
    lasso_.clear();
  }
  if (letter_pressed('K')) colour_ = static_cast<layout::LinkColour>((static_cast<int>(colour_) + 1) % 3);
  if (letter_pressed('L') && placed_->shape.kind != layout::NetworkKind::other) chosen_forces_ = !by_forces();
  if (letter_pressed('X')) {
    crossing_ = !crossing_;
    if (auto lasso = state.filter().lasso) {
      lasso->crossing = crossing_;
      state.set_lasso(std::move(lasso));
    }
  }
  if (letter_pressed('W')) {
    using Of = NetworkState::TrafficOf;
    state.set_traffic_of(state.traffic_of() == Of::all ? Of::newest : Of::all);
  }
  if (letter_pressed('O')) open_lasso(scene);
  if (letter_pressed('U')) io.KeyShift ? state.redo() : state.undo();
  if (letter_pressed('M')) {
    const auto offers = static_cast<int>(layout::merge_offers(placed_->shape).size());
    // Dimensions from the fastest on; at least one stays. Levels from the lowest on.
    const bool grid = placed_->shape.kind == layout::NetworkKind::grid;
    int merged = 0;
    while (merged < offers && (merged_ >> (grid ? offers - 1 - merged : merged) & 1) != 0) ++merged;
    merged = std::clamp(merged + (io.KeyShift ? -1 : 1), 0, std::max(0, grid ? offers - 1 : offers));
    layout::Merged now = 0;
    for (int i = 0; i < merged; ++i) now |= layout::Merged{1} << (grid ? offers - 1 - i : i);
    merge(now);
  }
}

}  // namespace pclscope::gui
