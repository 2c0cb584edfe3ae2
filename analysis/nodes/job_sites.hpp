// Call sites of all nodes in one numbering: nodes number theirs by themselves (site_of_node()); here each place gets
// (with its callers) one id, dense from 1, the same for all nodes whose module has the same path and build-id. One
// thread owns a JobSites.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/values/part.hpp"

namespace pclscope::nodes {

class JobSites {
 public:
  static constexpr std::size_t most_sites = 1'000'000;

  // A site that a node has seen, or whose name and line it has found meanwhile. Its `caller` is a site_of_node(), told
  // before.
  void add(const NodeSite& site);
  // 0 for a site that was not told.
  std::uint32_t id_of(std::uint64_t node_site) const {
    const auto found = ids_.find(static_cast<std::uint32_t>(node_site));
    return found == ids_.end() ? 0 : found->second;
  }
  // New ones, or with a new name, since the last call.
  std::vector<CallSite> news();
  // Fills Snapshot::sites with those that it refers to; of a finished one with all.
  void describe(Snapshot& snapshot) const;

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> ids_;  // by site_of_node
  std::map<std::tuple<std::string, std::string, std::uint64_t, std::uint32_t>, std::uint32_t> by_place_;
  std::vector<CallSite> sites_;  // by id - 1
  std::vector<std::uint32_t> changed_;
};

}  // namespace pclscope::nodes
