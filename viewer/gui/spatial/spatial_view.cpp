#include "viewer/gui/spatial/spatial_view.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/gui/spatial/spatial_words.hpp"
#include "viewer/session/harm.hpp"

namespace pclscope::gui {
namespace {

constexpr std::size_t open_up_to = 600;           // ranks of a job whose regions are all open
constexpr float opens_at = 3.5f;                  // points: a rank's radius from which a region opens by itself
constexpr float least_dot = 1.2f, most_dot = 20;  // points
constexpr std::size_t most_quads = 4000;          // more dots than these are drawn into the image

}  // namespace

layout::Placement SpatialView::placement() const { return {camera_.zoom(), angle_, camera_.offset()}; }

layout::Placement SpatialView::final_placement() const {
  return {camera_.final_zoom(), angle_, camera_.final_offset()};
}

float SpatialView::dot_radius(const Scene& scene, float zoom) {
  return std::clamp(zoom, least_dot * scene.scale, most_dot * scene.scale);
}

bool SpatialView::visible(std::size_t region, float margin) const {
  const layout::Point at = screen_of(region);
  const float r = placed_->regions[region].radius * camera_.zoom() + margin;
  return at.x + r >= area_.low.x && at.x - r <= area_.high.x && at.y + r >= area_.low.y && at.y - r <= area_.high.y;
}

void SpatialView::ask_layout() { layouts_->ask({snapshot_, pins_}); }

void SpatialView::update_layout(const Scene& scene) {
  if (!layouts_) {
    using Layouts = layout::Latest<LayoutRequest, layout::SpatialLayout>;
    // The worker's own last layout is where the next starts: also of requests that were made before it was there.
    layouts_ = std::make_unique<Layouts>(
        [last = layout::SpatialLayout()](const LayoutRequest& ask, const layout::Stopping& stopping) mutable {
          last = layout::spatial_layout(ask.snapshot, &last, ask.pins, stopping);
          return last;
        },
        scene.wake);
    images_ = std::make_unique<layout::Latest<layout::SpatialPicture, layout::SpatialImage>>(
        [](const layout::SpatialPicture& picture, const layout::Stopping&) { return layout::draw_spatial(picture); },
        scene.wake);
  }
  if (scene.snapshot != snapshot_ && scene.snapshot) {
    snapshot_ = scene.snapshot;
    ask_layout();
  }
  const auto answer = layouts_->answer();
  if (answer == placed_) return;
  take_layout(answer, scene.glides && !grab_);
  colours_ = nullptr;
  hit_ = {};
}

void SpatialView::update_values(const Scene& scene, const Selection& selection) {
  colouring_ = chosen_.value_or(layout::colouring_of(*placed_->snapshot));
  const bool same = colours_ && scene.history == history_ && selection.period == period_;
  if (same && palette_ == scene.palette && coloured_ == colouring_) return;
  history_ = scene.history;
  period_ = selection.period;
  palette_ = scene.palette;
  coloured_ = colouring_;
  std::optional<layout::TimeRange> range;
  if (period_) range = {period_->begin_s, period_->end_s};
  values_ = layout::region_values(*placed_, history_.get(), range);
  if (colouring_ == layout::SpatialColouring::harm) {
    const std::vector<double> harms = layout::region_harms(*placed_);
    worst_ = session::stands_out(harms);
    headline_ = harm_words(*placed_, harms);
  } else {
    worst_ = layout::latencies_alike(values_) ? std::nullopt : layout::worst_region(values_);
    headline_ = worst_words(*placed_, values_, period_);
  }
  summaries_.emplace(*placed_->snapshot);
  colours_ = std::make_shared<const layout::SpatialColours>(
      layout::spatial_colours(*placed_, values_, period_.has_value(), colouring_, *palette_));
}

void SpatialView::update_open(const Scene& scene) {
  const bool by_rule = placed_->ranks <= open_up_to || camera_.zoom() >= opens_at * scene.scale;
  std::vector<bool> open(placed_->regions.size(), by_rule);
  ranks_in_sight_ = 0;
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (!chosen_open_.empty()) {
      const auto chosen = chosen_open_.find(placed_->regions[i].id);
      if (chosen != chosen_open_.end()) open[i] = chosen->second;
    }
    if (open[i] && visible(i, 0)) ranks_in_sight_ += placed_->regions[i].ranks.size();
  }
  if (!open_ || *open_ != open) open_ = std::make_shared<const std::vector<bool>>(std::move(open));
}

