// What changed over time: regions' latency ratios, what ranks waited for, and MPI functions.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/density/stack.hpp"
#include "viewer/report/plot.hpp"
#include "viewer/report/report.hpp"
#include "viewer/session/harm.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/views/activity_rows.hpp"
#include "viewer/views/finding_rows.hpp"
#include "viewer/views/function_names.hpp"

namespace pclscope::report {
namespace {

constexpr std::size_t most_points = 240, longest_gap = 8, most_coloured = 6, most_thin = 60, most_findings = 5,
                      most_functions = 6;
constexpr double hardly_any = 0.002;  // of ranks' time
const std::vector<const char*> waiting_classes = {"late-sender", "late-receiver", "collective", "transfer"};

struct Curve {
  const Region* region = nullptr;
  std::vector<double> levels;  // by column; 0: no messages
  double harm = 0, weight = 0;
};

// Not more columns than windows have room in the run.
std::size_t columns_of_time(const Run& run) {
  double shortest_s = run.snapshot.duration_s;
  for (const views::RegionEvolution& e : run.evolution)
    for (const views::EvolutionWindow& w : e.windows)
      if (w.length_s > 0) shortest_s = std::min(shortest_s, w.length_s);
  const double windows = run.snapshot.duration_s / shortest_s;
  return windows < most_points ? static_cast<std::size_t>(std::max(windows, 1.0)) : most_points;
}

// Geometric means over the messages of each column of time.
std::vector<double> levels_over_time(const views::RegionEvolution& e, double end_s, std::size_t columns) {
  std::vector<double> logs(columns, 0), messages(columns, 0);
  for (const views::EvolutionWindow& w : e.windows) {
    const double level = w.sums.level(), middle = std::min(w.begin_s + w.length_s / 2, end_s);
    if (!(level > 0) || !std::isfinite(level) || !(middle >= 0)) continue;
    const auto at = std::min(static_cast<std::size_t>(middle / end_s * static_cast<double>(columns)), columns - 1);
    logs[at] += std::log(level) * static_cast<double>(w.sums.messages);
    messages[at] += static_cast<double>(w.sums.messages);
  }
  std::vector<double> made(columns, 0);
  for (std::size_t i = 0; i < columns; ++i)
    if (messages[i] > 0) made[i] = std::exp(logs[i] / messages[i]);
  return made;
}

// Columns in which nothing was sent break the line when several follow each other.
std::string path_of(const std::vector<double>& levels, const Plot& plot) {
  std::string d;
  std::size_t silent = longest_gap + 1;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (!(levels[i] > 0)) {
      ++silent;
      continue;
    }
    const double part = (static_cast<double>(i) + 0.5) / static_cast<double>(levels.size());
    const std::string x = coordinate(plot.x(plot.begin + part * (plot.end - plot.begin)));
    d += (silent > longest_gap ? "M" : "L") + x + " " + coordinate(plot.y(std::log2(levels[i])));
    if (silent > longest_gap) d += "h0.1";  // a point alone is seen
    silent = 0;
  }
  return d;
}

std::vector<Curve> curves_of(const Run& run, const session::Harms& harms) {
  std::vector<Curve> curves;
  const std::size_t columns = columns_of_time(run);
  for (const views::RegionEvolution& e : run.evolution) {
    Curve curve{&e.region, levels_over_time(e, run.snapshot.duration_s, columns), harms.of_region(e.region),
                e.region.level()};
    if (std::any_of(curve.levels.begin(), curve.levels.end(), [](double l) { return l > 0; }))
      curves.push_back(std::move(curve));
  }
  const bool lead = harms.lead();
  std::stable_sort(curves.begin(), curves.end(), [&](const Curve& a, const Curve& b) {
    return lead && a.harm != b.harm ? a.harm > b.harm : a.weight > b.weight;
  });
  if (curves.size() > most_coloured + most_thin) curves.resize(most_coloured + most_thin);
  return curves;
}

// The findings that are believed, each a bar with its number over its periods.
std::size_t add_findings(const Snapshot& s, double top, const Plot& plot, Picture& picture) {
  std::size_t shown = 0;
  for (std::size_t i = 0; i < s.attribution.findings.size() && shown < most_findings; ++i) {
    const Finding& f = s.attribution.findings[i];
    if (!session::is_believed(f)) continue;
    const double y = top + static_cast<double>(shown++) * 13;
    std::vector<FindingPeriod> periods = f.periods;
    if (periods.empty()) periods = {{f.begin_s, f.end_s, f.lost_s}};
    for (const FindingPeriod& p : periods) {
      const double x = plot.x(p.begin_s);
      picture.box(x, y, std::max(plot.x(p.end_s) - x, 2.0), 8, "caused", views::cause_word(f.cause));
    }
    picture.text(plot.left - 6, y + 8, "finding " + std::to_string(i + 1), "small end");
  }
  return shown;
}

// The first functions of the snapshot, which are those with most time, and the others together.
std::vector<Column> columns_of_density(const Snapshot& s) {
  const views::ActivityOverTime activity = views::activity_of(s);
  if (!activity.why_not.empty() || !(s.duration_s > 0) || !std::isfinite(s.duration_s)) return {};
  std::vector<std::uint16_t> functions;
  for (std::size_t i = 0; i < std::min(s.functions.size(), most_functions); ++i)
    functions.push_back(s.functions[i].function);
  density::StackQuestion question;
  question.functions = functions;
  question.ranks = activity.ranks;
  question.duration_s = question.end_s = s.duration_s;
  const double slices = s.duration_s / activity.slice_s();
  question.columns = slices < most_points ? static_cast<std::size_t>(std::max(slices, 1.0)) : most_points;
  const density::Stack stack = density::stack_of(activity.density, question);
  std::vector<Column> columns(question.columns);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const double width = s.duration_s / static_cast<double>(columns.size());
    columns[c].begin = static_cast<double>(c) * width;
    columns[c].end = static_cast<double>(c + 1) * width;
    for (const std::vector<float>& layer : stack.shares) columns[c].parts.push_back(static_cast<double>(layer[c]));
  }
  return columns;
}

