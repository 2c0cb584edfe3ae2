#include "viewer/gui/frame/search.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "viewer/gui/frame/graph_question.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/views/function_names.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::gui {
namespace {

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "17", with `before` in front or not.
std::optional<std::int32_t> number_behind(std::string_view words, std::string_view before) {
  if (words.starts_with(before)) words = trimmed(words.substr(before.size()));
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), number);
  if (words.empty() || error != std::errc() || end != words.data() + words.size() || number < 0) return std::nullopt;
  return number;
}

const Region* region_of(const Snapshot& snapshot, std::int32_t rank) {
  for (const Region& region : snapshot.regions)
    if (std::binary_search(region.ranks.begin(), region.ranks.end(), rank)) return &region;
  return nullptr;
}

void select_rank_of(const Snapshot& snapshot, std::int32_t rank, Selection& selection) {
  selection.rank = rank;
  selection.ranks = {rank};
  if (const Region* region = region_of(snapshot, rank)) selection.region = region->id;
}

// Where most was lost: findings at the line, else the rank whose delay began there.
void select_line(const Snapshot& snapshot, const std::vector<std::uint32_t>& sites, SearchHit& hit) {
  const auto is_here = [&](std::uint32_t site) { return std::find(sites.begin(), sites.end(), site) != sites.end(); };
  for (std::size_t i = 0; i < snapshot.attribution.findings.size(); ++i) {
    const Finding& finding = snapshot.attribution.findings[i];
    if (finding.site == 0 || !is_here(finding.site)) continue;
    choose_finding(snapshot, i, hit.selection);
    hit.selects = true;
    hit.why = "finding " + std::to_string(i + 1);
    return;
  }
  const DelayOrigin* worst = nullptr;
  for (const DelayOrigin& origin : snapshot.delays)
    if (is_here(origin.site) && (worst == nullptr || origin.cost_s > worst->cost_s)) worst = &origin;
  if (worst == nullptr) {
    hit.why = "no delay begins there";
    return;
  }
  select_rank_of(snapshot, worst->rank, hit.selection);
  hit.selection.site = SelectedSite{worst->rank, worst->site};
  if (worst->last_s > worst->first_s) hit.selection.period = SelectedPeriod{worst->first_s, worst->last_s};
  hit.selects = true;
  hit.why =
      "rank " + std::to_string(worst->rank) + " came late there, others waited " + text::format_seconds(worst->cost_s);
}

struct Line {
  std::vector<std::uint32_t> sites;
  std::string text;
  double lost_s = 0;
};

// Lines that have the words in their place, their function's name, or the MPI function's.
std::vector<Line> lines_with(const Snapshot& snapshot, const std::string& words) {
  const views::Sites sites(snapshot.sites);
  std::map<std::uint32_t, double> lost;
  for (const SiteActivity& at : snapshot.site_activity)
    lost[at.site] += at.late_sender_s + at.late_receiver_s + at.transfer_s;
  std::map<std::string, Line> lines;
  for (const CallSite& site : snapshot.sites) {
    const CallSite* shown = sites.find(site.id);
    if (shown == nullptr) continue;
    const std::string function = shown->mpi_function != 0 ? views::function_name(shown->mpi_function) : "";
    std::string text = sites.brief(site.id);
    const std::string in = text::printable(shown->function);
    if (!in.empty() || !function.empty())
      text += " (" + in + (in.empty() || function.empty() ? "" : ", ") + function + ")";
    if (lower(text).find(words) == std::string::npos) continue;
    Line& line = lines[text];
    line.text = text;
    line.sites.push_back(site.id);
    if (const auto found = lost.find(site.id); found != lost.end()) line.lost_s += found->second;
  }
  std::vector<Line> list;
  for (auto& [text, line] : lines) list.push_back(std::move(line));
  std::stable_sort(list.begin(), list.end(), [](const Line& a, const Line& b) { return a.lost_s > b.lost_s; });
  return list;
}

}  // namespace

std::vector<SearchHit> search(const Snapshot& snapshot, std::string_view given, const Selection& now,
                              std::size_t most) {
  std::vector<SearchHit> hits;
  const std::string words = lower(trimmed(given));
  if (words.empty()) return hits;
  if (const auto rank = number_behind(words, "rank"); rank && *rank < snapshot.application.ranks) {
    SearchHit hit{"rank " + std::to_string(*rank), "", true, now};
    select_rank_of(snapshot, *rank, hit.selection);
    if (const Region* region = region_of(snapshot, *rank)) hit.why = "of region " + std::to_string(region->id);
    hits.push_back(std::move(hit));
  }
  if (const auto id = number_behind(words, "region")) {
    for (const Region& region : snapshot.regions) {
      if (region.id != *id) continue;
      SearchHit hit{"region " + std::to_string(*id), "ranks " + text::compact_ranks(region.ranks, 40), true, now};
      hit.selection.region = region.id;
      hits.push_back(std::move(hit));
    }
  }
  for (const Line& line : lines_with(snapshot, words)) {
    if (hits.size() >= most) break;
    SearchHit hit{line.text, "", false, now};
    select_line(snapshot, line.sites, hit);
    hits.push_back(std::move(hit));
  }
  return hits;
}

}  // namespace pclscope::gui
