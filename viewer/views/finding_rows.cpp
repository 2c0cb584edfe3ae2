#include "viewer/views/finding_rows.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "viewer/session/harm.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/condition_rows.hpp"
#include "viewer/views/json_rows.hpp"
#include "viewer/views/marker_rows.hpp"
#include "viewer/views/node_rows.hpp"
#include "viewer/views/site_json.hpp"

namespace pclscope::views {
namespace {

using session::finite;
using session::Json;

constexpr const char* words[] = {"none",           "unknown",       "mapping",         "pattern",        "background",
                                 "late-sender",    "late-receiver", "collective-wait", "load-imbalance", "outage",
                                 "one-sided-wait", "file",          "startup",         "blocked"};

Json finding_json(const Finding& f, std::size_t place, const Snapshot& s, const Sites& sites) {
  const Marker* const marker = marker_of(f, s);
  Json nodes = Json::array();
  for (std::size_t i = 0; i + 1 < f.nodes.size(); i += 2)
    nodes.push_back({{"from", node_name(s, f.nodes[i])}, {"to", node_name(s, f.nodes[i + 1])}});
  Json periods = Json::array();
  for (const FindingPeriod& p : f.periods)
    periods.push_back({{"begin_s", finite(p.begin_s)}, {"end_s", finite(p.end_s)}, {"lost_s", finite(p.lost_s)}});
  return {{"number", place + 1},
          {"cause", cause_word(f.cause)},
          {"detail", f.detail},
          {"region", f.region >= 0 ? Json(f.region) : Json(nullptr)},
          {"ranks", f.ranks},
          {"nodes", nodes},
          {"site", site_json(f.site, sites)},
          {"period", {{"begin_s", finite(f.begin_s)}, {"end_s", finite(f.end_s)}, {"open", f.open}}},
          {"periods", periods},
          {"score", finite(f.score)},
          {"confidence", finite(f.confidence)},
          {"lost_s", finite(f.lost_s)},
          {"gain_s", f.gain_s >= 0 ? finite(f.gain_s) : Json(nullptr)},
          {"evidence", f.evidence},
          {"advice", f.advice},
          {"marker", marker != nullptr ? Json(marker->name) : Json(nullptr)}};
}

std::string where(const Finding& f, const Snapshot& s, const Sites& sites) {
  std::string line;
  if (!f.ranks.empty() && f.cause != Cause::mapping)
    line += (f.ranks.size() == 1 ? ", rank " : ", ranks ") + text::compact_ranks(f.ranks, 24);
  if (f.site != 0 && sites.find(f.site) != nullptr) line += " at " + sites.with_caller(f.site);
  for (std::size_t i = 0; i + 1 < std::min<std::size_t>(f.nodes.size(), 4); i += 2)
    line += (i == 0 ? ", from " : " and ") + node_name(s, f.nodes[i]) + " to " + node_name(s, f.nodes[i + 1]);
  if (f.nodes.size() > 4) line += " and others";
  if (const Marker* const marker = marker_of(f, s)) line += ", in \"" + text::printable(marker->name) + "\"";
  return line;
}

// In dumps of versions before the axis began with the first MPI_Init.
std::string moment(double seconds) {
  return seconds < 0 ? text::format_moment(-seconds) + " before the start" : text::format_moment(seconds);
}

// "since 02:13", "from 12.0 s to 15.5 s".
std::string when(const Finding& f) {
  const std::string several = f.periods.size() > 1 ? " in " + std::to_string(f.periods.size()) + " periods" : "";
  if (f.open) return "since " + moment(f.begin_s) + several;
  return "from " + moment(f.begin_s) + " to " + moment(f.end_s) + several;
}

std::string felt(const Finding& f, const Snapshot& s) {
  const auto region =
      std::find_if(s.regions.begin(), s.regions.end(), [&](const Region& r) { return r.id == f.region; });
  if (f.region < 0 || region == s.regions.end()) return "";
  const auto inside = [&](std::int32_t rank) {
    return std::binary_search(region->ranks.begin(), region->ranks.end(), rank);
  };
  const bool from_outside = !f.ranks.empty() && std::none_of(f.ranks.begin(), f.ranks.end(), inside);
  return (from_outside ? "felt in region " : "region ") + std::to_string(f.region) + " (ranks " +
         text::compact_ranks(region->ranks, 24) + "): ";
}

// The first one is the answer, whatever it is.
bool is_folded(std::size_t i, const Finding& f) { return i > 0 && !(f.confidence > session::believed_from); }

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

}  // namespace

const char* cause_word(Cause cause) {
  const auto at = static_cast<std::size_t>(cause);
  return at < std::size(words) ? words[at] : "unknown";
}

Places all_findings(const Snapshot& snapshot) {
  Places places(snapshot.attribution.findings.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

Places findings_of(const Snapshot& snapshot, const std::vector<std::int32_t>& ranks, double begin_s, double end_s) {
  const auto any = [&](const std::vector<std::int32_t>& of) {
    return ranks.empty() || std::any_of(of.begin(), of.end(), [&](std::int32_t rank) {
             return std::binary_search(ranks.begin(), ranks.end(), rank);
           });
  };
  const auto concerns = [&](const Finding& f) {
    if (!f.ranks.empty()) return any(f.ranks);
    const auto region = std::find_if(snapshot.regions.begin(), snapshot.regions.end(),
                                     [&](const Region& r) { return r.id == f.region; });
    return f.region < 0 || region == snapshot.regions.end() || any(region->ranks);
  };
  const auto acted = [&](const Finding& f) {
    if (f.open && f.begin_s <= end_s && f.periods.empty()) return true;
    if (f.periods.empty()) return f.begin_s <= end_s && f.end_s >= begin_s;
    return std::any_of(f.periods.begin(), f.periods.end(),
                       [&](const FindingPeriod& p) { return p.begin_s <= end_s && p.end_s >= begin_s; });
  };
  Places places = all_findings(snapshot);
  std::erase_if(places, [&](std::size_t place) {
    const Finding& f = snapshot.attribution.findings[place];
    return !concerns(f) || !acted(f);
  });
  return places;
}

Json findings_json(const Snapshot& snapshot, const Sites& sites, const Places& places) {
  Json list = Json::array();
  for (const std::size_t place : places)
    list.push_back(finding_json(snapshot.attribution.findings[place], place, snapshot, sites));
  return {
      {"findings", list}, {"conditions", conditions_json(snapshot)}, {"conditions_first", conditions_first(snapshot)}};
}
Json findings_json(const Snapshot& snapshot, const Sites& sites) {
  return findings_json(snapshot, sites, all_findings(snapshot));
}

Rows finding_rows(const Snapshot& snapshot, const Sites& sites, const Places& places) {
  const auto flat = [&](const Finding& f, std::size_t place) {
    Json row = finding_json(f, place, snapshot, sites);
    Json ends = Json::array();
    for (const std::int32_t node : f.nodes) ends.push_back(node_name(snapshot, node));
    row["nodes"] = ends;
    std::string evidence;
    for (const std::string& sentence : f.evidence) evidence += (evidence.empty() ? "" : "; ") + sentence;
    row["evidence"] = evidence;
    row.erase("period");
    row["periods"] = f.periods.size();
    row["begin_s"] = finite(f.begin_s);
    row["end_s"] = finite(f.end_s);
    row["open"] = f.open;
    return row;
  };
  std::vector<Json> objects;
  for (const std::size_t place : places) objects.push_back(flat(snapshot.attribution.findings[place], place));
  return rows_of(objects, flat({}, 0));
}

std::string finding_line(const Finding& f, const Snapshot& s, const Sites& sites) {
  const std::string sure = ", confidence " + two_digits(f.confidence);
  if (f.cause == Cause::none) return "no cause to name: what ranks wait is a small part of their time" + sure;
  const std::string lost =
      f.lost_s > 0 ? " (" + text::format_seconds(f.lost_s) + " of ranks' time, " + text::format_share(f.score) + ")"
                   : "";
  if (f.cause == Cause::unknown) return felt(f, s) + "cause not known " + when(f) + lost + sure;
  return felt(f, s) + cause_word(f.cause) + (f.detail.empty() ? "" : " (" + text::printable(f.detail) + ")") + " " +
         when(f) + lost + where(f, s, sites) + sure;
}

std::vector<std::string> finding_lines(const Snapshot& snapshot, const Sites& sites, std::size_t width,
                                       const Places& places, bool weaker) {
  if (snapshot.attribution.findings.empty() && snapshot.conditions.empty())
    return {snapshot.messages.matched == 0 && snapshot.collectives.operations == 0
                ? "no findings: causes are looked for in messages and collectives, and this run has none"
                : "no findings: the dump is of an older pclscope"};
  std::vector<std::string> lines, conditions;
  for (const Condition& c : snapshot.conditions) {
    conditions.push_back("condition of the run: " + condition_line(c, snapshot));
    conditions.push_back("   => " + condition_advice(c, snapshot));
  }
  const bool first = conditions_first(snapshot);
  if (first) lines = conditions;
  if (places.empty() && !snapshot.attribution.findings.empty())
    lines.push_back(snapshot.attribution.findings.size() == 1
                        ? "the only finding of the run is not one of these"
                        : "none of the " + std::to_string(snapshot.attribution.findings.size()) +
                              " findings of the run");
  std::size_t folded_away = 0;
  for (const std::size_t i : places) {
    const Finding& f = snapshot.attribution.findings[i];
    if (!weaker && is_folded(i, f)) {
      ++folded_away;
      continue;
    }
    if (!lines.empty()) lines.push_back("");
    lines.push_back(std::to_string(i + 1) + ". " + finding_line(f, snapshot, sites));
    for (const std::string& sentence : f.evidence) lines.push_back("   - " + text::printable(sentence));
    if (!f.advice.empty()) lines.push_back("   => " + text::printable(f.advice));
  }
  if (folded_away > 0) {
    lines.push_back("");
    lines.push_back("and " + std::to_string(folded_away) + " weaker, of confidence " +
                    two_digits(session::believed_from) + " and less (--limit " + std::to_string(places.size()) +
                    " shows them)");
  }
  if (!first && !conditions.empty()) {
    lines.push_back("");
    lines.insert(lines.end(), conditions.begin(), conditions.end());
  }
  if (width > 0) {
    std::vector<std::string> folded;
    for (const std::string& line : lines)
      for (std::string& part : text::wrapped(line, width, 5)) folded.push_back(std::move(part));
    return folded;
  }
  return lines;
}

std::vector<std::string> finding_breakpoints(const Snapshot& snapshot, const Sites& sites, const Places& places,
                                             bool weaker) {
  std::vector<std::string> lines;
  for (const std::size_t i : places) {
    const Finding& f = snapshot.attribution.findings[i];
    if (!weaker && is_folded(i, f)) continue;
    lines.push_back("# " + std::to_string(i + 1) + ". " + finding_line(f, snapshot, sites));
    const CallSite* site = f.site != 0 ? sites.find(f.site) : nullptr;
    // With quotes a path may have blanks. The line is that of the call; gdb stops before it.
    if (site != nullptr && site->line > 0)
      lines.push_back("break -source \"" + text::printable(site->file) + "\" -line " + std::to_string(site->line));
    else if (site != nullptr && !site->function.empty())
      lines.push_back("break -function \"" + text::printable(site->function) + "\"");
    else lines.push_back("# it has no line of code");
  }
  if (lines.empty()) lines.push_back("# no findings");
  return lines;
}

std::size_t findings_to_show(const Snapshot& snapshot) {
  const auto& findings = snapshot.attribution.findings;
  return snapshot.conditions.size() +
         static_cast<std::size_t>(
             std::count_if(findings.begin(), findings.end(), [](const Finding& f) { return session::is_believed(f); }));
}

std::vector<std::string> finding_section(const Snapshot& snapshot, const Sites& sites, std::size_t most) {
  std::vector<const Finding*> shown;
  for (const Finding& f : snapshot.attribution.findings)
    if (session::is_believed(f)) shown.push_back(&f);
  std::stable_sort(shown.begin(), shown.end(), [](const Finding* a, const Finding* b) { return a->open > b->open; });
  std::vector<std::string> lines;
  const bool conditions_before = conditions_first(snapshot);
  const std::size_t for_findings = std::min<std::size_t>(most, 2 * shown.size());
  if (conditions_before) lines = condition_section(snapshot, most > 2 && for_findings > 0 ? most - 2 : most);
  for (const Finding* f : shown) {
    if (lines.size() >= most) break;
    lines.push_back("why: " + finding_line(*f, snapshot, sites));
    if (!f->advice.empty() && lines.size() < most) lines.push_back("     => " + text::printable(f->advice));
  }
  if (!conditions_before)
    for (std::string& line : condition_section(snapshot, most - lines.size())) lines.push_back(std::move(line));
  return lines;
}

}  // namespace pclscope::views
