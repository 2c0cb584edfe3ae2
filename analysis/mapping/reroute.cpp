#include "analysis/mapping/reroute.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "analysis/mapping/index.hpp"

namespace pclscope::mapping {
namespace {

// Loads are sums of many doubles: less is less only beyond their rounding.
bool clearly_less(double a, double b) { return a < b * (1 - 1e-12); }

}  // namespace

Rerouter::Rerouter(const LinkGraph& graph, LinkLoads loads)
    : graph_(graph),
      loads_(std::move(loads)),
      from_source_(at(graph.vertices()), -1),
      to_goal_(from_source_),
      place_at_(from_source_),
      own_(at(graph.links())) {}

// The present path's links carry the route's bytes already.
double Rerouter::load_with(std::int32_t link, double bytes) const {
  return own_[at(link)] ? loads_[at(link)] : loads_[at(link)] + bytes;
}

// Hops from the source over links of at most `most`; how far the goal is, within `limit` (it is: on the present path).
std::int32_t Rerouter::reach_forwards(const Route& route, double most, std::int32_t limit) {
  reached_.assign(1, route.path.front());
  from_source_[at(route.path.front())] = 0;
  for (std::size_t head = 0; head < reached_.size(); ++head) {
    const std::int32_t v = reached_[head], hops = from_source_[at(v)] + 1;
    if (hops > limit) break;
    for (std::int32_t link = graph_.first(v); link < graph_.last(v); ++link) {
      const std::int32_t next = graph_.to(link);
      if (from_source_[at(next)] >= 0 || load_with(link, route.bytes) > most) continue;
      from_source_[at(next)] = hops;
      reached_.push_back(next);
    }
  }
  return from_source_[at(route.path.back())];
}

std::int32_t Rerouter::place_of(std::int32_t vertex) {
  if (place_at_[at(vertex)] < 0) {
    place_at_[at(vertex)] = static_cast<std::int32_t>(places_.size());
    places_.push_back({vertex, -1, -1, 0});
  }
  return place_at_[at(vertex)];
}

// Backwards from the goal, to vertices that are near enough to both ends: what remains is all paths of at most `limit`.
void Rerouter::collect_steps(const Route& route, double most, std::int32_t limit) {
  back_.assign(1, route.path.back());
  to_goal_[at(route.path.back())] = 0;
  places_.clear();
  steps_.clear();
  place_of(route.path.front());
  place_of(route.path.back());
  for (std::size_t head = 0; head < back_.size(); ++head) {
    const std::int32_t v = back_[head], hops = to_goal_[at(v)] + 1;
    for (std::int32_t out = graph_.first(v); out < graph_.last(v); ++out) {
      const std::int32_t link = graph_.reverse(out), from = graph_.to(out);
      if (from_source_[at(from)] < 0 || from_source_[at(from)] + hops > limit) continue;
      const double load = load_with(link, route.bytes);
      if (load > most) continue;
      const std::int32_t a = place_of(from), b = place_of(v);
      steps_.push_back({a, b, load});
      if (to_goal_[at(from)] >= 0) continue;
      to_goal_[at(from)] = hops;
      back_.push_back(from);
    }
  }
  sort_steps();
}

// By `from`; those of one place as they were found.
void Rerouter::sort_steps() {
  first_step_.assign(places_.size() + 2, 0);
  for (const Step& step : steps_) ++first_step_[at(step.from) + 2];
  std::partial_sum(first_step_.begin(), first_step_.end(), first_step_.begin());
  found_.swap(steps_);
  steps_.resize(found_.size());
  for (const Step& step : found_) steps_[first_step_[at(step.from) + 1]++] = step;
}

// Breadth first from place 0; true when place 1 is within `limit`. Of equally short ways the one with the smallest sum.
bool Rerouter::search(double most, std::int32_t limit) {
  for (Place& place : places_) place.hops = -1;
  places_[0].hops = 0;
  places_[0].sum = 0;
  queue_.assign(1, 0);
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const std::int32_t p = queue_[head];
    const std::int32_t hops = places_[at(p)].hops + 1;
    if (hops > limit || (places_[1].hops >= 0 && hops > places_[1].hops)) break;
    for (std::size_t s = first_step_[at(p)]; s < first_step_[at(p) + 1]; ++s) {
      if (steps_[s].load > most) continue;
      Place& next = places_[at(steps_[s].to)];
      const double sum = places_[at(p)].sum + steps_[s].load;
      if (next.hops < 0) queue_.push_back(steps_[s].to);
      if (next.hops >= 0 && (next.hops != hops || next.sum <= sum)) continue;
      next.hops = hops;
      next.sum = sum;
      next.via = static_cast<std::int32_t>(s);
    }
  }
  return places_[1].hops >= 0;
}

double Rerouter::smallest_threshold(std::int32_t limit) {
  values_.clear();
  for (const Step& step : steps_) values_.push_back(step.load);
  std::sort(values_.begin(), values_.end());
  values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
  std::size_t low = 0, high = values_.size() - 1;  // the largest permits everything
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    search(values_[middle], limit) ? high = middle : low = middle + 1;
  }
  return values_[low];
}

// The smallest heaviest link of all ways within `limit`; there is one over links of at most `most`.
double Rerouter::lightest(const Route& route, double most, std::int32_t limit) {
  forget();
  reach_forwards(route, most, limit);
  collect_steps(route, most, limit);
  return smallest_threshold(limit);
}

void Rerouter::forget() {
  for (const std::int32_t v : reached_) from_source_[at(v)] = -1;
  for (const std::int32_t v : back_) to_goal_[at(v)] = -1;
  for (const Place& place : places_) place_at_[at(place.vertex)] = -1;
}

