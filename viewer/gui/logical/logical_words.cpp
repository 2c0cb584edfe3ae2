#include "viewer/gui/logical/logical_words.hpp"

#include <algorithm>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/function_names.hpp"

namespace pclscope::gui {
namespace {

using session::LogicalBox;
using session::LogicalPhase;

double seconds(double ns) { return ns * 1e-9; }

// Where a call was: "MPI_Recv at halo.c:42".
std::string call_words(const LogicalBox& box, const views::Sites& sites) {
  const CallSite* site = sites.find(box.site);
  if (site == nullptr) return "source line not known";
  const std::string name = site->mpi_function != 0 ? views::function_name(site->mpi_function) + " at " : "";
  return name + sites.with_caller(box.site);
}

std::string kind_word(const LogicalPhase& phase, const LogicalBox& box) {
  const std::size_t partners = phase.partners_of(box).size();
  const std::string several = partners > 1 ? " of " + std::to_string(partners) + " messages" : "";
  if (box.kind == logical::Kind::collective) return "collective";
  return (box.kind == logical::Kind::send ? "send" : "receive") + several;
}

std::string partner_words(const LogicalPhase& phase, const LogicalBox& box, const views::Sites& sites) {
  const auto partners = phase.partners_of(box);
  if (partners.empty()) return box.kind == logical::Kind::collective ? "" : "\nits other end is not known";
  std::string text;
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < std::min(partners.size(), most); ++i) {
    const LogicalBox& other = phase.boxes[partners[i]];
    const bool sent = box.kind == logical::Kind::send;
    text += sent ? "\nto rank " : "\nfrom rank ";
    text += std::to_string(phase.rank_of(partners[i]));
    text += sent ? ", there at " : ", sent at ";
    text += text::format_moment(seconds(static_cast<double>(sent ? phase.end_ns(other) : phase.begin_ns(other))));
    text += " (" + call_words(other, sites) + ")";
  }
  if (partners.size() > most) text += "\nand " + std::to_string(partners.size() - most) + " more";
  return text;
}

}  // namespace

std::string event_words(const session::LogicalRun& run, EventPlace place, const views::Sites& sites) {
  const LogicalPhase& phase = *run.phases[place.phase];
  const LogicalBox& box = phase.boxes[place.box];
  const double begin = static_cast<double>(phase.begin_ns(box)), end = static_cast<double>(phase.end_ns(box));
  std::string text = "rank " + std::to_string(phase.rank_of(place.box)) + ", step " + std::to_string(box.step);
  text += ", phase " + std::to_string(place.phase) + ": " + kind_word(phase, box);
  text += "\n" + call_words(box, sites);
  text += "\nfrom " + text::format_moment(seconds(begin)) + " to " + text::format_moment(seconds(end)) + " (" +
          text::format_seconds(seconds(static_cast<double>(box.duration_ns))) + ")";
  text += partner_words(phase, box, sites);
  text += "\nlateness " + text::format_seconds(seconds(static_cast<double>(box.lateness_ns))) +
          " behind the first of its step; came " +
          text::format_seconds(seconds(static_cast<double>(phase.value(box, logical::Metric::entry_lateness)))) +
          " late";
  text += "\nwait " + text::format_seconds(seconds(static_cast<double>(phase.value(box, logical::Metric::wait)))) +
          ", " + text::format_bytes(static_cast<double>(phase.value(box, logical::Metric::bytes)));
  return text;
}

void select_event(const session::LogicalRun& run, EventPlace place, const Snapshot& snapshot, Selection& selection) {
  const LogicalPhase& phase = *run.phases[place.phase];
  const LogicalBox& box = phase.boxes[place.box];
  const std::int32_t rank = phase.rank_of(place.box);
  selection.rank = rank;
  selection.ranks = {rank};
  selection.phase = place.phase;
  selection.site.reset();
  if (box.site != 0) selection.site = SelectedSite{rank, box.site};
  selection.region.reset();
  for (const Region& region : snapshot.regions) {
    if (std::binary_search(region.ranks.begin(), region.ranks.end(), rank)) selection.region = region.id;
  }
  const double begin = seconds(static_cast<double>(phase.begin_ns(box))),
               end = seconds(static_cast<double>(phase.end_ns(box)));
  if (end > begin) selection.period = SelectedPeriod{begin, end};
  selection.message.reset();
  const auto partners = phase.partners_of(box);
  if (partners.size() != 1) return;
  const LogicalBox& other = phase.boxes[partners[0]];
  const std::int32_t other_rank = phase.rank_of(partners[0]);
  const bool sent = box.kind == logical::Kind::send;
  selection.message = SelectedMessage{sent ? rank : other_rank, sent ? other_rank : rank,
                                      seconds(static_cast<double>(phase.begin_ns(sent ? box : other)))};
}

float draw_metric_buttons(const Scene& scene, std::vector<Mark>& marks) {
  const layout::Palette& p = *scene.palette;
  for (std::size_t m = 0; m < session::logical_metrics; ++m) {
    const auto metric = static_cast<logical::Metric>(m);
    const bool on = scene.logical->metric == metric;
    ImGui::PushStyleColor(ImGuiCol_Text, to_imgui(on ? p.text : p.faint_text));
    ImGui::PushStyleColor(ImGuiCol_Button, to_imgui(on ? p.grid : p.panel));
    if (ImGui::SmallButton(name_of(metric))) scene.logical->metric = metric;
    ImGui::PopStyleColor(2);
    marks.push_back({std::string("metric ") + name_of(metric), middle_of_item()});
    if (ImGui::IsItemHovered()) tooltip(meaning_of(metric));
    ImGui::SameLine(0, 4 * scene.scale);
  }
  return ImGui::GetCursorScreenPos().x;
}

}  // namespace pclscope::gui
