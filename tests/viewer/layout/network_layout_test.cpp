// Places of networks, merging, forces, and the routes view's picture.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "tests/seed.hpp"
#include "tests/viewer/random_network.hpp"
#include "viewer/layout/network_forces.hpp"
#include "viewer/layout/route_picture.hpp"
#include "viewer/layout/sfdp.hpp"

using namespace pclscope;
using layout::Point;
using session::NetworkCasePtr;
using test::network_of;

namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("pclscope-layout-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string program(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << "#!/bin/sh\n" << text;
    ::chmod((path / name).c_str(), 0755);
    return (path / name).string();
  }
};

std::shared_ptr<const session::ShownRoutes> all_of(const NetworkCasePtr& n) {
  return std::make_shared<const session::ShownRoutes>(session::filter_routes(n, {}));
}

layout::NetworkGraph graph_of(const NetworkCasePtr& n, layout::Merged merged = 0, std::vector<bool> open = {}) {
  return layout::build_graph(all_of(n), layout::group_vertices(*n, layout::shape_of(*n), merged), open);
}

// The picture of all of a network, as large as that.
layout::RoutePicture picture_of(layout::NetworkGraph graph, std::vector<Point> places, float zoom) {
  layout::RoutePicture picture;
  picture.graph = std::make_shared<const layout::NetworkGraph>(std::move(graph));
  picture.places = std::make_shared<const std::vector<Point>>(std::move(places));
  picture.zoom = zoom;
  picture.offset = {300, 200};
  picture.area = {{0, 0}, {1200, 900}};
  picture.palette = &layout::palette(layout::Theme::dark);
  return picture;
}

constexpr const char* networks[] = {"torus:4x3x2", "mesh:5x4", "hyperx:3x2x2", "dragonfly:5x3x2", "fattree:3x2x2"};

}  // namespace

TEST_CASE("network shape: vertices lie apart, and the same each time") {
  std::mt19937 random(test::random_seed());
  for (const char* spec : {"torus:4x3x2", "torus:2x2x4x4x2", "mesh:5x4", "hyperx:3x2x2", "dragonfly:9x4x2",
                           "dragonfly:1x2x1", "fattree:3x2x2", "fattree:4", "torus:7", "torus:4x4x4x4x2x3"}) {
    const NetworkCasePtr n = network_of(spec, random, 20);
    const layout::NetworkShape shape = layout::shape_of(*n);
    const layout::VertexPlaces places = layout::place_by_shape(shape, *n);
    REQUIRE(places.at.size() == static_cast<std::size_t>(n->vertices()));
    CHECK(places.at == layout::place_by_shape(shape, *n).at);
    float nearest = 1e30f;
    for (std::size_t a = 0; a < places.at.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) nearest = std::min(nearest, distance(places.at[a], places.at[b]));
    INFO(spec);
    CHECK(nearest > 0.3f);
  }
}

TEST_CASE("network shape: neighbours on a folded ring are at most two places apart, also first and last") {
  std::mt19937 random(test::random_seed());
  for (const int size : {3, 4, 5, 8, 15}) {
    const NetworkCasePtr ring = network_of("torus:" + std::to_string(size), random, 5),
                         line = network_of("mesh:" + std::to_string(size), random, 5);
    const auto on_ring = layout::place_by_shape(layout::shape_of(*ring), *ring).at,
               on_line = layout::place_by_shape(layout::shape_of(*line), *line).at;
    for (int i = 0; i < size; ++i) {
      const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>((i + 1) % size);
      CHECK(distance(on_ring[a], on_ring[b]) < 2.1f);
      if (i + 1 < size) CHECK(distance(on_line[a], on_line[b]) < 1.1f);
    }
  }
}

TEST_CASE("network graph: what is merged adds up to the whole, with random traffic and all ways to merge") {
  std::mt19937 random(test::random_seed());
  for (const char* spec : networks) {
    const NetworkCasePtr n = network_of(spec, random, 150);
    const double loads = std::accumulate(n->loads.begin(), n->loads.end(), 0.0);
    const auto offers = layout::merge_offers(layout::shape_of(*n)).size();
    for (layout::Merged merged = 0; merged < (1u << offers); ++merged) {
      std::vector<bool> open(static_cast<std::size_t>(n->vertices()), false);
      for (std::size_t g = 0; g < open.size(); ++g) open[g] = random() % 4 == 0;
      const layout::NetworkGraph graph = graph_of(n, merged, open);
      double on_links = 0, inside = 0, in = 0, out = 0, by_routes = 0;
      for (std::size_t i = 0; i < graph.links.size(); ++i) {
        on_links += graph.links[i].bytes;
        double of_link = 0;
        for (const layout::RouteOnLink& on : graph.routes_on(i)) of_link += on.bytes;
        CHECK(of_link == graph.links[i].bytes);
        by_routes += of_link;
      }
      std::set<std::int32_t> vertices;
      for (const layout::GraphNode& node : graph.nodes) {
        inside += node.inside;
        in += node.in;
        out += node.out;
        vertices.insert(node.vertices.begin(), node.vertices.end());
      }
      INFO(spec << ", merged " << merged);
      CHECK(on_links + inside == loads);
      CHECK(by_routes == on_links);
      CHECK(graph.sum == loads);
      CHECK(in == on_links);
      CHECK(out == on_links);
      CHECK(vertices.size() == static_cast<std::size_t>(n->vertices()));
      const auto all = graph.shown->routes;
      const std::vector<double> again = layout::bytes_of(graph, all);
      for (std::size_t i = 0; i < again.size(); ++i) CHECK(again[i] == graph.links[i].bytes);
    }
  }
}

