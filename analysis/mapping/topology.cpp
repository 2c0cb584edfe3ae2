#include "analysis/mapping/topology.hpp"

#include <algorithm>
#include <atomic>

#include "analysis/mapping/distance_rows.hpp"
#include "analysis/mapping/named_graph.hpp"
#include "analysis/mapping/network.hpp"

namespace pclscope::mapping {
namespace {

using Parser = Result<Network> (*)(std::string_view);
struct Family {
  std::string_view name;
  Parser parse;
  std::string_view example;
  bool file = false;  // whose errors name it
};
constexpr Family families[] = {
    {"nodes", parse_nodes, "nodes:16"},
    {"torus", [](std::string_view text) { return parse_torus(text, Wiring::ring); }, "torus:4x4x4mx2"},
    {"mesh", [](std::string_view text) { return parse_torus(text, Wiring::line); }, "mesh:8x8"},
    {"hyperx", [](std::string_view text) { return parse_torus(text, Wiring::all); }, "hyperx:6x16x4"},
    {"dragonfly", parse_dragonfly, "dragonfly:9x4x2"},
    {"fattree", parse_fat_tree, "fattree:18x12x8"},
    {"edges", [](std::string_view text) { return read_edge_list(std::string(text)); }, "edges:FILE", true},
    {"slurm", [](std::string_view text) { return read_slurm_topology(std::string(text)); }, "slurm:FILE", true},
    {"ibnet", [](std::string_view text) { return read_ibnet(std::string(text)); }, "ibnet:FILE", true},
    {"coordinates", [](std::string_view text) { return read_coordinates(std::string(text)); }, "coordinates:FILE",
     true},
};

// In a network without structure everybody is everybody's neighbour: a list per vertex that somebody asked for.
class CompleteLists {
 public:
  explicit CompleteLists(std::int32_t nodes)
      : lists_(new std::atomic<std::vector<std::int32_t>*>[static_cast<std::size_t>(nodes)]), nodes_(nodes) {
    for (std::int32_t v = 0; v < nodes; ++v)
      lists_[static_cast<std::size_t>(v)].store(nullptr, std::memory_order_relaxed);
  }
  ~CompleteLists() {
    for (std::int32_t v = 0; v < nodes_; ++v) delete lists_[static_cast<std::size_t>(v)].load();
  }
  CompleteLists(const CompleteLists&) = delete;
  CompleteLists& operator=(const CompleteLists&) = delete;

  std::span<const std::int32_t> of(std::int32_t vertex) const {
    auto& slot = lists_[static_cast<std::size_t>(vertex)];
    if (const auto* list = slot.load(std::memory_order_acquire)) return *list;
    auto made = std::make_unique<std::vector<std::int32_t>>();
    for (std::int32_t v = 0; v < nodes_; ++v) {
      if (v != vertex) made->push_back(v);
    }
    std::vector<std::int32_t>* expected = nullptr;
    if (!slot.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) return *expected;
    return *made.release();
  }

