// Mouse and keys of the spatial view.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "viewer/gui/spatial/spatial_view.hpp"
#include "viewer/gui/spatial/spatial_words.hpp"

namespace pclscope::gui {
namespace {

constexpr float steady = 4;  // pixels that a click may wander
constexpr float turn_step = static_cast<float>(std::numbers::pi) / 12;
constexpr std::size_t most_lasso = 2000;

bool inside(const std::vector<layout::Point>& polygon, layout::Point p) {  // even-odd rule
  bool in = false;
  for (std::size_t i = 0, j = polygon.size() - 1; i < polygon.size(); j = i++) {
    const layout::Point a = polygon[i], b = polygon[j];
    if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) in = !in;
  }
  return in;
}

// Letters have the numbers of their ASCII code, as GLFW's.
bool pressed(char letter) { return ImGui::IsKeyPressed(static_cast<unsigned char>(letter), false); }

}  // namespace

std::optional<std::size_t> SpatialView::region_at(layout::Point mouse) const {
  const layout::Point at = placement().to_world(mouse);
  const float reach = 3 * scale_ / placement().zoom;
  std::optional<std::size_t> found;
  float nearest = 1e30f;
  for (std::size_t i = 0; i < placed_->regions.size(); ++i) {
    const layout::PlacedRegion& region = placed_->regions[i];
    const float far = distance(place_of(i), at);
    if (far > region.radius + reach || far / region.radius > nearest) continue;
    nearest = far / region.radius;
    found = i;
  }
  return found;
}

SpatialView::Hit SpatialView::hit_test(const Scene& scene, layout::Point mouse) const {
  Hit hit;
  hit.region = region_at(mouse);
  if (hit.region && !(*open_)[*hit.region]) return hit;
  if (hit.region) {
    const layout::Point at = placement().to_world(mouse);
    const layout::PlacedRegion& region = placed_->regions[*hit.region];
    float nearest = std::max(dot_radius(scene) / camera_.zoom(), 1.f) * 1.1f;
    for (std::size_t k = 0; k < region.ranks.size(); ++k) {
      const float far = distance(place_of(*hit.region, k), at);
      if (far > nearest) continue;
      nearest = far;
      hit.rank = k;
    }
  } else {
    hit.link = nearest_link(mouse);
  }
  if (!hit.rank && !hit.link) hit.pair = nearest_pair(mouse);
  return hit;
}

void SpatialView::react(const Scene& scene, Selection& selection, bool hovered, bool active) {
  const layout::Point mouse = to_point(ImGui::GetIO().MousePos);
  const Hit hit = hovered ? hit_test(scene, mouse) : Hit{};
  hit_ = hit;
  if (hovered) keys(selection);
  if (active && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) press(mouse, hit);
  if (grab_ && active && ImGui::IsMouseDown(ImGuiMouseButton_Left)) drag(scene, mouse);
  if (grab_ && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) release(selection, hit);
  if (hovered && hit.region && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) toggle(*hit.region);
  if (hovered && !grab_ && !ImGui::IsMouseDown(ImGuiMouseButton_Right)) show_tooltip(selection, hit);
}

void SpatialView::press(layout::Point mouse, const Hit& hit) {
  grab_ = Grab{};
  grab_->from = mouse;
  grab_->lasso = ImGui::GetIO().KeyShift;
  lasso_.clear();
  if (!hit.region || grab_->lasso) return;
  const layout::PlacedRegion& region = placed_->regions[*hit.region];
  grab_->region = region.id;
  grab_->held = place_of(*hit.region) - placement().to_world(mouse);
}

void SpatialView::drag(const Scene& scene, layout::Point mouse) {
  const bool still = distance(mouse, grab_->from) < steady * scene.scale;
  if (!grab_->moving && still) return;
  grab_->moving = true;
  if (grab_->lasso) {
    if (lasso_.empty()) lasso_.push_back(grab_->from);
    if (lasso_.size() < most_lasso && distance(lasso_.back(), mouse) > 2) lasso_.push_back(mouse);
  } else if (grab_->region) {
    const layout::Point to = placement().to_world(mouse) + grab_->held;
    layout::Point& pin = pins_[*grab_->region];
    if (pin == to) return;
    pin = to;
    ask_layout();
  } else {
    camera_.pan(to_point(ImGui::GetIO().MouseDelta));
  }
}

