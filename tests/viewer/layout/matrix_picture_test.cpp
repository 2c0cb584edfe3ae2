// The matrix of a network: orders, merging and folding by hand and on random networks, and what pixels show.
#include "viewer/layout/matrix_picture.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "analysis/mapping/topology.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::layout;

namespace {

struct Net {
  mapping::RouteSet set;
  std::shared_ptr<const mapping::LinkGraph> links;
};

Net net_of(const std::string& text, const mapping::Traffic& traffic) {
  auto topology = mapping::Topology::parse(text);
  INFO(text);
  REQUIRE(topology);
  std::vector<std::int32_t> nodes;
  for (std::int32_t r = 0; r < traffic.ranks; ++r) nodes.push_back(r % topology->nodes());
  auto set = mapping::routes_of(traffic, *topology, nodes);
  REQUIRE(set);
  auto graph = mapping::LinkGraph::of(*topology);
  REQUIRE(graph);
  return {std::move(*set), std::make_shared<const mapping::LinkGraph>(std::move(*graph))};
}

mapping::Traffic random_traffic(std::mt19937_64& random, std::int32_t ranks, std::size_t flows) {
  std::map<std::pair<std::int32_t, std::int32_t>, double> bytes;
  for (std::size_t i = 0; i < flows; ++i) {
    const auto rank = [&] { return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(ranks)); };
    bytes[{rank(), rank()}] += static_cast<double>(1 + random() % 1000);
  }
  mapping::Traffic traffic{ranks, {}};
  for (const auto& [pair, sum] : bytes) traffic.flows.push_back({pair.first, pair.second, 1, sum});
  return traffic;
}

MatrixContent content_of(const Net& net, const std::vector<std::uint32_t>& shown,
                         std::shared_ptr<const MatrixOrder> order, int fold_level) {
  std::vector<mapping::Route> routes;
  for (const std::uint32_t i : shown) routes.push_back(net.set.routes[i]);
  auto loads = std::make_shared<const mapping::LinkLoads>(mapping::link_loads(*net.links, routes));
  return matrix_content(net.links, std::move(loads), net.set.routes, shown, std::move(order), fold_level);
}

std::vector<std::uint32_t> all_of(const mapping::RouteSet& set) {
  std::vector<std::uint32_t> all(set.routes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint32_t>(i);
  return all;
}

using Starts = std::vector<std::int32_t>;
constexpr const char* networks[] = {"torus:2x3x4",     "mesh:5x7",    "torus:4x4mx2@BCA", "hyperx:3x5",
                                    "dragonfly:5x4x2", "fattree:3x4", "nodes:9",          "torus:13"};

}  // namespace

TEST_CASE("a torus is merged from its last dimension on, halves before the whole") {
  const Net net = net_of("torus:2x2x4", {16, {}});
  const MatrixOrder order = matrix_order(net.set, MatrixOrderBy::coordinates);
  REQUIRE(order.blocks.size() == 5);
  CHECK(order.blocks[1] == Starts{0, 2, 4, 6, 8, 10, 12, 14});
  CHECK(order.blocks[2] == Starts{0, 4, 8, 12});
  CHECK(order.blocks[3] == Starts{0, 8});
  CHECK(order.blocks[4] == Starts{0});
  CHECK(order.names == std::vector<std::string>{"1 vertex", "C:2", "C", "B C", "A B C"});
  CHECK(level_for(order, 1, 1) == 0);
  CHECK(level_for(order, 0.6, 2) == 2);  // 4 vertices of 0.6 pixels
  CHECK(level_for(order, 0.01, 2) == 4);
  // A dimension of three is merged in a pair and one, then wholly.
  const MatrixOrder three = matrix_order(net_of("torus:2x3", {6, {}}).set, MatrixOrderBy::coordinates);
  CHECK(three.blocks[1] == Starts{0, 2, 3, 5});
  CHECK(three.blocks[2] == Starts{0, 3});
  // Networks without coordinates, and the order of numbers: neighbours.
  const MatrixOrder pairs = matrix_order(net_of("nodes:5", {5, {}}).set, MatrixOrderBy::coordinates);
  CHECK(pairs.blocks[1] == Starts{0, 2, 4});
  CHECK(pairs.blocks[2] == Starts{0, 4});
  CHECK(pairs.blocks.back() == Starts{0});
  mapping::RouteSet numbered;
  numbered.vertices = 3;
  numbered.coordinates = {{0, 0}, {0, 1}, {1, 0}};
  numbered.number = {7, 2, 5};
  CHECK(matrix_order(numbered, MatrixOrderBy::number).vertex == Starts{1, 2, 0});
  CHECK(matrix_order(numbered, MatrixOrderBy::number).place == Starts{2, 0, 1});
}