 private:
  std::unique_ptr<std::atomic<std::vector<std::int32_t>*>[]> lists_;
  std::int32_t nodes_;
};

}  // namespace

struct Topology::Graph {
  Graph(std::string words, Network made) : text(std::move(words)), network(std::move(made)) {
    if (network.kind == NetworkKind::graph) rows = std::make_unique<DistanceRows>(network.links, network.vertices);
    if (network.kind == NetworkKind::complete) lists = std::make_unique<CompleteLists>(network.nodes);
  }
  std::string text;
  Network network;
  std::unique_ptr<DistanceRows> rows;    // of a graph
  std::unique_ptr<CompleteLists> lists;  // of a complete network
  mutable std::atomic<std::int32_t> diameter{-1};
};

Topology::Topology(std::unique_ptr<Graph> graph) : graph_(std::move(graph)) {}
Topology::Topology(Topology&&) noexcept = default;
Topology& Topology::operator=(Topology&&) noexcept = default;
Topology::~Topology() = default;

Result<Topology> Topology::parse(std::string_view text) {
  const std::string shown(text.substr(0, 200));
  const std::size_t colon = text.find(':');
  for (const Family& family : families) {
    if (colon == text.npos || text.substr(0, colon) != family.name) continue;
    const std::string_view rest = text.substr(colon + 1);
    if (rest.empty())
      return Error{ErrorCode::bad_argument,
                   "topology '" + shown + "': nothing behind the colon, as in " + std::string(family.example)};
    auto network = family.parse(rest);
    if (!network && family.file) return network.error();
    if (!network)
      return Error{network.error().code,
                   "topology '" + shown + "': " + network.error().message + ", as in " + std::string(family.example)};
    return Topology(std::make_unique<Graph>(std::string(text), std::move(*network)));
  }
  std::string known;
  for (const Family& family : families) known += (known.empty() ? "" : ", ") + std::string(family.example);
  return Error{ErrorCode::bad_argument, "topology '" + shown + "' is none of: " + known};
}

Topology Topology::of(std::string text, Network network) {
  return Topology(std::make_unique<Graph>(std::move(text), std::move(network)));
}

Result<Topology> Topology::parse_slurm(const std::string& text, const std::string& path) {
  auto network = parse_slurm_topology(text, path);
  if (!network) return network.error();
  return of(path, std::move(*network));
}

std::int32_t Topology::nodes() const { return graph_->network.nodes; }
std::int32_t Topology::vertices() const { return graph_->network.vertices; }
const std::string& Topology::text() const { return graph_->text; }

std::vector<std::int32_t> Topology::coordinates(std::int32_t vertex) const {
  if (graph_->network.kind != NetworkKind::torus) return {};
  return graph_->network.torus.coordinates(vertex);
}

std::int32_t Topology::vertex_at(const std::vector<std::int32_t>& coordinates) const {
  if (graph_->network.kind == NetworkKind::torus) return graph_->network.torus.vertex(coordinates);
  return coordinates.size() == 1 && coordinates[0] >= 0 && coordinates[0] < vertices() ? coordinates[0] : -1;
}

std::string Topology::name(std::int32_t vertex) const {
  const auto& names = graph_->network.names;
  return names.empty() ? std::to_string(vertex) : names[static_cast<std::size_t>(vertex)];
}

std::string Topology::title(std::int32_t vertex) const {
  const Network& network = graph_->network;
  if (has_names() || vertex < network.nodes || vertex >= network.vertices) return name(vertex);
  const std::int32_t router = vertex - network.nodes;
  const auto words = [](const char* what, std::int32_t a, std::int32_t b) {
    return what + std::to_string(a) + "." + std::to_string(b);
  };
  if (!network.dragonfly.empty()) return words("router ", router / network.dragonfly[1], router % network.dragonfly[1]);
  std::int32_t level = 1, first = 0, count = network.nodes;  // of this level's switches
  for (const std::int32_t down : network.fat_tree) {
    count /= down;
    if (router < first + count) return words("switch ", level, router - first);
    first += count;
    ++level;
  }
  return name(vertex);
}

bool Topology::has_names() const { return !graph_->network.names.empty(); }

bool Topology::takes_ranks(std::int32_t node) const {
  const auto& unused = graph_->network.unused;
  return unused.empty() || unused[static_cast<std::size_t>(node)] == 0;
}

std::span<const std::int32_t> Topology::neighbours(std::int32_t vertex) const {
  return graph_->lists ? graph_->lists->of(vertex) : graph_->network.links.of(vertex);
}

std::int32_t Topology::hops(std::int32_t from, std::int32_t to) const {
  const Network& network = graph_->network;
  if (network.kind == NetworkKind::torus) return network.torus.hops(from, to);
  return graph_->rows ? graph_->rows->hops(from, to) : static_cast<std::int32_t>(from != to);
}

std::int32_t Topology::diameter() const {
  std::int32_t known = graph_->diameter.load(std::memory_order_relaxed);
  if (known >= 0) return known;
  const Network& network = graph_->network;
  if (network.kind == NetworkKind::torus) known = network.torus.diameter();
  if (network.kind == NetworkKind::complete) known = network.nodes > 1;
  if (network.kind == NetworkKind::graph) known = graph_->rows->diameter(network.nodes);
  graph_->diameter.store(known, std::memory_order_relaxed);
  return known;
}

std::vector<std::int32_t> Topology::route(std::int32_t from, std::int32_t to) const {
  if (graph_->network.kind == NetworkKind::torus) return graph_->network.torus.route(from, to);
  std::vector<std::int32_t> result{from};
  if (graph_->network.kind == NetworkKind::complete) {
    if (from != to) result.push_back(to);
    return result;
  }
  for (std::int32_t left = hops(to, from); left > 0; --left) {
    const auto around = neighbours(result.back());
    result.push_back(
        *std::find_if(around.begin(), around.end(), [&](std::int32_t next) { return hops(to, next) == left - 1; }));
  }
  return result;
}

}  // namespace pclscope::mapping
