#include "viewer/layout/mapping_preview.hpp"

#include <algorithm>
#include <string_view>

#include "analysis/mapping/mapping.hpp"

namespace pclscope::layout {
namespace {

constexpr std::int32_t most_groups = 24;
constexpr double effort = 0.05;  // a tenth of a second for some hundred ranks
constexpr std::size_t most_ranks = 65'536;
constexpr std::size_t most_pairs = 4'000'000;

MappingPreview cannot(const char* why) {
  MappingPreview p;
  p.problem = why;
  return p;
}

// Pairs of ranks that are there, sorted, each once.
mapping::Traffic traffic_of(const Snapshot& snapshot) {
  mapping::Traffic traffic;
  traffic.ranks = static_cast<std::int32_t>(snapshot.application.node_of_rank.size());
  for (const PairTraffic& p : snapshot.traffic) {
    if (p.source < 0 || p.destination < 0 || p.source >= traffic.ranks || p.destination >= traffic.ranks) continue;
    traffic.flows.push_back({p.source, p.destination, p.messages, static_cast<double>(p.bytes)});
  }
  const auto pair = [](const mapping::Flow& f) { return std::pair(f.source, f.destination); };
  std::stable_sort(traffic.flows.begin(), traffic.flows.end(),
                   [&](const auto& a, const auto& b) { return pair(a) < pair(b); });
  const auto twice = std::unique(traffic.flows.begin(), traffic.flows.end(),
                                 [&](const auto& a, const auto& b) { return pair(a) == pair(b); });
  traffic.flows.erase(twice, traffic.flows.end());
  return traffic;
}

MappingSide side_of(const mapping::Traffic& traffic, const std::vector<std::int32_t>& node_of_rank,
                    const MappingPreview& shape) {
  MappingSide side;
  side.matrix.resize(static_cast<std::size_t>(shape.groups) * static_cast<std::size_t>(shape.groups));
  for (const mapping::Flow& f : traffic.flows) {
    const std::int32_t from = node_of_rank[static_cast<std::size_t>(f.source)],
                       to = node_of_rank[static_cast<std::size_t>(f.destination)];
    (from == to ? side.intra : side.inter) += f.messages;
    const std::int32_t row = from / shape.nodes_per_group, column = to / shape.nodes_per_group;
    side.matrix[static_cast<std::size_t>(row) * static_cast<std::size_t>(shape.groups) +
                static_cast<std::size_t>(column)] += f.messages;
  }
  return side;
}

// Ranks per node now; empty when some rank's node is not known.
std::vector<std::int32_t> capacities(const Application& application) {
  std::vector<std::int32_t> found(application.nodes.size());
  for (const std::int32_t node : application.node_of_rank) {
    if (node < 0 || static_cast<std::size_t>(node) >= found.size()) return {};
    ++found[static_cast<std::size_t>(node)];
  }
  return found;
}

// "12345 messages": the number at the front, moved past.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  std::size_t digits = 0;
  while (digits < text.size() && digits < 18 && text[digits] >= '0' && text[digits] <= '9')
    value = value * 10 + static_cast<std::uint64_t>(text[digits++] - '0');
  text.remove_prefix(digits);
  return digits > 0 ? std::optional(value) : std::nullopt;
}

// "... placement was found: 1385144 to 1159653 messages between nodes ...".
std::optional<std::pair<std::uint64_t, std::uint64_t>> before_and_after(std::string_view sentence) {
  constexpr std::string_view lead = "placement was found: ", middle = " to ", end = " messages between nodes";
  const std::size_t at = sentence.find(lead);
  if (at == sentence.npos) return std::nullopt;
  sentence.remove_prefix(at + lead.size());
  const auto before = take_number(sentence);
  if (!before || !sentence.starts_with(middle)) return std::nullopt;
  sentence.remove_prefix(middle.size());
  const auto after = take_number(sentence);
  if (!after || !sentence.starts_with(end)) return std::nullopt;
  return std::pair(*before, *after);
}

}  // namespace

MappingPreview preview_mapping(const Snapshot& snapshot) {
  const Application& app = snapshot.application;
  if (app.nodes.size() < 2) return cannot("all ranks are on one node: there is nothing to place");
  if (snapshot.traffic.empty()) return cannot("who sends how much to whom is in the dump only");
  const std::vector<std::int32_t> capacity = capacities(app);
  if (capacity.empty() || app.node_of_rank.empty()) return cannot("the nodes of some ranks are not known");
  if (app.node_of_rank.size() > most_ranks || app.nodes.size() > most_ranks || snapshot.traffic.size() > most_pairs)
    return cannot("too many ranks to place here: see pclscope map");
  const mapping::Traffic traffic = traffic_of(snapshot);
  const auto nodes = static_cast<std::int32_t>(app.nodes.size());
  const auto topology = mapping::Topology::parse("nodes:" + std::to_string(nodes));
  if (!topology) return cannot("no placement was found");
  const auto found = mapping::find_mapping(
      {traffic, *topology, capacity, app.node_of_rank, mapping::Objective::inter_messages, effort, false});
  if (!found) return cannot("no placement was found");
  MappingPreview p;
  p.nodes_per_group = (nodes + most_groups - 1) / most_groups;
  p.groups = (nodes + p.nodes_per_group - 1) / p.nodes_per_group;
  p.before = side_of(traffic, app.node_of_rank, p);
  p.after = side_of(traffic, found->node_of_rank, p);
  for (std::size_t r = 0; r < app.node_of_rank.size(); ++r) p.moved += found->node_of_rank[r] != app.node_of_rank[r];
  return p;
}

std::optional<MappingPreview> told_mapping(const Finding& finding, const Attribution& attribution) {
  for (const std::string& sentence : finding.evidence) {
    const auto told = before_and_after(sentence);
    if (!told) continue;
    std::uint64_t all = 0;
    for (const AttributionSlice& s : attribution.slices) all += s.intra_messages + s.inter_messages;
    all = std::max({all, told->first, told->second});
    MappingPreview p;
    p.before = {all - told->first, told->first, {}};
    p.after = {all - told->second, told->second, {}};
    p.moved = finding.ranks.size();
    return p;
  }
  return std::nullopt;
}

}  // namespace pclscope::layout
