// The spatial view's lines: which of them is under the mouse, how it is marked, and what a click on it picks.
#include <algorithm>
#include <cmath>

#include "viewer/gui/spatial/spatial_view.hpp"
#include "viewer/gui/spatial/spatial_words.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;

constexpr std::size_t most_links = 500;          // that answer to the mouse: those of most messages
constexpr std::size_t most_marked_links = 60;    // of a layout: more have no marks
constexpr float link_reach = 4, pair_reach = 2;  // points beside the line

float distance_to_piece(Point p, Point a, Point b) {
  const Point along = b - a, to = p - a;
  const float square = along.x * along.x + along.y * along.y;
  const float share = square > 0 ? std::clamp((to.x * along.x + to.y * along.y) / square, 0.f, 1.f) : 0;
  return distance(p, a + along * share);
}

// Of the first `most` edges that are `shown`, the one nearest to `at`, if it is within reach.
template <class Edges, class Shown>
std::optional<std::size_t> nearest_edge(const Edges& edges, std::size_t most, Point at, float reach, Shown shown) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < std::min(edges.size(), most); ++i) {
    if (!shown(edges[i])) continue;
    const std::vector<Point>& line = edges[i].line;
    for (std::size_t k = 1; k < line.size(); ++k) {
      const float far = distance_to_piece(at, line[k - 1], line[k]);
      if (far >= reach) continue;
      reach = far;
      found = i;
    }
  }
  return found;
}

}  // namespace

std::optional<std::size_t> SpatialView::nearest_link(Point mouse) const {
  return nearest_edge(placed_->links, most_links, placement().to_world(mouse), link_reach * scale_ / placement().zoom,
                      [](const layout::PlacedLink&) { return true; });
}

std::optional<std::size_t> SpatialView::nearest_pair(Point mouse) const {
  return nearest_edge(
      placed_->pairs, placed_->pairs.size(), placement().to_world(mouse), pair_reach * scale_ / placement().zoom,
      [&](const layout::PlacedPair& pair) { return (*open_)[pair.a.region] && (*open_)[pair.b.region]; });
}

std::int32_t SpatialView::rank_at(layout::RankAt at) const { return placed_->regions[at.region].ranks[at.rank].rank; }

// All ranks of both ends. The region in focus stays when it is one of them, else it is the worse one.
void SpatialView::pick_link(Selection& selection, std::size_t link) const {
  const std::size_t ends[] = {placed_->links[link].a, placed_->links[link].b};
  const layout::PlacedRegion &a = placed_->regions[ends[0]], &b = placed_->regions[ends[1]];
  selection.ranks.clear();
  for (const layout::PlacedRegion* region : {&a, &b}) {
    for (const layout::PlacedRank& rank : region->ranks) selection.ranks.push_back(rank.rank);
  }
  std::sort(selection.ranks.begin(), selection.ranks.end());
  selection.rank.reset();
  if (selection.region != a.id && selection.region != b.id) {
    selection.region = values_[ends[0]].ratio < values_[ends[1]].ratio ? b.id : a.id;
  }
}

void SpatialView::pick_pair(Selection& selection, std::size_t pair) const {
  const layout::PlacedPair& picked = placed_->pairs[pair];
  selection.ranks = {rank_at(picked.a), rank_at(picked.b)};
  std::sort(selection.ranks.begin(), selection.ranks.end());
  selection.rank.reset();
}

std::string SpatialView::words_of_pair(std::size_t pair) const {
  const layout::PlacedPair& p = placed_->pairs[pair];
  return pair_words(std::minmax(rank_at(p.a), rank_at(p.b)), p.messages);
}

float SpatialView::width_of_link(std::size_t link, const Scene& scene) const {
  const std::vector<RegionLink>& links = placed_->snapshot->links;
  return layout::link_width(links[placed_->links[link].index].messages, links[placed_->links.front().index].messages,
                            scene.scale);
}

// Over all others, in its own colour with a bright rim.
void SpatialView::draw_line_under_mouse(ImDrawList& list, const Scene& scene) const {
  if ((!hit_.link && !hit_.pair) || glide_.active()) return;
  const std::vector<Point>& points = hit_.link ? placed_->links[*hit_.link].line : placed_->pairs[*hit_.pair].line;
  std::vector<ImVec2> line;
  for (const Point p : points) line.push_back(to_imgui(placement().to_screen(p)));
  const auto count = static_cast<int>(line.size());
  const float width = hit_.link ? width_of_link(*hit_.link, scene) : 1.5f * scene.scale;
  list.AddPolyline(line.data(), count, to_imgui(scene.palette->selection), 0, width + 2.5f * scene.scale);
  list.AddPolyline(line.data(), count, to_imgui(hit_.link ? colours_->links[*hit_.link] : scene.palette->edge), 0,
                   width);
}

// In the middle of a link, where nothing else answers instead.
void SpatialView::mark_links() {
  if (placed_->links.size() > most_marked_links) return;
  for (std::size_t i = 0; i < placed_->links.size(); ++i) {
    const layout::PlacedLink& link = placed_->links[i];
    if (link.line.size() < 2) continue;
    const std::size_t half = (link.line.size() - 1) / 2;
    const Point at = placement().to_screen((link.line[half] + link.line[half + 1]) * 0.5f);
    if (!area_.holds(at) || region_at(at) || nearest_link(at) != i) continue;
    const auto [low, high] = std::minmax(placed_->regions[link.a].id, placed_->regions[link.b].id);
    marks_.push_back({std::string("link ").append(std::to_string(low)).append("-").append(std::to_string(high)), at});
  }
}

}  // namespace pclscope::gui