std::vector<Column> columns_of_history(const Snapshot& s) {
  std::size_t windows = 0;
  for (const FunctionActivity& f : s.functions) windows = std::max(windows, f.history_share.size());
  if (windows == 0 || !(s.live.window_s > 0)) return {};
  const auto share = [&](const FunctionActivity& f, std::size_t window) {  // the last ones are the same for all
    const std::size_t missing = windows - f.history_share.size();
    const double value = window < missing ? 0 : static_cast<double>(f.history_share[window - missing]);
    return std::isfinite(value) && value > 0 ? value : 0;
  };
  const std::size_t shown = std::min(s.functions.size(), most_functions);
  std::vector<Column> columns;
  const double begin_s = s.duration_s - static_cast<double>(windows) * s.live.window_s;
  for (std::size_t w = 0; w < windows; ++w) {
    Column column{begin_s + static_cast<double>(w) * s.live.window_s,
                  begin_s + static_cast<double>(w + 1) * s.live.window_s, std::vector<double>(shown + 1, 0)};
    for (std::size_t i = 0; i < s.functions.size(); ++i) column.parts[std::min(i, shown)] += share(s.functions[i], w);
    columns.push_back(std::move(column));
  }
  return columns;
}

std::size_t believed_findings(const Snapshot& s) {
  return std::min<std::size_t>(
      most_findings, static_cast<std::size_t>(std::count_if(s.attribution.findings.begin(),
                                                            s.attribution.findings.end(), session::is_believed)));
}

}  // namespace

std::string evolution_picture(const Run& run) {
  const Snapshot& s = run.snapshot;
  if (!(s.duration_s > 0) || !std::isfinite(s.duration_s)) return {};
  const session::Harms harms(s);
  const std::vector<Curve> curves = curves_of(run, harms);
  if (curves.empty()) return {};
  double low = -1, high = 2;  // powers of two
  for (const Curve& curve : curves)
    for (const double level : curve.levels)
      if (level > 0) low = std::min(low, std::log2(level)), high = std::max(high, std::log2(level));
  Plot plot;
  plot.top = 14 + 13 * static_cast<double>(believed_findings(s));
  plot.bottom = plot.top + 190;
  plot.end = s.duration_s;
  plot.low = std::floor(std::max(low, -6.0));
  plot.high = std::ceil(std::min(high, 30.0));
  Picture picture(picture_width, plot.bottom + 24, "Latency ratio of regions over time");
  add_findings(s, 4, plot, picture);
  const int step = std::max(1, static_cast<int>(std::lround((plot.high - plot.low) / 6)));
  for (int power = static_cast<int>(plot.low); power <= plot.high; power += step) {
    picture.line(plot.left, plot.y(power), plot.right, plot.y(power), power == 0 ? "axis" : "grid");
    picture.text(plot.left - 6, plot.y(power) + 3.5, text::format_ratio(std::exp2(power)), "small end");
  }
  time_axis(plot, picture);
  for (std::size_t i = curves.size(); i-- > 0;) {
    const std::string d = path_of(curves[i].levels, plot);
    picture.path(d, i < most_coloured ? "curve s" + std::to_string(i) : "thin",
                 "region " + std::to_string(curves[i].region->id));
  }
  std::vector<std::pair<std::string, std::string>> entries;
  for (std::size_t i = 0; i < std::min(curves.size(), most_coloured); ++i)
    entries.emplace_back("s" + std::to_string(i), "region " + std::to_string(curves[i].region->id) + " (ranks " +
                                                      text::compact_ranks(curves[i].region->ranks, 24) + ")");
  if (curves.size() > most_coloured)
    entries.emplace_back("h0", std::to_string(curves.size() - most_coloured) + " others, thin");
  return figure(picture.html(), key(entries),
                std::string("Typical latency ratio of each region's messages over time, logarithmic; 1 is usual.") +
                    (believed_findings(s) > 0 ? " The bars above say when the findings acted." : ""));
}

