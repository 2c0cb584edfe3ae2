#include "viewer/gui/dag/dag_sheet.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "viewer/gui/dag/dag_details.hpp"

namespace pclscope::gui {
namespace {

constexpr float readable_radius = 14;     // points: what is shown at first is at least so large, if possible
constexpr std::size_t most_glyphs = 120;  // at first: with their bars
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
      std::max(least_layers,
               static_cast<std::int32_t>(std::min(width / (layout::least_column * readable_radius * scale), 1e6f)));
  const auto count =
      static_cast<std::size_t>(std::count_if(layer.begin(), layer.end(), [&](std::int32_t l) { return l < fit; }));
  return std::clamp<std::size_t>(count, 1, most_glyphs);
}

// Around the glyphs of some layers.
layout::Rect box_of(const layout::DagPicture& picture, std::int32_t first, std::int32_t layers) {
  std::optional<layout::Rect> box;
  for (std::size_t i = 0; i < picture.layout.at.size(); ++i) {
    const std::int32_t layer = picture.layout.layer[i];
    if (layer < first || layer >= first + layers) continue;
    const layout::Point at = picture.layout.at[i];
    if (!box) box = layout::Rect{at, at};
    box = layout::Rect{{std::min(box->low.x, at.x), std::min(box->low.y, at.y)},
                       {std::max(box->high.x, at.x), std::max(box->high.y, at.y)}};
  }
  if (!box) return picture.layout.bounds;
  const layout::Point around{1.5f, 1.5f};
  return {box->low - around, box->high + around};
}

}  // namespace

// As many layers as are shown of others, around that of the node; fewer where these have too many nodes.
std::optional<DagSheet::Start> DagSheet::start_of(const Dag& dag, const Selection& selection, std::size_t at_first) {
  const auto node = first_look(dag, selection);
  if (!node) return std::nullopt;
  const std::vector<std::int32_t> layer = layout::layers_of(dag);
  const std::int32_t all = *std::max_element(layer.begin(), layer.end()) + 1;
  std::vector<std::size_t> before(static_cast<std::size_t>(all) + 1);  // nodes in lower layers
  for (const std::int32_t l : layer) ++before[static_cast<std::size_t>(l) + 1];
  for (std::size_t l = 1; l < before.size(); ++l) before[l] += before[l - 1];
  const auto shown = static_cast<std::int32_t>(
      std::count_if(before.begin() + 1, before.end(), [&](std::size_t count) { return count <= at_first; }));
  if (shown >= all || layer[*node] < shown) return std::nullopt;
  Start start{*node, 0, std::max(shown, 1), 0};
  for (;; --start.layers) {
    start.first = std::clamp(layer[*node] - start.layers / 2, 0, all - start.layers);
    const std::size_t nodes =
        before[static_cast<std::size_t>(start.first + start.layers)] - before[static_cast<std::size_t>(start.first)];
    if (start.layers <= 1 || nodes <= most_glyphs) break;
  }
  start.nodes = before[static_cast<std::size_t>(std::min(start.first + start.layers + 1, all))];
  return start;
}

std::optional<std::size_t> DagSheet::start() const {
  if (!start_ || all_in_sight_ || placed_ || camera_.moved()) return std::nullopt;
  return start_->node;
}

void DagSheet::begin(const Scene& scene) {
  if (painter_) return;
  painter_ = std::make_unique<Painter>(
      [](const layout::DagPictureRequest& request, const auto&) { return layout::make_dag_picture(request); },
      scene.wake);
  image_maker_ = std::make_unique<ImageMaker>(
      [](const layout::DagImageRequest& request, const auto& stopping) { return layout::draw_dag(request, stopping); },
      scene.wake);
}

void DagSheet::follow(const Scene& scene, const Selection& selection, const layout::Rect& area) {
  begin(scene);
  area_ = area;
  scale_ = scene.scale;
  glide_.advance(ImGui::GetIO().DeltaTime);
  camera_.advance(ImGui::GetIO().DeltaTime);
  take_picture(scene.glides);
  take_image(scene.glides);
  ask_picture(scene, selection, area);
  if (camera_.moved()) placed_ = false;
  if (!picture_ || camera_.moved() || placed_) return;
  fit_into(camera_, *picture_, shift_, area);
}

