#include "viewer/gui/app.hpp"

#include <imgui.h>

#include <algorithm>
#include <chrono>

#include "viewer/gui/canvas.hpp"
#include "viewer/gui/graph_question.hpp"
#include "viewer/text/printable.hpp"

namespace pclscope::gui {
namespace {

constexpr const char* view_names[] = {"spatial", "evolution", "dag", "attribution"};
constexpr float title_lines = 1.5f;       // height of a view's title, in lines of text
constexpr double live_graph_every_s = 1;  // questions to a running job

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Connection::State state_of(session::FeedState::Phase phase) {
  using Phase = session::FeedState::Phase;
  switch (phase) {
    case Phase::opening: return Connection::State::opening;
    case Phase::running: return Connection::State::running;
    case Phase::finished: return Connection::State::finished;
    case Phase::lost: return Connection::State::lost;
    case Phase::stored: return Connection::State::stored;
    case Phase::failed: return Connection::State::failed;
  }
  return Connection::State::failed;
}

}  // namespace

App::App(const ViewOptions& options, session::Feed::Open open, std::function<void()> wake)
    : options_(options),
      feed_(std::move(open), {options.history_bytes, 20'000, wake}),
      selection_(options.selection),
      theme_(options.theme) {
  scene_.wake = std::move(wake);
  scene_.connection.name = text::printable(options.target);
  scene_.glides = options.screenshot.empty();
  cells_[0].view = make_spatial_view();
  cells_[1].view = make_evolution_view();
  cells_[2].view = make_dag_view();
  cells_[3].view = make_attribution_view();
  for (int i = 0; i < 4; ++i) {
    if (options.only == view_names[i]) alone_ = i;
  }
}

App::~App() = default;

void App::update_scene() {
  fed_ = feed_.state();
  Connection& connection = scene_.connection;
  connection.state = state_of(fed_.phase);
  connection.problem = text::printable(fed_.problem);
  connection.silent_s = fed_.silent_s;
  connection.reconnects = fed_.reconnects;
  if (!scene_.paused && fed_.snapshot) {
    scene_.snapshot = fed_.snapshot;
    scene_.history = fed_.history;
    scene_.now_s =
        connection.state == Connection::State::stored ? fed_.snapshot->duration_s : live_until_s(*fed_.snapshot);
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
  chosen_ = choose_worst(*scene_.snapshot, scene_.connection.state == Connection::State::running, selection_) ||
            scene_.connection.state == Connection::State::stored;
}

void App::ask_for_graph() {
  if (!scene_.snapshot || scene_.paused) return;
  const bool live = scene_.connection.state == Connection::State::running;
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
    if (typed >= '1' && typed <= '4') alone_ = alone_ == typed - '1' ? -1 : typed - '1';
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
  const float gap = std::max(2.f, 3 * scene_.scale);
  if (alone_ >= 0) {
    draw_cell(static_cast<std::size_t>(alone_), area);
  } else {
    const float x = width * split_x_, y = top + area.height() * split_y_;
    draw_cell(0, {{0, top}, {x - gap / 2, y - gap / 2}});
    draw_cell(1, {{x + gap / 2, top}, {width, y - gap / 2}});
    draw_cell(2, {{0, y + gap / 2}, {x - gap / 2, height}});
    draw_cell(3, {{x + gap / 2, y + gap / 2}, {width, height}});
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled({x - gap / 2, top}, {x + gap / 2, height}, to_imgui(scene_.palette->panel));
    list.AddRectFilled({0, y - gap / 2}, {width, y + gap / 2}, to_imgui(scene_.palette->panel));
    draw_splitters(area);
  }
  if (scene_.connection.state == Connection::State::lost) dim(top, width, height);
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

void App::draw_splitters(layout::Rect area) {
  const float grip = 8 * scene_.scale;
  const auto handle = [&](const char* id, layout::Point at, ImVec2 size, float& split, bool across) {
    if (size.x < 1 || size.y < 1) return;
    ImGui::SetCursorPos(to_imgui(at));
    ImGui::InvisibleButton(id, size);
    if (ImGui::IsItemHovered() || ImGui::IsItemActive())
      ImGui::SetMouseCursor(across ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    if (!ImGui::IsItemActive()) return;
    const float moved =
        across ? ImGui::GetIO().MouseDelta.x / area.width() : ImGui::GetIO().MouseDelta.y / area.height();
    split = std::clamp(split + moved, 0.1f, 0.9f);
  };
  const float x = area.width() * split_x_, y = area.low.y + area.height() * split_y_;
  handle("split x", {x - grip / 2, area.low.y}, {grip, area.height()}, split_x_, true);
  handle("split y", {0, y - grip / 2}, {area.width(), grip}, split_y_, false);
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
  std::string words = connection.state == Connection::State::opening
                          ? "opening " + connection.name
                          : "waiting for the first news from " + connection.name;
  if (connection.state == Connection::State::failed) words = connection.problem;
  else if (!connection.problem.empty()) words.append(": ").append(connection.problem);
  ImGui::SetCursorPos({width * 0.1f, top + (height - top) * 0.4f});
  ImGui::PushTextWrapPos(width * 0.9f);
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopTextWrapPos();
}

bool App::unsettled() const { return quiet_frames_ < 3; }

bool App::complete(std::string& problem) const {
  if (scene_.connection.state == Connection::State::failed) {
    problem = scene_.connection.problem;
    return false;
  }
  if (scene_.connection.state == Connection::State::stored && scene_.snapshot && options_.selected) {
    problem = missing_from(*scene_.snapshot, options_.selection);
    if (!problem.empty()) return false;
  }
  // A running job never stands still: a while after everything has come is enough.
  const bool enough = scene_.connection.state == Connection::State::running && whole_frames_ >= 25;
  return scene_.snapshot && chosen_ && (quiet_frames_ >= 4 || enough);
}

}  // namespace pclscope::gui
