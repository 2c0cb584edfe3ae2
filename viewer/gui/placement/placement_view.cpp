// What another placement of the ranks would do: today's and the proposal of `pclscope map` side by side, applied to
// all network views, undone, and written as a file for the launcher.
#include <imgui.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/controls.hpp"
#include "viewer/gui/placement/gain_panel.hpp"
#include "viewer/gui/placement/placement_work.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/layout/ranking_plot.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;
using layout::Rect;
using mapping::LaunchFormat;
using mapping::Objective;
using session::PlacementProposal;
using session::PlacementSide;

constexpr Objective objectives[] = {Objective::hop_bytes, Objective::inter_bytes, Objective::inter_messages,
                                    Objective::max_link_load, Objective::time};
constexpr LaunchFormat formats[] = {LaunchFormat::plain, LaunchFormat::openmpi_rankfile, LaunchFormat::hydra,
                                    LaunchFormat::slurm, LaunchFormat::cray};
constexpr std::size_t most_row_marks = 12;

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string change_words(double before, double after) {
  if (before <= 0 || before == after) return before == after ? "-" : "new";
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * (after / before - 1));
  return text;
}

float names_width(const Scene& scene) { return text_size("messages between nodes").x + 12 * scene.scale; }
float column_width(const Scene& scene) { return text_size("1,000,000,000").x + 14 * scene.scale; }
float table_width(const Scene& scene) { return names_width(scene) + 3 * column_width(scene); }

class PlacementView final : public View {
 public:
  const char* title() const override { return "what would another placement do: before and after"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }
  bool unsettled() const override { return reading_ || searching(); }
  bool needs_run() const override { return false; }

 private:
  template <class Question, class Answer>
  using Worker = std::unique_ptr<layout::Latest<Question, Answer>>;
  void follow(const Scene& scene);
  void search(const Scene& scene);
  bool searching() const { return searched_ != taken_; }
  float draw_controls(const Scene& scene, Point at, float right);
  void draw_file(const Scene& scene, ControlRow& row, Point at, float right);
  void draw_table(const Scene& scene, const PlacementSide& before, const PlacementSide& after, const Rect& at);
  void draw_links(const Scene& scene, const PlacementSide& side, const char* name, double most, std::size_t count,
                  layout::Rgba colour, const Rect& at);
  void draw_moved(const Scene& scene, Selection& selection, const Rect& at);
  const PlacementProposal* proposal(const Scene& scene) const {
    return proposal_ && proposal_->of == scene.network->current(scene) ? proposal_.get() : nullptr;
  }

  Worker<SidesQuestion, Sides> sides_maker_;
  SidesQuestion sides_asked_;
  std::shared_ptr<const Sides> sides_;
  Worker<SearchQuestion, SearchAnswer> searcher_;
  std::uint64_t searched_ = 0, taken_ = 0;
  std::optional<SearchQuestion> waiting_;  // for the run's calls
  std::shared_ptr<std::atomic<bool>> ended_;
  bool was_ended_ = false;  // the search whose proposal is shown
  double search_began_s_ = 0;
  GainPanel gain_;
  std::shared_ptr<const PlacementProposal> proposal_;
  std::string problem_;
  Worker<WriteQuestion, WriteAnswer> writer_;
  std::uint64_t writes_ = 0;
  std::array<char, 512> path_{"ranks.txt"};
  Objective objective_ = Objective::hop_bytes;
  LaunchFormat format_ = LaunchFormat::plain;
  double effort_ = 1;
  bool logarithmic_ = false, reading_ = false, copied_ = false;
  std::size_t first_row_ = 0;
  std::vector<Mark> marks_;
};

void PlacementView::follow(const Scene& scene) {
  NetworkState& network = *scene.network;
  if (!sides_maker_)
    sides_maker_ = std::make_unique<layout::Latest<SidesQuestion, Sides>>(
        [](const SidesQuestion& question, const auto&) { return make_sides(question); }, scene.wake);
  const SidesQuestion wanted{network.unchanged(), network.current(scene)};
  if (!(wanted == sides_asked_)) sides_maker_->ask(sides_asked_ = wanted);
  sides_ = sides_maker_->answer();
  reading_ = reading_ || !sides_ || !(sides_->of == wanted);
  if (waiting_ && !gain_.run().reading()) {
    waiting_->calls = gain_.run().calls();
    waiting_->why_no_calls = gain_.run().why_not();
    searcher_->ask(std::move(*waiting_));
    waiting_.reset();
  }
  const auto answer = searcher_ ? searcher_->answer() : nullptr;
  if (!answer || answer->number != searched_ || answer->number == taken_) return;
  taken_ = answer->number;
  proposal_ = answer->proposal;
  problem_ = answer->problem;
  was_ended_ = answer->ended;
  first_row_ = 0;
}

