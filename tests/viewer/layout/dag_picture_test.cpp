#include "viewer/layout/dag_picture.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <set>

#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/layout/dag_random.hpp"
#include "viewer/layout/dag_image.hpp"

using namespace pclscope;
using namespace pclscope::layout;

namespace {

constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

DagPicture picture_of(Dag dag, std::vector<std::int32_t> folds = {}, std::size_t budget = all) {
  return make_dag_picture({std::make_shared<const Dag>(std::move(dag)), nullptr, std::move(folds), budget, 1.6f});
}

// Messages among few ranks for long: many layers, few nodes in each.
Dag long_dag(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return test::random_dag(random, 300, 500, 8);
}

}  // namespace

TEST_CASE("a graph that fits is not folded; one that does not, is, so that about as many glyphs are left as wanted") {
  const Dag dag = long_dag(1);
  CHECK(picture_of(dag, {}, 300).dag.nodes.size() == 300);
  CHECK(automatic_folds(layers_of(dag), 300).empty());
  const auto layer = layers_of(dag);
  const auto first = static_cast<std::size_t>(std::count(layer.begin(), layer.end(), 0));
  std::size_t last = 0;
  for (const std::size_t budget : {std::size_t{1}, first, std::size_t{120}, std::size_t{200}}) {
    const DagPicture picture = picture_of(dag, {}, budget);
    CHECK(picture.dag.nodes.size() <= std::max(budget, first));
    CHECK(picture.dag.nodes.size() >= last);
    last = picture.dag.nodes.size();
  }
  CHECK(last > 100);
}

TEST_CASE("every node of the whole is in exactly one glyph, and place says in which") {
  const DagPicture picture = picture_of(long_dag(2), {3, 40}, 100);
  std::vector<int> times(picture.whole().nodes.size());
  for (std::size_t i = 0; i < picture.stands_for.size(); ++i) {
    for (const std::int32_t node : picture.stands_for[i]) {
      ++times[static_cast<std::size_t>(node)];
      CHECK(picture.place[static_cast<std::size_t>(node)] == static_cast<std::int32_t>(i));
    }
  }
  CHECK(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }));
}

TEST_CASE("what stays visible when nodes are folded keeps its layer and its order in it") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const Dag dag = test::random_dag(random, 60, 90, 6);
    const DagPicture whole = picture_of(dag), folded = picture_of(dag, {static_cast<std::int32_t>(random() % 20)}, 50);
    for (std::size_t a = 0; a < folded.stands_for.size(); ++a) {
      if (folded.is_fold(a)) continue;
      const auto old_a = static_cast<std::size_t>(folded.stands_for[a].front());
      CHECK(folded.layout.layer[a] == whole.layout.layer[old_a]);
      for (std::size_t b = 0; b < folded.stands_for.size(); ++b) {
        const auto old_b = static_cast<std::size_t>(folded.stands_for[b].front());
        if (folded.is_fold(b) || folded.layout.layer[a] != folded.layout.layer[b]) continue;
        CHECK((folded.layout.at[a].y < folded.layout.at[b].y) == (whole.layout.at[old_a].y < whole.layout.at[old_b].y));
      }
    }
  }
}

TEST_CASE("the basis of the same graph is used again, that of another is not") {
  const auto dag = std::make_shared<const Dag>(long_dag(3)), other = std::make_shared<const Dag>(long_dag(4));
  const DagPicture first = make_dag_picture({dag, nullptr, {}, 100, 1});
  CHECK(make_dag_picture({dag, first.basis, {5}, 100, 1}).basis == first.basis);
  CHECK(make_dag_picture({other, first.basis, {5}, 100, 1}).basis->dag == other);
}

TEST_CASE("links beyond a node are those of all before it, or after it, without its own") {
  const DagPicture picture = picture_of(long_dag(5));
  const auto edge = [&](std::int32_t route) {
    return picture.dag.edges[static_cast<std::size_t>(picture.routes[static_cast<std::size_t>(route)].edge)];
  };
  for (const std::int32_t node : {0, 17, 150, 299}) {
    std::set<std::int32_t> before = {node}, after = {node};  // the closure by its definition
    for (auto e = picture.dag.edges.rbegin(); e != picture.dag.edges.rend(); ++e)
      if (before.count(e->to)) before.insert(e->from);
    for (bool grew = true; grew;) {
      grew = false;
      for (const DagEdge& e : picture.dag.edges) {
        grew |= after.count(e.from) && after.insert(e.to).second;
        grew |= before.count(e.to) && before.insert(e.from).second;
      }
    }
    const auto count = [&](const std::set<std::int32_t>& closure, bool backwards) {
      return std::count_if(picture.dag.edges.begin(), picture.dag.edges.end(), [&](const DagEdge& e) {
        return closure.count(backwards ? e.to : e.from) && (backwards ? e.to : e.from) != node;
      });
    };
    for (const bool backwards : {true, false}) {
      const auto found = routes_beyond(picture, node, backwards, 100000);
      CHECK(static_cast<std::ptrdiff_t>(found.size()) == count(backwards ? before : after, backwards));
      for (const std::int32_t route : found)
        CHECK((backwards ? before.count(edge(route).to) : after.count(edge(route).from)) == 1);
      CHECK(routes_beyond(picture, node, backwards, 2).size() == std::min<std::size_t>(2, found.size()));
    }
  }
}

