// Rankings of routes and vertices: by hand, and against plain sums and sorts of random ones.
#include "viewer/layout/route_ranking.hpp"

#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <set>

#include "analysis/mapping/link_load.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::layout;

namespace {

struct Case {
  mapping::RouteSet set;
  std::vector<double> heaviest, out, in;
  RankingValues values() const { return {set.routes, heaviest, out, in}; }
};

// Degrees by plain sums over the hops.
Case with_loads(mapping::RouteSet set) {
  Case made{std::move(set), {}, {}, {}};
  const auto graph = mapping::LinkGraph::of(made.set);
  made.heaviest = mapping::heaviest_of(graph, mapping::link_loads(graph, made.set.routes), made.set.routes);
  made.out.assign(static_cast<std::size_t>(made.set.vertices), 0);
  made.in = made.out;
  for (const auto& route : made.set.routes)
    for (std::size_t i = 1; i < route.path.size(); ++i) {
      made.out[static_cast<std::size_t>(route.path[i - 1])] += route.bytes;
      made.in[static_cast<std::size_t>(route.path[i])] += route.bytes;
    }
  return made;
}

Case on_a_line() {  // 0 - 1 - 2 - 3
  mapping::RouteSet set;
  set.vertices = 4;
  set.routes = {{0, 1, 10, {0, 1}}, {0, 3, 5, {0, 1, 2, 3}}, {1, 2, 7, {1, 2}}, {2, 2, 99, {2}}, {3, 2, 7, {3, 2}}};
  return with_loads(std::move(set));
}

Case random_routes(std::mt19937_64& random, std::int32_t vertices, std::size_t routes) {
  mapping::RouteSet set;
  set.vertices = vertices;
  for (std::size_t i = 0; i < routes; ++i) {
    mapping::Route route{static_cast<std::int32_t>(i), static_cast<std::int32_t>(i), double(random() % 20), {}};
    auto vertex = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(vertices));
    for (std::uint64_t left = 1 + random() % 6; left > 0; --left) {
      route.path.push_back(vertex);
      vertex = (vertex + 1) % vertices;
    }
    set.routes.push_back(std::move(route));
  }
  return with_loads(std::move(set));
}

using Places = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("four routes on a line: ranked as by hand, those within a vertex left out") {
  const Case line = on_a_line();
  // Loads: 0>1 15, 1>2 12, 2>3 5, 3>2 7.
  CHECK(rank_by(RankedBy::length, line.values()).order == Places{1, 0, 2, 4});
  CHECK(rank_by(RankedBy::bytes, line.values()).order == Places{0, 2, 4, 1});
  CHECK(rank_by(RankedBy::hop_bytes, line.values()).values == std::vector<double>{15, 10, 7, 7});
  const RouteRanking load = rank_by(RankedBy::load, line.values());
  CHECK(load.order == Places{0, 1, 2, 4});  // 15 twice: more bytes first
  CHECK(load.values == std::vector<double>{15, 15, 12, 7});
  const RouteRanking out = rank_by(RankedBy::out_degree, line.values()),
                     in = rank_by(RankedBy::in_degree, line.values());
  CHECK(out.order == Places{0, 1, 3, 2});
  CHECK(out.values == std::vector<double>{15, 12, 7, 5});
  CHECK(in.order == Places{2, 1, 3});  // nothing goes to 0
  CHECK(in.values == std::vector<double>{19, 15, 5});
  CHECK(routes_between(load, line.set.routes, 1, 3) == Places{1, 2});
  CHECK(routes_between(out, line.set.routes, 3, 4) == Places{1});       // out of 2
  CHECK(routes_between(in, line.set.routes, 0, 1) == Places{1, 2, 4});  // into 2
  CHECK(routes_between(in, line.set.routes, 3, 9).empty());
  CHECK(top_count(1460, 5) == 73);
  CHECK(top_count(100, 5) == 5);
  CHECK(top_count(3, 5) == 1);
  CHECK(top_count(3, 100) == 3);
  CHECK(top_count(0, 5) == 0);
}