void PlacementView::search(const Scene& scene) {
  if (!searcher_)
    searcher_ = std::make_unique<layout::Latest<SearchQuestion, SearchAnswer>>(
        [](const SearchQuestion& question, const auto& stopping) { return search_placement(question, stopping); },
        scene.wake);
  proposal_ = nullptr;
  problem_.clear();
  search_began_s_ = now_s();
  ended_ = std::make_shared<std::atomic<bool>>(false);
  gain_.run().read(scene);
  waiting_ = {++searched_, scene.network->current(scene), objective_, effort_, nullptr, {}, ended_};
}

void PlacementView::draw(const Scene& scene, Selection& selection) {
  marks_.clear();
  const Point low = to_point(ImGui::GetCursorScreenPos()), size = to_point(ImGui::GetContentRegionAvail());
  if (size.x < 8 || size.y < 8 || scene.network == nullptr) return;
  const float s = scene.scale, line = line_height();
  reading_ = scene.network->reading();
  if (!scene.network->current(scene))
    return draw_text(*ImGui::GetWindowDrawList(), {low.x + 6 * s, low.y + size.y / 2}, scene.palette->faint_text,
                     scene.network->words(scene), size.x - 12 * s);
  follow(scene);
  const PlacementProposal* found = proposal(scene);
  const session::NetworkCasePtr placed = found ? found->after : scene.network->current(scene);
  const bool moves = found ? !found->moved.empty() : placed != scene.network->unchanged();
  gain_.follow(scene, moves ? placed : nullptr);
  reading_ = reading_ || gain_.busy();
  const float right = low.x + size.x - 6 * s;
  float y = draw_controls(scene, {low.x + 6 * s, low.y + 2 * s}, right) + 4 * s;
  if (!sides_) return;
  found = proposal(scene);
  const PlacementSide &before = sides_->before, &after = found ? found->side : sides_->now;
  const bool times = found && found->times;
  const Rect table{{low.x + 6 * s, y}, {right, y + (times ? 6 : 5) * line}};
  if (table.high.y > low.y + size.y) return;
  draw_table(scene, before, after, table);
  y = gain_.draw(scene, {table.low.x + table_width(scene) + 24 * s, table.low.y}, {table.low.x, table.high.y}, right,
                 marks_) +
      6 * s;
  const float rows = found && !found->moved.empty() ? std::min(6 * line, (low.y + size.y - y) / 3) : 0;
  const float bottom = low.y + size.y - rows - 4 * s, axis = text_size("1023.9 MiB").x + 8 * s;
  const float middle = low.x + axis + (size.x - axis) / 2;
  const double most = std::max(before.heaviest, after.heaviest);
  const std::size_t count = std::max(before.bytes_of_link.size(), after.bytes_of_link.size());
  const Rect left_plot{{low.x + axis, y + line}, {middle - 8 * s, bottom - line}};
  if (left_plot.width() >= 8 && left_plot.height() >= 8) {
    draw_links(scene, before, "as it is", most, count, scene.palette->predecessor, left_plot);
    draw_links(scene, after, found ? "proposed" : "shown now", most, count, scene.palette->successor,
               {{middle + 4 * s, left_plot.low.y}, {right, left_plot.high.y}});
  }
  if (rows > 2 * line) draw_moved(scene, selection, {{low.x + 6 * s, bottom}, {right, low.y + size.y - 4 * s}});
}

// Returns where they end.
float PlacementView::draw_controls(const Scene& scene, Point at, float right) {
  NetworkState& network = *scene.network;
  const layout::Palette& p = *scene.palette;
  ControlRow row(scene, marks_, "placement", at, right);
  if (searching()) {
    if (row.button("end", "Ends the search: the best so far is offered, if it is better.")) ended_->store(true);
  } else if (row.button("find", "Looks for a better placement, from the one that is shown (pclscope map).")) {
    search(scene);
  }
  row.words("effort", p.faint_text);
  row.number("effort", "How long to search: 1 is some seconds for thousands of ranks; and Enter.", effort_, 0.01, 10,
             5);
  const PlacementProposal* found = proposal(scene);
  if (found && !found->moved.empty() && !searching() &&
      row.button("apply", "All network views show the ranks on their new nodes."))
    network.apply(found->after);
  if (network.can_undo() && row.button("undo", "As before the last apply.")) network.undo();
  if (network.can_redo() && row.button("redo", "As it was before undo.")) network.redo();
  if (row.button("log", "Logarithmic axes.", logarithmic_)) logarithmic_ = !logarithmic_;
  row.next_row(at.x);
  row.words("lessen", p.faint_text);
  for (const Objective objective : objectives) {
    const session::PlacementName name = session::name_of(objective);
    if (row.button(name.word, name.meaning, objective_ == objective)) objective_ = objective;
  }
  row.next_row(at.x);
  const session::NetworkCasePtr current = network.current(scene);
  if (searching() && gain_.run().reading()) {
    row.words("reading the run's calls", p.text);
  } else if (searching()) {
    row.words("looking for " + text::format_seconds(std::max(0.0, now_s() - search_began_s_)), p.text);
  } else if (!problem_.empty()) {
    row.words(problem_, p.warning);
  } else if (found) {
    row.words((found->moved.empty() ? "no better placement was found"
                                    : std::to_string(found->moved.size()) +
                                          (found->moved.size() == 1 ? " rank would move" : " ranks would move")) +
                  std::string(was_ended_ ? " (the search was ended)" : ""),
              p.text);
  } else if (!current->change.empty()) {
    row.words("shown with " + current->change, p.text);
  }
  if (was_ended_ && found) marks_.push_back({"placement was ended", {row.x(), at.y}});
  row.words(current->title + ", routes " + current->routes_from, p.faint_text);
  const float below = at.y + 3 * (line_height() + 4 * scene.scale);
  draw_file(scene, row, {at.x, below}, right);
  return below + 2 * (line_height() + 4 * scene.scale);
}

