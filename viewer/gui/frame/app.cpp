#include "viewer/gui/frame/app.hpp"

#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/frame/selection_words.hpp"
#include "viewer/text/printable.hpp"

namespace pclscope::gui {
namespace {

constexpr float least_hint_height = 700;  // points: lower, it would lie on legends
constexpr double live_graph_every_s = 1;  // questions to a running job
constexpr double copied_shown_s = 3;

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

App::App(const ViewOptions& options, session::Feed::Open open, std::function<void()> wake,
         std::span<const ViewEntry> views)
    : options_(options),
      feed_(std::move(open), {options.history_bytes, 20'000, wake}),
      network_(options.network, options.network_facts),
      selection_(options.selection),
      theme_(options.theme) {
  scene_.wake = std::move(wake);
  scene_.ask = [this](session::Feed::Work work) { feed_.ask(std::move(work)); };
  scene_.open_view = [this](std::string name) { view_to_open_ = std::move(name); };
  scene_.logical = &logical_;
  scene_.live_calls = &live_calls_;
  scene_.calls = &calls_;
  scene_.network = &network_;
  scene_.connection.name = text::printable(options.target);
  if (!options.compare.empty()) {
    compared_feed_ = std::make_unique<session::Feed>([file = options.compare] { return session::open_stored(file); },
                                                     session::FeedOptions{options.history_bytes, 0, scene_.wake});
    compared_scene_.connection.name = text::printable(options.compare);
    compared_scene_.wake = scene_.wake;
    compared_scene_.ask = [this](session::Feed::Work work) { compared_feed_->ask(std::move(work)); };
    compared_scene_.logical = &compared_logical_;
    scene_.compared = &compared_scene_;
  }
  scene_.glides = options.screenshot.empty();
  for (const WorkspaceEntry& entry : all_workspaces()) {
    Workspace workspace(entry, views);
    if (workspace.empty()) continue;
    const bool wanted = options.only.empty() ? options.workspace == entry.name : workspace.show_alone(options.only);
    if (wanted) workspace_ = workspaces_.size();
    workspaces_.push_back(std::move(workspace));
  }
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
  if (scene_.snapshot) follow_region(*scene_.snapshot, followed_, selection_);
  update_graph();
  update_compared();
  scene_.palette = &layout::palette(theme_);
}

void App::update_compared() {
  if (!compared_feed_) return;
  const session::FeedState fed = compared_feed_->state();
  compared_scene_.connection.phase = fed.phase;
  compared_scene_.connection.problem = text::printable(fed.problem);
  compared_scene_.snapshot = fed.snapshot;
}

// What a job told last stays when it is over, whatever was asked since.
void App::update_graph() {
  scene_.dag = {fed_.dag_question, fed_.dag, fed_.dag_problem, fed_.dag_waiting};
  if (!over()) {
    if (scene_.dag.dag) last_graph_ = scene_.dag;
    return;
  }
  if (!scene_.dag.dag && last_graph_.dag) scene_.dag = last_graph_;
  scene_.dag.waiting = false;
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
  if (!scene_.snapshot || scene_.paused || over() || !shown_workspace().wants_graph()) return;
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
    for (std::size_t i = 0; i < workspaces_.size(); ++i) {
      if (typed == '1' + static_cast<int>(workspaces_[i].entry().key)) workspace_ = i;
    }
    if (typed == '0') shown_workspace().show_all();
    if (typed == 'v' || typed == 'V') shown_workspace().show_next(typed == 'v' ? 1 : -1);
    if (typed == ' ') scene_.paused = !scene_.paused;
    if (typed == 't') theme_ = theme_ == layout::Theme::dark ? layout::Theme::light : layout::Theme::dark;
    if (typed == 'c') toggle_pin(selection_);
    if (typed == 'i') details_ = !details_;
    if (typed == '?' || typed == 'h') help_ = !help_;
    if (typed == '/') find();
    if (typed == 'q') close_ = true;
    if (typed >= ' ') hint_ = false;
  }
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key)); };
  if (io.KeyAlt && pressed(ImGuiKey_LeftArrow)) trail_.back(selection_);
  if (io.KeyAlt && pressed(ImGuiKey_RightArrow)) trail_.forward(selection_);
}

// Among the others of its workspace, unless another one of these is alone.
void App::open_view() {
  for (std::size_t i = 0; i < workspaces_.size() && !view_to_open_.empty(); ++i) {
    if (!workspaces_[i].has(view_to_open_)) continue;
    workspace_ = i;
    if (!workspaces_[i].shows_all()) workspaces_[i].show_alone(view_to_open_);
  }
  view_to_open_.clear();
}

void App::copy() {
  if (ImGui::GetIO().WantTextInput) return;  // what is selected in the field
  copied_ = selection_line(scene_, selection_);
  copied_at_s_ = now_s();
  if (!copied_.empty()) ImGui::SetClipboardText(copied_.c_str());
}