TEST_CASE("network graph: merged are the vertices that agree in all other dimensions") {
  std::mt19937 random(test::random_seed());
  const NetworkCasePtr n = network_of("torus:4x3x2", random, 20);
  const layout::Grouping grouping = layout::group_vertices(*n, layout::shape_of(*n), 0b101);  // A and C
  CHECK(grouping.groups == 3);
  for (std::int32_t a = 0; a < n->vertices(); ++a)
    for (std::int32_t b = 0; b < a; ++b) {
      const bool same = n->topology->coordinates(a)[1] == n->topology->coordinates(b)[1];
      CHECK((grouping.group[static_cast<std::size_t>(a)] == grouping.group[static_cast<std::size_t>(b)]) == same);
    }
  const NetworkCasePtr fly = network_of("dragonfly:5x3x2", random, 20);
  CHECK(layout::group_vertices(*fly, layout::shape_of(*fly), 1).groups == 15);
  CHECK(layout::group_vertices(*fly, layout::shape_of(*fly), 2).groups == 5);
  CHECK(layout::group_vertices(*fly, layout::shape_of(*fly), 0).groups == 45);
  const NetworkCasePtr tree = network_of("fattree:3x2x2", random, 20);
  CHECK(layout::group_vertices(*tree, layout::shape_of(*tree), 1).groups == 4 + 2 + 1);
  CHECK(layout::group_vertices(*tree, layout::shape_of(*tree), 2).groups == 2 + 1);
}

TEST_CASE("network graph: opening a part leaves all else where it was") {
  std::mt19937 random(test::random_seed());
  const NetworkCasePtr n = network_of("torus:4x4x2", random, 100);
  const auto shape = layout::shape_of(*n);
  const layout::Grouping grouping = layout::group_vertices(*n, shape, 0b100);
  const auto groups = layout::place_groups_by_shape(shape, *n, 0b100, grouping);
  const auto vertices = layout::place_by_shape(shape, *n);
  std::vector<bool> open(static_cast<std::size_t>(grouping.groups), false);
  open[5] = true;
  const layout::NetworkGraph graph = graph_of(n, 0b100, open);
  const auto places = layout::place_nodes(graph, groups, vertices, 0.4f);
  REQUIRE(places.size() == groups.size() + 1);
  int opened = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const float far = distance(places[i], groups[static_cast<std::size_t>(graph.nodes[i].group)]);
    const bool inside = graph.nodes[i].group == 5;
    CHECK((inside ? far > 0.1f && far <= 0.401f : far == 0));
    opened += inside ? 1 : 0;
  }
  CHECK(opened == 2);
}

TEST_CASE("network places by distances: what is linked lies nearer than what is not, parts lie apart") {
  std::mt19937 random(test::random_seed());
  const NetworkCasePtr n = network_of("mesh:12x12", random, 10);
  const auto places = layout::place_by_distances(*n->links);
  double linked = 0, all = 0, links = 0, pairs = 0;
  for (std::int32_t a = 0; a < n->vertices(); ++a)
    for (std::int32_t b = 0; b < a; ++b) {
      const double far = distance(places.at[static_cast<std::size_t>(a)], places.at[static_cast<std::size_t>(b)]);
      all += far, ++pairs;
      if (n->links->find(a, b) >= 0) linked += far, ++links;
    }
  CHECK(linked / links < 0.4 * all / pairs);
  CHECK(places.at == layout::place_by_distances(*n->links).at);
}