// "format ... [path] write", and the command that does the same.
void PlacementView::draw_file(const Scene& scene, ControlRow& row, Point at, float right) {
  const layout::Palette& p = *scene.palette;
  row.next_row(at.x);
  row.words("file", p.faint_text);
  for (const LaunchFormat format : formats) {
    const session::PlacementName name = session::name_of(format);
    if (row.button(name.word, name.meaning, format_ == format)) format_ = format;
  }
  const float wide = std::min(16 * ImGui::GetFontSize(), right - row.x() - text_size("write").x - 20 * scene.scale);
  if (wide > 3 * ImGui::GetFontSize()) {
    ImGui::SetCursorScreenPos({row.x(), at.y});
    ImGui::SetNextItemWidth(wide);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ImGui::GetStyle().FramePadding.x, 0));
    ImGui::InputText("##path", path_.data(), path_.size());
    ImGui::PopStyleVar();
    marks_.push_back({"placement path", middle_of_item()});
    if (ImGui::IsItemHovered()) tooltip("The file, from the folder in which the viewer was started.");
    row.skip(wide + 4 * scene.scale);
  }
  const PlacementProposal* found = proposal(scene);
  const session::NetworkCasePtr target = found ? found->after : scene.network->current(scene);
  if (row.button("write", "Writes the proposed placement, or the one that is shown, for the launcher.") &&
      path_[0] != 0) {
    if (!writer_)
      writer_ = std::make_unique<layout::Latest<WriteQuestion, WriteAnswer>>(
          [](const WriteQuestion& question, const auto&) { return write_file(question); }, scene.wake);
    writer_->ask({++writes_, target, format_, path_.data()});
  }
  row.next_row(at.x);
  const std::string command = session::map_command(*scene.network->current(scene), scene.connection.name, objective_,
                                                   effort_, format_, path_.data());
  if (row.button("copy", "The command that finds the same from the placement as it is, and writes it.", copied_)) {
    ImGui::SetClipboardText(command.c_str());
    copied_ = true;
  }
  const auto answer = writer_ ? writer_->answer() : nullptr;
  if (answer && answer->number == writes_) {
    row.words(text::printable(answer->words), answer->written ? p.good : p.warning);
    if (answer->written) marks_.push_back({"placement written", {row.x(), at.y}});
  }
  row.words(text::printable(command), p.faint_text);
}

void PlacementView::draw_table(const Scene& scene, const PlacementSide& before, const PlacementSide& after,
                               const Rect& at) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  const float line = line_height(), names = names_width(scene), column = column_width(scene);
  float y = at.low.y;
  const auto row = [&](const char* name, const std::string& was, const std::string& is, const std::string& change,
                       layout::Rgba colour) {
    if (y + line > at.high.y + 1) return;
    draw_text(list, {at.low.x, y}, p.faint_text, name, at.width());
    float x = at.low.x + names;
    for (const std::string* words : {&was, &is, &change}) {
      x += column;
      if (x > at.high.x) break;
      draw_text(list, {x - text_size(*words).x, y}, colour, *words);
    }
    y += line;
  };
  row("", "as it is", proposal(scene) ? "proposed" : "shown now", "change", p.faint_text);
  const auto bytes = [&](const char* name, double was, double is) {
    row(name, text::format_bytes(was), text::format_bytes(is), change_words(was, is), p.text);
  };
  bytes("hop-bytes", before.hop_bytes, after.hop_bytes);
  bytes("heaviest link", before.heaviest, after.heaviest);
  bytes("bytes between nodes", before.inter_bytes, after.inter_bytes);
  row("messages between nodes", text::format_count(before.inter_messages), text::format_count(after.inter_messages),
      change_words(static_cast<double>(before.inter_messages), static_cast<double>(after.inter_messages)), p.text);
  if (const PlacementProposal* found = proposal(scene); found && found->times)
    row("time of all messages", text::format_seconds(found->times->before_s),
        text::format_seconds(found->times->after_s), change_words(found->times->before_s, found->times->after_s),
        p.text);
  marks_.push_back({"placement messages before " + std::to_string(before.inter_messages), at.low});
  marks_.push_back({"placement messages after " + std::to_string(after.inter_messages), at.low});
}