void DagSheet::fit_into(Camera& camera, const layout::DagPicture& picture, layout::Point shift,
                        const layout::Rect& area) const {
  layout::Rect all = picture.layout.bounds;
  if (picture.dag.nodes.size() != picture.whole().nodes.size()) all.high.x += fold_count;
  if (picture.basis->dag == dag_ && layers_in_sight() > 0) all = box_of(picture, start_->first, layers_in_sight());
  all = {all.low + shift, all.high + shift};
  const float fits = std::min(margin * scale_, std::min(area.width(), area.height()) * 0.1f);
  camera.fit(all, area, fits);
  if (camera.final_zoom() > 1.6f * centred_radius * scale_) {  // few nodes: no giants
    const layout::Point half = layout::Point{area.width(), area.height()} * (0.5f / (1.6f * centred_radius * scale_));
    camera.fit({all.middle() - half, all.middle() + half}, area, 0);
  }
}

layout::Point DagSheet::at(std::size_t node) const {
  const layout::Point to = picture_->layout.at[node];
  return glide_.active() ? to + from_[node] * glide_.left() : to;
}

// A node comes from where it was, or from the fold that it was in.
void DagSheet::glide_from(const layout::DagPicture& before, const std::vector<layout::Point>& places) {
  from_.clear();
  for (std::size_t node = 0; node < picture_->stands_for.size(); ++node) {
    const auto head = static_cast<std::size_t>(picture_->stands_for[node].front());
    from_.push_back(places[static_cast<std::size_t>(before.place[head])] - picture_->layout.at[node] - shift_);
  }
  glide_.start();
  camera_.glide();
}

void DagSheet::take_picture(bool glides) {
  const auto answer = painter_->answer();
  if (!answer || answer == picture_ || answer == next_) return;
  // A running job has another graph every second, and drawing its links may take as long: until then the last whole one
  // stays. Of the same graph nodes move at once.
  const bool another = picture_ && picture_->basis->dag != answer->basis->dag;
  if (another && image_ && image_->of.picture == picture_) {
    next_ = answer;
    return;
  }
  show(answer, glides);
}

void DagSheet::show(std::shared_ptr<const layout::DagPicture> answer, bool glides) {
  next_.reset();
  const bool same = picture_ && picture_->basis->dag == answer->basis->dag;
  const bool alike = picture_ && picture_->whole().region == answer->whole().region;
  const auto before = picture_;
  std::vector<layout::Point> places;
  for (std::size_t node = 0; glides && same && node < before->layout.at.size(); ++node)
    places.push_back(at(node) + shift_);
  glide_.stop();
  picture_ = std::move(answer);
  if (!alike) refit();
  if (!same) shift_ = {};
  const auto here = [&](std::int32_t whole_node) {
    return static_cast<std::size_t>(picture_->place[static_cast<std::size_t>(whole_node)]);
  };
  const auto known = [&](std::int32_t node) {
    return picture_->basis->dag == dag_ && static_cast<std::size_t>(node) < picture_->place.size();
  };
  if (anchor_ && same && known(anchor_->first))
    shift_ = camera_.to_world(anchor_->second) - picture_->layout.at[here(anchor_->first)];
  anchor_.reset();
  if (glides && same) glide_from(*before, places);
  if (to_centre_ && known(*to_centre_)) centre(here(*to_centre_));
  to_centre_.reset();
}

void DagSheet::ask_picture(const Scene& scene, const Selection& selection, const layout::Rect& area) {
  if (!scene.dag.dag || scene.dag.dag->nodes.empty()) return;
  if (scene.dag.dag != dag_) {
    const bool alike = dag_ && dag_->region == scene.dag.dag->region, open = alike && budget_ == everything;
    all_in_sight_ = alike && all_in_sight_;
    dag_ = scene.dag.dag;
    folds_.clear();
    anchor_.reset();
    to_centre_.reset();
    base_ = nodes_at_first(*dag_, area.width(), scale_);
    start_ = start_of(*dag_, selection, base_);
    if (start_) base_ = start_->nodes;
    budget_ = open ? everything : base_;
    asked_budget_ = 0;
  }
  if (asked_budget_ == budget_ && asked_folds_ == folds_ && asked_layers_ == layers_in_sight()) return;
  asked_layers_ = layers_in_sight();
  asked_budget_ = budget_;
  asked_folds_ = folds_;
  painter_->ask({dag_, picture_ ? picture_->basis : nullptr, folds_, budget_,
                 area.width() / std::max(area.height(), 1.f), asked_layers_});
}

void DagSheet::react(const layout::Rect& area, bool hovered) {
  if (hovered && ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Home))) fit();
  camera_.react(area, hovered);
}

