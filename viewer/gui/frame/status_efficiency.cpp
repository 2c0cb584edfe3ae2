// Efficiencies as a small table: of the job, and of the region that is selected. Declared in status_draw.hpp.
#include <algorithm>
#include <array>
#include <string>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/frame/status_draw.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/efficiency_rows.hpp"

namespace pclscope::gui {
namespace {

struct Factor {
  const char* name;
  double (Efficiency::*value)() const;
  bool needs_ideal;
  const char* meaning;
};
constexpr std::array<Factor, 5> factors{{
    {"parallel", &Efficiency::parallel, false,
     "Share of ranks' time that is computation: load balance x communication."},
    {"  load balance", &Efficiency::load_balance, false,
     "Mean computation of the ranks, relative to the rank that computes most."},
    {"  communication", &Efficiency::communication, false,
     "Computation of the rank that computes most, relative to the run time: serialisation x transfer."},
    {"    serialisation", &Efficiency::serialisation, true,
     "The same on a network on which nothing takes time: what is missing is waiting for each other."},
    {"    transfer", &Efficiency::transfer, true,
     "The run time on a network on which nothing takes time, relative to the run time that was."},
}};

Urgency urgency_of(views::Grade grade) {
  switch (grade) {
    case views::Grade::good: return Urgency::good;
    case views::Grade::fair: return Urgency::warning;
    case views::Grade::poor: return Urgency::bad;
  }
  return Urgency::calm;
}

// A bar whose length is the share, the share and its word: not told by colour alone.
void draw_share(const Scene& scene, const Efficiency& efficiency, const Factor& factor) {
  if (!efficiency.useful_known() || (factor.needs_ideal && !efficiency.ideal_known())) {
    ImGui::TextUnformatted("-");
    return;
  }
  const double share = (efficiency.*factor.value)();
  const views::Grade grade = views::grade_of(share);
  const float high = ImGui::GetFontSize(), width = 5 * high;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImU32 colour = to_imgui(urgency_colour(urgency_of(grade), *scene.palette));
  const float end = at.x + width * static_cast<float>(share);
  list.AddRectFilled({at.x, at.y + 0.2f * high}, {end, at.y + 0.8f * high}, colour);
  list.AddRect({at.x, at.y + 0.2f * high}, {at.x + width, at.y + 0.8f * high}, to_imgui(scene.palette->grid));
  ImGui::Dummy({width, high});
  ImGui::SameLine();
  const std::string words = text::format_share(share) + " " + views::name_of(grade);
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopStyleColor();
}

}  // namespace

void draw_efficiencies(const Scene& scene, const Efficiency& job, const Efficiency* region, std::int32_t region_id) {
  const int columns = region != nullptr ? 3 : 2;
  if (!ImGui::BeginTable("efficiencies", columns, ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("");
  ImGui::TableSetupColumn("job");
  const std::string title = "region " + std::to_string(region_id);
  if (region != nullptr) ImGui::TableSetupColumn(title.c_str());
  if (region != nullptr) ImGui::TableHeadersRow();
  for (const Factor& factor : factors) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(factor.name);
    if (ImGui::IsItemHovered()) tooltip(factor.meaning);
    ImGui::TableNextColumn();
    draw_share(scene, job, factor);
    if (region == nullptr) continue;
    ImGui::TableNextColumn();
    draw_share(scene, *region, factor);
  }
  ImGui::EndTable();
}

}  // namespace pclscope::gui
