// Reading in three steps: lines to hops of pairs, coordinates to vertices, hops to routes. What does not fit together
// costs its route and is told.
#include "analysis/mapping/route_file.hpp"

#include <algorithm>
#include <fstream>
#include <map>

#include "analysis/mapping/input_checks.hpp"
#include "analysis/mapping/route_line.hpp"

namespace pclscope::mapping {
namespace {

constexpr std::size_t most_problems = 100;

using Coordinates = std::vector<std::int32_t>;

struct Hop {
  std::int32_t source, destination, hop;
  std::int32_t from, to;  // indices into points
  std::size_t line;
};

struct Point {
  std::int32_t number = 0;
  std::int32_t place = 0;  // index into places
  std::int32_t core = 0;
};

class RouteReader {
 public:
  explicit RouteReader(const Topology* topology) : topology_(topology) {}
  Status read(std::istream& in, const std::string& path);
  RouteFile finish();

 private:
  std::int32_t point_of(const RoutePoint& point, std::size_t line);
  void problem(std::size_t line, std::string what);
  void number_vertices();
  void add_route(std::size_t begin, std::size_t end);
  std::string fault(std::size_t begin, std::size_t end, std::size_t& line) const;
  std::int32_t vertex_of(std::int32_t point) const {
    return vertex_[static_cast<std::size_t>(points_[static_cast<std::size_t>(point)].place)];
  }
  std::int32_t number_of(std::int32_t point) const { return points_[static_cast<std::size_t>(point)].number; }

