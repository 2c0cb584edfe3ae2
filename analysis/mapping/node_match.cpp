#include "analysis/mapping/node_match.hpp"

#include <algorithm>
#include <unordered_map>

namespace pclscope::mapping {
namespace {

std::string short_name(const std::string& name) { return name.substr(0, name.find('.')); }

constexpr std::int32_t several = -2;

struct Index {
  std::unordered_map<std::string, std::int32_t> whole, shortened;

  explicit Index(const Topology& topology) {
    for (std::int32_t node = 0; node < topology.nodes(); ++node) {
      if (!topology.takes_ranks(node)) continue;
      const std::string name = topology.name(node);
      whole.try_emplace(name, node);
      const auto [place, added] = shortened.try_emplace(short_name(name), node);
      if (!added) place->second = several;
    }
  }
  std::int32_t find(const std::string& name) const {
    if (const auto found = whole.find(name); found != whole.end()) return found->second;
    const auto found = shortened.find(short_name(name));
    return found == shortened.end() ? -1 : found->second;
  }
};

}  // namespace

Result<std::vector<std::int32_t>> match_nodes(const Topology& topology, const std::vector<std::string>& names) {
  const Index index(topology);
  std::vector<std::int32_t> nodes;
  std::unordered_map<std::int32_t, std::string> taken;
  for (const std::string& name : names) {
    const std::int32_t node = index.find(name);
    if (node == several)
      return Error{ErrorCode::bad_argument,
                   topology.text() + " has several nodes that may be '" + name + "' of the run"};
    if (node < 0)
      return Error{ErrorCode::bad_argument, topology.text() + " has no node '" + name + "', on which the run was"};
    if (const auto [place, added] = taken.try_emplace(node, name); !added)
      return Error{ErrorCode::bad_argument, "the run's nodes '" + place->second + "' and '" + name + "' are both " +
                                                topology.name(node) + " of " + topology.text()};
    nodes.push_back(node);
  }
  return nodes;
}

bool goes_by_name(const Topology& topology, const std::vector<std::string>& names) {
  if (!topology.has_names() || names.empty()) return false;
  if (!topology.text().starts_with("edges:")) return true;
  const Index index(topology);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return index.find(name) != -1; });
}

}  // namespace pclscope::mapping
