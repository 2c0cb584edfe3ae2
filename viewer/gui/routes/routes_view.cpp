#include "viewer/gui/routes/routes_view.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "viewer/gui/routes/routes_words.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;
using layout::Rect;

constexpr float open_room = 0.42f;  // of the distance of neighbours: vertices of an open group lie inside

Rect extent_of(const std::vector<Point>& places) {
  if (places.empty()) return {};
  Rect box{places[0], places[0]};
  for (const Point p : places) {
    box.low = {std::min(box.low.x, p.x), std::min(box.low.y, p.y)};
    box.high = {std::max(box.high.x, p.x), std::max(box.high.y, p.y)};
  }
  return box;
}

std::vector<Point> middles(const layout::Grouping& grouping, const layout::VertexPlaces& vertices) {
  std::vector<Point> groups(static_cast<std::size_t>(grouping.groups));
  std::vector<float> count(groups.size(), 0);
  for (std::size_t v = 0; v < grouping.group.size(); ++v) {
    const auto g = static_cast<std::size_t>(grouping.group[v]);
    groups[g] = groups[g] + vertices.at[v];
    ++count[g];
  }
  for (std::size_t g = 0; g < groups.size(); ++g) groups[g] = groups[g] * (1 / count[g]);
  return groups;
}

}  // namespace

PlacedNetwork RoutesView::place(const GraphRequest& request) {
  const session::NetworkCase& network = *request.shown->network;
  PlacedNetwork made;
  made.shape = layout::shape_of(network);
  made.merged = request.merged;
  made.grouping = layout::group_vertices(network, made.shape, request.merged);
  made.open.assign(static_cast<std::size_t>(made.grouping.groups), false);
  for (const std::int32_t vertex : request.opened)
    if (vertex >= 0 && vertex < network.vertices())
      made.open[static_cast<std::size_t>(made.grouping.group[static_cast<std::size_t>(vertex)])] = true;
  auto graph = std::make_shared<layout::NetworkGraph>(layout::build_graph(request.shown, made.grouping, made.open));

  layout::VertexPlaces vertices;
  std::vector<Point> groups;
  const bool shaped = made.shape.kind != layout::NetworkKind::other;
  if (!request.forces && shaped) {
    // Those of a merged node lie as its own dimensions have them.
    vertices = layout::place_by_shape(made.shape, network, request.merged == 0 ? 0 : ~request.merged);
    groups = layout::place_groups_by_shape(made.shape, network, request.merged, made.grouping);
    made.how = made.shape.kind == layout::NetworkKind::grid ? "by coordinates" : "by groups";
  } else if (request.forced && request.forced->places.at.size() == static_cast<std::size_t>(network.vertices())) {
    vertices = request.forced->places;
    made.how = request.forced->how;
  } else {
    vertices = layout::place_by_distances(*network.links);
    made.how = "by distances, for now";
  }
  if (groups.empty()) {
    layout::normalise(vertices, *network.links);
    groups = middles(made.grouping, vertices);
  }
  made.places = std::make_shared<const std::vector<Point>>(layout::place_nodes(*graph, groups, vertices, open_room));
  made.extent = extent_of(*made.places);
  const auto heaviest = mapping::heaviest_links(*network.links, request.shown->loads, 1);
  if (!heaviest.empty()) {
    made.heaviest = heaviest[0];
    for (const std::uint32_t number : request.shown->routes) {
      const auto& path = network.routes.routes[number].path;
      for (std::size_t i = 1; i < path.size(); ++i)
        made.over_heaviest += path[i - 1] == heaviest[0].from && path[i] == heaviest[0].to;
    }
  }
  made.graph = std::move(graph);
  return made;
}

void RoutesView::make_workers(const Scene& scene) {
  if (graphs_) return;
  graphs_ = std::make_unique<layout::Latest<GraphRequest, PlacedNetwork>>(
      [](const GraphRequest& request, const layout::Stopping&) { return place(request); }, scene.wake);
  images_ = std::make_unique<layout::Latest<layout::RoutePicture, layout::RouteImage>>(
      [](const layout::RoutePicture& wanted, const layout::Stopping&) { return layout::draw_routes(wanted); },
      scene.wake);
}

bool RoutesView::by_forces() const { return chosen_forces_.value_or(kind_ == layout::NetworkKind::other); }

// Of the network as it was first seen: what is applied to it, and what a job sends next, moves nothing.
void RoutesView::update_places(const Scene& scene, const session::NetworkCasePtr& first) {
  if (!by_forces() || !first) return;
  const bool same = forced_for_ && forced_for_->vertices() == first->vertices() &&
                    2 * forced_for_->links->links() >= first->links->links();
  if (same) return;
  if (!forces_)
    forces_ = std::make_unique<layout::Latest<PlaceRequest, layout::ForcePlaces>>(
        [shared = progress_, wake = scene.wake](const PlaceRequest& request, const layout::Stopping& stopping) {
          using Clock = std::chrono::steady_clock;
          const auto began = Clock::now();
          Clock::time_point told{};
          const auto progress = [&](const char* what, double share) {
            const auto now = Clock::now();
            if (now - told < std::chrono::milliseconds(200)) return;
            told = now;
            const double took = std::chrono::duration<double>(now - began).count();
            {
              const std::lock_guard lock(shared->mutex);
              shared->words = std::string(what) + ", " +
                              (share < 0 ? text::format_seconds(took) : text::format_share(share)) + " so far";
            }
            if (wake) wake();
          };
          return layout::place_by_forces(*request.network->links, request.network->loads,
                                         layout::usual_force_settings(), progress, stopping);
        },
        scene.wake);
  forced_for_ = first;
  forces_->ask({first});
}

