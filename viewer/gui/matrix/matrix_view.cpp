// Which links, one by one (Fujiwara et al. 4.4, 6.2): the matrix of the network with the shown routes, folded, merged
// or through a lens where there are more vertices than pixels; other routes are tried here.
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/controls.hpp"
#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/matrix/matrix_look.hpp"
#include "viewer/gui/matrix/matrix_overlay.hpp"
#include "viewer/gui/matrix/reroute_controls.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::MatrixContent;
using layout::MatrixImage;
using layout::MatrixOrderBy;
using layout::MatrixRequest;
using layout::MatrixSight;
using layout::Point;
using layout::Rect;

constexpr double least_pixels = 2;            // of a row, or rows are merged
constexpr std::size_t most_routes = 200;      // drawn one by one
constexpr std::size_t most_fold_blocks = 64;  // at first
constexpr float lens_points = 240;
constexpr double lens_row_pixels = 7, lens_most = 16;  // the lens magnifies so that rows are that high

struct ContentQuestion {
  std::shared_ptr<const session::ShownRoutes> shown;
  MatrixOrderBy by = MatrixOrderBy::coordinates;
  bool fold = false;
  int fold_level = -1;  // -1: blocks that are few
  bool operator==(const ContentQuestion&) const = default;
};
struct ContentAnswer {
  ContentQuestion of;
  std::shared_ptr<const MatrixContent> content;
};

ContentAnswer make_content(const ContentQuestion& question) {
  const session::NetworkCase& network = *question.shown->network;
  auto order = std::make_shared<const layout::MatrixOrder>(layout::matrix_order(network.routes, question.by));
  int level = -1;
  if (question.fold) {
    level = std::min(question.fold_level, static_cast<int>(order->blocks.size()) - 1);
    for (std::size_t l = 0; l < order->blocks.size() && level < 0; ++l)
      if (order->blocks[l].size() <= most_fold_blocks) level = static_cast<int>(l);
  }
  std::shared_ptr<const mapping::LinkLoads> loads(question.shown, &question.shown->loads);
  return {question, std::make_shared<const MatrixContent>(
                        layout::matrix_content(network.links, std::move(loads), network.routes.routes,
                                               question.shown->routes, std::move(order), level))};
}

bool is_newest(const session::ShownRoutes& shown, const Scene& scene) {
  NetworkState& network = *scene.network;
  return shown.network == network.current(scene) && shown.filter == network.filter();
}

// A picture that is made in the background; the last one is drawn where it belongs until the next is there.
class Picture {
 public:
  void ask(const Scene& scene, const MatrixRequest& request) {
    if (!maker_)
      maker_ = std::make_unique<layout::Latest<MatrixRequest, MatrixImage>>(
          [painter = std::make_shared<layout::MatrixPainter>()](const MatrixRequest& wanted, const auto& stopping) {
            return painter->paint(wanted, stopping);
          },
          scene.wake);
    if (!(request == asked_)) maker_->ask(asked_ = request);
  }
  // The newest; null: none yet.
  const MatrixImage* take() {
    const auto answer = maker_ ? maker_->answer() : nullptr;
    if (answer && answer != image_ && answer->axis) {
      image_ = answer;
      texture_.upload(image_->image);
    }
    return image_.get();
  }
  void draw(ImDrawList& list, const MatrixSight& sight, Point low) const {
    const MatrixSight& was = image_->of.sight;
    const Point from = on_screen(sight, low, was.x, was.y);
    const auto grown = static_cast<float>(sight.scale / was.scale);
    if (texture_.id() != 0)
      list.AddImage(texture_.id(), to_imgui(from),
                    {from.x + static_cast<float>(was.width) * grown, from.y + static_cast<float>(was.height) * grown});
  }
  // What was asked for is not there yet.
  bool behind() const { return maker_ && (!image_ || !(image_->of == asked_)); }

 private:
  std::unique_ptr<layout::Latest<MatrixRequest, MatrixImage>> maker_;
  MatrixRequest asked_;
  std::shared_ptr<const MatrixImage> image_;
  Texture texture_;
};

class MatrixView final : public View {
 public:
  const char* title() const override { return "which links: the matrix of the network"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }
  bool unsettled() const override { return reading_ || behind_ || reroute_.unsettled(); }
  bool needs_run() const override { return false; }