TEST_CASE("blocks without a route are folded into one line, others keep their size") {
  const Net net = net_of("torus:4x4", {16, {{0, 1, 1, 8}, {1, 13, 1, 4}}});  // 13 is (3 1), next to (0 1)
  const auto order = std::make_shared<const MatrixOrder>(matrix_order(net.set, MatrixOrderBy::coordinates));
  const MatrixContent content = content_of(net, {0, 1}, order, 2);  // rows of 4
  const MatrixAxis axis = matrix_axis(*order, 0, 2, content.used);
  REQUIRE(axis.lines.size() == 9);
  CHECK(axis.lines[4].folded);
  CHECK(axis.lines[4].first == 4);
  CHECK(axis.lines[4].end == 12);
  CHECK(axis.lines[4].size == 0.5);
  CHECK(axis.units == 8.5);
  CHECK(axis.line_of_place[11] == 4);
  CHECK(axis.line_of_place[13] == 6);
  CHECK(axis.line_at(4.2) == 4);
  CHECK(axis.line_at(4.6) == 5);
  CHECK(axis.line_at(8.5) == -1);
  CHECK(axis.line_at(-0.1) == -1);
  // The route 1 -> 13: from the diagonal along row 1 to column 6, down to the diagonal.
  const MatrixRoute route = matrix_route(*order, axis, *net.links, *content.loads, net.set.routes[1].path);
  using Points = std::vector<std::pair<double, double>>;
  CHECK(route.points == Points{{1.5, 1.5}, {6, 1.5}, {6, 6}});
  REQUIRE(route.links.size() == 1);
  CHECK(route.links[0].row == 1);
  CHECK(route.links[0].column == 6);
  CHECK(route.links[0].bytes == 4);
  // Merged by rows: the route within the first row is a point.
  const MatrixAxis rows = matrix_axis(*order, 2, -1, content.used);
  CHECK(matrix_route(*order, rows, *net.links, *content.loads, net.set.routes[0].path).points == Points{{2, 2}});
  // Without any route nothing is folded.
  const MatrixContent none = content_of(net, {}, order, 2);
  CHECK(matrix_axis(*order, 0, 2, none.used).lines.size() == 16);
}