std::vector<std::int32_t> Rerouter::read_path() const {
  std::vector<std::int32_t> path{places_[1].vertex};
  for (std::int32_t p = 1; p != 0;) {
    p = steps_[at(places_[at(p)].via)].from;
    path.push_back(places_[at(p)].vertex);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

Reroute Rerouter::suggest(const Route& route, const RerouteRule& rule) {
  Reroute result{route.path, 0, 0, false};
  if (route.length() < 1) return result;
  for (std::size_t i = 1; i < route.path.size(); ++i) own_[at(graph_.find(route.path[i - 1], route.path[i]))] = true;
  const double most = result.load_before = heaviest_on(graph_, loads_, route.path);
  const std::int32_t limit = std::min(graph_.vertices(), route.length() + std::min(rule.delta, graph_.vertices()));
  forget();
  const std::int32_t shortest = reach_forwards(route, most, limit);
  result.load_after = lightest(route, most, shortest);
  // Longer ways can only be lighter than the best of the short ones: few links are left to look at.
  if (rule.criterion == Criterion::load && limit > shortest)
    result.load_after = lightest(route, result.load_after, limit);
  search(result.load_after, limit);
  const std::int32_t hops = places_[1].hops;
  const bool less = clearly_less(result.load_after, most);
  result.changed = rule.criterion == Criterion::length ? hops < route.length() || (hops == route.length() && less)
                                                       : less || hops < route.length();
  if (result.changed) result.path = read_path();
  if (!result.changed) result.load_after = most;
  for (std::size_t i = 1; i < route.path.size(); ++i) own_[at(graph_.find(route.path[i - 1], route.path[i]))] = false;
  return result;
}

std::vector<std::int32_t> Rerouter::lightest_way(const Route& route, std::int32_t limit, double most,
                                                 std::int32_t avoided) {
  const auto mark = [&](bool as) {
    for (std::size_t i = 1; i < route.path.size(); ++i) own_[at(graph_.find(route.path[i - 1], route.path[i]))] = as;
  };
  if (route.length() < 1) return {};
  const double load = std::exchange(loads_[at(avoided)], INFINITY);
  mark(true);
  forget();
  back_.clear();
  places_.clear();
  std::vector<std::int32_t> path;
  const std::int32_t hops = reach_forwards(route, most, limit);
  if (hops >= 0 && hops <= limit) {
    search(lightest(route, most, limit), limit);
    path = read_path();
  }
  mark(false);
  loads_[at(avoided)] = load;
  return path;
}

void Rerouter::apply(Route& route, const Reroute& reroute) {
  if (!reroute.changed) return;
  const auto add = [&](const std::vector<std::int32_t>& path, double bytes) {
    for (std::size_t i = 1; i < path.size(); ++i) {
      double& load = loads_[at(graph_.find(path[i - 1], path[i]))];
      load = std::max(0.0, load + bytes);
    }
  };
  add(route.path, -route.bytes);
  add(reroute.path, route.bytes);
  route.path = reroute.path;
}

namespace {

// Indices into `chosen`: the longest, or the most loaded now, first; among equals more bytes first.
std::vector<std::size_t> order_routes(const std::vector<Route>& routes, const std::vector<std::size_t>& chosen,
                                      Criterion criterion, const std::vector<double>& heaviest) {
  const auto value = [&](std::size_t i) {
    const Route& route = routes[chosen[i]];
    return std::tuple(criterion == Criterion::length ? double(route.length()) : heaviest[chosen[i]], route.bytes);
  };
  std::vector<std::size_t> order(chosen.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return value(a) > value(b); });
  return order;
}

}  // namespace

RerouteSummary reroute(const LinkGraph& graph, std::vector<Route>& routes, const std::vector<std::size_t>& chosen,
                       const RerouteRule& rule, const RerouteProgress& progress) {
  RerouteSummary summary;
  Rerouter rerouter(graph, link_loads(graph, routes));
  summary.before = summarise(rerouter.loads());
  summary.reroutes.resize(chosen.size());
  std::vector<std::vector<std::int32_t>> first;
  for (const std::size_t i : chosen) first.push_back(routes[i].path);
  const auto limits = [&] {
    std::vector<std::int32_t> limits;
    for (const auto& path : first)
      limits.push_back(static_cast<std::int32_t>(path.size()) - 1 + std::min(rule.delta, graph.vertices()));
    return limits;
  };
  for (bool moved = true; moved && summary.passes < rule.passes;) {
    moved = false;
    std::size_t done = 0;
    // The order is that of the pass's beginning: what moves on the way does not go to the end of the queue.
    for (const std::size_t i :
         order_routes(routes, chosen, rule.criterion, heaviest_of(graph, rerouter.loads(), routes))) {
      Route& route = routes[chosen[i]];
      const std::int32_t gained = static_cast<std::int32_t>(first[i].size()) - 1 - route.length();
      summary.reroutes[i] = rerouter.suggest(route, {rule.criterion, rule.delta + gained, 1});
      rerouter.apply(route, summary.reroutes[i]);
      moved |= summary.reroutes[i].changed;
      if (progress) progress(summary.passes + 1, ++done, chosen.size());
    }
    summary.passes += moved;
    // When nothing moves by itself any more; what then has moved may have made ways free.
    if (rule.together && (!moved || summary.passes == rule.passes)) {
      const std::size_t times = lighten_together(graph, rerouter, routes, chosen, limits());
      summary.together += times;
      moved = times > 0;
    }
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) summary.reroutes[i].path = routes[chosen[i]].path;
  for (std::size_t i = 0; i < chosen.size(); ++i) summary.changed += routes[chosen[i]].path != first[i];
  summary.after = summarise(link_loads(graph, routes));
  return summary;
}

}  // namespace pclscope::mapping