TEST_CASE("network forces: deterministic; kept on disk; without sfdp, and with one that fails, there are places too") {
  const Folder folder;
  std::mt19937 random(test::random_seed());
  const NetworkCasePtr n = network_of("mesh:6x5", random, 60);
  const auto finite = [](const layout::VertexPlaces& places) {
    return std::all_of(places.at.begin(), places.at.end(),
                       [](Point p) { return std::isfinite(p.x) && std::isfinite(p.y); });
  };
  for (const std::string& sfdp :
       {std::string(), std::string("/does/not/exist"), folder.program("fails", "exit 3\n"),
        folder.program("cut", "cat >/dev/null; echo 'node 0 1 2'\n"), folder.program("deaf", "exec >&-; exec <&-\n"),
        folder.program("odd", "cat >/dev/null; for i in `seq 0 29`; do echo node $i nan 1; done\n")}) {
    const auto made = layout::place_by_forces(*n->links, n->loads, {sfdp, ""});
    CHECK(made.whole);
    CHECK(finite(made.places));
    CHECK(made.places.at == layout::place_by_forces(*n->links, n->loads, {sfdp, ""}).places.at);
    CHECK(made.how.find("(sfdp)") == std::string::npos);
  }
  const std::string runs = (folder.path / "runs").string(), cache = (folder.path / "cache").string();
  const std::string sfdp = folder.program(
      "sfdp",
      "echo run >>" + runs + "; cat >/dev/null; for i in `seq 0 29`; do echo node $i $((i % 5)) $((i / 5)); done\n");
  const auto count = [&] {
    std::ifstream in(runs);
    std::string line;
    int lines = 0;
    while (std::getline(in, line)) ++lines;
    return lines;
  };
  const auto first = layout::place_by_forces(*n->links, n->loads, {sfdp, cache});
  CHECK(first.how.find("(sfdp)") != std::string::npos);
  CHECK(count() == 1);
  const auto again = layout::place_by_forces(*n->links, n->loads, {sfdp, cache});
  CHECK(count() == 1);
  CHECK(again.places.at == first.places.at);
  auto others = n->loads;
  std::reverse(others.begin(), others.end());  // other loads: another question
  CHECK(layout::place_by_forces(*n->links, others, {sfdp, cache}).whole);
  CHECK(count() == 2);
  // What is damaged on disk is made again.
  for (const auto& file : std::filesystem::directory_iterator(cache)) std::ofstream(file.path()) << "nonsense";
  CHECK(layout::place_by_forces(*n->links, n->loads, {sfdp, cache}).places.at == first.places.at);
  CHECK(count() == 3);
}

TEST_CASE("network forces: who stops waiting does not wait for sfdp") {
  const Folder folder;
  std::mt19937 random(test::random_seed());
  const NetworkCasePtr n = network_of("mesh:4x4", random, 20);
  const std::string sfdp = folder.program("sleeps", "exec sleep 1000\n");
  int asked = 0;
  const auto made = layout::place_by_forces(*n->links, n->loads, {sfdp, ""}, {}, [&] { return ++asked > 3; });
  CHECK_FALSE(made.whole);
}

TEST_CASE("network forces: links that carry more are shorter") {
  // A ring of twelve; every third link carries nearly all.
  std::mt19937 random(test::random_seed());
  const NetworkCasePtr n = network_of("torus:12", random, 4);
  mapping::LinkLoads loads(n->loads.size(), 1);
  for (std::int32_t link = 0; link < n->links->links(); ++link)
    if (n->links->from(link) % 3 == 0 && n->links->to(link) == n->links->from(link) + 1)
      loads[static_cast<std::size_t>(link)] = 1000;
  const auto made = layout::place_by_forces(*n->links, loads, {"", ""});
  double heavy = 0, light = 0;
  for (std::int32_t v = 0; v < 12; ++v) {
    const double far =
        distance(made.places.at[static_cast<std::size_t>(v)], made.places.at[static_cast<std::size_t>((v + 1) % 12)]);
    if (v % 3 == 0) heavy += far / 4;
    else light += far / 8;
  }
  CHECK(heavy < 0.8 * light);
}

