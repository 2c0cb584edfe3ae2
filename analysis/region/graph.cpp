#include "analysis/region/graph.hpp"

#include <algorithm>
#include <limits>

namespace pclscope {

namespace {

// Within these, products and quotients of degrees neither overflow nor vanish.
constexpr double least_weight = 1e-60, most_weight = 1e60;

bool usable(const Link& l, std::int32_t ranks) {
  return l.a != l.b && l.weight > 0 && l.weight <= std::numeric_limits<double>::max() && std::min(l.a, l.b) >= 0 &&
         std::max(l.a, l.b) < ranks;
}

}  // namespace

CommunicationGraph::CommunicationGraph(std::int32_t ranks, std::span<const Link> links) {
  const auto n = static_cast<std::size_t>(std::max(ranks, 0));
  std::vector<std::size_t> first(n + 1);
  for (const Link& l : links)
    if (usable(l, ranks)) ++first[l.a + 1], ++first[l.b + 1];
  for (std::size_t rank = 0; rank < n; ++rank) first[rank + 1] += first[rank];
  std::vector<Neighbour> given(first[n]);
  std::vector<std::size_t> at(first.begin(), first.end() - 1);  // where the rank's next neighbour goes
  for (const Link& l : links) {
    if (!usable(l, ranks)) continue;
    const double weight = std::clamp(l.weight, least_weight, most_weight);
    given[at[l.a]++] = {l.b, weight};
    given[at[l.b]++] = {l.a, weight};
  }
  // Handing each rank, in ascending order, to its neighbours leaves all neighbours sorted.
  neighbours_.resize(given.size());
  at.assign(first.begin(), first.end() - 1);
  for (std::size_t rank = 0; rank < n; ++rank)
    for (std::size_t i = first[rank]; i < first[rank + 1]; ++i)
      neighbours_[at[given[i].rank]++] = {static_cast<std::int32_t>(rank), given[i].weight};
  first_ = std::move(first);
  add_up_repeated();
  sum_degrees();
}

// In the order of their weights, so that sums do not depend on the order in which links were given.
void CommunicationGraph::add_up_repeated() {
  std::size_t to = 0;
  for (std::size_t rank = 0, from = 0; rank + 1 < first_.size(); ++rank) {
    const std::size_t end = first_[rank + 1];
    first_[rank] = to;
    for (std::size_t next; from < end; from = next) {
      for (next = from + 1; next < end && neighbours_[next].rank == neighbours_[from].rank;) ++next;
      if (next - from > 2)
        std::sort(neighbours_.begin() + static_cast<std::ptrdiff_t>(from),
                  neighbours_.begin() + static_cast<std::ptrdiff_t>(next),
                  [](const Neighbour& x, const Neighbour& y) { return x.weight < y.weight; });
      Neighbour sum = neighbours_[from];
      for (std::size_t i = from + 1; i < next; ++i) sum.weight += neighbours_[i].weight;
      neighbours_[to++] = sum;
    }
  }
  first_.back() = to;
  neighbours_.resize(to);
}

void CommunicationGraph::sum_degrees() {
  degree_.assign(first_.size() - 1, 0);
  total_ = 0;
  for (std::int32_t rank = 0; rank < ranks(); ++rank) {
    for (const Neighbour& k : neighbours(rank)) degree_[rank] += k.weight;
    total_ += degree_[rank];
  }
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
  const auto n = static_cast<std::size_t>(groups);
  // Members of each group, one after the other.
  std::vector<std::size_t> begin(n + 1), at;
  for (const std::int32_t g : group)
    if (g >= 0) ++begin[g + 1];
  for (std::size_t g = 0; g < n; ++g) begin[g + 1] += begin[g];
  std::vector<std::int32_t> member(begin[n]);
  at.assign(begin.begin(), begin.end() - 1);
  for (std::size_t rank = 0; rank < group.size(); ++rank)
    if (group[rank] >= 0) member[at[group[rank]]++] = static_cast<std::int32_t>(rank);
  // Each pair of groups is added up once, at the smaller one, so that both see the same sum.
  std::vector<Link> upper;
  std::vector<double> weight(n);
  std::vector<std::int32_t> met;
  for (std::int32_t g = 0; g < groups; ++g) {
    met.clear();
    for (std::size_t i = begin[g]; i < begin[g + 1]; ++i)
      for (const Neighbour& k : neighbours(member[i])) {
        const std::int32_t to = group[k.rank];
        if (to <= g) continue;
        if (weight[to] == 0) met.push_back(to);
        weight[to] += k.weight;
      }
    std::sort(met.begin(), met.end());
    for (const std::int32_t to : met) {
      upper.push_back({g, to, weight[to]});
      weight[to] = 0;
    }
  }
  return CommunicationGraph(groups, upper);
}

}  // namespace pclscope