 private:
  void draw_controls(const Scene& scene, const Selection& selection, Point at, float right);
  void draw_fold(ControlRow& row, layout::Rgba faint);
  void draw_legend(const Scene& scene, Point at, float right) const;
  void follow(const Scene& scene);
  void draw_routes(const Scene& scene, const Selection& selection, const MatrixSheet& sheet) const;
  void draw_lens(const Scene& scene, const Selection& selection, const Rect& area);
  void react(const Scene& scene, Selection& selection, const MatrixSheet& sheet);
  void leave_marks(const MatrixSheet& sheet, const MatrixImage& image);

  std::unique_ptr<layout::Latest<ContentQuestion, ContentAnswer>> contents_;
  ContentQuestion asked_, wanted_;
  std::shared_ptr<const ContentAnswer> content_, drawn_;  // the newest; that of the last picture
  Picture picture_, lens_;
  MatrixLook look_;
  RerouteControls reroute_;
  bool lens_on_ = false, reading_ = false, behind_ = false, hovered_ = false;
  std::size_t level_ = 0;  // of merging, in the last picture
  double most_ = 0;        // bytes of a cell there
  std::vector<Mark> marks_;
};

void MatrixView::draw(const Scene& scene, Selection& selection) {
  marks_.clear();
  const Point low = to_point(ImGui::GetCursorScreenPos()), size = to_point(ImGui::GetContentRegionAvail());
  if (size.x < 8 || size.y < 8 || scene.network == nullptr) return;
  const session::NetworkCasePtr current = scene.network->current(scene);
  const float s = scene.scale, line = line_height();
  reading_ = scene.network->reading();
  behind_ = false;
  if (!current)
    return draw_text(*ImGui::GetWindowDrawList(), {low.x + 6 * s, low.y + size.y / 2}, scene.palette->faint_text,
                     scene.network->words(scene), size.x - 12 * s);
  follow(scene);
  draw_controls(scene, selection, {low.x + 6 * s, low.y + 2 * s}, low.x + size.x - 4 * s);
  const float gutter = std::min(text_size("(00 00 00 00 00)").x + 8 * s, size.x / 4);
  const Rect area{{std::round(low.x + gutter), std::round(low.y + 3 * (line + 4 * s) + 8 * s)},
                  {std::floor(low.x + size.x - 6 * s), std::floor(low.y + size.y - 4 * s)}};
  if (area.width() < 8 || area.height() < 8) return;
  behind_ = !content_ || !(content_->of == wanted_) || !wanted_.shown || !is_newest(*wanted_.shown, scene);
  if (!content_) return;
  ImGui::SetCursorScreenPos(to_imgui(area.low));
  ImGui::InvisibleButton("matrix", {area.width(), area.height()},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
  hovered_ = ImGui::IsItemHovered();
  look_.react(area, content_->content->units, hovered_);
  if (!look_.known()) return;
  const MatrixSight sight = look_.sight(area);
  picture_.ask(scene, {content_->content, sight, least_pixels * static_cast<double>(s), scene.palette});
  const MatrixImage* image = picture_.take();
  behind_ = behind_ || picture_.behind();
  if (image == nullptr) return;
  if (image->of.content == content_->content) drawn_ = content_;
  if (!drawn_ || image->of.content != drawn_->content) return;
  level_ = image->level;
  most_ = image->most;
  const MatrixSheet sheet{*drawn_->of.shown->network, *drawn_->content, *image->axis, sight, area};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  draw_matrix_names(list, scene, sheet, low.x + 2 * s);
  list.PushClipRect(to_imgui(area.low), to_imgui(area.high), true);
  draw_matrix_grid(list, scene, sheet);
  picture_.draw(list, sight, area.low);
  draw_routes(scene, selection, sheet);
  if (lens_on_ && hovered_) draw_lens(scene, selection, area);
  list.PopClipRect();
  leave_marks(sheet, *image);
  react(scene, selection, sheet);
}

// What is shown, as rows and columns.
void MatrixView::follow(const Scene& scene) {
  if (!contents_)
    contents_ = std::make_unique<layout::Latest<ContentQuestion, ContentAnswer>>(
        [](const ContentQuestion& question, const auto&) { return make_content(question); }, scene.wake);
  wanted_.shown = scene.network->shown(scene);
  if (wanted_.shown && !(wanted_ == asked_)) contents_->ask(asked_ = wanted_);
  content_ = contents_->answer();
}

void MatrixView::draw_fold(ControlRow& row, layout::Rgba faint) {
  if (row.button("fold", "Blocks that no shown route goes through become a narrow line (key f).", wanted_.fold) ||
      typed_here('f'))
    wanted_.fold = !wanted_.fold;
  if (!wanted_.fold || !content_ || content_->content->fold_level < 0) return;
  const int level = content_->content->fold_level, last = static_cast<int>(content_->content->order->blocks.size()) - 1;
  if (row.button("-", "Smaller blocks are folded.")) wanted_.fold_level = std::max(level - 1, 0);
  if (row.button("+", "Larger blocks are folded.")) wanted_.fold_level = std::min(level + 1, last);
  row.words("by " + content_->content->order->names[static_cast<std::size_t>(level)], faint);
}

void MatrixView::draw_controls(const Scene& scene, const Selection& selection, Point at, float right) {
  ControlRow row(scene, marks_, "matrix", at, right);
  const auto order = [&](const char* label, const char* meaning, MatrixOrderBy by) {
    if (!row.button(label, meaning, wanted_.by == by) || wanted_.by == by) return;
    wanted_.by = by;
    wanted_.fold_level = -1;
    look_.show_all();
  };
  order("coordinates", "Rows and columns in the order of the network's coordinates, the last the fastest.",
        MatrixOrderBy::coordinates);
  order("number", "Rows and columns in the order of the ranks on them.", MatrixOrderBy::number);
  row.space();
  draw_fold(row, scene.palette->faint_text);
  if (row.button("lens", "Larger under the mouse (key g).", lens_on_) || typed_here('g')) lens_on_ = !lens_on_;
  if (content_ && level_ > 0 && level_ < content_->content->order->names.size())
    row.words("merged: " + content_->content->order->names[level_], scene.palette->faint_text);
  draw_legend(scene, {row.x(), at.y}, right);
  reroute_.draw(scene, selection, marks_, {at.x, at.y + line_height() + 4 * scene.scale}, right);
}

// "links [bar] up to 18.0 MiB, assumed: the routes of torus:4x4".
void MatrixView::draw_legend(const Scene& scene, Point at, float right) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  const float box = ImGui::GetFontSize() * 0.7f, s = scene.scale;
  const auto square = [&](float x, float wide, layout::Rgba colour) {
    const float y = at.y + ImGui::GetFontSize() * 0.2f;
    list.AddRectFilled({x, y}, {x + wide, y + box}, to_imgui(colour));
  };
  const auto words = [&](const std::string& text) {
    draw_text(list, at, p.faint_text, text, std::max(right - at.x, 1.f));
    at.x += text_size(text).x + 4 * s;
  };
  if (right - at.x < 12 * ImGui::GetFontSize()) return;
  square(at.x, box, p.edge);
  at.x += box + 4 * s;
  words("link");
  at.x += 4 * s;
  const float step = 2 * s;
  for (int i = 0; i < 16; ++i) square(at.x + step * static_cast<float>(i), step, layout::matrix_colour(p, i, 15));
  at.x += 16 * step + 4 * s;
  words("up to " + text::format_bytes(most_));
  at.x += 6 * s;
  words(scene.network->current(scene)->routes_from);
}

