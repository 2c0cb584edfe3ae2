#include "viewer/gui/dag_sheet.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pclscope::gui {
namespace {

constexpr float readable_radius = 14;     // points: what is shown at first is at least so large, if possible
constexpr std::size_t most_glyphs = 300;  // at first
constexpr std::int32_t least_layers = 4;  // at first
constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();
constexpr float centred_radius = 24;   // points
constexpr float fold_count = 3;        // ring radii: the words right of a folded node
constexpr float margin = 8;            // points, around all
constexpr float image_margin = 0.25f;  // of the area's sides, for panning
constexpr float most_side = 8000;      // pixels of an image

// How many nodes to show at first: the layers that fit beside each other, unless these are too many.
std::size_t nodes_at_first(const Dag& dag, float width, float scale) {
  const std::vector<std::int32_t> layer = layout::layers_of(dag);
  const auto fit =
      std::max(least_layers, static_cast<std::int32_t>(std::min(width / (layout::least_column * readable_radius * scale), 1e6f)));
  const auto count = static_cast<std::size_t>(std::count_if(layer.begin(), layer.end(), [&](std::int32_t l) { return l < fit; }));
  return std::clamp<std::size_t>(count, 1, most_glyphs);
}

}  // namespace

void DagSheet::start(const Scene& scene) {
  if (painter_) return;
  painter_ = std::make_unique<Painter>(
      [](const layout::DagPictureRequest& request, const auto&) { return layout::make_dag_picture(request); }, scene.wake);
  image_maker_ = std::make_unique<ImageMaker>(
      [](const layout::DagImageRequest& request, const auto& stopping) { return layout::draw_dag(request, stopping); }, scene.wake);
}

void DagSheet::follow(const Scene& scene, const layout::Rect& area) {
  start(scene);
  area_ = area;
  scale_ = scene.scale;
  take_picture();
  ask_picture(scene, area);
  if (camera_.moved()) placed_ = false;
  if (!picture_ || camera_.moved() || placed_) return;
  layout::Rect all{picture_->layout.bounds.low + shift_, picture_->layout.bounds.high + shift_};
  if (!all_shown()) all.high.x += fold_count;
  const float fits = std::min(margin * scale_, std::min(area.width(), area.height()) * 0.1f);
  camera_.fit(all, area, fits);
  if (camera_.zoom() > 1.6f * centred_radius * scale_) {  // few nodes: no giants
    const layout::Point half = layout::Point{area.width(), area.height()} * (0.5f / (1.6f * centred_radius * scale_));
    camera_.fit({all.middle() - half, all.middle() + half}, area, 0);
  }
}

void DagSheet::take_picture() {
  const auto answer = painter_->answer();
  if (!answer || answer == picture_) return;
  const bool same = picture_ && picture_->basis->dag == answer->basis->dag;
  const bool alike = picture_ && picture_->whole().region == answer->whole().region;
  picture_ = answer;
  if (!alike) fit();
  if (!same) shift_ = {};
  const auto here = [&](std::int32_t whole_node) {
    return static_cast<std::size_t>(picture_->place[static_cast<std::size_t>(whole_node)]);
  };
  const auto known = [&](std::int32_t node) {
    return picture_->basis->dag == dag_ && static_cast<std::size_t>(node) < picture_->place.size();
  };
  if (anchor_ && same && known(anchor_->first)) shift_ = camera_.to_world(anchor_->second) - picture_->layout.at[here(anchor_->first)];
  anchor_.reset();
  if (to_centre_ && known(*to_centre_)) centre(here(*to_centre_));
  to_centre_.reset();
}

void DagSheet::ask_picture(const Scene& scene, const layout::Rect& area) {
  if (!scene.dag.dag || scene.dag.dag->nodes.empty()) return;
  if (scene.dag.dag != dag_) {
    const bool open = budget_ == everything && dag_ && dag_->region == scene.dag.dag->region;
    dag_ = scene.dag.dag;
    folds_.clear();
    anchor_.reset();
    to_centre_.reset();
    base_ = nodes_at_first(*dag_, area.width(), scale_);
    budget_ = open ? everything : base_;
    asked_budget_ = 0;
  }
  if (asked_budget_ == budget_ && asked_folds_ == folds_) return;
  asked_budget_ = budget_;
  asked_folds_ = folds_;
  painter_->ask({dag_, picture_ ? picture_->basis : nullptr, folds_, budget_, area.width() / std::max(area.height(), 1.f)});
}

