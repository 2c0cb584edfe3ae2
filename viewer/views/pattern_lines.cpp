#include "viewer/views/pattern_lines.hpp"

#include "viewer/session/regions.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::views {
namespace {

constexpr std::size_t ids_width = 40;

std::string these(const std::vector<std::int32_t>& ids, const char* what) {
  return text::compact_ranks(ids, ids_width) + " " + what;
}

}  // namespace

std::vector<std::string> pattern_change_lines(const Snapshot& snapshot) {
  std::vector<std::string> lines;
  for (const session::PatternChange& change : session::pattern_changes(snapshot)) {
    const bool one = change.ended.size() + change.began.size() == 1;
    std::string line = "pattern changed at " + text::format_moment(change.at_s) + ": " + (one ? "region " : "regions ");
    if (!change.ended.empty()) line += these(change.ended, "ended");
    if (!change.began.empty()) line += (change.ended.empty() ? "" : ", ") + these(change.began, "began");
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string modularity_text(const Snapshot& snapshot) {
  if (snapshot.regions.empty()) return "";
  const Pattern& pattern = snapshot.pattern;
  if (pattern.modularity == 0 && pattern.chance_modularity == 0) return "";  // one region, or an older dump
  std::string text = "modularity " + text::format_ratio(pattern.modularity);
  if (pattern.chance_modularity > 0) text += ", random graphs have " + text::format_ratio(pattern.chance_modularity);
  return text;
}

std::string interval_text(const Region& region) {
  if (region.until_s >= 0) return text::format_moment(region.from_s) + " to " + text::format_moment(region.until_s);
  return region.from_s > 0 ? "since " + text::format_moment(region.from_s) : "";
}

}  // namespace pclscope::views