TEST_CASE("whatever is merged and folded, cells hold all bytes of the shown routes, and all links unless folded") {
  const std::uint64_t seed = test::random_seed() + 21;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (const char* network : networks) {
    CAPTURE(network);
    const Net net = net_of(network, random_traffic(random, 9, 1 + random() % 12));
    std::vector<std::uint32_t> shown = all_of(net.set);
    std::erase_if(shown, [&](std::uint32_t) { return random() % 3 == 0; });
    double bytes = 0;
    for (const std::uint32_t i : shown) bytes += net.set.routes[i].hop_bytes();
    for (const MatrixOrderBy by : {MatrixOrderBy::coordinates, MatrixOrderBy::number}) {
      const auto order = std::make_shared<const MatrixOrder>(matrix_order(net.set, by));
      for (std::size_t level = 0; level < order->blocks.size(); ++level) {
        if (level > 0)  // coarser, and blocks are unions of blocks
          CHECK(std::includes(order->blocks[level - 1].begin(), order->blocks[level - 1].end(),
                              order->blocks[level].begin(), order->blocks[level].end()));
        for (int fold = -1; fold < static_cast<int>(order->blocks.size()); ++fold) {
          const MatrixContent content = content_of(net, shown, order, fold);
          const MatrixAxis axis = matrix_axis(*order, level, fold, content.used);
          double sum = 0, most = 0;
          std::int32_t links = 0, places = 0;
          std::vector<MatrixCell> cells;
          for (std::size_t row = 0; row < axis.lines.size(); ++row) {
            matrix_row(content, axis, static_cast<std::int32_t>(row), cells);
            for (const MatrixCell& cell : cells) {
              sum += cell.bytes, links += cell.links;
              most = std::max(most, cell.bytes);
            }
            places += axis.lines[row].end - axis.lines[row].first;
            CHECK(axis.line_at(axis.middle(static_cast<std::int32_t>(row))) == static_cast<std::int32_t>(row));
          }
          CHECK(sum == bytes);
          CHECK(most_bytes(content, axis) == most);
          CHECK(places == net.set.vertices);
          CHECK(axis.units == Approx(content.units));
          if (fold < 0) CHECK(links == net.links->links());
        }
      }
    }
  }
}

TEST_CASE("a route in the matrix is one horizontal and one vertical segment for each link between two lines") {
  const std::uint64_t seed = test::random_seed() + 22;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (const char* network : networks) {
    const Net net = net_of(network, random_traffic(random, 9, 20));
    const auto order = std::make_shared<const MatrixOrder>(matrix_order(net.set, MatrixOrderBy::coordinates));
    const MatrixContent content = content_of(net, all_of(net.set), order, -1);
    for (std::size_t level = 0; level < order->blocks.size(); ++level) {
      const MatrixAxis axis = matrix_axis(*order, level, -1, content.used);
      for (const mapping::Route& route : net.set.routes) {
        const MatrixRoute drawn = matrix_route(*order, axis, *net.links, *content.loads, route.path);
        if (level == 0) CHECK(drawn.links.size() == static_cast<std::size_t>(route.length()));
        REQUIRE(drawn.points.size() == 1 + 2 * drawn.links.size());
        for (std::size_t i = 0; i < drawn.links.size(); ++i) {
          const auto &from = drawn.points[2 * i], &corner = drawn.points[2 * i + 1], &to = drawn.points[2 * i + 2];
          CHECK(from.first == from.second);
          CHECK(corner.second == from.second);  // along the row
          CHECK(corner.first == to.first);      // down or up the column
          CHECK(to.first == to.second);
          CHECK(axis.line_at(corner.second) == drawn.links[i].row);
          CHECK(axis.line_at(corner.first) == drawn.links[i].column);
          CHECK(drawn.links[i].bytes >= route.bytes);
        }
        const auto line = [&](std::int32_t vertex) {
          return axis.middle(
              axis.line_of_place[static_cast<std::size_t>(order->place[static_cast<std::size_t>(vertex)])]);
        };
        CHECK(drawn.points.front().first == line(route.path.front()));
        CHECK(drawn.points.back().first == line(route.path.back()));
      }
    }
  }
}

