#include "viewer/gui/frame/selection_words.hpp"

#include <cmath>
#include <cstdio>

#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/views/finding_rows.hpp"
#include "viewer/views/function_names.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::gui {
namespace {

constexpr std::size_t ranks_width = 60;

// Microseconds matter to who looks the moment up elsewhere.
std::string exact_seconds(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6f s", seconds);
  return text;
}

std::string region_words(const Snapshot& snapshot, std::int32_t id) {
  std::string words = "region " + std::to_string(id);
  for (const Region& region : snapshot.regions)
    if (region.id == id) words += " (ranks " + text::compact_ranks(region.ranks, ranks_width) + ")";
  return words;
}

std::string call_words(const Selection& selection, const views::Sites& sites) {
  const auto site = selected_site(selection);
  const CallSite* at = site ? sites.find(*site) : nullptr;
  if (at != nullptr)
    return (at->mpi_function != 0 ? views::function_name(at->mpi_function) + " at " : "") + sites.with_caller(*site);
  return selection.function ? views::function_name(*selection.function) : "";
}

}  // namespace

std::optional<std::uint32_t> selected_site(const Selection& selection) {
  if (!selection.site || selection.rank != selection.site->rank) return std::nullopt;
  return selection.site->site;
}

std::string selection_line(const Scene& scene, const Selection& selection) {
  if (selection == Selection{} || !scene.snapshot) return {};
  const Snapshot& snapshot = *scene.snapshot;
  const views::Sites sites(snapshot.sites);
  std::vector<std::string> parts;
  if (selection.rank) parts.push_back("rank " + std::to_string(*selection.rank));
  if (selection.ranks.size() > 1) parts.push_back("ranks " + text::compact_ranks(selection.ranks, ranks_width));
  if (selection.region) parts.push_back(region_words(snapshot, *selection.region));
  if (selection.period)
    parts.push_back(exact_seconds(selection.period->begin_s) + " to " + exact_seconds(selection.period->end_s) + " (" +
                    text::format_seconds(selection.period->end_s - selection.period->begin_s) + ")");
  if (selection.pinned)
    parts.push_back("beside " + exact_seconds(selection.pinned->begin_s) + " to " +
                    exact_seconds(selection.pinned->end_s));
  if (std::string call = call_words(selection, sites); !call.empty()) parts.push_back(std::move(call));
  if (selection.message)
    parts.push_back("message " + std::to_string(selection.message->source) + " -> " +
                    std::to_string(selection.message->destination) + " sent at " +
                    exact_seconds(selection.message->begin_s));
  if (selection.phase) parts.push_back("phase " + std::to_string(*selection.phase));
  if (selection.steps)
    parts.push_back("steps " + std::to_string(static_cast<std::int64_t>(std::floor(selection.steps->first))) + "-" +
                    std::to_string(static_cast<std::int64_t>(std::ceil(selection.steps->end)) - 1));
  const auto& findings = snapshot.attribution.findings;
  if (selection.finding && *selection.finding < findings.size())
    parts.push_back("finding: " + views::finding_line(findings[*selection.finding], snapshot, sites));
  std::string line;
  for (const std::string& part : parts) line += (line.empty() ? "" : ", ") + part;
  return text::printable(scene.connection.name + ": " + line);
}

}  // namespace pclscope::gui
