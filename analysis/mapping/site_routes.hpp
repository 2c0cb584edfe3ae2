// The links between sites of an Instance, and each rank's flows in both directions: what a search over link loads
// walks along.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/mapping/instance.hpp"
#include "analysis/mapping/link_load.hpp"

namespace pclscope::mapping {

class SiteRoutes {
 public:
  SiteRoutes(const Instance& instance, const Topology& topology, const LinkGraph& graph)
      : instance_(instance),
        topology_(topology),
        graph_(graph),
        kept_(instance.sites <= most_kept ? static_cast<std::size_t>(instance.sites) * instance.sites : 0, -1) {}

  // Valid until the next call.
  std::span<const std::int32_t> between(std::int32_t from, std::int32_t to) {
    const std::size_t pair = static_cast<std::size_t>(from) * instance_.sites + to;
    if (kept_.empty()) {
      links_.clear();
      append(from, to);
      return links_;
    }
    if (kept_[pair] < 0) {
      kept_[pair] = static_cast<std::int32_t>(links_.size());
      links_.push_back(0);  // how many follow
      append(from, to);
      links_[static_cast<std::size_t>(kept_[pair])] = static_cast<std::int32_t>(links_.size()) - kept_[pair] - 1;
    }
    const std::int32_t* at = links_.data() + kept_[pair];
    return {at + 1, static_cast<std::size_t>(*at)};
  }

 private:
  static constexpr std::int32_t most_kept = 2048;  // sites: 16 MiB, and the links of the pairs that were asked for

  void append(std::int32_t from, std::int32_t to) {
    if (from == to) return;
    const auto path = topology_.route(instance_.node[from], instance_.node[to]);
    for (std::size_t k = 1; k < path.size(); ++k) links_.push_back(graph_.find(path[k - 1], path[k]));
  }

  const Instance& instance_;
  const Topology& topology_;
  const LinkGraph& graph_;
  std::vector<std::int32_t> kept_, links_;
};

// What a rank sends to others and gets from them; nothing that stays with it.
struct RankFlows {
  struct Flow {
    std::int32_t other = 0;
    bool out = false;
    double bytes = 0;
  };
  std::vector<std::uint32_t> first;
  std::vector<Flow> flows;

  explicit RankFlows(const Traffic& traffic) : first(static_cast<std::size_t>(traffic.ranks) + 1) {
    for (const mapping::Flow& f : traffic.flows)
      if (counts(f)) ++first[f.source + 1], ++first[f.destination + 1];
    for (std::size_t r = 1; r < first.size(); ++r) first[r] += first[r - 1];
    flows.resize(first.back());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (const mapping::Flow& f : traffic.flows) {
      if (!counts(f)) continue;
      flows[next[f.source]++] = {f.destination, true, f.bytes};
      flows[next[f.destination]++] = {f.source, false, f.bytes};
    }
  }
  std::span<const Flow> of(std::int32_t rank) const {
    return std::span(flows).subspan(first[rank], first[rank + 1] - first[rank]);
  }

 private:
  static bool counts(const mapping::Flow& f) { return f.source != f.destination && f.bytes > 0; }
};

}  // namespace pclscope::mapping