TEST_CASE("route picture: strips of a link fill its width, side by side, and lie on the right of its direction") {
  std::mt19937 random(test::random_seed());
  const NetworkCasePtr n = network_of("torus:4x4", random, 200);
  const auto shape = layout::shape_of(*n);
  layout::RoutePicture picture = picture_of(graph_of(n), layout::place_by_shape(shape, *n).at, 240);
  std::size_t several = 0;
  for (std::size_t i = 0; i < picture.graph->links.size(); ++i) {
    const layout::GraphLink& link = picture.graph->links[i];
    const auto strips = layout::strips_of(picture, i);
    REQUIRE(!strips.empty());
    float width = 0;
    for (const layout::Strip& strip : strips) {
      CHECK(strip.from == Approx(strips[0].from + width));
      width += strip.width;
      const auto line = layout::strip_line(picture, strip);
      const Point a = picture.to_screen((*picture.places)[static_cast<std::size_t>(link.from)]),
                  b = picture.to_screen((*picture.places)[static_cast<std::size_t>(link.to)]), d = b - a;
      for (const Point p : line) {  // y grows downwards: the right hand has a positive cross product
        const Point q = p - a;
        CHECK(d.x * q.y - d.y * q.x > -1e-2f);
      }
    }
    CHECK(width == Approx(layout::link_width(picture, link.bytes)));
    if (strips.size() == 1) continue;
    ++several;
    CHECK(strips.size() == picture.graph->routes_on(i).size());
    for (std::size_t k = 1; k < strips.size(); ++k) CHECK(strips[k - 1].value >= strips[k].value);
  }
  CHECK(several > 0);
  picture.zoom = 20;  // too small to tell them apart
  for (std::size_t i = 0; i < picture.graph->links.size(); ++i) CHECK(layout::strips_of(picture, i).size() == 1);
}

TEST_CASE("route picture: circles' areas are proportional to bytes, widths to loads") {
  std::mt19937 random(test::random_seed());
  const NetworkCasePtr n = network_of("mesh:3x3", random, 40);
  const layout::RoutePicture picture =
      picture_of(graph_of(n), layout::place_by_shape(layout::shape_of(*n), *n).at, 100);
  const layout::NetworkGraph& graph = *picture.graph;
  const auto degree = [](const layout::GraphNode& node) { return node.in + node.out; };
  const auto largest = std::max_element(graph.nodes.begin(), graph.nodes.end(),
                                        [&](const auto& a, const auto& b) { return degree(a) < degree(b); });
  const float r = layout::node_radius(picture, *largest);
  for (const layout::GraphNode& node : graph.nodes) {
    const double area = std::pow(layout::node_radius(picture, node) / r, 2);
    CHECK(area == Approx(std::max(degree(node) / degree(*largest), std::pow(1.3 / r, 2))).epsilon(0.01));
  }
  CHECK(layout::link_width(picture, graph.most_bytes) == Approx(2 * layout::link_width(picture, graph.most_bytes / 2)));
}

TEST_CASE("route picture: under each circle is its node, under each heavy line its link") {
  std::mt19937 random(test::random_seed());
  for (const char* spec : networks) {
    const NetworkCasePtr n = network_of(spec, random, 80);
    const layout::RoutePicture picture =
        picture_of(graph_of(n), layout::place_by_shape(layout::shape_of(*n), *n).at, 90);
    for (std::size_t i = 0; i < picture.places->size(); ++i)
      CHECK(layout::hit_routes(picture, picture.to_screen((*picture.places)[i]), 3).node == static_cast<int>(i));
    std::size_t heaviest = 0;
    for (std::size_t i = 0; i < picture.graph->links.size(); ++i)
      if (picture.graph->links[i].bytes > picture.graph->links[heaviest].bytes) heaviest = i;
    const auto line = layout::link_line(picture, picture.graph->links[heaviest], 5);
    const Point middle = line.size() == 2 ? (line[0] + line[1]) * 0.5f : line[line.size() / 2];
    const layout::RouteHit hit = layout::hit_routes(picture, middle, 3);
    CHECK(hit.any());
    if (hit.node < 0) CHECK(hit.link >= 0);
  }
  const NetworkCasePtr n = network_of("mesh:2x1", random, 4);
  const layout::RoutePicture picture = picture_of(graph_of(n), layout::place_by_shape(layout::shape_of(*n), *n).at, 90);
  CHECK_FALSE(layout::hit_routes(picture, {-4000, 9000}, 3).any());
}

TEST_CASE("route picture: what is lit is clear, all else faint") {
  std::mt19937 random(test::random_seed());
  const NetworkCasePtr n = network_of("torus:4x4", random, 60);
  layout::RoutePicture picture = picture_of(graph_of(n), layout::place_by_shape(layout::shape_of(*n), *n).at, 120);
  const auto sum_of = [](const layout::RouteImage& made) {
    return std::accumulate(made.image.rgba.begin(), made.image.rgba.end(), std::size_t{0});
  };
  const std::size_t all = sum_of(layout::draw_routes(picture));
  picture.lit = std::make_shared<const std::vector<std::uint32_t>>(std::vector<std::uint32_t>{0});
  const std::size_t one = sum_of(layout::draw_routes(picture));
  CHECK(one < all);
  CHECK(one > 0);
  std::vector<std::uint32_t> every(n->routes.routes.size());
  std::iota(every.begin(), every.end(), 0u);
  picture.lit = std::make_shared<const std::vector<std::uint32_t>>(every);
  CHECK(sum_of(layout::draw_routes(picture)) > one);
}