TEST_CASE("pixels of the matrix: links grey, those with bytes coloured, the rest empty, at any zoom and size") {
  const Net net = net_of("torus:3x3", {9, {{0, 1, 1, 100}, {4, 5, 1, 25}}});
  const auto order = std::make_shared<const MatrixOrder>(matrix_order(net.set, MatrixOrderBy::coordinates));
  const auto content = std::make_shared<const MatrixContent>(content_of(net, {0, 1}, order, -1));
  const Palette& p = palette(Theme::dark);
  MatrixPainter painter;
  const auto paint = [&](MatrixSight sight) { return painter.paint({content, sight, 2, &p}, {}); };
  const MatrixImage whole = paint({0, 0, 10, 90, 90});
  CHECK(whole.level == 0);
  CHECK(whole.cells == 36);
  CHECK(whole.loaded == 2);
  CHECK(whole.most == 100);
  CHECK(whole.heaviest_row == 0);
  CHECK(whole.heaviest_column == 1);
  const auto pixel = [](const Image& image, int x, int y) {
    const std::uint8_t* c = &image.rgba[4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                                             static_cast<std::size_t>(x))];
    return Rgba{c[0], c[1], c[2], c[3]};
  };
  for (std::int32_t row = 0; row < 9; ++row)
    for (std::int32_t column = 0; column < 9; ++column) {
      const Rgba there = pixel(whole.image, 10 * column + 4, 10 * row + 4);
      if (row == 0 && column == 1) CHECK(there == p.share(1));
      else if (row == 4 && column == 5) CHECK(there == p.share(0.5));
      else CHECK(there == (net.links->find(row, column) >= 0 ? p.edge : Rgba{0, 0, 0, 0}));
    }
  // The same cells, seen from elsewhere.
  const MatrixImage part = paint({4, 3, 10, 30, 20});
  CHECK(pixel(part.image, 14, 14) == p.share(0.5));
  CHECK(part.loaded == 1);
  CHECK(part.most == 100);
  // Too small for nine lines of two pixels: rows of three, of which the heaviest cell is within the first.
  const MatrixImage merged = paint({0, 0, 1, 9, 9});
  CHECK(merged.level == 2);
  CHECK(pixel(merged.image, 0, 0) == p.share(1));
  CHECK(pixel(merged.image, 4, 4) == p.share(0.5));
  CHECK(pixel(merged.image, 0, 4) == p.edge);
  for (const double scale : {0.001, 0.1, 1.0, 77.0, 1e6})
    for (const double edge : {-1e6, -3.0, 0.0, 8.5, 1e7})
      for (const int size : {1, 7, 300}) {
        const MatrixImage any = paint({edge, edge / 2, scale, size, 1 + size / 2});
        CHECK(any.image.rgba.size() == 4 * static_cast<std::size_t>(size) * static_cast<std::size_t>(1 + size / 2));
        CHECK(any.most == (any.axis->lines.size() == 1 ? 125 : 100));
      }
  CHECK(paint({0, 0, 0, 10, 10}).image.rgba.empty());
  CHECK(paint({0, 0, NAN, 10, 10}).image.rgba.empty());
  CHECK(painter.paint({content, {0, 0, 10, 90, 90}, 2, &p}, [] { return true; }).image.rgba.empty());
}

TEST_CASE("on random networks as many cells are coloured as there are cells with bytes") {
  const std::uint64_t seed = test::random_seed() + 23;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (const char* network : networks) {
    const Net net = net_of(network, random_traffic(random, 9, 20));
    const auto order = std::make_shared<const MatrixOrder>(matrix_order(net.set, MatrixOrderBy::number));
    const auto content = std::make_shared<const MatrixContent>(
        content_of(net, all_of(net.set), order, static_cast<int>(random() % 3) - 1));
    MatrixPainter painter;
    const double scale = 0.3 + static_cast<double>(random() % 100) / 20;
    const MatrixImage image = painter.paint({content, {0, 0, scale, 1000, 1000}, 2, &palette(Theme::light)}, {});
    std::size_t cells = 0, loaded = 0;
    std::vector<MatrixCell> row;
    for (std::size_t i = 0; i < image.axis->lines.size(); ++i) {
      matrix_row(*content, *image.axis, static_cast<std::int32_t>(i), row);
      cells += row.size();
      for (const MatrixCell& cell : row) loaded += cell.bytes > 0;
    }
    CHECK(image.cells == cells);
    CHECK(image.loaded == loaded);
  }
}