// The selected ones, and what is proposed in their place.
void MatrixView::draw_routes(const Scene& scene, const Selection& selection, const MatrixSheet& sheet) const {
  NetworkState& network = *scene.network;
  if (network.current(scene).get() != &sheet.network) return;
  const std::vector<mapping::Route>& routes = sheet.network.routes.routes;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  const double most = mapping::summarise(sheet.network.loads).largest;
  const auto lit = network.lit(selection);
  for (std::size_t i = 0; i < std::min(lit->size(), most_routes); ++i)
    draw_matrix_route(list, scene, sheet, routes[(*lit)[i]].path, p.text.with_alpha(lit->size() > 1 ? 0.7f : 1.f),
                      1.5f * scene.scale, most);
  const auto proposal = network.proposal();
  if (!proposal) return;
  for (std::size_t i = 0; i < std::min(proposal->changes.size(), most_routes); ++i)
    draw_matrix_route(list, scene, sheet, proposal->changes[i].path, p.successor, 2 * scene.scale, most);
}

void MatrixView::draw_lens(const Scene& scene, const Selection& selection, const Rect& area) {
  const Point mouse = to_point(ImGui::GetIO().MousePos);
  const float half = std::min({lens_points * scene.scale, area.width(), area.height()}) / 2;
  const Rect glass{
      {std::round(mouse.x - half), std::round(mouse.y - half)},
      {std::round(mouse.x - half) + std::floor(2 * half), std::round(mouse.y - half) + std::floor(2 * half)}};
  const MatrixSight main = look_.sight(area);
  MatrixSight sight{0, 0, std::clamp(lens_row_pixels, 2 * main.scale, std::max(2.0, lens_most) * main.scale),
                    static_cast<int>(glass.width()), static_cast<int>(glass.height())};
  // The unit under the mouse stays there.
  sight.x = unit_x(main, area.low, mouse.x) - static_cast<double>(mouse.x - glass.low.x) / sight.scale;
  sight.y = unit_y(main, area.low, mouse.y) - static_cast<double>(mouse.y - glass.low.y) / sight.scale;
  lens_.ask(scene, {drawn_->content, sight, least_pixels * static_cast<double>(scene.scale), scene.palette});
  const MatrixImage* image = lens_.take();
  behind_ = behind_ || lens_.behind();
  if (image == nullptr || image->of.content != drawn_->content) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect(to_imgui(glass.low), to_imgui(glass.high), true);
  list.AddRectFilled(to_imgui(glass.low), to_imgui(glass.high), to_imgui(scene.palette->background));
  const MatrixSheet sheet{*drawn_->of.shown->network, *drawn_->content, *image->axis, sight, glass};
  draw_matrix_grid(list, scene, sheet);
  lens_.draw(list, sight, glass.low);
  draw_routes(scene, selection, sheet);
  list.PopClipRect();
  list.AddRect(to_imgui(glass.low), to_imgui(glass.high), to_imgui(scene.palette->warning), 0, 0, 2 * scene.scale);
  marks_.push_back({"matrix lens cells " + std::to_string(image->cells), mouse});
}