std::string waiting_picture(const Snapshot& s) {
  if (s.attribution.slices.empty() || s.application.ranks <= 0 || !(s.duration_s > 0)) return {};
  std::vector<Column> columns;
  double most = 0;
  for (const AttributionSlice& slice : s.attribution.slices) {
    const double whole = slice.length_s * s.application.ranks;
    if (!(whole > 0)) continue;
    Column column{
        slice.begin_s,
        slice.begin_s + slice.length_s,
        {slice.wait_s / whole, slice.blocked_s / whole, slice.collective_s / whole, slice.transfer_s / whole}};
    double sum = 0;
    for (double& part : column.parts) sum += part = std::isfinite(part) && part > 0 ? part : 0;
    most = std::max(most, sum);
    columns.push_back(std::move(column));
  }
  if (!(most > hardly_any)) return {};
  Plot plot;
  plot.bottom = 150;
  plot.end = s.duration_s;
  plot.high = std::min(1.0, std::max(most * 1.05, 0.05));
  Picture picture(picture_width, plot.bottom + 24, "What ranks waited for over time, as shares of their time");
  share_axis(plot, picture);
  stack(plot, columns, waiting_classes, picture);
  time_axis(plot, picture);
  return figure(picture.html(),
                key({{"late-sender", "messages not sent yet"},
                     {"late-receiver", "receivers not ready"},
                     {"collective", "in collectives, for those that came later"},
                     {"transfer", "transfers between nodes"}}),
                "What ranks waited for over time, as share of all ranks' time.");
}

// Over the whole run, every call; of older dumps, which have no density of calls, over the newest windows.
std::string functions_picture(const Snapshot& s) {
  std::vector<Column> columns = columns_of_density(s);
  const bool whole = !columns.empty();
  if (!whole) columns = columns_of_history(s);
  if (columns.empty()) return {};
  double most = 0;
  for (const Column& column : columns)
    most = std::max(most, std::accumulate(column.parts.begin(), column.parts.end(), 0.0));
  if (!(most > 0)) return {};
  Plot plot;
  plot.bottom = 150;
  plot.begin = columns.front().begin;
  plot.end = columns.back().end;
  plot.high = std::min(1.0, std::max(most * 1.05, 0.05));
  const std::string when = whole ? "over the run" : "the newest windows";
  Picture picture(picture_width, plot.bottom + 24, "Time inside MPI functions, " + when);
  share_axis(plot, picture);
  const std::size_t shown = columns.front().parts.size() - 1;
  std::vector<const char*> classes = {"area s2", "area s3", "area s4", "area s5", "area s1", "area s0"};
  classes.resize(shown);
  classes.push_back("area s6");
  stack(plot, columns, classes, picture);
  std::vector<std::pair<std::string, std::string>> entries;
  for (std::size_t i = 0; i < shown; ++i)
    entries.emplace_back(classes[i] + 5, views::function_name(s.functions[i].function));  // without "area "
  if (s.functions.size() > shown) entries.emplace_back("s6", "others");
  time_axis(plot, picture);
  return figure(picture.html(), key(entries),
                whole ? "Ranks inside MPI functions over the run, as share of all ranks: every call but MPI_Init "
                        "and MPI_Finalize; what is empty is computation, or these two."
                      : "Time inside MPI functions, as share of all ranks' time, over the last " +
                            text::format_seconds(plot.end - plot.begin) + ".");
}

std::string time_section(const Run& run) {
  return evolution_picture(run) + waiting_picture(run.snapshot) + functions_picture(run.snapshot);
}

}  // namespace pclscope::report
