#include "viewer/layout/evolution_picture.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "viewer/layout/evolution_circles.hpp"

namespace pclscope::layout {
namespace {

using session::History;
using session::RegionHistory;

constexpr double reason_to_move = 1.25;
constexpr double overview_column = 1.0 / 300;
constexpr double slots_when_compressed = 3.5;
constexpr double least_of_run = 0.02;  // of a period that keeps its full length when the rest is compressed

double badness(const RegionHistory& region) {
  double worst = region.average;
  for (const Period& p : region.periods) {
    if (p.kind != PeriodKind::other && std::isfinite(p.level())) worst = std::max(worst, p.level());
  }
  return worst;
}

bool of_interest(const Period& p) { return p.kind != PeriodKind::other; }

// Growth and the steady period behind it are one. What is shorter than `least_s` is not worth a scale of its own: a
// growth of 0.3 s took a third of the width.
void add_intervals(const RegionHistory& region, double least_s, std::vector<TimeRange>& full) {
  TimeRange whole{0, -1};
  const auto close = [&] {
    if (whole.end_s - whole.begin_s >= least_s) full.push_back(whole);
  };
  for (const Period& p : region.periods) {
    if (!of_interest(p)) continue;
    if (whole.end_s >= whole.begin_s && std::fabs(p.begin_s - whole.end_s) < 1e-6) {
      whole.end_s = p.end_s;
      continue;
    }
    close();
    whole = {p.begin_s, p.end_s};
  }
  if (whole.end_s > whole.begin_s) close();
}

TimeAxis axis_of(const EvolutionQuestion& q, bool& nothing_to_compress) {
  const History& history = *q.history;
  const double begin = history.begin_s(), end = std::max(history.end_s(), std::isfinite(q.now_s) ? q.now_s : 0);
  if (!q.compressed) return TimeAxis(begin, end);
  const double least_s = least_of_run * (end - begin);
  std::vector<TimeRange> full;
  const auto chosen = q.region ? history.regions().find(*q.region) : history.regions().end();
  if (chosen != history.regions().end()) add_intervals(chosen->second, least_s, full);
  else
    for (const auto& [id, region] : history.regions()) add_intervals(region, least_s, full);
  nothing_to_compress = full.empty();
  return TimeAxis::compressed(begin, end, full, std::clamp(slots_when_compressed * q.slot, 0.0, 0.2));
}

float highest_of(const std::vector<CurvePoint>& curve) {
  float highest = 0;
  for (const CurvePoint& p : curve) highest = std::max(highest, p.ratio);
  return highest;
}

void add_rows(const EvolutionQuestion& q, const TimeRange& visible, EvolutionPicture& picture) {
  picture.first_row = std::min(q.first_row, picture.order.size());
  const std::size_t last = std::min(picture.order.size(), picture.first_row + std::min<std::size_t>(q.rows, 1000));
  const double share = picture.axis.place(visible.end_s) - picture.axis.place(visible.begin_s);
  for (std::size_t i = picture.first_row; i < last; ++i) {
    const RegionHistory& region = q.history->regions().at(picture.order[i]);
    EvolutionRow& row = picture.rows.emplace_back();
    row.region = picture.order[i];
    row.average = region.average;
    row.circles =
        evolution_circles(region, picture.axis, points_between(region, visible.begin_s, visible.end_s), q.slot * share);
    for (const Period& p : region.periods) {
      if (of_interest(p) && p.end_s > visible.begin_s && p.begin_s < visible.end_s) row.periods.push_back(p);
    }
    for (const EvolutionCircle& c : row.circles) picture.largest_rate = std::max(picture.largest_rate, c.rate);
  }
  if (picture.largest_rate <= 0) return;
  for (EvolutionRow& row : picture.rows) {
    for (EvolutionCircle& c : row.circles) c.size = std::sqrt(c.rate / picture.largest_rate);
  }
}

}  // namespace

std::vector<std::int32_t> evolution_order(const History& history, const std::vector<std::int32_t>& before) {
  struct Entry {
    std::int32_t region;
    double badness;
  };
  std::vector<Entry> entries, fresh;
  std::unordered_map<std::int32_t, std::size_t> places;
  for (const std::int32_t id : before) {
    if (history.regions().contains(id) && places.emplace(id, places.size()).second)
      entries.push_back({id, badness(history.regions().at(id))});
  }
  for (const auto& [id, region] : history.regions()) {
    if (!places.contains(id)) fresh.push_back({id, badness(region)});
  }
  const auto worse = [](const Entry& a, const Entry& b) {
    return a.badness != b.badness ? a.badness > b.badness : a.region < b.region;
  };
  std::sort(fresh.begin(), fresh.end(), worse);
  const std::size_t old = entries.size();
  entries.insert(entries.end(), fresh.begin(), fresh.end());
  // Insertion: upwards past those that are clearly better.
  for (std::size_t i = 1; i < entries.size() && old > 0; ++i) {
    const double needed = i < old ? reason_to_move : 1;
    for (std::size_t k = i; k > 0 && entries[k].badness > needed * entries[k - 1].badness; --k)
      std::swap(entries[k], entries[k - 1]);
  }
  std::vector<std::int32_t> order;
  for (const Entry& e : entries) order.push_back(e.region);
  return order;
}

EvolutionPicture evolution_picture(const EvolutionQuestion& q) {
  EvolutionPicture picture;
  if (!q.history || q.history->regions().empty()) return picture;
  picture.axis = axis_of(q, picture.nothing_to_compress);
  picture.order = evolution_order(*q.history, q.order);
  TimeRange visible = q.visible.value_or(TimeRange{picture.axis.begin_s(), picture.axis.end_s()});
  if (!(visible.begin_s < visible.end_s)) visible = {picture.axis.begin_s(), picture.axis.end_s()};
  add_rows(q, visible, picture);
  if (q.heat_width > 0 && q.heat_height > 0)
    picture.heat = region_heat({q.history, picture.order, picture.axis, picture.axis.place(visible.begin_s),
                                picture.axis.place(visible.end_s), q.heat_width, q.heat_height},
                               palette(q.theme));
  picture.region = q.region && q.history->regions().contains(*q.region) ? *q.region : picture.order.front();
  const RegionHistory& region = q.history->regions().at(*picture.region);
  picture.average = region.average;
  picture.periods.assign(region.periods.begin(), region.periods.end());
  const double share = picture.axis.place(visible.end_s) - picture.axis.place(visible.begin_s);
  picture.curve =
      evolution_curve(region, picture.axis, points_between(region, visible.begin_s, visible.end_s), q.column * share);
  picture.overview = evolution_curve(region, picture.axis, {0, region.points.size()}, overview_column);
  picture.highest = highest_of(picture.curve);
  picture.overview_highest = highest_of(picture.overview);
  return picture;
}

}  // namespace pclscope::layout
