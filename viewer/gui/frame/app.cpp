#include "viewer/gui/frame/app.hpp"

#include <imgui.h>

#include <algorithm>
#include <chrono>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/frame/graph_question.hpp"
#include "viewer/gui/frame/registry.hpp"
#include "viewer/text/printable.hpp"

namespace pclscope::gui {
namespace {

constexpr float title_lines = 1.5f;       // height of a view's title, in lines of text
constexpr double live_graph_every_s = 1;  // questions to a running job

// As many as rows, or one more.
std::size_t grid_columns(std::size_t cells) {
  std::size_t columns = 1;
  while (columns * columns < cells) ++columns;
  return columns;
}

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

App::App(const ViewOptions& options, session::Feed::Open open, std::function<void()> wake)
    : options_(options),
      feed_(std::move(open), {options.history_bytes, 20'000, wake}),
      selection_(options.selection),
      theme_(options.theme) {
  scene_.wake = std::move(wake);
  scene_.connection.name = text::printable(options.target);
  scene_.glides = options.screenshot.empty();
  for (const ViewEntry& entry : all_views()) {
    if (options.only == entry.name) alone_ = static_cast<int>(cells_.size());
    cells_.push_back({entry.make(), {}});
  }
  const std::size_t columns = grid_columns(cells_.size()), rows = (cells_.size() + columns - 1) / columns;
  for (std::size_t i = 1; i <= columns; ++i) columns_.push_back(static_cast<float>(i) / static_cast<float>(columns));
  for (std::size_t i = 1; i <= rows; ++i) rows_.push_back(static_cast<float>(i) / static_cast<float>(rows));
}

App::~App() = default;

void App::update_scene() {
  fed_ = feed_.state();
  Connection& connection = scene_.connection;
  connection.phase = fed_.phase;
  connection.problem = text::printable(fed_.problem);
  connection.silent_s = fed_.silent_s;
  connection.reconnects = fed_.reconnects;
  if (!scene_.paused && fed_.snapshot) {
    scene_.snapshot = fed_.snapshot;
    scene_.history = fed_.history;
    scene_.now_s =
        connection.phase == session::Phase::stored ? fed_.snapshot->duration_s : live_until_s(*fed_.snapshot);
    if (!(scene_.now_s >= 0) || scene_.now_s > 1e9) scene_.now_s = fed_.snapshot->duration_s;
  }
  scene_.dag = {fed_.dag_question, fed_.dag, fed_.dag_problem, fed_.dag_waiting};
  scene_.palette = &layout::palette(theme_);
}

// A newcomer's first look is at what matters: the first finding, else the region that is late most.
void App::choose_at_first() {
  if (chosen_ || !scene_.snapshot) return;
  if (options_.selected || selection_ != options_.selection) {
    chosen_ = true;
    if (selection_.finding) choose_finding(*scene_.snapshot, *selection_.finding, selection_);
    return;
  }
  chosen_ = choose_worst(*scene_.snapshot, scene_.connection.phase == session::Phase::running, selection_) ||
            scene_.connection.phase == session::Phase::stored;
}

void App::ask_for_graph() {
  if (!scene_.snapshot || scene_.paused) return;
  const bool live = scene_.connection.phase == session::Phase::running;
  const auto question = graph_question(*scene_.snapshot, selection_, live, scene_.now_s, scene_.history.get());
  if (!question) return;
  const bool another = !any_asked_ || question->region != asked_.region || question->ranks != asked_.ranks ||
                       question->from_ns != asked_.from_ns || question->to_ns != asked_.to_ns;
  const bool follows = !selection_.period && live && any_asked_ && question->region == asked_.region;
  if (!another || (follows && (now_s() - asked_at_s_ < live_graph_every_s || fed_.dag_waiting))) return;
  if (now_s() - asked_at_s_ < 0.15 && any_asked_) return;  // while a slider is dragged
  asked_ = *question;
  any_asked_ = true;
  asked_at_s_ = now_s();
  feed_.ask_dag(asked_);
}

void App::keys() {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput) return;
  for (const ImWchar typed : io.InputQueueCharacters) {
    if (const int view = typed - '1'; view >= 0 && view < static_cast<int>(cells_.size()))
      alone_ = alone_ == view ? -1 : view;
    if (typed == '0') alone_ = -1;
    if (typed == ' ') scene_.paused = !scene_.paused;
    if (typed == 't') theme_ = theme_ == layout::Theme::dark ? layout::Theme::light : layout::Theme::dark;
    if (typed == 'i') details_ = !details_;
    if (typed == '?' || typed == 'h') help_ = !help_;
    if (typed == 'q') close_ = true;
    if (typed >= ' ') hint_ = false;
  }
}

void App::escape() {
  if (ImGui::GetIO().WantTextInput) return;  // it ends the input
  if (help_ || hint_ || details_) help_ = hint_ = details_ = false;
  else if (alone_ >= 0 && options_.only.empty()) alone_ = -1;
  else selection_ = {};
}

void App::frame(float width, float height, float scale) {
  scene_.scale = scale;
  update_scene();
  choose_at_first();
  keys();
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize({width, height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1, 1));
  ImGui::Begin("pclscope", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNavInputs |
                   ImGuiWindowFlags_NoBackground);
  // Whoever draws us has cleared the window with the background's colour: software renderers pay for every layer.
  ImGui::GetWindowDrawList()->AddRectFilled({0, 0}, {width, StatusBar::height(scale)}, to_imgui(scene_.palette->panel));
  status_.draw(scene_, selection_);
  const float top = std::min(ImGui::GetCursorPosY(), height);
  if (scene_.snapshot) draw_cells(top, width, height);
  else draw_missing(top, width, height);
  ImGui::End();
  ImGui::PopStyleVar(2);
  if (details_) draw_details(width, height);
  if (help_) draw_help(width, height);
  if (hint_ && scene_.snapshot) draw_hint(width, height);
  ask_for_graph();
  const bool moving = std::any_of(cells_.begin(), cells_.end(), [](const Cell& c) { return c.view->unsettled(); });
  const bool graph_due = any_asked_ && fed_.dag_waiting;
  if (scene_.snapshot && chosen_ && (!any_asked_ || fed_.dag || !fed_.dag_problem.empty())) ++whole_frames_;
  quiet_frames_ = moving || graph_due || !scene_.snapshot ? 0 : quiet_frames_ + 1;
}

void App::draw_cells(float top, float width, float height) {
  const layout::Rect area{{0, top}, {width, height}};
  if (alone_ >= 0) draw_cell(static_cast<std::size_t>(alone_), area);
  else draw_grid(area);
  if (scene_.connection.phase == session::Phase::lost) dim(top, width, height);
}

void App::draw_cell(std::size_t index, layout::Rect at) {
  Cell& cell = cells_[index];
  cell.at = at;
  const float title = ImGui::GetTextLineHeight() * title_lines;
  if (at.width() < 4 || at.height() < title + 4) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene_.palette;
  ImGui::SetCursorPos(to_imgui(at.low));
  ImGui::PushID(static_cast<int>(index));
  ImGui::InvisibleButton("title", {at.width(), title});
  if (ImGui::IsItemHovered()) {
    tooltip("double click: this view alone, and back (key " + std::to_string(index + 1) + ")");
    if (ImGui::IsMouseDoubleClicked(0)) alone_ = alone_ >= 0 ? -1 : static_cast<int>(index);
  }
  const float pad = 6 * scene_.scale;
  list.AddRectFilled(to_imgui(at.low), {at.high.x, at.low.y + title}, to_imgui(p.panel));
  draw_text(list, at.low + layout::Point{pad, title * 0.15f}, p.faint_text, cell.view->title(), at.width() - 2 * pad);
  ImGui::SetCursorPos({at.low.x, at.low.y + title});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::BeginChild("view", {at.width(), at.height() - title}, false,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoBackground);
  cell.view->draw(scene_, selection_);
  ImGui::EndChild();
  ImGui::PopStyleVar();
  ImGui::PopID();
}

// Row by row; the last cell reaches to the right edge.
void App::draw_grid(layout::Rect area) {
  const float half = std::max(2.f, 3 * scene_.scale) / 2;  // of the gap between cells
  const auto x_of = [&](std::size_t column) { return column == 0 ? 0 : area.width() * columns_[column - 1]; };
  const auto y_of = [&](std::size_t row) { return area.low.y + (row == 0 ? 0 : area.height() * rows_[row - 1]); };
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const std::size_t column = i % columns_.size(), row = i / columns_.size();
    const std::size_t end = i + 1 == cells_.size() ? columns_.size() : column + 1;
    const bool right = end == columns_.size(), lowest = row + 1 == rows_.size();
    draw_cell(i, {{column == 0 ? 0 : x_of(column) + half, row == 0 ? area.low.y : y_of(row) + half},
                  {right ? area.high.x : x_of(end) - half, lowest ? area.high.y : y_of(row + 1) - half}});
    if (!right)
      list.AddRectFilled({x_of(end) - half, y_of(row)}, {x_of(end) + half, lowest ? area.high.y : y_of(row + 1)},
                         to_imgui(scene_.palette->panel));
  }
  for (std::size_t row = 1; row < rows_.size(); ++row)
    list.AddRectFilled({0, y_of(row) - half}, {area.high.x, y_of(row) + half}, to_imgui(scene_.palette->panel));
  const float grip = 8 * scene_.scale;
  for (std::size_t i = 1; i < columns_.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    draw_splitter("split x", {{x_of(i) - grip / 2, area.low.y}, {x_of(i) + grip / 2, area.high.y}}, columns_, i,
                  area.width(), true);
    ImGui::PopID();
  }
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    draw_splitter("split y", {{0, y_of(i) - grip / 2}, {area.high.x, y_of(i) + grip / 2}}, rows_, i, area.height(),
                  false);
    ImGui::PopID();
  }
}

// Between places i - 1 and i of `ends`, which are parts of `length`.
void App::draw_splitter(const char* id, layout::Rect grip, std::vector<float>& ends, std::size_t i, float length,
                        bool across) {
  if (grip.width() < 1 || grip.height() < 1) return;
  ImGui::SetCursorPos(to_imgui(grip.low));
  ImGui::InvisibleButton(id, {grip.width(), grip.height()});
  if (ImGui::IsItemHovered() || ImGui::IsItemActive())
    ImGui::SetMouseCursor(across ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
  if (!ImGui::IsItemActive()) return;
  const float moved = across ? ImGui::GetIO().MouseDelta.x : ImGui::GetIO().MouseDelta.y;
  const float low = (i > 1 ? ends[i - 2] : 0) + 0.1f / static_cast<float>(ends.size() - 1);
  const float high = ends[i] - 0.1f / static_cast<float>(ends.size() - 1);
  ends[i - 1] = std::clamp(ends[i - 1] + moved / length, std::min(low, high), high);
}

// A job that is gone must not look alive.
void App::dim(float top, float width, float height) const {
  const layout::Palette& p = *scene_.palette;
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  list.AddRectFilled({0, top}, {width, height}, to_imgui(p.background.with_alpha(0.45f)));
  const std::string words = "connection lost: this is the last that was heard";
  const layout::Point size = text_size(words), pad{10 * scene_.scale, 6 * scene_.scale};
  const layout::Point at{(width - size.x) / 2, top + 12 * scene_.scale};
  list.AddRectFilled(to_imgui(at - pad), to_imgui(at + size + pad), to_imgui(p.panel));
  draw_text(list, at, p.bad, words);
}

void App::draw_missing(float top, float width, float height) {
  const Connection& connection = scene_.connection;
  std::string words = connection.phase == session::Phase::opening
                          ? "opening " + connection.name
                          : "waiting for the first news from " + connection.name;
  if (connection.phase == session::Phase::failed) words = connection.problem;
  else if (!connection.problem.empty()) words.append(": ").append(connection.problem);
  ImGui::SetCursorPos({width * 0.1f, top + (height - top) * 0.4f});
  ImGui::PushTextWrapPos(width * 0.9f);
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopTextWrapPos();
}

bool App::unsettled() const { return quiet_frames_ < 3; }

bool App::complete(std::string& problem) const {
  if (scene_.connection.phase == session::Phase::failed) {
    problem = scene_.connection.problem;
    return false;
  }
  if (scene_.connection.phase == session::Phase::stored && scene_.snapshot && options_.selected) {
    problem = missing_from(*scene_.snapshot, options_.selection);
    if (!problem.empty()) return false;
  }
  // A running job never stands still: a while after everything has come is enough.
  const bool enough = scene_.connection.phase == session::Phase::running && whole_frames_ >= 25;
  return scene_.snapshot && chosen_ && (quiet_frames_ >= 4 || enough);
}

}  // namespace pclscope::gui