// Bytes of each link, largest first; both plots have the same axes.
void PlacementView::draw_links(const Scene& scene, const PlacementSide& side, const char* name, double most,
                               std::size_t count, layout::Rgba colour, const Rect& at) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  const float s = scene.scale, line = line_height();
  layout::RankingPlot axes{at, count, 0, most > 0 ? most : 1, logarithmic_};
  if (logarithmic_) axes.least = axes.most * 1e-4;
  const bool first = name[0] == 'a';
  const auto label = [&](double value) {
    list.AddLine({at.low.x, axes.y(value)}, {at.high.x, axes.y(value)}, to_imgui(p.grid.with_alpha(0.5f)));
    const std::string words = text::format_bytes(value);
    if (first) draw_text(list, {at.low.x - text_size(words).x - 5 * s, axes.y(value) - line / 2}, p.faint_text, words);
  };
  if (logarithmic_) {
    for (double value = axes.most; value >= axes.least * 0.99; value /= 10) label(value);
  } else {
    for (const double share : {0.0, 0.5, 1.0}) label(share * axes.most);
  }
  // Its own links end where they are fewer.
  layout::RankingPlot plot = axes;
  plot.count = side.bytes_of_link.size();
  if (count > 0)
    plot.area.high.x = at.low.x + std::round(at.width() * static_cast<float>(plot.count) / static_cast<float>(count));
  for (const layout::RankingColumn& column : layout::ranking_columns(side.bytes_of_link, plot))
    list.AddRectFilled({column.x, plot.y(column.most)}, {column.x + 1, at.high.y}, to_imgui(colour));
  list.AddRect(to_imgui(at.low), to_imgui(at.high), to_imgui(p.grid));
  draw_text(list, {at.low.x, at.low.y - line}, p.text, std::string(name) + ": bytes of each link, the heaviest first",
            at.width());
  draw_text(list, {at.low.x, at.high.y + s}, p.faint_text, text::format_count(plot.count) + " links are used",
            at.width());
  marks_.push_back(
      {std::string("placement links ") + (first ? "before " : "after ") + std::to_string(plot.count), at.middle()});
}

// The ranks that would move; a click selects one.
void PlacementView::draw_moved(const Scene& scene, Selection& selection, const Rect& at) {
  const PlacementProposal* found = proposal(scene);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  const float line = line_height();
  const std::size_t count = found->moved.size(), fit = static_cast<std::size_t>(at.height() / line);
  marks_.push_back({"placement moved " + std::to_string(count), at.middle()});
  ImGui::SetCursorScreenPos(to_imgui(at.low));
  ImGui::InvisibleButton("moved", {at.width(), std::max(1.f, at.height())});
  const ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsItemHovered() && io.MouseWheel != 0) {
    const float to = static_cast<float>(first_row_) - 3 * io.MouseWheel;
    first_row_ = to > 0 ? static_cast<std::size_t>(to) : 0;
  }
  first_row_ = std::min(first_row_, count > fit ? count - fit : 0);
  for (std::size_t i = 0; i < fit && first_row_ + i < count; ++i) {
    const std::int32_t rank = found->moved[first_row_ + i];
    const auto place = static_cast<std::size_t>(rank);
    const Rect row{{at.low.x, at.low.y + line * static_cast<float>(i)},
                   {at.high.x, at.low.y + line * static_cast<float>(i + 1)}};
    const bool hovered = ImGui::IsItemHovered() && row.holds(to_point(io.MousePos));
    if (selection.rank == rank || hovered)
      list.AddRectFilled(to_imgui(row.low), to_imgui(row.high), to_imgui(p.selection.with_alpha(0.15f)));
    draw_text(list, row.low, p.text,
              "rank " + session::rank_name(*found->of, rank) + " from " +
                  session::vertex_name(*found->of, found->of->node_of_rank[place]) + " to " +
                  session::vertex_name(*found->after, found->after->node_of_rank[place]),
              row.width());
    if (i < most_row_marks) marks_.push_back({"moved rank " + session::rank_name(*found->of, rank), row.middle()});
    if (!hovered || !ImGui::IsMouseClicked(0)) continue;
    selection.rank = rank;
    selection.ranks = {rank};
  }
}

}  // namespace

std::unique_ptr<View> make_placement_view() { return std::make_unique<PlacementView>(); }

}  // namespace pclscope::gui
