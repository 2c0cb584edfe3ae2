#include "viewer/session/network_source.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>

#include "analysis/mapping/route_file.hpp"
#include "analysis/mapping/traffic_file.hpp"
#include "viewer/session/run_network.hpp"

namespace pclscope::session {
namespace {

using mapping::Topology;
using TopologyPtr = std::shared_ptr<const Topology>;

constexpr std::size_t looked_at = 4096;  // bytes of a file, for its kind

Error no_network(std::string message) { return {ErrorCode::bad_argument, std::move(message)}; }

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

Result<TopologyPtr> parse_topology(const std::string& text) {
  if (text.empty()) return TopologyPtr();
  auto parsed = Topology::parse(text);
  if (!parsed) return parsed.error();
  return TopologyPtr(std::make_shared<Topology>(std::move(*parsed)));
}

// Two to four numbers: as parse_traffic() reads them.
bool is_traffic_line(std::string_view line) {
  std::size_t numbers = 0;
  bool inside = false;
  for (const char c : line) {
    const bool gap = c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\r';
    const bool digit = c >= '0' && c <= '9';
    if (!gap && !digit && c != '.' && c != 'e' && c != 'E' && c != '+') return false;
    if (!gap && !inside && !digit) return false;
    numbers += !gap && !inside;
    inside = !gap;
  }
  return numbers == 3 || numbers == 4;
}

// Rank r on the (r / each)-th node.
Status place(NetworkFacts& facts, std::int32_t each) {
  auto placed = place_in_order(*facts.topology, facts.traffic.ranks, each);
  if (!placed) return placed.error();
  facts.node_of_rank = std::move(*placed);
  facts.capacities = equal_capacities(*facts.topology, each);
  return {};
}

// As many ranks on each node as now.
void count_capacities(NetworkFacts& facts) {
  if (!facts.topology) return;
  facts.capacities.assign(static_cast<std::size_t>(facts.topology->nodes()), 0);
  for (const std::int32_t node : facts.node_of_rank)
    if (node >= 0 && node < facts.topology->nodes()) ++facts.capacities[static_cast<std::size_t>(node)];
}

void add_title(NetworkFacts& facts, const std::string& name) {
  facts.title = name + (facts.topology ? " on " + facts.topology->text() : "");
}

Result<NetworkFacts> read_traffic_network(const std::string& path, const NetworkWords& words, TopologyPtr topology) {
  if (!words.traffic.empty()) return no_network("--traffic is for route files; " + path + " is none");
  if (!topology)
    return no_network(path +
                      " does not say on which network it was: --topology is needed, as in --topology torus:4x4x2");
  auto file = mapping::read_traffic(path);
  if (!file) return file.error();
  NetworkFacts facts;
  facts.topology = std::move(topology);
  facts.traffic = std::move(file->traffic);
  facts.rank_names = std::move(file->names);
  if (const Status placed = place(facts, words.ranks_per_node.value_or(1)); !placed) return placed.error();
  facts.traffic_from = "all of " + base_name(path);
  add_title(facts, base_name(path));
  return facts;
}

// A traffic file numbers ranks anew where most numbers below the highest do not occur; a route file does not.
void call_as_in_file(mapping::TrafficFile& file) {
  if (file.names.empty()) return;
  const auto name = [&](std::int32_t rank) {
    return static_cast<std::int32_t>(std::min<std::int64_t>(file.names[static_cast<std::size_t>(rank)], INT32_MAX));
  };
  for (mapping::Flow& flow : file.traffic.flows) {
    flow.source = name(flow.source);
    flow.destination = name(flow.destination);
  }
}

// Files may call ranks by any numbers: here they are counted from 0, in the same order.
void number_ranks(mapping::RouteSet& set, std::vector<std::int64_t>& names) {
  for (const auto& [rank, place] : set.places) names.push_back(rank);
  std::sort(names.begin(), names.end());
  const auto number = [&](std::int32_t rank) {
    return static_cast<std::int32_t>(std::lower_bound(names.begin(), names.end(), rank) - names.begin());
  };
  std::unordered_map<std::int32_t, mapping::RankPlace> places;
  for (const auto& [rank, place] : set.places) places[number(rank)] = place;
  for (mapping::Route& route : set.routes) {
    route.source = number(route.source);
    route.destination = number(route.destination);
  }
  set.places = std::move(places);
  if (names.empty() || names.back() + 1 == static_cast<std::int64_t>(names.size())) names.clear();
}

Result<NetworkFacts> read_route_network(const std::string& path, const NetworkWords& words, TopologyPtr topology) {
  if (words.ranks_per_node)
    return no_network("a route file says itself where its ranks are: --ranks-per-node is for traffic");
  auto file = mapping::read_routes(path, topology.get());
  if (!file) return file.error();
  NetworkFacts facts;
  facts.topology = std::move(topology);
  facts.routes_from = "as " + base_name(path) + " says";
  if (file->problem_count > 0)
    facts.routes_from += ", without " + std::to_string(file->problem_count) + " that are wrong";
  facts.traffic_from = "a byte for each route: --traffic FILE gives the bytes";
  if (!words.traffic.empty()) {
    auto bytes = mapping::read_traffic(words.traffic);
    if (!bytes) return bytes.error();
    call_as_in_file(*bytes);
    const std::size_t found = mapping::set_bytes(file->set, bytes->traffic), all = file->set.routes.size();
    if (found == 0) return no_network(words.traffic + " has bytes for none of the routes");
    facts.traffic_from = "all of " + base_name(words.traffic);
    if (found < all) facts.traffic_from += "; " + std::to_string(all - found) + " routes have none";
  }
  number_ranks(file->set, facts.rank_names);
  facts.traffic.ranks = static_cast<std::int32_t>(file->set.places.size());
  facts.node_of_rank.assign(file->set.places.size(), -1);
  for (const auto& [rank, place] : file->set.places) facts.node_of_rank[static_cast<std::size_t>(rank)] = place.vertex;
  for (const mapping::Route& route : file->set.routes)
    facts.traffic.flows.push_back({route.source, route.destination, 1, route.bytes});
  facts.routes = std::move(file->set);
  count_capacities(facts);
  add_title(facts, base_name(path));
  return facts;
}

// Says who the ranks are and where; nothing happened there.
class NetworkSession final : public Session {
 public:
  explicit NetworkSession(std::shared_ptr<const NetworkFacts> facts) : facts_(std::move(facts)) {}

  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds) override {
    if (std::exchange(given_, true)) return std::optional<Snapshot>();
    Snapshot snapshot;
    snapshot.ended = true;
    snapshot.application.command = facts_->title;
    snapshot.application.ranks = facts_->traffic.ranks;
    return std::optional<Snapshot>(std::move(snapshot));
  }
  Phase phase() override { return Phase::finished; }
  bool live() const override { return false; }
  bool complete() const override { return true; }
  Status messages(const TimeSpan&, const std::function<bool(std::span<const Message>)>&) override { return {}; }
  std::uint64_t message_count() const override { return 0; }
  std::uint64_t messages_not_stored() const override { return 0; }
  std::uint64_t collectives_not_stored() const override { return 0; }
  Result<std::vector<Window>> windows() override { return std::vector<Window>(); }
  Status collectives(const TimeSpan&, const std::function<bool(std::span<const CollectiveCall>)>&) override {
    return {};
  }
  Result<Dag> dag(const DagQuestion&) override { return Error{ErrorCode::not_found, "there is no run, only traffic"}; }
  Result<std::vector<PairTraffic>> traffic() override { return std::vector<PairTraffic>(); }