TEST_CASE("the image of a graph has its links and glyphs in it, late ones in another colour") {
  Dag dag;
  for (std::int32_t i = 0; i < 4; ++i) dag.nodes.push_back({i, i / 2, 0, 0, {}, {}});
  dag.edges = {{0, 2, 1, 8, 1}, {1, 3, 1, 8, 8}};
  const auto picture = std::make_shared<const DagPicture>(picture_of(dag));
  const DagImage drawn =
      draw_dag({picture, picture->layout.bounds, 10, 2, &palette(Theme::dark)}, [] { return false; });
  REQUIRE(drawn.image.width > 60);
  const auto colour_at = [&](Point at) {
    const Point p = (at - picture->layout.bounds.low) * 10;
    const auto* pixel = &drawn.image.rgba[(static_cast<std::size_t>(p.y) * static_cast<std::size_t>(drawn.image.width) +
                                           static_cast<std::size_t>(p.x)) *
                                          4];
    return Rgba{pixel[0], pixel[1], pixel[2], pixel[3]};
  };
  for (const Point at : picture->layout.at) CHECK(colour_at(at).alpha > 200);
  const Rgba calm = colour_at((picture->layout.at[0] + picture->layout.at[2]) * 0.5f),
             late = colour_at((picture->layout.at[1] + picture->layout.at[3]) * 0.5f);
  CHECK(calm.alpha > 30);
  CHECK(late.alpha > 150);
  CHECK(late.red > late.blue + 40);
  CHECK(std::abs(calm.red - calm.blue) < 40);
  CHECK(draw_dag({picture, picture->layout.bounds, 10, 2, &palette(Theme::dark)}, [] { return true; }).image.width ==
        0);
}

TEST_CASE("20,000 messages among 1,152 ranks and among 4: laid out, routed, folded") {
  for (const auto& [ranks, rounds] : {std::pair{1152, 18}, std::pair{4, 5000}}) {
    const DagPicture picture = picture_of(test::fake_dag(ranks, rounds), {}, 300);
    CHECK(picture.dag.nodes.size() < picture.whole().nodes.size());
    const DagPicture open = make_dag_picture({picture.basis->dag, picture.basis, {}, all, 1.6f});
    CHECK(open.routes.size() == open.dag.edges.size());
  }
}

TEST_CASE("pictures of broken graphs") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto dag = std::make_shared<const Dag>(test::broken_dag(random));
    if (dag->nodes.empty()) continue;
    for (const std::size_t budget : {std::size_t{0}, std::size_t{3}, all}) {
      const auto picture =
          std::make_shared<const DagPicture>(make_dag_picture({dag, nullptr, {-5, 0, 2, 1000}, budget, 1.6f}));
      CHECK(picture->glyphs.size() == picture->dag.nodes.size());
      CHECK(picture->layout.at.size() == picture->dag.nodes.size());
      for (std::size_t i = 0; i < picture->dag.nodes.size(); ++i)
        CHECK(routes_beyond(*picture, static_cast<std::int32_t>(i), true, 50).size() <= 50);
      CHECK(draw_dag({picture, picture->layout.bounds, 4, 1, &palette(Theme::light)}, [] {
              return false;
            }).image.width > 0);
    }
  }
}

TEST_CASE("a load imbalance is shown where ranks differ by more than a few messages in a hundred") {
  Dag dag;
  for (std::int32_t r = 0; r < 4; ++r) dag.ranks.push_back({r, 0, 100, 1.0, 2.0});
  dag.ranks[3].messages = 101;  // LB 1 or more, of next to nothing
  for (const DagRank& rank : dag.ranks) CHECK(significant_balance(dag, rank) == 0);
  dag.ranks[3].messages = 150;
  CHECK(significant_balance(dag, dag.ranks[3]) == 1);
  CHECK(significant_balance(dag, dag.ranks[0]) == 1);                      // 12.5 below the mean of 112.5
  for (DagRank& rank : dag.ranks) rank.messages = rank.rank == 3 ? 3 : 2;  // less than a message apart
  CHECK(significant_balance(dag, dag.ranks[3]) == 0);
}

TEST_CASE("ellipses have the colour of their compute node, and of their own messages where there is only one") {
  Dag dag = test::fake_dag(4, 3);
  for (DagRank& rank : dag.ranks) rank.compute_node = rank.rank % 2, rank.node_ratio = 1 + rank.rank % 2;
  const DagPicture two = picture_of(dag);
  for (std::size_t i = 0; i < two.dag.nodes.size(); ++i) CHECK(ellipse_ratio(two, i) == 1 + two.dag.nodes[i].rank % 2);
  for (DagRank& rank : dag.ranks) rank.compute_node = 7;
  const DagPicture one = picture_of(dag);
  std::set<double> seen;
  for (std::size_t i = 0; i < one.dag.nodes.size(); ++i) {
    double sum = 0;
    for (const DagMessage& m : one.dag.nodes[i].received) sum += m.ratio;
    const auto count = static_cast<double>(one.dag.nodes[i].received.size());
    CHECK(ellipse_ratio(one, i) == Approx(count == 0 ? 0 : sum / count));
    seen.insert(ellipse_ratio(one, i));
  }
  CHECK(seen.size() > 2);
}
