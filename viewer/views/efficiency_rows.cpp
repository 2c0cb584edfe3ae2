#include "viewer/views/efficiency_rows.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/json_rows.hpp"

namespace pclscope::views {
namespace {

using session::Json;

constexpr double worth_telling = 0.02;  // of the time
constexpr double good_from = 0.8, fair_from = 0.6;

const char* name_of(EfficiencyRow::Scope scope) {
  switch (scope) {
    case EfficiencyRow::Scope::job: return "job";
    case EfficiencyRow::Scope::pattern: return "pattern";
    case EfficiencyRow::Scope::region: return "region";
    case EfficiencyRow::Scope::marker: return "marker";
  }
  return "job";
}

std::string share_or_dash(bool known, double share) { return known ? text::format_share(share) : "-"; }

bool can_be_told(const Efficiency& e) { return e.known() && std::isfinite(e.runtime_s()) && std::isfinite(e.useful_s); }

bool factors_told(const Efficiency& e) { return can_be_told(e) && e.useful_known(); }

// Where useful time is known between two numbers only, no factor is.
std::string range_text(const Efficiency& e) {
  const double least = std::max(e.useful_least_s, 0.0) / e.runtime_s(), most = e.useful_most_s / e.runtime_s();
  return "parallel " + text::format_share(std::min(least, 1.0)) + " to " + text::format_share(std::min(most, 1.0)) +
         ": not known closer, ranks were off the core";
}

// What has to be known of the numbers.
std::string remarks(const Efficiency& e) {
  std::string text;
  if (e.ideal_known() && e.replayed < 1 - worth_telling)
    text += ", transfer from " + text::format_share(e.replayed) + " of the messages";
  if (e.off_core_s > worth_telling * e.runtime_s())
    text += "; " + text::format_share(e.off_core_s / e.runtime_s()) + " off the core";
  return text;
}

}  // namespace

std::string name_of(const EfficiencyRow& row) {
  std::string name = name_of(row.scope);
  if (row.region >= 0) name += " " + std::to_string(row.region);
  if (row.scope == EfficiencyRow::Scope::marker) name += " " + text::printable(row.marker);
  return name;
}

std::string brief_efficiency_text(const Efficiency& e) {
  if (!can_be_told(e)) return {};
  if (!factors_told(e)) return range_text(e);
  std::string text =
      "parallel " + text::format_share(e.parallel()) + " = balance " + text::format_share(e.load_balance());
  if (e.ideal_known())
    text +=
        " x serialisation " + text::format_share(e.serialisation()) + " x transfer " + text::format_share(e.transfer());
  else text += " x communication " + text::format_share(e.communication());
  return text + remarks(e);
}

std::string efficiency_text(const Efficiency& e) {
  if (!can_be_told(e)) return {};
  if (!factors_told(e)) return range_text(e);
  std::string text = "parallel " + text::format_share(e.parallel()) + " = load balance " +
                     text::format_share(e.load_balance()) + " x communication " + text::format_share(e.communication());
  if (e.ideal_known())
    text += " (serialisation " + text::format_share(e.serialisation()) + " x transfer " +
            text::format_share(e.transfer()) + ")";
  return text + remarks(e);
}

std::vector<std::string> efficiency_lines(const std::vector<EfficiencyRow>& rows, std::size_t width) {
  text::Table table;
  for (const char* title : {"of", "from"}) table.column(title, text::Align::left);
  for (const char* title : {"time", "ranks", "parallel", "= balance", "x communication", "(serialisation",
                            "x transfer)", "useful", "at most", "rank", "off core"})
    table.column(title, text::Align::right);
  for (const EfficiencyRow& row : rows) {
    const Efficiency& e = row.of;
    const bool known = can_be_told(e), told = factors_told(e), ideal = told && e.ideal_known();
    const auto seconds = [](bool is_known, double s) { return is_known ? text::format_seconds(s) : "-"; };
    table.row({name_of(row), known ? text::format_moment(e.begin_s) : "-", seconds(known, e.runtime_s()),
               std::to_string(e.ranks), share_or_dash(told, e.parallel()), share_or_dash(told, e.load_balance()),
               share_or_dash(told, e.communication()), share_or_dash(ideal, e.serialisation()),
               share_or_dash(ideal, e.transfer()), seconds(told, e.useful_s), seconds(told, e.most_useful_s),
               told ? std::to_string(e.most_useful_rank) : "-", seconds(told, e.off_core_s)});
  }
  std::vector<std::string> lines = table.lines(width);
  for (const EfficiencyRow& row : rows) {
    const Efficiency& e = row.of;
    if (!can_be_told(e) || e.useful_known()) continue;
    lines.push_back(name_of(row) + ": useful between " + text::format_seconds(e.useful_least_s) + " and " +
                    text::format_seconds(e.useful_most_s) + " of " + text::format_seconds(e.runtime_s()) +
                    ", not known closer: ranks were off the core, inside MPI or outside");
  }
  for (const EfficiencyRow& row : rows) {
    if (!row.path_useful_s || !can_be_told(row.of)) continue;
    lines.push_back("critical path: " + text::format_seconds(*row.path_useful_s) + " " +
                    path_text(row.of, *row.path_useful_s) + ": imbalance and serialisation that cost run time");
    break;
  }
  return lines;
}

// On the path all time outside MPI counts, without a core, too: so it does in the mean that it is compared with.
std::string path_text(const Efficiency& e, double path_s) {
  const double more_s = std::max(path_s - e.useful_s - e.off_core_s, 0.0);
  const bool cores = e.off_core_s > worth_telling * e.runtime_s();
  return std::string(cores ? "outside MPI (on the core or waiting for it), " : "of computation, ") +
         text::format_seconds(more_s) + " (" + text::format_share(more_s / e.runtime_s()) + ") more than a rank's mean";
}

Json efficiency_json(const Efficiency& e) {
  const bool known = can_be_told(e), told = factors_told(e), ideal = told && e.ideal_known();
  const auto when = [](bool is_known, double value) { return is_known ? session::finite(value) : Json(nullptr); };
  return {{"ranks", e.ranks},
          {"begin_s", when(known, e.begin_s)},
          {"end_s", when(known, e.end_s)},
          {"runtime_s", when(known, e.runtime_s())},
          {"parallel", when(told, e.parallel())},
          {"load_balance", when(told, e.load_balance())},
          {"communication", when(told, e.communication())},
          {"serialisation", when(ideal, e.serialisation())},
          {"transfer", when(ideal, e.transfer())},
          {"useful_s", when(told, e.useful_s)},
          {"most_useful_s", when(told, e.most_useful_s)},
          {"most_useful_rank", told ? Json(e.most_useful_rank) : Json(nullptr)},
          {"off_core_s", when(told, e.off_core_s)},
          {"useful_least_s", when(known, e.useful_least_s)},
          {"useful_most_s", when(known, e.useful_most_s)},
          {"ideal_s", when(e.ideal_known(), e.ideal_s)},
          {"replayed", when(known, e.replayed)}};
}

Json efficiency_json(const EfficiencyRow& row) {
  Json json = {{"scope", name_of(row.scope)}, {"region", row.region >= 0 ? Json(row.region) : Json(nullptr)}};
  json.update(efficiency_json(row.of));
  json["path_useful_s"] = row.path_useful_s ? session::finite(*row.path_useful_s) : Json(nullptr);
  json["marker"] = row.scope == EfficiencyRow::Scope::marker ? Json(row.marker) : Json(nullptr);
  return json;
}

Json rank_time_json(const efficiency::RankTime& time, const Efficiency& of) {
  const bool told = of.useful_known();
  const auto when = [&](double value) { return told ? session::finite(value) : Json(nullptr); };
  return {{"rank", time.rank},
          {"begin_s", session::finite(time.begin_s)},
          {"end_s", session::finite(time.end_s)},
          {"useful_s", when(time.useful_s)},
          {"useful", when(of.runtime_s() > 0 ? time.useful_s / of.runtime_s() : 0)},
          {"useful_least_s", session::finite(time.useful_least_s)},
          {"useful_most_s", session::finite(time.useful_most_s)},
          {"off_core_s", when(time.off_core_s)},
          {"ideal_saved_s", session::finite(time.ideal_saved_s)}};
}

Rows efficiency_rows(const std::vector<EfficiencyRow>& rows) {
  std::vector<Json> objects;
  for (const EfficiencyRow& row : rows) objects.push_back(efficiency_json(row));
  return rows_of(objects, efficiency_json(EfficiencyRow{}));
}

Grade grade_of(double efficiency) {
  return efficiency >= good_from ? Grade::good : efficiency >= fair_from ? Grade::fair : Grade::poor;
}

const char* name_of(Grade grade) {
  switch (grade) {
    case Grade::good: return "good";
    case Grade::fair: return "fair";
    case Grade::poor: return "poor";
  }
  return "poor";
}

}  // namespace pclscope::views