 private:
  std::shared_ptr<const NetworkFacts> facts_;
  bool given_ = false;
};

}  // namespace

bool is_network_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string head(looked_at, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  if (head.find('\0') != head.npos) return false;
  if (head.starts_with(mapping::traffic_heading) || mapping::is_route_file(path)) return true;
  for (std::size_t begin = 0; begin < head.size();) {
    const std::size_t end = std::min(head.find('\n', begin), head.size());
    std::string_view line(head.data() + begin, end - begin);
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r,;") != line.npos) return is_traffic_line(line);
    begin = end + 1;
  }
  return false;
}

Result<NetworkFacts> read_network_file(const std::string& path, const NetworkWords& words) {
  auto topology = parse_topology(words.topology);
  if (!topology) return topology.error();
  return mapping::is_route_file(path) ? read_route_network(path, words, std::move(*topology))
                                      : read_traffic_network(path, words, std::move(*topology));
}

mapping::Traffic traffic_of(std::int32_t ranks, const std::vector<PairTraffic>& pairs) {
  mapping::Traffic traffic;
  traffic.ranks = std::max(0, ranks);
  for (const PairTraffic& pair : pairs) {
    if (pair.source < 0 || pair.destination < 0 || pair.source >= ranks || pair.destination >= ranks) continue;
    if (pair.source == pair.destination) continue;  // uses no link
    traffic.flows.push_back({pair.source, pair.destination, pair.messages, static_cast<double>(pair.bytes)});
  }
  const auto key = [](const mapping::Flow& flow) { return std::pair(flow.source, flow.destination); };
  std::stable_sort(traffic.flows.begin(), traffic.flows.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  const auto again = std::unique(traffic.flows.begin(), traffic.flows.end(),
                                 [&](const auto& a, const auto& b) { return key(a) == key(b); });
  traffic.flows.erase(again, traffic.flows.end());
  return traffic;
}

mapping::Traffic more_than(const mapping::Traffic& now, const mapping::Traffic& before) {
  mapping::Traffic more;
  more.ranks = now.ranks;
  auto old = before.flows.begin();
  for (const mapping::Flow& flow : now.flows) {
    const auto key = std::pair(flow.source, flow.destination);
    while (old != before.flows.end() && std::pair(old->source, old->destination) < key) ++old;
    mapping::Flow left = flow;
    if (old != before.flows.end() && std::pair(old->source, old->destination) == key) {
      left.messages -= std::min(left.messages, old->messages);
      left.bytes = std::max(0.0, left.bytes - old->bytes);
    }
    if (left.messages > 0 || left.bytes > 0) more.flows.push_back(left);
  }
  return more;
}

Result<NetworkFacts> read_network_of_run(Session& session, const Snapshot& run, const std::string& title,
                                         const NetworkWords& words) {
  const Application& application = run.application;
  std::vector<std::string> notes;
  auto topology = parse_topology(words.topology);
  if (topology && !*topology) {
    auto known = topology_of_run(run.found, application.nodes, notes);
    topology = known ? Result<TopologyPtr>(std::make_shared<const Topology>(std::move(*known)))
                     : Result<TopologyPtr>(known.error());
  }
  if (!topology) return topology.error();
  const std::string text = (*topology)->text();
  const auto pairs = session.traffic();
  if (!pairs) return pairs.error();
  NetworkFacts facts;
  facts.of_run = true;
  facts.topology = std::move(*topology);
  facts.traffic = traffic_of(application.ranks, *pairs);
  if (words.ranks_per_node) {
    if (const Status placed = place(facts, *words.ranks_per_node); !placed) return placed.error();
  } else {
    facts.as_run = true;
    facts.node_of_rank = application.node_of_rank;
    facts.node_of_rank.resize(static_cast<std::size_t>(facts.traffic.ranks), -1);
    auto numbers = number_nodes(*facts.topology, application.nodes);
    if (!numbers) return numbers.error();
    numbers->renumber(facts.node_of_rank);
    facts.node_names = std::move(numbers->names);
    count_capacities(facts);
  }
  facts.traffic_from = session.live() ? "all so far" : "the whole run";
  facts.title =
      title + (text.starts_with("nodes:") ? ": of its network only the nodes are known (--topology)" : " on " + text);
  for (const std::string& note : notes) facts.title += "; " + note;
  return facts;
}

std::unique_ptr<Session> open_network(std::shared_ptr<const NetworkFacts> facts) {
  return std::make_unique<NetworkSession>(std::move(facts));
}

}  // namespace pclscope::session
