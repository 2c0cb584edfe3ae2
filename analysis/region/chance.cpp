#include "analysis/region/chance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_set>

#include "analysis/region/communities.hpp"
#include "analysis/region/modularity.hpp"
#include "analysis/region/refine.hpp"
#include "analysis/values/splitmix.hpp"

namespace pclscope {

namespace {

using Labels = std::vector<std::int32_t>;

constexpr std::size_t most_edges = 20'000;  // of a random graph
constexpr std::int32_t least_ranks = 200;   // of one that is smaller than the component
constexpr std::uint64_t graphs_seed = 0x9e3779b97f4a7c15u;
constexpr int swaps_per_edge = 10;

class Draw {
 public:
  std::uint64_t below(std::uint64_t n) { return splitmix(state_ += splitmix_step) % n; }

 private:
  std::uint64_t state_ = graphs_seed;
};

int samples_for(std::size_t edges) { return edges <= 200 ? 40 : edges <= 1'000 ? 16 : 6; }
int shakes_for(std::size_t edges) {  // a graph of few edges needs few, and regions wait for it
  return static_cast<int>(std::min<std::size_t>({24, 4 + edges / 4, 12'000 / (edges + 1)}));
}
constexpr int least_samples = 4;

std::vector<Link> links_of(const CommunicationGraph& graph) {
  std::vector<Link> links;
  links.reserve(graph.edges());
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank)
    for (const CommunicationGraph::Neighbour& n : graph.neighbours(rank))
      if (rank < n.rank) links.push_back({rank, n.rank, n.weight});
  return links;
}

// A graph without loops and double edges in which as many ranks as possible have the given degrees (Havel, Hakimi).
std::vector<Link> with_degrees(const std::vector<std::int32_t>& degree) {
  std::set<std::pair<std::int32_t, std::int32_t>> open;  // (edges still to have, rank)
  for (std::size_t rank = 0; rank < degree.size(); ++rank)
    if (degree[rank] > 0) open.insert({degree[rank], static_cast<std::int32_t>(rank)});
  std::vector<Link> links;
  while (open.size() > 1) {
    const auto [wants, rank] = *open.rbegin();
    open.erase(std::prev(open.end()));
    std::vector<std::pair<std::int32_t, std::int32_t>> to;
    for (auto it = open.rbegin(); it != open.rend() && to.size() < static_cast<std::size_t>(wants); ++it)
      to.push_back(*it);
    for (const auto& [other_wants, other] : to) {
      open.erase({other_wants, other});
      if (other_wants > 1) open.insert({other_wants - 1, other});
      links.push_back({rank, other, 0});
    }
  }
  return links;
}

// Links of a graph that the random ones are made of by swapping: the component's, or fewer with the like degrees.
std::vector<Link> like(const CommunicationGraph& component, std::int32_t& ranks) {
  std::vector<Link> links = links_of(component);
  ranks = component.ranks();
  if (links.size() <= most_edges) return links;
  const double n = ranks, edges = static_cast<double>(links.size());
  ranks = std::min(ranks, std::max(least_ranks, static_cast<std::int32_t>(n * most_edges / edges)));
  const double share = ranks / n, mean_degree = 2 * edges / n;
  const double scale = std::min(1.0, std::max(share, 0.25 * ranks / mean_degree));
  std::vector<std::int32_t> all(static_cast<std::size_t>(component.ranks())), drawn(static_cast<std::size_t>(ranks));
  for (std::int32_t rank = 0; rank < component.ranks(); ++rank)
    all[rank] = static_cast<std::int32_t>(component.neighbours(rank).size());
  std::sort(all.begin(), all.end());
  for (std::int32_t i = 0; i < ranks; ++i) {
    const auto at = static_cast<std::size_t>((i + 0.5) / ranks * n);
    drawn[i] = std::clamp(static_cast<std::int32_t>(std::lround(all[at] * scale)), 1, ranks - 1);
  }
  std::vector<double> weights;
  for (const Link& l : links) weights.push_back(l.weight);
  std::sort(weights.begin(), weights.end());
  links = with_degrees(drawn);
  for (std::size_t i = 0; i < links.size(); ++i)
    links[i].weight =
        weights[static_cast<std::size_t>((static_cast<double>(i) + 0.5) / static_cast<double>(links.size()) * edges)];
  return links;
}

std::uint64_t key(std::int32_t a, std::int32_t b) {
  return static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<std::uint32_t>(std::max(a, b));
}

// Two edges exchange their ends, again and again, where that makes no loop and no double edge; then their weights.
void shuffle(std::vector<Link>& links, std::unordered_set<std::uint64_t>& present, Draw& random) {
  for (std::size_t k = 0; k < links.size() * swaps_per_edge; ++k) {
    Link& x = links[random.below(links.size())];
    Link& y = links[random.below(links.size())];
    if (random.below(2) == 0) std::swap(y.a, y.b);
    if (x.a == y.b || y.a == x.b || present.count(key(x.a, y.b)) > 0 || present.count(key(y.a, x.b)) > 0) continue;
    present.erase(key(x.a, x.b));
    present.erase(key(y.a, y.b));
    std::swap(x.b, y.b);
    present.insert(key(x.a, x.b));
    present.insert(key(y.a, y.b));
  }
  for (std::size_t i = links.size(); i > 1; --i) std::swap(links[i - 1].weight, links[random.below(i)].weight);
}

}  // namespace

double cutting_gain(const CommunicationGraph& graph, double total, std::span<const std::int32_t> ranks,
                    std::span<const std::int32_t> label) {
  std::int32_t most = 0;
  for (const std::int32_t rank : ranks) most = std::max(most, label[rank]);
  std::vector<double> degree(static_cast<std::size_t>(most) + 1);
  double inside = 0, squares = 0, share = 0;
  for (const std::int32_t rank : ranks) {
    share += graph.degree(rank) / total;
    degree[label[rank]] += graph.degree(rank) / total;
    for (const CommunicationGraph::Neighbour& n : graph.neighbours(rank))
      if (label[n.rank] == label[rank]) inside += n.weight / total;
  }
  for (const double d : degree) squares += d * d;
  return inside - squares - (share - share * share);
}

ChanceTest test_against_chance(const CommunicationGraph& component, double total, std::span<const std::int32_t> label) {
  ChanceTest test;
  if (label.empty() || component.total() <= 0) return test;
  test.share = component.total() / total;
  Labels everybody(label.size());
  std::iota(everybody.begin(), everybody.end(), 0);
  test.gain = cutting_gain(component, total, everybody, label);
  std::int32_t ranks = 0;
  std::vector<Link> links = like(component, ranks);
  std::unordered_set<std::uint64_t> present;
  double weight = 0;
  for (const Link& l : links) {
    present.insert(key(l.a, l.b));
    weight += l.weight;
  }
  everybody.resize(static_cast<std::size_t>(ranks));
  // A smaller graph stands for the whole component: its share of all traffic is the same.
  const double total_here = total * (2 * weight / component.total());
  Draw random;
  const int most = samples_for(links.size());
  int samples = 0;
  double sum = 0, squares = 0;
  // No more when there is no doubt.
  const auto clear = [&] { return samples >= least_samples && links.size() > 200 && test.gain > 1.4 * sum / samples; };
  while (samples < most && !clear()) {
    ++samples;
    shuffle(links, present, random);
    const CommunicationGraph graph(ranks, links);
    Labels found(static_cast<std::size_t>(ranks));
    std::iota(found.begin(), found.end(), 0);
    improve_communities(graph, total_here, shakes_for(links.size()), found);
    const double gain = std::max(0.0, cutting_gain(graph, total_here, everybody, found));
    sum += gain;
    squares += gain * gain;
  }
  test.chance_mean = sum / samples;
  test.chance_spread = std::sqrt(std::max(0.0, squares / samples - test.chance_mean * test.chance_mean) * samples /
                                 std::max(samples - 1, 1));
  return test;
}

SignificantRegions find_significant_regions(const CommunicationGraph& graph, const RegionOptions& options,
                                            Dendrogram* dendrogram) {
  SignificantRegions made;
  made.best = find_regions(graph, options, dendrogram);
  made.partition = made.best;
  if (options.method == RegionMethod::paper) return made;
  Labels& regions = made.partition.region_of_rank;
  double whole = 0;  // modularity with one region per component
  const double total = graph.total();
  Labels local(static_cast<std::size_t>(graph.ranks()), -1);
  for (const std::vector<std::int32_t>& ranks : graph.components()) {
    ChanceTest& test = made.tests.emplace_back();
    double degree = 0;
    for (const std::int32_t rank : ranks) degree += graph.degree(rank);
    const double share = degree / total;
    whole += share - share * share;
    const std::int32_t first = regions[ranks.front()];
    if (std::all_of(ranks.begin(), ranks.end(), [&](std::int32_t rank) { return regions[rank] == first; })) continue;
    for (std::size_t i = 0; i < ranks.size(); ++i) local[ranks[i]] = static_cast<std::int32_t>(i);
    std::vector<Link> links;
    Labels label;
    for (const std::int32_t rank : ranks) {
      label.push_back(regions[rank]);
      for (const CommunicationGraph::Neighbour& n : graph.neighbours(rank))
        if (rank < n.rank) links.push_back({local[rank], local[n.rank], n.weight});
    }
    number_labels(label);
    test = test_against_chance(CommunicationGraph(static_cast<std::int32_t>(ranks.size()), links), total, label);
    if (!test.better())
      for (const std::int32_t rank : ranks) regions[rank] = first;
  }
  double by_chance = 0;
  for (const ChanceTest& test : made.tests) by_chance += test.chance_mean;
  if (by_chance > 0) made.chance_modularity = whole + by_chance;
  made.partition.regions = number_labels(regions);
  made.partition.modularity = modularity(graph, regions);
  if (dendrogram != nullptr) dendrogram->modularity = made.partition.modularity;
  return made;
}

}  // namespace pclscope
