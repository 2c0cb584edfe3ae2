#include "viewer/gui/frame/job_chooser.hpp"

#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

constexpr double between_lists_s = 2;

double clock_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::vector<discovery::Job> newest_first(std::vector<discovery::Job> jobs) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const discovery::Job& a, const discovery::Job& b) {
    return a.started_realtime_ns > b.started_realtime_ns;
  });
  return jobs;
}

bool same_job(const discovery::Job& a, const discovery::Job& b) {
  return a.name == b.name && a.node == b.node && a.started_realtime_ns == b.started_realtime_ns;
}

std::string running_for(const discovery::Job& job, std::int64_t now_realtime_ns) {
  const std::int64_t ns = std::max<std::int64_t>(now_realtime_ns - job.started_realtime_ns, 0);
  return text::format_seconds(std::floor(static_cast<double>(ns) * 1e-9));
}

}  // namespace

JobChooser::JobChooser(std::vector<discovery::Job> first, List list, std::function<void()> wake)
    : jobs_(newest_first(std::move(first))),
      asked_at_s_(clock_s()),
      lists_([list = std::move(list)](int, const auto&) { return list(); }, std::move(wake)) {}

// Who was marked stays so, as long as it is there.
void JobChooser::follow() {
  if (clock_s() - asked_at_s_ > between_lists_s && !lists_.busy()) {
    asked_at_s_ = clock_s();
    lists_.ask(0);
  }
  const auto newest = lists_.answer();
  if (!newest || newest == taken_) return;
  taken_ = newest;
  const std::optional<discovery::Job> marked = marked_ < jobs_.size() ? std::optional(jobs_[marked_]) : std::nullopt;
  jobs_ = newest_first(*newest);
  for (std::size_t i = 0; marked && i < jobs_.size(); ++i)
    if (same_job(jobs_[i], *marked)) marked_ = i;
}

void JobChooser::keys() {
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key)); };
  for (const ImWchar typed : ImGui::GetIO().InputQueueCharacters) close_ = close_ || typed == 'q';
  if (pressed(ImGuiKey_DownArrow)) ++marked_;
  if (pressed(ImGuiKey_UpArrow) && marked_ > 0) --marked_;
  marked_ = jobs_.empty() ? 0 : std::min(marked_, jobs_.size() - 1);
  if (pressed(ImGuiKey_Enter) && !jobs_.empty()) chosen_ = jobs_[marked_];
}

void JobChooser::draw_table(float scale, std::int64_t now_realtime_ns) {
  constexpr const char* titles[] = {"job", "ranks", "node", "batch job", "running for", "MPI", "command"};
  constexpr int columns = static_cast<int>(std::size(titles));
  const ImGuiTableFlags flags = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                                ImGuiTableFlags_PadOuterX | ImGuiTableFlags_NoSavedSettings;
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(8 * scale, 3 * scale));
  if (ImGui::BeginTable("jobs", columns, flags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableNextRow();
    for (const char* title : titles) {
      ImGui::TableNextColumn();
      ImGui::TextDisabled("%s", title);
    }
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const discovery::Job& job = jobs_[i];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(static_cast<int>(i));
      const std::string name = text::printable(job.name);
      if (ImGui::Selectable(name.c_str(), i == marked_, ImGuiSelectableFlags_SpanAllColumns)) chosen_ = job;
      if (ImGui::IsItemHovered() && ImGui::GetIO().MouseDelta.y != 0) marked_ = i;
      marks_.push_back({name, middle_of_item()});
      ImGui::PopID();
      const std::string cells[] = {std::to_string(job.ranks),
                                   text::printable(job.node + (job.cluster.empty() ? "" : " (" + job.cluster + ")")),
                                   text::printable(job.batch_job),
                                   running_for(job, now_realtime_ns),
                                   text::printable(job.mpi),
                                   text::printable(job.command)};
      for (const std::string& cell : cells) {
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(cell.c_str());
      }
    }
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
}

void JobChooser::frame(float width, float height, float scale, std::int64_t now_realtime_ns) {
  follow();
  keys();
  marks_.clear();
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize({width, height});
  ImGui::Begin("choose a job", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoBackground);
  const std::string words = jobs_.empty() ? "no job of yours runs any more"
                            : jobs_.size() == 1
                                ? "one job of yours is running"
                                : std::to_string(jobs_.size()) + " jobs of yours are running: which one?";
  ImGui::TextUnformatted(words.c_str());
  ImGui::TextDisabled("click, or arrows and Enter; q quits. A dump is opened by its name: pclscope view FILE");
  ImGui::Spacing();
  draw_table(scale, now_realtime_ns);
  ImGui::End();
}

std::string JobChooser::description() const {
  nlohmann::ordered_json json;
  json["jobs"] = nlohmann::ordered_json::object();
  for (const Mark& mark : marks_) json["jobs"][mark.name] = {std::lround(mark.at.x), std::lround(mark.at.y)};
  json["marked"] = marked_ < jobs_.size() ? text::printable(jobs_[marked_].name) : "";
  return json.dump(1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace pclscope::gui
