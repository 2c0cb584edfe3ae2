// Several routes at a time. After one by one nobody on the most loaded link has a way that is lighter; but a way may be
// so but for a link or two, whose routes have other ways.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analysis/mapping/index.hpp"
#include "analysis/mapping/reroute.hpp"

namespace pclscope::mapping {
namespace {

constexpr std::size_t most_blocked = 2;       // links of a way on which others make room
constexpr std::size_t most_leavers = 64;      // of the most loaded link that are tried
constexpr std::size_t most_yielding = 24;     // of those on a blocked link
constexpr std::size_t most_searches = 40000;  // in all

class Together {
 public:
  Together(const LinkGraph& graph, Rerouter& rerouter, std::vector<Route>& routes,
           const std::vector<std::size_t>& chosen, const std::vector<std::int32_t>& limit)
      : graph_(graph), rerouter_(rerouter), routes_(routes), chosen_(chosen), limit_(limit) {
    for (std::uint32_t k = 0; k < chosen.size(); ++k)
      for (const std::int32_t link : links_of(routes[chosen[k]].path)) users_[link].push_back(k);
  }

  std::size_t run() {
    std::size_t times = 0;
    while (searches_ < most_searches) {
      const LinkLoads& loads = rerouter_.loads();
      if (loads.empty()) break;
      const auto heaviest = std::max_element(loads.begin(), loads.end());
      const double load = *heaviest;
      if (!(load > 0) || !lighten(static_cast<std::int32_t>(heaviest - loads.begin()), load * (1 - 1e-9))) break;
      ++times;
    }
    return times;
  }

 private:
  struct Move {
    std::uint32_t who;
    std::vector<std::int32_t> path;  // before
  };

  Route& route(std::uint32_t k) { return routes_[chosen_[k]]; }

  std::vector<std::int32_t> links_of(const std::vector<std::int32_t>& path) const {
    std::vector<std::int32_t> links;
    for (std::size_t i = 1; i < path.size(); ++i) links.push_back(graph_.find(path[i - 1], path[i]));
    return links;
  }

  // Those on the link that have something to take along, the smallest first.
  std::vector<std::uint32_t> users(std::int32_t link) {
    std::vector<std::uint32_t> list;
    for (const std::uint32_t k : users_[link])
      if (route(k).bytes > 0) list.push_back(k);
    std::sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
      return route(a).bytes != route(b).bytes ? route(a).bytes < route(b).bytes : a < b;
    });
    return list;
  }

  std::vector<std::int32_t> way(std::uint32_t k, double most, std::int32_t avoided) {
    ++searches_;
    return rerouter_.lightest_way(route(k), limit_[k], most, avoided);
  }

  void take(std::uint32_t k, std::vector<std::int32_t> path) {
    for (const std::int32_t link : links_of(route(k).path)) std::erase(users_[link], k);
    for (const std::int32_t link : links_of(path)) users_[link].push_back(k);
    rerouter_.apply(route(k), {std::move(path), 0, 0, true});
  }

  void move(std::uint32_t k, std::vector<std::int32_t> path) {
    moved_.push_back({k, route(k).path});
    take(k, std::move(path));
  }
  void undo() {
    for (; !moved_.empty(); moved_.pop_back()) take(moved_.back().who, std::move(moved_.back().path));
  }

  // Some route leaves the link, and no link has more than `most` then that had not before.
  bool lighten(std::int32_t link, double most) {
    std::size_t left = most_leavers;
    for (const std::uint32_t k : users(link)) {
      if (left-- == 0 || searches_ >= most_searches) break;
      moved_.clear();
      if (auto path = way(k, most, link); !path.empty()) {
        move(k, std::move(path));
        return true;
      }
      auto path = way(k, INFINITY, link);
      if (path.empty()) continue;
      const std::vector<std::int32_t> links = links_of(path);
      move(k, std::move(path));
      std::vector<std::int32_t> blocked;
      for (const std::int32_t one : links)
        if (rerouter_.loads()[at(one)] > most) blocked.push_back(one);
      if (blocked.size() <= most_blocked &&
          std::all_of(blocked.begin(), blocked.end(), [&](std::int32_t one) { return make_room(one, k, most); }))
        return true;
      undo();
    }
    return false;
  }

  // Another one than `who` leaves the link, which then has no more than `most`.
  bool make_room(std::int32_t link, std::uint32_t who, double most) {
    std::size_t left = most_yielding;
    if (rerouter_.loads()[at(link)] <= most) return true;  // made already
    for (const std::uint32_t k : users(link)) {
      if (k == who || rerouter_.loads()[at(link)] - route(k).bytes > most) continue;
      if (left-- == 0) break;
      auto path = way(k, most, link);
      if (path.empty()) continue;
      move(k, std::move(path));
      return true;
    }
    return false;
  }

  const LinkGraph& graph_;
  Rerouter& rerouter_;
  std::vector<Route>& routes_;
  const std::vector<std::size_t>& chosen_;
  const std::vector<std::int32_t>& limit_;
  std::unordered_map<std::int32_t, std::vector<std::uint32_t>> users_;  // of each link
  std::vector<Move> moved_;
  std::size_t searches_ = 0;
};

}  // namespace

std::size_t lighten_together(const LinkGraph& graph, Rerouter& rerouter, std::vector<Route>& routes,
                             const std::vector<std::size_t>& chosen, const std::vector<std::int32_t>& limit) {
  return Together(graph, rerouter, routes, chosen, limit).run();
}

}  // namespace pclscope::mapping