void MatrixView::leave_marks(const MatrixSheet& sheet, const MatrixImage& image) {
  const auto mark = [&](const char* name, std::size_t count) {
    marks_.push_back({name + std::to_string(count), sheet.area.middle()});
  };
  mark("matrix cells ", image.cells);
  mark("matrix loaded ", image.loaded);
  mark("matrix lines ", image.axis->lines.size());
  const auto cell = [&](const char* name, std::int32_t row, std::int32_t column) {
    marks_.push_back({name, on_screen(sheet.sight, sheet.area.low, sheet.axis.middle(column), sheet.axis.middle(row))});
  };
  if (image.heaviest_row >= 0) cell("matrix heaviest", image.heaviest_row, image.heaviest_column);
  cell("matrix first", 0, 0);
}

// Hover: what the cell is. Click: its link, or the vertex on the diagonal.
void MatrixView::react(const Scene& scene, Selection& selection, const MatrixSheet& main) {
  if (!hovered_) return;
  const Point mouse = to_point(ImGui::GetIO().MousePos);
  const MatrixImage* near = lens_on_ ? lens_.take() : nullptr;
  if (near && near->of.content != drawn_->content) near = nullptr;
  const MatrixSheet sheet{main.network, main.content, near ? *near->axis : main.axis, main.sight, main.area};
  const std::int32_t column = sheet.axis.line_at(unit_x(main.sight, main.area.low, mouse.x)),
                     row = sheet.axis.line_at(unit_y(main.sight, main.area.low, mouse.y));
  if (row < 0 || column < 0) return;
  tooltip(cell_words(sheet, row, column));
  if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left)) return;
  NetworkState& network = *scene.network;
  if (network.current(scene).get() != &sheet.network) return;
  const std::int32_t link = heaviest_link(sheet, row, column);
  if (link >= 0) return network.pick_link(sheet.network.links->from(link), sheet.network.links->to(link), selection);
  const layout::MatrixLine& line = sheet.axis.lines[static_cast<std::size_t>(row)];
  if (row == column && line.end - line.first == 1)
    network.pick_vertex(sheet.content.order->vertex[static_cast<std::size_t>(line.first)], selection);
}

}  // namespace

std::unique_ptr<View> make_matrix_view() { return std::make_unique<MatrixView>(); }

}  // namespace pclscope::gui
