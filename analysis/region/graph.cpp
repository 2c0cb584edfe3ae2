#include "analysis/region/graph.hpp"

#include <algorithm>

namespace pclscope {

CommunicationGraph::CommunicationGraph(std::int32_t ranks, std::span<const Link> links)
    : first_(static_cast<std::size_t>(ranks) + 1), degree_(static_cast<std::size_t>(ranks)) {
  std::vector<Link> directed;
  directed.reserve(links.size() * 2);
  for (const Link& l : links) {
    if (l.a == l.b || l.weight <= 0 || std::min(l.a, l.b) < 0 || std::max(l.a, l.b) >= ranks) continue;
    directed.push_back(l);
    directed.push_back({l.b, l.a, l.weight});
  }
  // Sorted by weight last, so that sums do not depend on the order in which links were given.
  std::sort(directed.begin(), directed.end(), [](const Link& x, const Link& y) {
    return x.a != y.a ? x.a < y.a : x.b != y.b ? x.b < y.b : x.weight < y.weight;
  });
  for (std::size_t i = 0; i < directed.size();) {
    const Link& l = directed[i];
    double weight = 0;
    for (; i < directed.size() && directed[i].a == l.a && directed[i].b == l.b; ++i) weight += directed[i].weight;
    neighbours_.push_back({l.b, weight});
    first_[l.a + 1] = neighbours_.size();
    degree_[l.a] += weight;
  }
  for (std::size_t rank = 1; rank < first_.size(); ++rank) first_[rank] = std::max(first_[rank], first_[rank - 1]);
  for (const double d : degree_) total_ += d;
}

std::vector<std::vector<std::int32_t>> CommunicationGraph::components() const {
  std::vector<std::vector<std::int32_t>> components;
  std::vector<bool> seen(degree_.size());
  std::vector<std::int32_t> open;
  for (std::int32_t start = 0; start < ranks(); ++start) {
    if (seen[start] || neighbours(start).empty()) continue;
    std::vector<std::int32_t>& members = components.emplace_back();
    seen[start] = true;
    open.assign(1, start);
    while (!open.empty()) {
      const std::int32_t rank = open.back();
      open.pop_back();
      members.push_back(rank);
      for (const Neighbour& n : neighbours(rank)) {
        if (seen[n.rank]) continue;
        seen[n.rank] = true;
        open.push_back(n.rank);
      }
    }
    std::sort(members.begin(), members.end());
  }
  return components;
}

CommunicationGraph CommunicationGraph::contracted(std::span<const std::int32_t> group, std::int32_t groups) const {
  std::vector<Link> links;
  for (std::int32_t rank = 0; rank < ranks(); ++rank)
    for (const Neighbour& n : neighbours(rank))
      if (rank < n.rank && group[rank] != group[n.rank]) links.push_back({group[rank], group[n.rank], n.weight});
  return CommunicationGraph(groups, links);
}

}  // namespace pclscope
