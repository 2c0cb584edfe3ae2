#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/comparison.hpp"
#include "viewer/views/finding_rows.hpp"

namespace pclscope::views {
namespace {

using session::finite;
using session::Json;

constexpr std::size_t most_regions_compared = 12;

Json number_or_null(const std::optional<double>& value) { return value ? finite(*value) : Json(nullptr); }

std::string verdict(const Measure& m) {
  if (!m.change()) return "";
  return m.within_noise() ? "alike" : m.noise ? "changed" : "changed, noise not known";
}

Json measure_json(const Measure& m) {
  return {{"name", m.name},
          {"before", number_or_null(m.before)},
          {"now", number_or_null(m.now)},
          {"change", number_or_null(m.change())},
          {"noise", number_or_null(m.noise)},
          {"within_noise", m.change() ? Json(m.within_noise()) : Json(nullptr)}};
}

Json finding_or_null(std::int32_t index, const Snapshot& s) {
  return index >= 0 ? findings_json(s, Sites(s.sites))["findings"][static_cast<std::size_t>(index)] : Json(nullptr);
}

std::string run_time_sentence(const Measure& m) {
  if (!m.change()) return {};
  const double change = *m.change();
  const std::string times = text::format_seconds(*m.now) + " instead of " + text::format_seconds(*m.before);
  const std::string noise = m.noise ? " (noise " + noise_text(m) + ")" : "";
  if (m.within_noise()) return "The run takes about as long as before: " + times + noise + ".";
  return "The run takes " + times + ": " + text::format_share(*m.before > 0 ? std::fabs(change) / *m.before : 0) +
         (change < 0 ? " less" : " more") + noise + ".";
}

}  // namespace

std::string noise_text(const Measure& m) {
  if (!m.noise) return "not known";
  if (m.kind == Measure::Kind::seconds) return "± " + text::format_seconds(*m.noise);
  if (m.kind == Measure::Kind::number) return "± " + text::format_ratio(*m.noise);
  return *m.noise < 0.001 ? "± <0.1 points" : "± " + text::format_ratio(*m.noise * 100) + " points";
}

std::string compared_ids(const ComparedRegion& r) {
  const auto id = [](std::int32_t number) { return number >= 0 ? std::to_string(number) : std::string("-"); };
  return r.before == r.now ? id(r.now) : id(r.before) + " > " + id(r.now);
}

std::string value_text(const Measure& m, const std::optional<double>& value) {
  if (!value) return "-";
  if (m.kind == Measure::Kind::seconds) return text::format_seconds(*value);
  return m.kind == Measure::Kind::share ? text::format_share(*value) : text::format_ratio(*value);
}

std::string change_text(const Measure& m) {
  const auto change = m.change();
  if (!change) return "-";
  char shown[48];
  if (m.kind == Measure::Kind::seconds && *m.before > 0)
    std::snprintf(shown, sizeof shown, "%+.1f%%", std::clamp(*change / *m.before * 100, -1e9, 1e9));
  else if (m.kind == Measure::Kind::share)
    std::snprintf(shown, sizeof shown, "%+.1f points", std::clamp(*change * 100, -1e9, 1e9));
  else std::snprintf(shown, sizeof shown, "%+.2f", std::clamp(*change, -1e9, 1e9));
  return shown;
}

std::string compared_finding_text(const ComparedFinding& f, const ComparedRun& before, const ComparedRun& now) {
  const Snapshot& s = f.now >= 0 ? now.snapshot : before.snapshot;
  const Finding& finding = s.attribution.findings[static_cast<std::size_t>(f.now >= 0 ? f.now : f.before)];
  const Sites sites(s.sites);
  std::string line = std::string(name_of(f.fate)) + ": " + cause_word(finding.cause);
  if (!finding.detail.empty()) line += " (" + text::printable(finding.detail) + ")";
  if (!finding.ranks.empty())
    line += (finding.ranks.size() == 1 ? ", rank " : ", ranks ") + text::compact_ranks(finding.ranks, 24);
  if (f.before >= 0 && f.now >= 0) {
    std::vector<std::int32_t> was = before.snapshot.attribution.findings[static_cast<std::size_t>(f.before)].ranks,
                              is = finding.ranks;
    std::sort(was.begin(), was.end());
    std::sort(is.begin(), is.end());
    if (was != is && !was.empty())
      line += std::string(" (before: ") + (was.size() == 1 ? "rank " : "ranks ") + text::compact_ranks(was, 24) + ")";
  }
  if (finding.site != 0 && sites.find(finding.site) != nullptr) line += " at " + sites.brief(finding.site);
  line += "; cost " + (f.before >= 0 ? text::format_share(f.before_share) : std::string("nothing")) +
          " of ranks' time before, ";
  return line + (f.now >= 0 ? text::format_share(f.now_share) : std::string("nothing")) + " now";
}

std::vector<std::string> comparison_sentences(const Comparison& c) {
  std::vector<std::string> list;
  if (std::string time = c.measures.empty() ? "" : run_time_sentence(c.measures.front()); !time.empty())
    list.push_back(std::move(time));
  const auto count = [&](Fate fate) {
    return std::count_if(c.findings.begin(), c.findings.end(),
                         [&](const ComparedFinding& f) { return f.fate == fate; });
  };
  const auto gone = count(Fate::gone), added = count(Fate::added);
  const auto findings = [](auto n) { return std::to_string(n) + (n == 1 ? " finding" : " findings"); };
  if (gone + added == 0) list.push_back("No finding is gone, and none is new.");
  else if (gone > 0 && added > 0)
    list.push_back(findings(gone) + (gone == 1 ? " is gone, " : " are gone, ") + std::to_string(added) +
                   (added == 1 ? " is new." : " are new."));
  else if (gone > 0)
    list.push_back(findings(gone) + (gone == 1 ? " is gone, none is new." : " are gone, none is new."));
  else list.push_back(findings(added) + (added == 1 ? " is new, none is gone." : " are new, none is gone."));
  for (const std::string& remark : c.remarks) list.push_back("Compare with care: " + text::printable(remark) + ".");
  return list;
}

std::vector<std::string> comparison_lines(const Comparison& c, const ComparedRun& before, const ComparedRun& now,
                                          std::size_t width) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& line, std::size_t indent) {
    for (std::string& part : width > 0 ? text::wrapped(line, width, indent) : std::vector{line})
      lines.push_back(std::move(part));
  };
  for (const std::string& sentence : comparison_sentences(c)) add(sentence, 2);
  lines.push_back("");
  text::Table measures;
  measures.column("", text::Align::left);
  for (const char* title : {"before", "now", "change", "noise"}) measures.column(title, text::Align::right);
  measures.column("", text::Align::left);
  for (const Measure& m : c.measures)
    measures.row({m.title, value_text(m, m.before), value_text(m, m.now), change_text(m), noise_text(m), verdict(m)});
  for (std::string& line : measures.lines(width)) lines.push_back(std::move(line));
  if (!c.findings.empty()) lines.push_back("");
  for (const ComparedFinding& f : c.findings) add(compared_finding_text(f, before, now), 5);
  if (c.regions.empty()) return lines;
  lines.push_back("");
  text::Table regions;
  regions.column("region", text::Align::right);
  regions.column("ranks", text::Align::left);
  for (const char* title : {"waiting before", "now", "change", "delay caused before", "now"})
    regions.column(title, text::Align::right);
  regions.column("", text::Align::left);
  for (std::size_t i = 0; i < std::min(c.regions.size(), most_regions_compared); ++i) {
    const ComparedRegion& r = c.regions[i];
    regions.row({compared_ids(r), text::compact_ranks(r.ranks, 24), value_text(r.waiting, r.waiting.before),
                 value_text(r.waiting, r.waiting.now), change_text(r.waiting), value_text(r.harm, r.harm.before),
                 value_text(r.harm, r.harm.now), verdict(r.waiting)});
  }
  for (std::string& line : regions.lines(width)) lines.push_back(std::move(line));
  if (c.regions.size() > most_regions_compared)
    lines.push_back("and " + std::to_string(c.regions.size() - most_regions_compared) + " more that changed less");
  return lines;
}