void DagSheet::react(const layout::Rect& area, bool hovered) {
  if (hovered && ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Home))) placed_ = false;
  camera_.react(area, hovered);
}

void DagSheet::widen() {
  const auto& layer = picture_->basis->layer;
  const auto before = layout::automatic_folds(layer, budget_);
  while (budget_ < layer.size() && layout::automatic_folds(layer, budget_) == before) budget_ += std::max<std::size_t>(base_, 1);
}

void DagSheet::toggle(std::size_t node) {
  if (!picture_ || picture_->basis->dag != dag_ || node >= picture_->stands_for.size()) return;
  const std::int32_t head = picture_->stands_for[node].front();
  anchor_ = {head, to_screen(picture_->layout.at[node])};
  const auto found = std::lower_bound(folds_.begin(), folds_.end(), head);
  if (found != folds_.end() && *found == head)
    folds_.erase(found);
  else if (picture_->is_fold(node))
    widen();
  else if (!picture_->out_of[node].empty())
    folds_.insert(found, head);
}

void DagSheet::unfold_all() {
  folds_.clear();
  budget_ = everything;
  fit();
}

void DagSheet::fold_again() {
  folds_.clear();
  budget_ = base_;
  fit();
}

void DagSheet::centre(std::size_t node) {
  const float zoom = std::max(camera_.zoom(), centred_radius * scale_);
  const layout::Point middle = picture_->layout.at[node] + shift_, half = layout::Point{area_.width(), area_.height()} * (0.5f / zoom);
  camera_.fit({middle - half, middle + half}, area_, 0, true);
  placed_ = true;
}

void DagSheet::centre_on(std::size_t whole_node, bool open) {
  if (!picture_ || picture_->basis->dag != dag_ || whole_node >= picture_->place.size()) return;
  const auto node = static_cast<std::size_t>(picture_->place[whole_node]);
  centre(node);
  if (!open || !picture_->is_fold(node)) return;
  folds_.clear();
  const auto& layer = picture_->basis->layer;
  const auto before =
      static_cast<std::size_t>(std::count_if(layer.begin(), layer.end(), [&](std::int32_t l) { return l <= layer[whole_node] + 1; }));
  budget_ = std::max(budget_, before);
  to_centre_ = static_cast<std::int32_t>(whole_node);
}

layout::DagImageRequest DagSheet::wanted_image(const layout::Rect& area, const Scene& scene) const {
  const layout::Point more{std::clamp((most_side - area.width()) / 2, 0.f, image_margin * area.width()),
                           std::clamp((most_side - area.height()) / 2, 0.f, image_margin * area.height())};
  return {picture_, {to_plane(area.low - more), to_plane(area.high + more)}, zoom(), 1.1f * scene.scale, scene.palette};
}

void DagSheet::draw_image(ImDrawList& list, const layout::Rect& area, const Scene& scene) {
  if (!picture_) return;
  const layout::DagImageRequest wanted = wanted_image(area, scene);
  if (wanted == last_wanted_ && !(wanted == asked_image_)) {
    asked_image_ = wanted;
    image_maker_->ask(wanted);
  }
  last_wanted_ = wanted;
  const auto answer = image_maker_->answer();
  if (answer && answer != image_) {
    image_ = answer;
    texture_.upload(image_->image);
  }
  if (!image_ || image_->of.picture != picture_ || image_->image.width == 0 || texture_.id() == ImTextureID{}) return;
  const layout::Point size =
      layout::Point{static_cast<float>(image_->image.width), static_cast<float>(image_->image.height)} * (1 / image_->zoom);
  const layout::Point low = to_screen(image_->of.part.low), high = to_screen(image_->of.part.low + size);
  list.AddImage(texture_.id(), to_imgui(low), to_imgui(high));
}

bool DagSheet::unsettled() const {
  if (!painter_) return true;
  return painter_->busy() || painter_->answer() != picture_ || image_maker_->busy() || image_maker_->answer() != image_ ||
         !(asked_image_ == last_wanted_);
}

}  // namespace pclscope::gui