void App::escape() {
  if (search_.open) {
    search_.open = false;
    return;
  }
  if (ImGui::GetIO().WantTextInput) return;  // it ends the input
  if (help_ || hint_ || details_) help_ = hint_ = details_ = false;
  else if (!shown_workspace().shows_all() && options_.only.empty()) shown_workspace().show_all();
  else if (network_.filter().lasso && shown_workspace().entry().key == WorkspaceKey::network) network_.set_lasso({});
  else selection_ = {};
}

void App::frame(float width, float height, float scale) {
  scene_.scale = scale;
  update_scene();
  choose_at_first();
  keys();
  open_view();
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
  float top = std::min(ImGui::GetCursorPosY(), height);
  top = std::min(top + draw_tabs(top, width), height);
  if (scene_.snapshot) draw_cells(top, width, height);
  else draw_missing(top, width, height);
  ImGui::End();
  ImGui::PopStyleVar(2);
  draw_search(width, top);
  if (now_s() < copied_at_s_ + copied_shown_s) draw_copied(width, height);
  if (details_) draw_details(width, height);
  if (help_) draw_help(width, height);
  if (hint_ && scene_.snapshot && height >= least_hint_height * scene_.scale) draw_hint(width, height);
  const ImGuiIO& io = ImGui::GetIO();
  if (chosen_) trail_.note(selection_, io.MouseDown[0] || io.MouseDown[1] || io.MouseDown[2]);
  ask_for_graph();
  const bool moving = shown_workspace().unsettled();
  const bool graph_due = any_asked_ && scene_.dag.waiting;
  const bool all_came =
      (!any_asked_ || fed_.dag || !fed_.dag_problem.empty()) && !calls_.reading() && !network_.reading();
  if (scene_.snapshot && chosen_ && all_came) ++whole_frames_, stood_still_ = stood_still_ || !moving;
  quiet_frames_ = moving || graph_due || !scene_.snapshot ? 0 : quiet_frames_ + 1;
}

// What is compared is compared from its begin on.
void App::look_at_period() {
  if (compared_feed_ || !selection_.period) return;
  const auto ns = [](double seconds) {
    return static_cast<std::int64_t>(std::llround(std::clamp(seconds, -4e9, 4e9) * 1e9));
  };
  const session::TimeSpan wanted{ns(selection_.period->begin_s), ns(selection_.period->end_s)};
  logical_.look_at(wanted);
  calls_.look_at(wanted);
}

void App::draw_cells(float top, float width, float height) {
  look_at_period();
  ruler_.begin(shown_workspace().axes());
  shown_workspace().draw(scene_, selection_, {{0, top}, {width, height}});
  ruler_.draw(scene_, shown_workspace().axes());
  if (scene_.connection.phase == session::Phase::lost) dim(top, width, height);
}

// One for each workspace that has views; none where there is only one.
float App::draw_tabs(float top, float width) {
  tabs_.clear();
  if (workspaces_.size() < 2) return 0;
  const float high = ImGui::GetFontSize() + 8 * scene_.scale, pad = 8 * scene_.scale;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene_.palette;
  list.AddRectFilled({0, top}, {width, top + high}, to_imgui(p.panel));
  float x = 0;
  for (std::size_t i = 0; i < workspaces_.size(); ++i) {
    const WorkspaceEntry& entry = workspaces_[i].entry();
    const std::string key = std::to_string(static_cast<int>(entry.key) + 1), text = key + "  " + entry.title;
    const float wide = text_size(text).x + 2 * pad;
    if (x + wide > width) break;
    ImGui::SetCursorPos({x, top});
    if (ImGui::InvisibleButton(entry.name, {wide, high})) workspace_ = i;
    const bool hovered = ImGui::IsItemHovered();
    if (hovered) tooltip(std::string(entry.questions) + " (key " + key + ")");
    if (i == workspace_) {
      list.AddRectFilled({x, top}, {x + wide, top + high}, to_imgui(p.background));
      list.AddRectFilled({x, top}, {x + wide, top + 2 * scene_.scale}, to_imgui(p.selection));
    }
    draw_text(list, {x + pad, top + 4 * scene_.scale}, i == workspace_ || hovered ? p.text : p.faint_text, text);
    tabs_.push_back({entry.name, {x + wide / 2, top + high / 2}});
    x += wide;
  }
  return high;
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
  // News of a running job go on: a while after everything has come is enough, if no first picture is being made.
  constexpr int a_while = 25, too_long = 500;  // frames
  const bool enough = scene_.connection.phase == session::Phase::running && whole_frames_ >= a_while &&
                      (stood_still_ || whole_frames_ >= too_long);
  return scene_.snapshot && chosen_ && ((quiet_frames_ >= 4 && !shown_workspace().awaits()) || enough);
}

}  // namespace pclscope::gui