Json comparison_json(const Comparison& c, const ComparedRun& before, const ComparedRun& now) {
  const auto run_json = [](const ComparedRun& run) -> Json {
    return {{"name", run.name},
            {"command", run.snapshot.application.command},
            {"ranks", run.snapshot.application.ranks},
            {"whole", run.whole}};
  };
  Json measures = Json::array(), findings = Json::array(), regions = Json::array();
  for (const Measure& m : c.measures) measures.push_back(measure_json(m));
  for (const ComparedFinding& f : c.findings)
    findings.push_back({{"fate", name_of(f.fate)},
                        {"before_share", finite(f.before_share)},
                        {"now_share", finite(f.now_share)},
                        {"before", finding_or_null(f.before, before.snapshot)},
                        {"now", finding_or_null(f.now, now.snapshot)}});
  for (const ComparedRegion& r : c.regions)
    regions.push_back({{"before", r.before >= 0 ? Json(r.before) : Json(nullptr)},
                       {"now", r.now >= 0 ? Json(r.now) : Json(nullptr)},
                       {"ranks", r.ranks},
                       {"waiting", measure_json(r.waiting)},
                       {"delay_caused", measure_json(r.harm)}});
  return {{"before", run_json(before)}, {"now", run_json(now)}, {"sentences", comparison_sentences(c)},
          {"remarks", c.remarks},       {"measures", measures}, {"findings", findings},
          {"regions", regions}};
}

}  // namespace pclscope::views
