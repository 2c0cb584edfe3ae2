// What the spatial view puts onto the draw list.
#include <algorithm>
#include <cmath>

#include "viewer/gui/spatial/spatial_view.hpp"
#include "viewer/gui/spatial/spatial_words.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;
using layout::Rgba;

constexpr float small_disc = 10;  // pixels: discs up to this radius are quads
constexpr std::size_t most_labels = 400, most_rings = 1500, most_picked_links = 40;

Rgba readable_on(Rgba fill) {
  const int light = fill.red * 3 + fill.green * 6 + fill.blue;
  return light > 1400 ? Rgba{20, 22, 26} : Rgba{250, 250, 250};
}

void ring(ImDrawList& list, Point at, float radius, Rgba colour, float width) {
  list.AddCircle(to_imgui(at), radius, to_imgui(colour), 0, width);
}

}  // namespace

void SpatialView::draw_rims(ImDrawList& list, const Scene& scene) const {
  std::size_t drawn = 0;
  for (std::size_t i = 0; i < placed_->regions.size(); ++i) {
    if (!(*open_)[i] || !visible(i, 0) || ++drawn > 300) continue;
    ring(list, screen_of(i), placed_->regions[i].radius * camera_.zoom(), colours_->regions[i], 1.5f * scene.scale);
  }
}

// The image may be of an older view: it is stretched to where its corners lie now.
void SpatialView::draw_lines(ImDrawList& list) const {
  if (!shown_ || image_.id() == nullptr || shown_->image.width == 0) return;
  const layout::Rect area = shown_->area;
  const auto now = [&](Point corner) { return to_imgui(placement().to_screen(shown_->placement.to_world(corner))); };
  // Lines come to places that things have not reached yet.
  const layout::Rgba tint = layout::Rgba{255, 255, 255}.with_alpha(1 - glide_.left());
  list.AddImageQuad(image_.id(), now(area.low), now({area.high.x, area.low.y}), now(area.high),
                    now({area.low.x, area.high.y}), {0, 0}, {1, 0}, {1, 1}, {0, 1}, to_imgui(tint));
}

void SpatialView::draw_picked_links(ImDrawList& list, const Scene& scene, const Selection& selection) const {
  if (glide_.active()) return;
  std::size_t drawn = 0;
  for (std::size_t i = 0; i < placed_->links.size() && drawn < most_picked_links; ++i) {
    const layout::PlacedLink& link = placed_->links[i];
    const bool picked = selection.region && (placed_->regions[link.a].id == *selection.region ||
                                             placed_->regions[link.b].id == *selection.region);
    const bool under = hit_.region && (link.a == *hit_.region || link.b == *hit_.region);
    if (!picked && !under) continue;
    ++drawn;
    std::vector<ImVec2> line;
    for (const Point p : link.line) line.push_back(to_imgui(placement().to_screen(p)));
    // They lie over other discs: no wider than is needed to follow them.
    const float width = std::min(width_of_link(i, scene), 3 * scene.scale);
    const auto count = static_cast<int>(line.size());
    list.AddPolyline(line.data(), count, to_imgui(scene.palette->selection.with_alpha(0.5f)), 0,
                     width + 2 * scene.scale);
    list.AddPolyline(line.data(), count, to_imgui(colours_->links[i]), 0, width);
  }
}

void SpatialView::draw_closed_discs(ImDrawList& list, const Scene& scene) {
  std::vector<std::size_t> large;
  dots_.begin(list);
  for (std::size_t i = 0; i < placed_->regions.size(); ++i) {
    if ((*open_)[i] || !visible(i, 0)) continue;
    const float radius = std::max(placed_->regions[i].radius * camera_.zoom(), scene.scale);
    if (radius > small_disc && large.size() < 600) large.push_back(i);
    else dots_.add(screen_of(i), radius, colours_->regions[i]);
  }
  dots_.end();
  for (const std::size_t i : large)
    list.AddCircleFilled(to_imgui(screen_of(i)), placed_->regions[i].radius * camera_.zoom(),
                         to_imgui(colours_->regions[i]));
}

void SpatialView::draw_ranks(ImDrawList& list, const Scene& scene) {
  if (asked_.dots) return;  // they are in the image
  const float radius = dot_radius(scene);
  const bool large = radius > small_disc && ranks_in_sight_ <= 500;
  if (!large) dots_.begin(list);
  for (std::size_t i = 0; i < placed_->regions.size(); ++i) {
    if (!(*open_)[i] || !visible(i, 0)) continue;
    const layout::PlacedRegion& region = placed_->regions[i];
    for (std::size_t k = 0; k < region.ranks.size(); ++k) {
      const Point at = placement().to_screen(place_of(i, k));
      if (at.x + radius < area_.low.x || at.x - radius > area_.high.x || at.y + radius < area_.low.y ||
          at.y - radius > area_.high.y)
        continue;
      if (large) list.AddCircleFilled(to_imgui(at), radius, to_imgui(colours_->ranks[i][k]));
      else dots_.add(at, radius, colours_->ranks[i][k]);
    }
  }
  if (!large) dots_.end();
  if (radius >= 8 * scene.scale && ranks_in_sight_ <= 500) draw_rank_numbers(list, scene);
}