void RoutesView::update_graph(const Scene& scene) {
  make_workers(scene);
  const auto shown = scene.network->shown(scene);
  if (!shown) return;
  if (placed_) kind_ = placed_->shape.kind;
  else kind_ = layout::shape_of(*shown->network).kind;
  update_places(scene, scene.network->unchanged());
  const auto forced = forces_ ? forces_->answer() : nullptr;
  GraphRequest wanted{shown, merged_, opened_, by_forces(), by_forces() ? forced : nullptr};
  if (!(wanted == wanted_)) {
    wanted_ = wanted;
    graphs_->ask(std::move(wanted));
  }
  if (const auto answer = graphs_->answer(); answer && answer != placed_) {
    // Other places are looked at as a whole; other bytes at the same places are not.
    if (placed_ && (placed_->how != answer->how || placed_->merged != answer->merged)) camera_.reset();
    placed_ = answer;
    hit_ = {};
  }
}

layout::RoutePicture RoutesView::picture(const Scene& scene) const {
  layout::RoutePicture wanted;
  wanted.graph = placed_->graph;
  wanted.places = placed_->places;
  wanted.colour = colour_;
  wanted.zoom = camera_.final_zoom();
  wanted.offset = camera_.final_offset();
  wanted.area = area_;
  wanted.palette = scene.palette;
  wanted.scale = scene.scale;
  return wanted;
}

void RoutesView::update_image(const Scene& scene, const Selection& selection) {
  layout::RoutePicture wanted = picture(scene);
  wanted.lit = scene.network->lit(selection);
  if (!(wanted == asked_)) {
    asked_ = wanted;
    images_->ask(std::move(wanted));
  }
  const auto answer = images_->answer();
  if (answer && answer != shown_) {
    shown_ = answer;
    image_.upload(answer->image);
  }
}

bool RoutesView::draw_nothing(const Scene& scene) const {
  std::string words;
  if (scene.network == nullptr) words = "nothing is known of the network";
  else if (!scene.network->unchanged()) words = scene.network->words(scene);
  else if (!placed_) words = "placing " + std::to_string(scene.network->unchanged()->vertices()) + " nodes ..";
  else if (placed_->graph->shown->network->routes.routes.empty()) words = "no messages yet: nothing uses a link";
  if (words.empty()) return false;
  draw_text_centred(*ImGui::GetWindowDrawList(), area_.middle(), scene.palette->faint_text, words);
  return true;
}

void RoutesView::draw(const Scene& scene, Selection& selection) {
  marks_.clear();
  header_marks_.clear();
  camera_.advance(ImGui::GetIO().DeltaTime);
  const bool busy = forces_ && forces_->busy();  // before the answer is looked at: it may come meanwhile
  if (scene.network != nullptr) update_graph(scene);
  awaits_ = by_forces() && (busy || (forces_ && forces_->busy()));
  if (placed_ && ImGui::GetContentRegionAvail().y > 80 * scene.scale) draw_header(scene, selection);
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const ImVec2 size(std::max(1.f, room.x), std::max(1.f, room.y));
  area_ = {to_point(at), {at.x + size.x, at.y + size.y}};
  ImGui::InvisibleButton(
      "canvas", size,
      ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_MouseButtonMiddle);
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  unsettled_ = scene.network != nullptr &&
               (scene.network->reading() || scene.network->filtering() || (graphs_ && graphs_->busy()));
  if (scene.network != nullptr) scene.network->take_pairs(selection);
  if (draw_nothing(scene)) return;
  Rect free = area_;  // of the legend
  if (area_.height() > 200 * scene.scale) free.high.y -= 3 * line_height();
  Rect world = placed_->extent;  // a single node is not as large as the window
  const Point least{2, 2}, radius{0.3f, 0.3f};
  world = {world.low - radius, world.high + radius};
  if (world.width() < least.x) world = {{world.middle().x - 1, world.low.y}, {world.middle().x + 1, world.high.y}};
  if (world.height() < least.y) world = {{world.low.x, world.middle().y - 1}, {world.high.x, world.middle().y + 1}};
  camera_.fit(world, free, std::min(44 * scene.scale, area_.height() / 8));
  camera_.react(area_, hovered);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect(to_imgui(area_.low), to_imgui(area_.high), true);
  react(scene, selection, hovered, active);
  update_image(scene, selection);
  draw_image(list, scene);
  draw_picked(list, scene, selection);
  draw_labels(list, scene);
  draw_lasso(list, scene);
  draw_legend(list, scene);
  list.PopClipRect();
  make_marks(scene);
  unsettled_ = unsettled_ || camera_.gliding() || graphs_->busy() || images_->busy() || !shown_ ||
               images_->answer() != shown_ || graphs_->answer() != placed_ ||
               (forces_ && by_forces() && !forces_->busy() && forces_->answer() != wanted_.forced);
}

std::unique_ptr<View> make_routes_view() { return std::make_unique<RoutesView>(); }

}  // namespace pclscope::gui