void SpatialView::release(Selection& selection, const Hit& hit) {
  const Grab grab = *grab_;
  grab_.reset();
  if (grab.lasso && grab.moving) pick_lasso(selection);
  else if (!grab.moving && hit.region) pick(selection, hit);
  else if (!grab.moving && hit.link) pick_link(selection, *hit.link);
  else if (!grab.moving && hit.pair) pick_pair(selection, *hit.pair);
  lasso_.clear();
}

void SpatialView::pick(Selection& selection, const Hit& hit) const {
  const layout::PlacedRegion& region = placed_->regions[*hit.region];
  selection.region = region.id;
  selection.ranks.clear();
  selection.rank.reset();
  if (hit.rank) selection.rank = region.ranks[*hit.rank].rank;
}

// Ranks that are shown count by themselves; of a closed region all, when its middle is inside.
void SpatialView::pick_lasso(Selection& selection) const {
  if (lasso_.size() < 3) return;
  const layout::Placement place = placement();
  std::vector<std::int32_t> ranks;
  std::vector<std::int32_t> regions;
  for (std::size_t i = 0; i < placed_->regions.size(); ++i) {
    const layout::PlacedRegion& region = placed_->regions[i];
    const bool open = (*open_)[i], all = !open && inside(lasso_, screen_of(i));
    const std::size_t before = ranks.size();
    for (std::size_t k = 0; k < region.ranks.size(); ++k) {
      if (all || (open && inside(lasso_, place.to_screen(place_of(i, k))))) ranks.push_back(region.ranks[k].rank);
    }
    if (ranks.size() > before) regions.push_back(region.id);
  }
  std::sort(ranks.begin(), ranks.end());
  selection.ranks = std::move(ranks);
  selection.rank.reset();
  if (regions.size() == 1) selection.region = regions[0];
}

void SpatialView::keys(Selection& selection) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput || io.KeyCtrl) return;
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape), false)) {
    selection.region.reset();
    selection.ranks.clear();
    selection.rank.reset();
    grab_.reset();
    lasso_.clear();
  }
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Home), false)) {
    angle_ = 0;
    measured_ = nullptr;
  }
  if (pressed('R')) turn(io.KeyShift ? -turn_step : turn_step);
  if (pressed('L')) chosen_ = static_cast<layout::SpatialColouring>((static_cast<int>(colouring_) + 1) % 3);
  if (!pressed('O') || !selection.region) return;
  for (std::size_t i = 0; i < placed_->regions.size(); ++i) {
    if (placed_->regions[i].id == *selection.region) toggle(i);
  }
}

// About the middle of what is seen.
void SpatialView::turn(float by) {
  const layout::Point middle = area_.middle(), seen = placement().to_world(middle);
  angle_ = std::remainder(angle_ + by, 2 * static_cast<float>(std::numbers::pi));
  if (camera_.moved()) camera_.pan(middle - placement().to_screen(seen));
}

void SpatialView::toggle(std::size_t region) { chosen_open_[placed_->regions[region].id] = !(*open_)[region]; }

void SpatialView::show_tooltip(const Selection& selection, const Hit& hit) const {
  if (hit.region && hit.rank) {
    const layout::PlacedRegion& region = placed_->regions[*hit.region];
    const std::int32_t rank = region.ranks[*hit.rank].rank;
    tooltip(rank_words(*placed_->snapshot, rank, region.id, summaries_->find(rank),
                       selection.period && colouring_ == layout::SpatialColouring::latency));
  } else if (hit.region) {
    const std::string words = region_words(*placed_, *hit.region, values_[*hit.region], period_, (*open_)[*hit.region]);
    tooltip(hit.pair ? words_of_pair(*hit.pair).append("\n\n").append(words) : words);
  } else if (hit.link) {
    tooltip(link_words(placed_->snapshot->links[placed_->links[*hit.link].index])
                .append("\n\nclick: pick the ranks of both regions"));
  } else if (hit.pair) {
    tooltip(words_of_pair(*hit.pair).append("\n\nclick: pick both ranks"));
  }
}

}  // namespace pclscope::gui