void SpatialView::draw_rank_numbers(ImDrawList& list, const Scene& scene) const {
  for (std::size_t i = 0; i < placed_->regions.size(); ++i) {
    if (!(*open_)[i] || !visible(i, 0)) continue;
    const layout::PlacedRegion& region = placed_->regions[i];
    for (std::size_t k = 0; k < region.ranks.size(); ++k) {
      const std::string number = std::to_string(region.ranks[k].rank);
      if (text_size(number).x > 2 * dot_radius(scene)) continue;
      draw_text_centred(list, placement().to_screen(place_of(i, k)), readable_on(colours_->ranks[i][k]), number);
    }
  }
}

void SpatialView::draw_picked(ImDrawList& list, const Scene& scene, const Selection& selection) const {
  const float dot = dot_radius(scene) + 1.5f * scene.scale;
  std::size_t drawn = 0;
  for (std::size_t i = 0; i < placed_->regions.size(); ++i) {
    if (!visible(i, 6 * scene.scale)) continue;
    const layout::PlacedRegion& region = placed_->regions[i];
    const float radius = std::max(region.radius * camera_.zoom(), scene.scale) + 3 * scene.scale;
    if (selection.region == region.id) ring(list, screen_of(i), radius, scene.palette->selection, 2.5f * scene.scale);
    else if (hit_.region == i)
      ring(list, screen_of(i), radius, scene.palette->selection.with_alpha(0.5f), 1.5f * scene.scale);
    if (selection.ranks.empty() && !selection.rank) continue;
    bool some = false;
    for (std::size_t k = 0; k < region.ranks.size(); ++k) {
      const layout::PlacedRank& rank = region.ranks[k];
      if (selection.rank != rank.rank && !std::binary_search(selection.ranks.begin(), selection.ranks.end(), rank.rank))
        continue;
      some = true;
      if (!(*open_)[i]) break;
      if (++drawn > most_rings) break;
      ring(list, placement().to_screen(place_of(i, k)), dot, scene.palette->selection,
           (selection.rank == rank.rank ? 2.5f : 1.5f) * scene.scale);
    }
    if (some && !(*open_)[i]) ring(list, screen_of(i), radius + 3 * scene.scale, scene.palette->selection, scene.scale);
  }
}

// Numbers of regions: inside closed discs that have room, else above; those picked, under the mouse and worst at any
// size.
void SpatialView::draw_labels(ImDrawList& list, const Scene& scene, const Selection& selection) const {
  std::size_t drawn = 0;
  const float height = text_size("0").y;
  const bool whole_word = placed_->regions.size() <= 24;
  for (std::size_t i = 0; i < placed_->regions.size() && drawn < most_labels; ++i) {
    if (!visible(i, height)) continue;
    const layout::PlacedRegion& region = placed_->regions[i];
    const float radius = region.radius * camera_.zoom();
    const bool important = selection.region == region.id || hit_.region == i || worst_ == i;
    const std::string number = std::to_string(region.id);
    const Point at = screen_of(i), size = text_size(number);
    if (!(*open_)[i] && size.x + 4 < 1.7f * radius && height < 1.7f * radius) {
      const std::string word = std::string("region ").append(number);
      draw_text_centred(list, at, readable_on(colours_->regions[i]),
                        whole_word && text_size(word).x < 1.7f * radius ? word : number);
    } else if (important || radius > 0.8f * height) {
      const std::string word = whole_word || important ? std::string("region ").append(number) : number;
      const Point above{at.x, at.y - radius - 0.5f * height - 4 * scene.scale};
      const Point half = text_size(word) * 0.5f;  // links must not cross it out
      list.AddRectFilled(to_imgui(above - half), to_imgui(above + half),
                         to_imgui(scene.palette->background.with_alpha(0.7f)));
      draw_text_centred(list, above, important ? scene.palette->text : scene.palette->faint_text, word);
    } else {
      continue;
    }
    ++drawn;
  }
}

void SpatialView::draw_lasso(ImDrawList& list, const Scene& scene) const {
  if (lasso_.size() < 2) return;
  std::vector<ImVec2> line;
  for (const Point p : lasso_) line.push_back(to_imgui(p));
  list.AddPolyline(line.data(), static_cast<int>(line.size()), to_imgui(scene.palette->selection), ImDrawFlags_Closed,
                   1.5f * scene.scale);
}

void SpatialView::make_marks() {
  marks_ = header_marks_;
  std::size_t regions = 0, ranks = 0;
  for (std::size_t i = 0; i < placed_->regions.size() && regions < 100; ++i) {
    if (!area_.holds(screen_of(i))) continue;
    const layout::PlacedRegion& region = placed_->regions[i];
    marks_.push_back({std::string("region ").append(std::to_string(region.id)), screen_of(i)});
    ++regions;
    for (std::size_t k = 0; (*open_)[i] && k < region.ranks.size() && ranks < 200; ++k) {
      const Point at = placement().to_screen(place_of(i, k));
      if (!area_.holds(at)) continue;
      marks_.push_back({std::string("rank ").append(std::to_string(region.ranks[k].rank)), at});
      ++ranks;
    }
  }
  mark_links();
}

}  // namespace pclscope::gui
