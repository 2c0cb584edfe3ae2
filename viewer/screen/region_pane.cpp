#include <algorithm>

#include "viewer/screen/panes.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/sparkline.hpp"
#include "viewer/views/period_text.hpp"

namespace pclscope::screen {
namespace {

constexpr std::size_t narrowest_history = 4;
constexpr std::size_t widest_history = 60;

struct Column {
  SortBy sort;
  const char* title;
  std::size_t width;
  std::size_t most;  // it may grow so far
  bool left;
  int importance;  // lower stays longer when there is little room
};
constexpr Column columns[] = {{SortBy::region, "region", 7, 11, false, 0}, {SortBy::ranks, "ranks", 8, 24, true, 4},
                              {SortBy::messages, "msgs", 6, 6, false, 5},  {SortBy::now, "now", 5, 6, false, 6},
                              {SortBy::typical, "typ", 5, 6, false, 2},    {SortBy::mean, "mean", 5, 6, false, 3},
                              {SortBy::delay, "delay", 5, 6, false, 1},    {SortBy::period, "period", 22, 28, true, 7}};

const char* sort_word(SortBy sort) {
  switch (sort) {
    case SortBy::region: return "number";
    case SortBy::ranks: return "number of ranks";
    case SortBy::messages: return "messages";
    case SortBy::now: return "newest ratio";
    case SortBy::mean: return "mean ratio";
    case SortBy::typical: return "typical ratio";
    case SortBy::delay: return "delay caused";
    case SortBy::period: break;
  }
  return "period";
}

struct Plan {
  std::vector<Column> columns;  // in view, with their widths
  std::size_t history = 0;      // columns, 0: none
};

bool any_period(const std::vector<Region>& regions) {
  return std::any_of(regions.begin(), regions.end(),
                     [](const Region& r) { return !r.periods.empty() && r.periods.back().kind != PeriodKind::other; });
}

// What fits beside the two columns of marks.
Plan plan_for(std::size_t width, bool periods, bool delays) {
  Plan plan;
  std::size_t used = 2;
  for (int importance = 0; importance < static_cast<int>(std::size(columns)); ++importance) {
    const auto column = std::find_if(std::begin(columns), std::end(columns),
                                     [&](const Column& c) { return c.importance == importance; });
    if ((column->sort == SortBy::period && !periods) || (column->sort == SortBy::delay && !delays)) continue;
    const std::size_t more = column->width + (plan.columns.empty() ? 0 : 2);
    if (used + more > width) break;
    used += more;
    plan.columns.push_back(*column);
  }
  std::sort(plan.columns.begin(), plan.columns.end(), [](const Column& a, const Column& b) { return a.sort < b.sort; });
  std::size_t room = width - std::min(width, used);
  if (room >= narrowest_history + 2) {
    plan.history = std::min<std::size_t>(room - 2, 10);
    room -= plan.history + 2;
  }
  for (const SortBy growing : {SortBy::period, SortBy::ranks}) {
    for (Column& column : plan.columns) {
      if (column.sort != growing) continue;
      const std::size_t more = std::min(column.most - column.width, room);
      column.width += more;
      room -= more;
    }
  }
  if (plan.history > 0) plan.history = std::min(plan.history + room, widest_history);
  return plan;
}

Span cell_of(const Region& region, const session::Harms& harms, const Column& column) {
  const auto now = ratio_now(region);
  switch (column.sort) {
    case SortBy::region: return {std::to_string(region.id), Style::plain};
    case SortBy::ranks: return {text::compact_ranks(region.ranks, column.width), Style::plain};
    case SortBy::messages: return {text::format_short_count(region.messages), Style::plain};
    case SortBy::now: return {now ? text::format_ratio(*now) : "-", style_of_ratio(now.value_or(0))};
    case SortBy::mean:
      return {text::format_ratio(region.mean_latency_ratio), style_of_ratio(region.mean_latency_ratio)};
    case SortBy::typical: return {text::format_ratio(region.typical_ratio), style_of_ratio(region.typical_ratio)};
    case SortBy::delay: return {text::format_ratio(harms.of_region(region)), Style::plain};
    case SortBy::period: break;
  }
  const bool open = !region.periods.empty() && region.periods.back().open;
  return {views::newest_period(region), open ? Style::plain : Style::dim};
}

void append_cell(Line& line, const Span& cell, const Column& column) {
  const std::string shown = text::clip(cell.text, column.width);
  if (line.spans.size() > 1) line.spans.push_back({"  ", Style::plain});
  line.spans.push_back(
      {column.left ? text::pad_right(shown, column.width) : text::pad_left(shown, column.width), cell.style});
}

Line title_row(const ScreenModel& model, const Plan& plan) {
  Line line = line_of("  ");
  const std::string up = model.ascii() ? "^" : "▲", down = model.ascii() ? "v" : "▼";
  for (const Column& column : plan.columns) {
    const bool sorted = column.sort == model.sort();
    append_cell(line,
                {std::string(column.title).append(sorted ? (model.descending() ? down : up) : ""),
                 sorted ? Style::strong : Style::dim},
                column);
  }
  if (plan.history > 0)
    line.spans.push_back({std::string("  ").append(plan.history < 7 ? "hist" : "history"), Style::dim});
  return line;
}

Line region_row(const ScreenModel& model, const Plan& plan, const Region& region, bool selected) {
  const bool hot = style_of_ratio(ratio_now(region).value_or(region.mean_latency_ratio)) == Style::hot;
  Line line;
  line.bar = selected && model.section() == Section::regions;
  line.spans.push_back({std::string(selected ? ">" : " ").append(hot ? "!" : " "), hot ? Style::hot : Style::plain});
  for (const Column& column : plan.columns) append_cell(line, cell_of(region, model.harms(), column), column);
  if (plan.history > 0) {
    line.spans.push_back({"  " + text::sparkline(region.history_ratio, region.history_messages, plan.history,
                                                 model.fullest_ratio(), model.ascii()),
                          Style::plain});
  }
  return line;
}

// In the delay that they caused.
bool alike(const ScreenModel& model) {
  std::vector<double> values;
  for (const std::size_t at : model.order()) values.push_back(model.harms().of_region(model.snapshot()->regions[at]));
  return session::all_alike(values);
}

}  // namespace

Pane region_pane(const ScreenModel& model, std::size_t width, std::size_t height) {
  const std::size_t count = model.order().size();
  Pane pane;
  pane.rows = height > 2 ? height - 2 : 1;
  const std::size_t first = first_in_view(model.selected(Section::regions), count, pane.rows);
  std::string words = std::string(", by ").append(sort_word(model.sort()));
  if (model.sort() == SortBy::delay && alike(model)) words += ", all alike";
  else if (width >= 48) words += model.descending() ? ", highest first" : ", lowest first";
  pane.lines.push_back(pane_title(
      model, Section::regions, count > 0 ? words : ": " + not_yet(model, "no messages between ranks have been matched"),
      first, pane.rows));
  if (count == 0 || height < 3) return pane;
  const bool delays = model.harms().lead() || model.sort() == SortBy::delay;
  const Plan plan = plan_for(width, any_period(model.snapshot()->regions), delays);
  pane.lines.push_back(title_row(model, plan));
  for (std::size_t row = first; row < std::min(first + pane.rows, count); ++row) {
    pane.lines.push_back(region_row(model, plan, model.snapshot()->regions[model.order()[row]],
                                    row == model.selected(Section::regions)));
  }
  return pane;
}

}  // namespace pclscope::screen
