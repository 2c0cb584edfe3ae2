// What changed since an earlier run, in a report.
#include "viewer/views/comparison.hpp"

#include <algorithm>

#include "viewer/report/html.hpp"
#include "viewer/report/report.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::report {
namespace {

using views::Measure;

constexpr std::size_t most_regions_shown = 16;

std::string cell(const std::string& path, const Measure& m, const std::optional<double>& value) {
  const std::string shown = views::value_text(m, value);
  return element("td", "", value ? number(path, session::finite(*value), shown) : escaped(shown));
}

// Before, now, change, noise.
std::string cells(const std::string& path, const Measure& m) {
  const std::string verdict = !m.change() ? "-" : m.within_noise() ? "alike" : m.noise ? "changed" : "changed?";
  return cell(path + ".before", m, m.before) + cell(path + ".now", m, m.now) +
         element("td", "", escaped(views::change_text(m))) + element("td", "", escaped(views::noise_text(m))) +
         element("td", "words short", verdict);
}

std::string head(const std::vector<const char*>& titles) {
  std::string html = "<div class=\"wide\"><table>\n<thead><tr>";
  for (const char* title : titles) html += column_title("", title);
  return html + "</tr></thead>\n<tbody>\n";
}

}  // namespace

std::string comparison_section(const Run& run) {
  if (!run.compared) return {};
  const auto& [before, now, changes] = *run.compared;
  std::string html =
      element("p", "faint", "Compared with " + escaped(before.name) + ".") + "\n<div class=\"answer\">\n";
  for (const std::string& sentence : views::comparison_sentences(changes))
    html += element("p", "", escaped(sentence)) + "\n";
  html += "</div>\n" + head({"of the run", "before", "now", "change", "noise", ""});
  for (std::size_t i = 0; i < changes.measures.size(); ++i)
    html += "<tr>" + row_title("", changes.measures[i].title) +
            cells("comparison.measures." + std::to_string(i), changes.measures[i]) + "</tr>\n";
  html += "</tbody></table></div>\n";
  if (!changes.findings.empty()) {
    html += "<ul>\n";
    for (const views::ComparedFinding& f : changes.findings)
      html += element("li", "", escaped(views::compared_finding_text(f, before, now))) + "\n";
    html += "</ul>\n";
  }
  if (!changes.regions.empty()) {
    html += head({"waiting of region", "before", "now", "change", "noise", "", "delay caused before", "now"});
    for (std::size_t i = 0; i < std::min(changes.regions.size(), most_regions_shown); ++i) {
      const views::ComparedRegion& r = changes.regions[i];
      const std::string path = "comparison.regions." + std::to_string(i);
      html += "<tr>" + row_title("", views::compared_ids(r) + " (ranks " + text::compact_ranks(r.ranks, 20) + ")") +
              cells(path + ".waiting", r.waiting) + cell(path + ".delay_caused.before", r.harm, r.harm.before) +
              cell(path + ".delay_caused.now", r.harm, r.harm.now) + "</tr>\n";
    }
    html += "</tbody></table></div>\n";
    if (changes.regions.size() > most_regions_shown)
      html += element("p", "note",
                      escaped("and " + text::format_count(changes.regions.size() - most_regions_shown) +
                              " more that changed less")) +
              "\n";
  }
  return html +
         element("p", "note",
                 "Noise: twice the standard error of the difference, from how neighbouring parts of each run differ. "
                 "What differs from run to run, such as nodes or other jobs, is not in it. Changes below 5% of a "
                 "time or 3 points of a share count as alike.") +
         "\n";
}

}  // namespace pclscope::report
