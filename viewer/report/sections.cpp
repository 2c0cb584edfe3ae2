// What a report says first: the answer, its findings and efficiencies.
#include <algorithm>
#include <cmath>

#include "viewer/report/html.hpp"
#include "viewer/report/report.hpp"
#include "viewer/session/harm.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/views/blocked_time_lines.hpp"
#include "viewer/views/condition_rows.hpp"
#include "viewer/views/finding_rows.hpp"
#include "viewer/views/sentences.hpp"

namespace pclscope::report {
namespace {

using session::finite;
using session::Json;

constexpr std::size_t most_efficiencies = 16, most_periods = 12;

std::string seconds(const std::string& field, double s) { return number(field, finite(s), text::format_seconds(s)); }
std::string share(const std::string& field, double s) { return number(field, finite(s), text::format_share(s)); }

std::string card(std::string_view title, const std::string& value, std::string_view small) {
  return "<div>" + element("dt", "", title) +
         element("dd", "", value + (small.empty() ? "" : element("small", "", escaped(small)))) + "</div>\n";
}

std::string graded(const std::string& field, double efficiency) {
  const char* grade = views::name_of(views::grade_of(efficiency));
  return element("span", grade, share(field, efficiency)) + element("small", grade, grade);
}

std::string cards(const Snapshot& s) {
  std::string html = "<dl class=\"cards\">\n";
  html += card("Run time", seconds("time.elapsed_s", session::elapsed_s(s)), s.finished ? "" : "not finished");
  if (const Efficiency e = efficiency::efficiency_of(s); e.useful_known())
    html += card("Parallel efficiency", graded("efficiency.parallel", e.parallel()), "");
  const views::InsideMpi sum = views::inside_mpi(s);
  if (sum.whole_s > 0 && std::isfinite(sum.whole_s) && std::isfinite(sum.inside_s)) {
    html += card("Inside MPI", escaped(text::format_share(sum.inside_s / sum.whole_s)), "of ranks' time");
    const double waiting = sum.late_sender_s + sum.late_receiver_s + sum.collective_wait_s;
    html += card("Waiting for others", escaped(text::format_share(waiting / sum.whole_s)), "of ranks' time");
  }
  html += card("Messages", number("messages.matched", s.messages.matched, text::format_count(s.messages.matched)),
               text::format_bytes(static_cast<double>(s.messages.bytes)));
  return html + "</dl>\n";
}

// When a finding acted, of those with several periods.
std::string periods_of(const std::string& path, const Finding& f) {
  if (f.periods.size() < 2) return {};
  std::string list;
  for (std::size_t i = 0; i < std::min(f.periods.size(), most_periods); ++i) {
    const FindingPeriod& p = f.periods[i];
    const std::string at = path + ".periods." + std::to_string(i);
    list += (i == 0 ? "" : "; ") + number(at + ".begin_s", finite(p.begin_s), text::format_moment(p.begin_s)) + " to " +
            number(at + ".end_s", finite(p.end_s), text::format_moment(p.end_s)) + " (" +
            seconds(at + ".lost_s", p.lost_s) + ")";
  }
  if (f.periods.size() > most_periods)
    list += escaped(" and " + text::format_count(f.periods.size() - most_periods) + " more");
  return element("p", "note", "Periods, and what they cost: " + list) + "\n";
}

// What the run would take without it, as the replay has it.
std::string gain_of(const std::string& path, const Finding& f, const Snapshot& s) {
  if (!(f.gain_s >= 0) || !(f.gain_s < s.duration_s)) return {};
  return element("span", "",
                 "without it the run takes " + escaped(text::format_seconds(s.duration_s - f.gain_s)) + ", " +
                     seconds(path + ".gain_s", f.gain_s) + " less (" +
                     escaped(text::format_share(f.gain_s / s.duration_s)) + ", replayed)") +
         "\n";
}

std::string finding_html(std::size_t i, const Snapshot& s, const views::Sites& sites) {
  const Finding& f = s.attribution.findings[i];
  const std::string path = "findings." + std::to_string(i);
  const bool weak = i > 0 && !session::is_believed(f);
  std::string html = std::string("<article class=\"finding") + (weak ? " weak" : "") + "\">\n" +
                     element("h3", "", std::to_string(i + 1) + ". " + escaped(views::finding_line(f, s, sites))) + "\n";
  html +=
      "<p class=\"figures\">" +
      element("span", "",
              "cost " + seconds(path + ".lost_s", f.lost_s) + " of ranks' time, " + share(path + ".score", f.score) +
                  " of it while it acted") +
      "\n" +
      element("span", "",
              "confidence " + number(path + ".confidence", finite(f.confidence), text::format_share(f.confidence))) +
      "\n" + gain_of(path, f, s) + "</p>\n" + periods_of(path, f);
  if (!f.evidence.empty()) {
    html += "<ul>\n";
    for (const std::string& sentence : f.evidence) html += element("li", "", escaped(sentence)) + "\n";
    html += "</ul>\n";
  }
  if (!f.advice.empty()) html += element("p", "advice", "<strong>Advice:</strong> " + escaped(f.advice)) + "\n";
  return html + "</article>\n";
}

std::string conditions_html(const Snapshot& s) {
  std::string html;
  for (const Condition& c : s.conditions)
    html += "<article class=\"finding\">\n" +
            element("h3", "", escaped("Condition of the run: " + views::condition_line(c, s))) + "\n" +
            element("p", "advice", "<strong>Advice:</strong> " + escaped(views::condition_advice(c, s))) +
            "\n</article>\n";
  return html;
}

std::string efficiency_row(std::size_t i, const views::EfficiencyRow& row) {
  const std::string path = "efficiencies." + std::to_string(i);
  const Efficiency& e = row.of;
  const bool told = e.useful_known();
  const auto cell = [&](bool known, const char* name, double value) {
    return element("td", "", known ? graded(path + "." + name, value) : "-");
  };
  return "<tr>" + row_title("", escaped(views::name_of(row))) +
         element("td", "", number(path + ".begin_s", finite(e.begin_s), text::format_moment(e.begin_s))) +
         element("td", "", seconds(path + ".runtime_s", e.runtime_s())) +
         element("td", "", number(path + ".ranks", e.ranks, std::to_string(e.ranks))) +
         cell(told, "parallel", e.parallel()) + cell(told, "load_balance", e.load_balance()) +
         cell(told, "communication", e.communication()) +
         cell(told && e.ideal_known(), "serialisation", e.serialisation()) +
         cell(told && e.ideal_known(), "transfer", e.transfer()) +
         element("td", "",
                 told ? seconds(path + ".most_useful_s", e.most_useful_s) +
                            element("small", "faint", "rank " + std::to_string(e.most_useful_rank))
                      : seconds(path + ".useful_least_s", e.useful_least_s) + " to " +
                            seconds(path + ".useful_most_s", e.useful_most_s) +
                            element("small", "faint", "mean, not known closer: off the core")) +
         element("td", "", told ? seconds(path + ".off_core_s", e.off_core_s) : "-") + "</tr>\n";
}

}  // namespace

std::string answer_section(const Run& run, const views::Sites& sites) {
  std::string html = "<div class=\"answer\">\n";
  std::vector<std::string> said = views::sentences(run.snapshot, sites);
  if (said.empty()) said = {"Nothing was recorded of where ranks' time went."};
  for (const std::string& sentence : said) html += element("p", "", escaped(sentence)) + "\n";
  return html + "</div>\n" + cards(run.snapshot);
}

std::string findings_section(const Run& run, const views::Sites& sites) {
  const Snapshot& s = run.snapshot;
  const std::string conditions = conditions_html(s);
  const bool first = views::conditions_first(s);
  std::string html = first ? conditions : "";
  bool weak = false;
  for (std::size_t i = 0; i < s.attribution.findings.size(); ++i) {
    if (!weak && i > 0 && !session::is_believed(s.attribution.findings[i])) {
      weak = true;
      html += element("p", "note", "Weaker ones, of which pclscope is less sure:") + "\n";
    }
    html += finding_html(i, s, sites);
  }
  if (s.attribution.findings.empty()) html += element("p", "", "No findings: no messages were matched.") + "\n";
  return html + (first ? "" : conditions);
}

std::string efficiency_section(const Run& run) {
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < run.efficiencies.size(); ++i)
    if (run.efficiencies[i].of.known()) known.push_back(i);
  if (known.empty()) return {};
  // The job first, then those that use their time worst.
  std::stable_sort(known.begin(), known.end(), [&](std::size_t a, std::size_t b) {
    const auto &x = run.efficiencies[a], &y = run.efficiencies[b];
    const bool job_x = x.scope == views::EfficiencyRow::Scope::job, job_y = y.scope == views::EfficiencyRow::Scope::job;
    return job_x != job_y ? job_x : x.of.parallel() < y.of.parallel();
  });
  std::string html =
      element("p", "note",
              "Parallel efficiency = load balance × communication efficiency; communication = serialisation × transfer "
              "(the POP centre's model). Good from 80% on, poor below 60%.") +
      "\n<div class=\"wide\"><table>\n<thead><tr>";
  for (const char* title : {"of", "from", "time", "ranks", "parallel", "load balance", "communi&shy;cation",
                            "seriali&shy;sation", "transfer", "most useful", "off core"})
    html += column_title("", title);
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < std::min(known.size(), most_efficiencies); ++i)
    html += efficiency_row(known[i], run.efficiencies[known[i]]);
  html += "</tbody></table></div>\n";
  if (known.size() > most_efficiencies)
    html += element("p", "note",
                    escaped("and " + text::format_count(known.size() - most_efficiencies) +
                            " more, which use their time better")) +
            "\n";
  const auto& job = run.efficiencies[known.front()];
  if (job.path_useful_s && *job.path_useful_s > 0 && job.of.runtime_s() > 0) {
    html +=
        element("p", "note",
                "Critical path: " +
                    seconds("efficiencies." + std::to_string(known.front()) + ".path_useful_s", *job.path_useful_s) +
                    escaped(" " + views::path_text(job.of, *job.path_useful_s) + ".")) +
        "\n";
  }
  return html;
}

}  // namespace pclscope::report