  const Topology* topology_;
  RouteFile file_;
  std::map<Coordinates, std::int32_t> places_;  // coordinates without the core, by which vertices are sorted
  std::unordered_map<std::int32_t, std::int32_t> point_at_;  // number to point
  std::vector<Point> points_;
  std::vector<std::int32_t> vertex_;  // of each place; -1: not in the topology
  std::vector<Hop> hops_;
};

void RouteReader::problem(std::size_t line, std::string what) {
  ++file_.problem_count;
  if (file_.problems.size() < most_problems) file_.problems.push_back({line, std::move(what)});
}

// -1: this number has been elsewhere before.
std::int32_t RouteReader::point_of(const RoutePoint& point, std::size_t line) {
  Coordinates node = point.coordinates;
  const std::int32_t core = node.size() > 1 ? node.back() : 0;
  if (node.size() > 1) node.pop_back();
  const auto place = places_.try_emplace(std::move(node), static_cast<std::int32_t>(places_.size())).first->second;
  const auto [known, added] = point_at_.try_emplace(point.number, static_cast<std::int32_t>(points_.size()));
  if (added) points_.push_back({point.number, place, core});
  const Point& there = points_[static_cast<std::size_t>(known->second)];
  if (there.place == place && there.core == core) return known->second;
  problem(line, "rank " + std::to_string(point.number) + " has had other coordinates");
  return -1;
}

Status RouteReader::read(std::istream& in, const std::string& path) {
  RouteLine line;
  std::size_t dimensions = 0;
  const auto at_line = [&](const std::string& what) {
    return Error{ErrorCode::damaged, path + " line " + std::to_string(file_.lines) + ": " + what};
  };
  for (std::string text; std::getline(in, text);) {
    ++file_.lines;
    if (text.find_first_not_of(" \t\r") == text.npos || text[0] == '#') continue;
    if (text.size() > longest_line || !parse_route_line(text, line))
      return at_line("not a line of a route file, as in: Hop 1: [5-0] 5 (1 0 1) -> 4 (1 0 0)");
    if (dimensions == 0) dimensions = line.from.coordinates.size();
    if (line.from.coordinates.size() != dimensions || line.to.coordinates.size() != dimensions)
      return at_line("not " + std::to_string(dimensions) + " coordinates as in the lines before");
    const std::int32_t from = point_of(line.from, file_.lines), to = point_of(line.to, file_.lines);
    hops_.push_back({line.source, line.destination, line.hop, from, to, file_.lines});
  }
  if (in.bad()) return Error{ErrorCode::io, "cannot read " + path};
  if (hops_.empty()) return Error{ErrorCode::damaged, path + ": no routes in it"};
  return {};
}

void RouteReader::number_vertices() {
  RouteSet& set = file_.set;
  vertex_.assign(places_.size(), -1);
  set.vertices = topology_ ? topology_->vertices() : static_cast<std::int32_t>(places_.size());
  for (std::int32_t v = 0; topology_ && v < set.vertices; ++v) {
    set.coordinates.push_back(topology_->coordinates(v));
    if (set.coordinates.back().empty()) set.coordinates.back() = {v};
  }
  for (const auto& [coordinates, place] : places_) {
    std::int32_t& vertex = vertex_[static_cast<std::size_t>(place)];
    if (topology_) vertex = topology_->vertex_at(coordinates);
    if (topology_) continue;
    vertex = static_cast<std::int32_t>(set.coordinates.size());
    set.coordinates.push_back(coordinates);
  }
  set.number.assign(static_cast<std::size_t>(set.vertices), -1);
  std::vector<std::int32_t> lowest(set.number.size(),
                                   INT32_MAX);  // of the numbers there with core 0, as the files have it
  for (const Point& point : points_) {
    const std::int32_t vertex = vertex_[static_cast<std::size_t>(point.place)];
    if (vertex < 0 || point.core != 0) continue;
    auto& there = lowest[static_cast<std::size_t>(vertex)];
    there = std::min(there, point.number);
  }
  std::int32_t next = 0;
  for (const Point& point : points_) next = std::max(next, point.number);
  for (std::size_t v = 0; v < lowest.size(); ++v) {  // other vertices get numbers that no rank has
    set.number[v] = lowest[v] != INT32_MAX ? lowest[v] : next < INT32_MAX - 1 ? ++next : next;
  }
}

// What is wrong with the hops begin .. end - 1 of one pair, by hop; empty: nothing.
std::string RouteReader::fault(std::size_t begin, std::size_t end, std::size_t& line) const {
  for (std::size_t i = begin; i < end; ++i) {
    const Hop& hop = hops_[i];
    line = hop.line;
    if (hop.from < 0 || hop.to < 0) return "told above";
    const std::int32_t from = vertex_of(hop.from), to = vertex_of(hop.to);
    const auto ordinal = static_cast<std::int32_t>(i - begin + 1);
    if (hop.hop > ordinal) return "hop " + std::to_string(ordinal) + " is missing";
    if (hop.hop < ordinal) return "hop " + std::to_string(hop.hop) + " is there twice";
    if (i == begin && number_of(hop.from) != hop.source) return "does not begin at its source";
    if (i > begin && hop.from != hops_[i - 1].to && from != vertex_of(hops_[i - 1].to))
      return "does not go on where hop " + std::to_string(ordinal - 1) + " ended";
    if (i + 1 == end && number_of(hop.to) != hop.destination) return "does not end at its destination";
    if (from < 0 || to < 0) return "coordinates that the topology does not have";
    if (topology_ && from != to && topology_->hops(from, to) != 1) return "a link that the topology does not have";
  }
  return "";
}

void RouteReader::add_route(std::size_t begin, std::size_t end) {
  const Hop& first = hops_[begin];
  const std::string name = "route " + std::to_string(first.source) + "-" + std::to_string(first.destination) + ": ";
  std::size_t line = 0;
  if (std::string wrong = fault(begin, end, line); !wrong.empty()) {
    if (wrong != "told above") problem(line, name + wrong);
    return;
  }
  Route route{first.source, first.destination, 1, {vertex_of(first.from)}};
  for (std::size_t i = begin; i < end; ++i) {
    if (vertex_of(hops_[i].to) != route.path.back()) route.path.push_back(vertex_of(hops_[i].to));
  }
  std::vector<std::int32_t> sorted = route.path;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return problem(first.line, name + "comes to a vertex twice");
  for (const std::int32_t end_point : {hops_[begin].from, hops_[end - 1].to}) {
    file_.set.places[number_of(end_point)] = {vertex_of(end_point), points_[static_cast<std::size_t>(end_point)].core};
  }
  file_.set.routes.push_back(std::move(route));
}

RouteFile RouteReader::finish() {
  number_vertices();
  const auto key = [](const Hop& hop) { return std::tuple(hop.source, hop.destination, hop.hop, hop.line); };
  std::sort(hops_.begin(), hops_.end(), [&](const Hop& a, const Hop& b) { return key(a) < key(b); });
  for (std::size_t begin = 0; begin < hops_.size();) {
    std::size_t end = begin;
    while (end < hops_.size() && hops_[end].source == hops_[begin].source &&
           hops_[end].destination == hops_[begin].destination)
      ++end;
    add_route(begin, end);
    begin = end;
  }
  std::stable_sort(file_.problems.begin(), file_.problems.end(),
                   [](const RouteProblem& a, const RouteProblem& b) { return a.line < b.line; });
  return std::move(file_);
}

std::string coordinates_text(const Coordinates& coordinates, std::int32_t core) {
  std::string text = "(";
  for (const std::int32_t value : coordinates) text += std::to_string(value) + " ";
  return text + std::to_string(core) + ")";
}

}  // namespace

Result<RouteFile> read_routes(const std::string& path, const Topology* topology) {
  std::ifstream in(path);
  if (!in) return Error{ErrorCode::not_found, "cannot read " + path};
  RouteReader reader(topology);
  if (const Status status = reader.read(in, path); !status) return status.error();
  RouteFile file = reader.finish();
  if (file.set.routes.empty()) {
    const RouteProblem& first = file.problems.front();
    return Error{ErrorCode::damaged,
                 path + ": no route that fits together; line " + std::to_string(first.line) + ": " + first.what};
  }
  return file;
}

bool is_route_file(const std::string& path) {
  std::ifstream in(path);
  RouteLine line;
  for (std::string text; std::getline(in, text);) {
    if (text.find_first_not_of(" \t\r") != text.npos && text[0] != '#') return parse_route_line(text, line);
  }
  return false;
}

std::string route_lines(const RouteSet& set, const Route& route) {
  std::string text;
  const auto point = [&](std::size_t i) {
    const bool first = i == 0, last = i + 1 == route.path.size();
    const auto vertex = static_cast<std::size_t>(route.path[i]);
    const std::int32_t rank = first ? route.source : last ? route.destination : set.number[vertex];
    const auto place = set.places.find(rank);
    const std::int32_t core = (first || last) && place != set.places.end() ? place->second.core : 0;
    return std::to_string(rank) + " " + coordinates_text(set.coordinates[vertex], core);
  };
  for (std::size_t i = 1; i < route.path.size(); ++i) {
    text += "Hop " + std::to_string(i) + ": [" + std::to_string(route.source) + "-" +
            std::to_string(route.destination) + "] " + point(i - 1) + " -> " + point(i) + "\n";
  }
  return text;
}

Status write_routes(const std::string& path, const RouteSet& set) {
  std::ofstream out(path, std::ios::trunc);
  for (const Route& route : set.routes) out << route_lines(set, route);
  out.close();
  if (!out) return Error{ErrorCode::io, "cannot write " + path};
  return {};
}

}  // namespace pclscope::mapping