// All is in sight until the user moves it; what is dragged does not move the rest.
void SpatialView::update_camera(const Scene& scene) {
  const bool turned_since = measured_angle_ != angle_, held = grab_ || (!pins_.empty() && !turned_since);
  if (!measured_ || ((measured_ != placed_ || turned_since) && !held)) {
    const layout::Placement turned{1, angle_, {}};
    bool first = true;
    for (const layout::PlacedRegion& region : placed_->regions) {
      const layout::Point at = turned.to_screen(region.at), r{region.radius, region.radius};
      extent_.low =
          first ? at - r : layout::Point{std::min(extent_.low.x, at.x - r.x), std::min(extent_.low.y, at.y - r.y)};
      extent_.high =
          first ? at + r : layout::Point{std::max(extent_.high.x, at.x + r.x), std::max(extent_.high.y, at.y + r.y)};
      first = false;
    }
    measured_ = placed_;
    measured_angle_ = angle_;
  }
  // Few ranks must not become a picture of four huge dots.
  const float most_zoom = most_dot * scene.scale;
  const layout::Point half{std::max(extent_.width(), area_.width() / most_zoom) / 2,
                           std::max(extent_.height(), area_.height() / most_zoom) / 2};
  const layout::Point middle = extent_.middle();
  const layout::Rect shown{middle - half, middle + half};
  layout::Rect free = area_;  // of the legend
  if (area_.height() > 200 * scene.scale) free.high.y -= 2 * text_size("0").y;
  const bool few = extent_.width() * most_zoom < area_.width() && extent_.height() * most_zoom < area_.height();
  camera_.fit(few ? shown : extent_, free, std::min(26 * scene.scale, area_.height() / 8));
}

void SpatialView::update_image(const Scene& scene) {
  layout::SpatialPicture wanted{placed_,
                                colours_,
                                open_,
                                final_placement(),
                                area_,
                                scene.palette->edge,
                                scene.palette->background,
                                scene.scale,
                                ranks_in_sight_ > most_quads,
                                dot_radius(scene, camera_.final_zoom())};
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

bool SpatialView::draw_nothing(const Scene& scene) const {
  if (placed_ && !placed_->regions.empty()) return false;
  const bool placing = layouts_->busy() && scene.snapshot && !scene.snapshot->regions.empty();
  const std::string words =
      placing ? std::string("placing ").append(std::to_string(scene.snapshot->regions.size())).append(" regions ..")
              : empty_words(scene);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Point size = text_size(words), middle = area_.middle();
  draw_text(list, {std::max(area_.low.x, middle.x - size.x / 2), middle.y - size.y / 2}, scene.palette->faint_text,
            words, area_.width());
  return true;
}

void SpatialView::draw(const Scene& scene, Selection& selection) {
  marks_.clear();
  header_marks_.clear();
  scale_ = scene.scale;
  glide_.advance(ImGui::GetIO().DeltaTime);
  camera_.advance(ImGui::GetIO().DeltaTime);
  update_layout(scene);
  const bool any = placed_ && !placed_->regions.empty();
  if (any) update_values(scene, selection);
  if (any && ImGui::GetContentRegionAvail().y > 80 * scene.scale) draw_header(scene, selection);
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const ImVec2 size(std::max(1.f, room.x), std::max(1.f, room.y));
  area_ = {to_point(at), {at.x + size.x, at.y + size.y}};
  ImGui::InvisibleButton(
      "canvas", size,
      ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_MouseButtonMiddle);
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  unsettled_ = layouts_->busy() || (scene.snapshot && scene.snapshot != snapshot_);
  if (draw_nothing(scene)) return;
  update_camera(scene);
  camera_.react(area_, hovered);
  update_open(scene);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect(to_imgui(area_.low), to_imgui(area_.high), true);
  react(scene, selection, hovered, active);
  update_image(scene);
  draw_lines(list);
  draw_picked_links(list, scene, selection);
  draw_rims(list, scene);
  draw_closed_discs(list, scene);
  draw_ranks(list, scene);
  draw_picked(list, scene, selection);
  draw_line_under_mouse(list, scene);
  draw_labels(list, scene, selection);
  draw_lasso(list, scene);
  draw_legend(list, scene);
  list.PopClipRect();
  make_marks();
  unsettled_ = glide_.active() || camera_.gliding();
  unsettled_ |=
      layouts_->busy() || images_->busy() || !shown_ || images_->answer() != shown_ || layouts_->answer() != placed_;
}

std::unique_ptr<View> make_spatial_view() { return std::make_unique<SpatialView>(); }

}  // namespace pclscope::gui