void DagSheet::widen() {
  const auto& layer = picture_->basis->layer;
  const auto before = layout::automatic_folds(layer, budget_);
  while (budget_ < layer.size() && layout::automatic_folds(layer, budget_) == before)
    budget_ += std::max<std::size_t>(base_, 1);
}

void DagSheet::toggle(std::size_t node) {
  if (!picture_ || picture_->basis->dag != dag_ || node >= picture_->stands_for.size()) return;
  const std::int32_t head = picture_->stands_for[node].front();
  anchor_ = {head, to_screen(at(node))};
  const auto found = std::lower_bound(folds_.begin(), folds_.end(), head);
  if (found != folds_.end() && *found == head) folds_.erase(found);
  else if (picture_->is_fold(node)) widen();
  else if (!picture_->out_of[node].empty()) folds_.insert(found, head);
}

void DagSheet::unfold_all() {
  folds_.clear();
  budget_ = everything;
  fit();
}

void DagSheet::fold_again() {
  folds_.clear();
  budget_ = base_;
  all_in_sight_ = false;
  refit();
}

void DagSheet::centre(std::size_t node) {
  const float zoom = std::max(camera_.final_zoom(), centred_radius * scale_);
  const layout::Point middle = picture_->layout.at[node] + shift_,
                      half = layout::Point{area_.width(), area_.height()} * (0.5f / zoom);
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
  const auto before = static_cast<std::size_t>(
      std::count_if(layer.begin(), layer.end(), [&](std::int32_t l) { return l <= layer[whole_node] + 1; }));
  budget_ = std::max(budget_, before);
  to_centre_ = static_cast<std::int32_t>(whole_node);
}

// Of the graph that is shown, or of the next one as it will lie then.
layout::DagImageRequest DagSheet::wanted_image(const layout::Rect& area, const Scene& scene) const {
  const layout::Point more{std::clamp((most_side - area.width()) / 2, 0.f, image_margin * area.width()),
                           std::clamp((most_side - area.height()) / 2, 0.f, image_margin * area.height())};
  Camera camera = camera_;
  layout::Point shift = shift_;
  if (next_) {
    shift = {};
    const bool alike = picture_->whole().region == next_->whole().region;
    if (!alike) camera.reset();
    if (!alike || !(camera.moved() || placed_)) fit_into(camera, *next_, shift, area_);
  }
  const auto plane = [&](layout::Point p) { return (p - camera.final_offset()) * (1 / camera.final_zoom()) - shift; };
  return {next_ ? next_ : picture_,
          {plane(area.low - more), plane(area.high + more)},
          camera.final_zoom(),
          1.1f * scene.scale,
          scene.palette};
}

void DagSheet::take_image(bool glides) {
  const auto answer = image_maker_->answer();
  if (!answer || answer == image_) return;
  if (next_ && answer->of.picture == next_) show(next_, glides);
  else if (next_) return;  // of the one that is shown, from before
  image_ = answer;
  texture_.upload(image_->image);
}

void DagSheet::draw_image(ImDrawList& list, const layout::Rect& area, const Scene& scene) {
  if (!picture_) return;
  const layout::DagImageRequest wanted = wanted_image(area, scene);
  if (wanted == last_wanted_ && !(wanted == asked_image_)) {
    asked_image_ = wanted;
    image_maker_->ask(wanted);
  }
  last_wanted_ = wanted;
  if (!image_ || image_->of.picture != picture_ || image_->image.width == 0 || texture_.id() == ImTextureID{}) return;
  const layout::Point size =
      layout::Point{static_cast<float>(image_->image.width), static_cast<float>(image_->image.height)} *
      (1 / image_->zoom);
  const layout::Point low = to_screen(image_->of.part.low), high = to_screen(image_->of.part.low + size);
  const layout::Rgba tint = layout::Rgba{255, 255, 255}.with_alpha(1 - glide_.left());  // nodes are still on their way
  list.AddImage(texture_.id(), to_imgui(low), to_imgui(high), {0, 0}, {1, 1}, to_imgui(tint));
}

bool DagSheet::unsettled() const {
  if (!painter_) return true;
  return next_ || glide_.active() || camera_.gliding() || painter_->busy() || painter_->answer() != picture_ ||
         image_maker_->busy() || image_maker_->answer() != image_ || !(asked_image_ == last_wanted_);
}

}  // namespace pclscope::gui
