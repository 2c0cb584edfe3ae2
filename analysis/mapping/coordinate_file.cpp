// coordinates:FILE: where nodes are in a torus, mesh or HyperX, or in the cabinets of a dragonfly.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "analysis/mapping/input_checks.hpp"
#include "analysis/mapping/named_graph.hpp"

namespace pclscope::mapping {
namespace {

constexpr std::size_t most_in_a_place = 16;

std::optional<std::int32_t> whole(const std::string& word) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < 0 || value >= most_vertices)
    return std::nullopt;
  return value;
}

struct Cabinet {
  std::string group;  // the cabinet
  std::string blade;  // the router in it
};

// x1000c3s2b0n1 (Slingshot: cabinet, chassis, slot, board, node) or c0-1c2s3n1 (XC: column and row, chassis, slot,
// node).
std::optional<Cabinet> parse_cabinet(const std::string& name) {
  std::vector<std::string> parts;  // a letter or dash, and digits
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at + 1;
    while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
    if (end == at + 1) return std::nullopt;
    parts.push_back(name.substr(at, end - at));
    at = end;
  }
  std::string letters;
  for (const std::string& part : parts) letters += part[0];
  if (letters == "xcsbn") return Cabinet{parts[0], parts[0] + parts[1] + parts[2]};
  if (letters == "c-csn") return Cabinet{parts[0] + parts[1], parts[0] + parts[1] + parts[2] + parts[3]};
  return std::nullopt;
}

class CoordinateFile {
 public:
  // Empty: it was understood.
  std::string take(const std::string& line) {
    std::istringstream in(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words.empty()) return "";
    if (words.size() == 2 && (words[0] == "torus" || words[0] == "mesh" || words[0] == "hyperx")) {
      if (!shape_.empty()) return "the shape is there twice";
      kind_ = words[0], shape_ = words[1];
      return "";
    }
    if (!names_.insert(words[0]).second) return "'" + words[0].substr(0, 60) + "' is there twice";
    if (const auto cabinet = words.size() <= 2 ? parse_cabinet(words.back()) : std::nullopt) {
      if (!places_.empty()) return "a cabinet's name, where coordinates were before";
      cabinets_.emplace_back(words[0], *cabinet);
      return cabinets_.size() > static_cast<std::size_t>(most_vertices) ? "too many nodes" : "";
    }
    if (!cabinets_.empty()) return "'" + words.back().substr(0, 60) + "' is no place as in x1000c3s2b0n1 or c0-1c2s3n1";
    return take_place(words);
  }

  Result<Network> build(const std::string& path) const {
    if (!cabinets_.empty()) return dragonfly(path);
    if (places_.empty()) return Error{ErrorCode::damaged, path + ": no nodes in it"};
    return grid(path);
  }

 private:
  std::string take_place(const std::vector<std::string>& words) {
    if (words.size() < 2)
      return "a node's name and its coordinates are expected (n1 0 3 2), or a place as in x1000c3s2b0n1";
    if (words.size() - 1 > most_in_a_place) return "more than 16 coordinates";
    std::vector<std::int32_t> at;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto value = whole(words[i]);
      if (!value) return "'" + words[i].substr(0, 60) + "' is no coordinate";
      at.push_back(*value);
    }
    if (!places_.empty() && at.size() != places_.begin()->first.size())
      return std::to_string(at.size()) + " coordinates, the lines before have " +
             std::to_string(places_.begin()->first.size());
    const auto [place, added] = places_.try_emplace(at, words[0]);
    return added ? "" : "'" + words[0].substr(0, 60) + "' is where '" + place->second.substr(0, 60) + "' is";
  }

  // Without a shape a mesh that is just large enough. Places without a node keep it together, and run no ranks.
  Result<Network> grid(const std::string& path) const {
    std::string shape = shape_;
    if (shape.empty()) {
      std::vector<std::int32_t> size(places_.begin()->first.size(), 1);
      for (const auto& [at, name] : places_)
        for (std::size_t d = 0; d < size.size(); ++d) size[d] = std::max(size[d], at[d] + 1);
      for (const std::int32_t s : size) shape += (shape.empty() ? "" : "x") + std::to_string(s);
    }
    const Wiring wiring = kind_ == "torus" ? Wiring::ring : kind_ == "hyperx" ? Wiring::all : Wiring::line;
    auto network = parse_torus(shape, wiring);
    if (!network)
      return Error{network.error().code, path + ": " + kind_ + " " + shape + ": " + network.error().message};
    network->names.assign(static_cast<std::size_t>(network->nodes), "");
    for (const auto& [at, name] : places_) {
      const std::int32_t vertex = network->torus.vertex(at);
      if (vertex < 0) return Error{ErrorCode::damaged, path + ": '" + name + "' is not within " + shape};
      network->names[static_cast<std::size_t>(vertex)] = name;
    }
    network->unused.assign(network->names.size(), 0);
    for (std::size_t v = 0; v < network->names.size(); ++v) {
      if (!network->names[v].empty()) continue;
      network->unused[v] = 1;
      network->names[v] = "(" + std::to_string(v) + ")";
    }
    return network;
  }

  // A group is a cabinet, a router a blade. Which router has the link to which group is not in the names: as in
  // dragonfly:, from group g to g + k it is router (k-1) / h, with h links each.
  Result<Network> dragonfly(const std::string& path) const {
    NamedGraph graph;
    std::map<std::string, std::size_t> group_index;
    std::vector<std::vector<std::int32_t>> groups;  // routers
    for (const auto& [name, cabinet] : cabinets_) {
      const std::int32_t node = graph.of("node " + name, name);
      graph.runs_ranks(node);
      const auto [group, is_new] = group_index.try_emplace(cabinet.group, groups.size());
      if (is_new) groups.emplace_back();
      const bool known = graph.has("blade " + cabinet.blade);
      const std::int32_t router = graph.of("blade " + cabinet.blade, cabinet.blade);
      if (!known) groups[group->second].push_back(router);
      graph.link(node, router);
    }
    const std::size_t count = groups.size();
    for (const std::vector<std::int32_t>& routers : groups) {
      if (routers.size() * routers.size() > most_edges) return bad(path + ": too many blades in one cabinet");
      for (std::size_t a = 0; a < routers.size(); ++a)
        for (std::size_t b = a + 1; b < routers.size(); ++b) graph.link(routers[a], routers[b]);
      if (const std::string wrong = graph.too_large(); !wrong.empty()) return bad(path + ": " + wrong);
    }
    const auto exit = [&](std::size_t from, std::size_t to) {
      const std::size_t k = (to + count - from) % count, each = (count - 2) / groups[from].size() + 1;
      return groups[from][(k - 1) / each];
    };
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = a + 1; b < count; ++b) graph.link(exit(a, b), exit(b, a));
    return graph.build(path);
  }

  std::string kind_ = "mesh", shape_;
  std::set<std::string> names_;
  std::map<std::vector<std::int32_t>, std::string> places_;
  std::vector<std::pair<std::string, Cabinet>> cabinets_;
};

}  // namespace

Result<Network> read_coordinates(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return text.error();
  CoordinateFile file;
  const Status status =
      each_line(path, *text, [&](std::size_t, const std::string& line) -> std::string { return file.take(line); });
  if (!status) return status.error();
  return file.build(path);
}

}  // namespace pclscope::mapping