TEST_CASE("rankings of random routes: sorted, whole, the order of the route command, and brushes that partition them") {
  const std::uint64_t seed = test::random_seed() + 11;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    const Case made = random_routes(random, 3 + static_cast<std::int32_t>(random() % 40), random() % 300);
    for (std::size_t i = 0; i < ranked_by_count; ++i) {
      const auto by = static_cast<RankedBy>(i);
      const RouteRanking ranking = rank_by(by, made.values());
      REQUIRE(ranking.order.size() == ranking.values.size());
      CHECK(std::is_sorted(ranking.values.rbegin(), ranking.values.rend()));
      CHECK(std::set(ranking.order.begin(), ranking.order.end()).size() == ranking.order.size());
      const auto all = routes_between(ranking, made.set.routes, 0, ranking.order.size());
      CHECK(std::is_sorted(all.begin(), all.end()));
      std::size_t leaving = 0;
      double bytes = 0;
      for (const auto& route : made.set.routes) {
        leaving += route.length() > 0 && (route.bytes > 0 || !ranks_vertices(by));
        bytes += route.hop_bytes();
      }
      // Among those over a vertex with bytes there may be some without.
      if (ranks_vertices(by)) {
        CHECK(all.size() >= leaving);
        CHECK(std::accumulate(ranking.values.begin(), ranking.values.end(), 0.0) == bytes);
        continue;
      }
      CHECK(all.size() == leaving);
      const std::size_t cut = ranking.order.empty() ? 0 : random() % ranking.order.size();
      const auto first = routes_between(ranking, made.set.routes, 0, cut),
                 second = routes_between(ranking, made.set.routes, cut, ranking.order.size());
      Places both(first);
      both.insert(both.end(), second.begin(), second.end());
      std::sort(both.begin(), both.end());
      CHECK(both == all);
    }
    using mapping::RouteMetric;
    for (const auto& [by, metric] :
         {std::pair(RankedBy::length, RouteMetric::length), std::pair(RankedBy::load, RouteMetric::load),
          std::pair(RankedBy::hop_bytes, RouteMetric::hop_bytes)}) {
      std::vector<std::size_t> told = mapping::rank_routes(made.set.routes, metric, made.heaviest);
      std::erase_if(told, [&](std::size_t i) { return made.set.routes[i].length() == 0; });
      CHECK(Places(told.begin(), told.end()) == rank_by(by, made.values()).order);
    }
  }
}

TEST_CASE("a plot of a ranking: places and pixels go both ways, each place is in a column, values keep their order") {
  const std::uint64_t seed = test::random_seed() + 12;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    const Case made = random_routes(random, 12, 1 + random() % 3000);
    const RouteRanking ranking = rank_by(static_cast<RankedBy>(random() % ranked_by_count), made.values());
    const Rect area{{10, 20}, {10 + static_cast<float>(1 + random() % 700), 220}};
    const RankingPlot plot = ranking_plot(ranking, area, round % 2 == 0);
    const auto columns = ranking_columns(ranking, plot);
    if (ranking.order.empty()) {
      CHECK(columns.empty());
      continue;
    }
    REQUIRE(columns.size() == static_cast<std::size_t>(area.width()));
    CHECK(columns.front().most == ranking.values.front());
    CHECK(columns.back().least == ranking.values.back());
    double last = ranking.values.front();
    for (const RankingColumn& column : columns) {
      CHECK(column.most <= last);
      CHECK(column.least <= column.most);
      CHECK(area.holds({column.x, plot.y(column.most)}));
      last = column.least;
    }
    for (std::size_t place = 0; place < plot.count; place += 1 + plot.count / 50)
      CHECK(plot.place(plot.x(static_cast<double>(place))) ==
            Approx(static_cast<double>(place)).margin(0.01 * static_cast<double>(plot.count)));
    CHECK(plot.place(-1e9f) == 0);
    CHECK(plot.place(1e9f) == static_cast<double>(plot.count));
    CHECK(plot.y(plot.most) == Approx(area.low.y));
    CHECK(plot.y(0) == Approx(area.high.y));
  }
}
