#include "viewer/layout/route_ranking.hpp"

#include <cmath>
#include <tuple>

namespace pclscope::layout {
namespace {

constexpr double least_range = 1e-6;  // of a logarithmic axis, of its largest value

double value_of(RankedBy by, const mapping::Route& route, double heaviest) {
  switch (by) {
    case RankedBy::length: return route.length();
    case RankedBy::bytes: return route.bytes;
    case RankedBy::hop_bytes: return route.hop_bytes();
    default: return heaviest;
  }
}

bool leaves(const mapping::Route& route) { return route.path.size() > 1; }

}  // namespace

const char* name_of(RankedBy by) {
  switch (by) {
    case RankedBy::length: return "length";
    case RankedBy::bytes: return "bytes";
    case RankedBy::hop_bytes: return "hop-bytes";
    case RankedBy::load: return "heaviest link";
    case RankedBy::out_degree: return "out-degree";
    case RankedBy::in_degree: return "in-degree";
  }
  return "";
}

RouteRanking rank_by(RankedBy by, const RankingValues& values) {
  struct Entry {
    double value, bytes;
    std::uint32_t index;
  };
  std::vector<Entry> entries;
  if (ranks_vertices(by)) {
    const std::vector<double>& bytes = by == RankedBy::out_degree ? values.out_bytes : values.in_bytes;
    for (std::uint32_t v = 0; v < bytes.size(); ++v)
      if (bytes[v] > 0) entries.push_back({bytes[v], 0, v});
  } else {
    entries.reserve(values.routes.size());
    for (std::uint32_t i = 0; i < values.routes.size(); ++i)
      if (leaves(values.routes[i]))
        entries.push_back({value_of(by, values.routes[i], values.heaviest[i]), values.routes[i].bytes, i});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tuple(b.value, b.bytes, a.index) < std::tuple(a.value, a.bytes, b.index);
  });
  RouteRanking ranking{by, {}, {}};
  ranking.order.reserve(entries.size());
  ranking.values.reserve(entries.size());
  for (const Entry& entry : entries) {
    ranking.order.push_back(entry.index);
    ranking.values.push_back(entry.value);
  }
  return ranking;
}

std::size_t top_count(std::size_t count, double percent) {
  const double share = std::isfinite(percent) ? std::clamp(percent, 0.0, 100.0) / 100 : 0;
  const auto held = static_cast<std::size_t>(std::ceil(static_cast<double>(count) * share - 1e-9));
  return std::min(count, std::max<std::size_t>(held, 1));
}

std::vector<std::uint32_t> routes_between(const RouteRanking& ranking, const std::vector<mapping::Route>& routes,
                                          std::size_t first, std::size_t end) {
  end = std::min(end, ranking.order.size());
  first = std::min(first, end);
  const auto begin = ranking.order.begin() + static_cast<std::ptrdiff_t>(first),
             stop = ranking.order.begin() + static_cast<std::ptrdiff_t>(end);
  if (!ranks_vertices(ranking.by)) {
    std::vector<std::uint32_t> held(begin, stop);
    std::sort(held.begin(), held.end());
    return held;
  }
  const std::int32_t largest = first == end ? -1 : static_cast<std::int32_t>(*std::max_element(begin, stop));
  std::vector<bool> chosen(static_cast<std::size_t>(largest + 1), false);
  for (auto vertex = begin; vertex != stop; ++vertex) chosen[*vertex] = true;
  std::vector<std::uint32_t> held;
  for (std::uint32_t i = 0; i < routes.size(); ++i) {
    const std::vector<std::int32_t>& path = routes[i].path;
    if (path.size() < 2) continue;
    const auto from = path.begin() + (ranking.by == RankedBy::in_degree ? 1 : 0);
    const bool any = std::any_of(from, from + static_cast<std::ptrdiff_t>(path.size()) - 1, [&](std::int32_t vertex) {
      return vertex <= largest && chosen[static_cast<std::size_t>(vertex)];
    });
    if (any) held.push_back(i);
  }
  return held;
}

float RankingPlot::x(double place) const {
  return area.low.x + area.width() * static_cast<float>(count > 0 ? place / static_cast<double>(count) : 0);
}

double RankingPlot::place(float x) const {
  if (area.width() <= 0) return 0;
  const double share = std::clamp(static_cast<double>((x - area.low.x) / area.width()), 0.0, 1.0);
  return share * static_cast<double>(count);
}

float RankingPlot::y(double value) const {
  double share = 0;
  if (logarithmic) {
    if (value > least) share = std::log(value / least) / std::log(most / least);
  } else {
    share = (value - least) / (most - least);
  }
  return area.high.y - area.height() * static_cast<float>(std::clamp(share, 0.0, 1.0));
}

// A logarithmic axis ends at the least value that is not zero, or a millionth of the largest.
RankingPlot ranking_plot(const RouteRanking& ranking, const Rect& area, bool logarithmic) {
  RankingPlot plot{area, ranking.values.size(), 0, 1, logarithmic};
  if (!ranking.values.empty() && ranking.values.front() > 0) plot.most = ranking.values.front();
  if (!logarithmic) return plot;
  const auto zero = std::partition_point(ranking.values.begin(), ranking.values.end(), [](double v) { return v > 0; });
  const double smallest = zero == ranking.values.begin() ? plot.most : *(zero - 1);
  plot.least = std::max(plot.most * least_range, std::min(smallest, plot.most / 10));
  return plot;
}

std::vector<RankingColumn> ranking_columns(const RouteRanking& ranking, const RankingPlot& plot) {
  std::vector<RankingColumn> columns;
  if (plot.count == 0) return columns;
  const auto wide = static_cast<std::size_t>(std::max(plot.area.width(), 0.f));
  for (std::size_t column = 0; column < wide; ++column) {
    const std::size_t first = column * plot.count / wide, end = std::max(first + 1, (column + 1) * plot.count / wide);
    columns.push_back({plot.area.low.x + static_cast<float>(column), ranking.values[first], ranking.values[end - 1]});
  }
  return columns;
}

}  // namespace pclscope::layout
