// Comparing partitions, and random graphs to partition.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "analysis/region/graph.hpp"

namespace pclscope::test {

// Hubert and Arabie's index: 1 for the same partition, about 0 for unrelated ones.
inline double adjusted_rand(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::map<std::pair<int, int>, double> both;
  std::map<int, double> in_a, in_b;
  const auto pairs = [](double n) { return n * (n - 1) / 2; };
  for (std::size_t i = 0; i < a.size(); ++i) ++both[{a[i], b[i]}], ++in_a[a[i]], ++in_b[b[i]];
  double index = 0, sum_a = 0, sum_b = 0;
  for (const auto& [key, n] : both) index += pairs(n);
  for (const auto& [key, n] : in_a) sum_a += pairs(n);
  for (const auto& [key, n] : in_b) sum_b += pairs(n);
  const double expected = sum_a * sum_b / pairs(static_cast<double>(a.size()));
  const double most = (sum_a + sum_b) / 2;
  return most == expected ? 1 : (index - expected) / (most - expected);
}

// The same partition of other labels.
inline bool same(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  return adjusted_rand(a, b) == 1;
}

inline CommunicationGraph random_connected(int n, std::mt19937_64& random) {
  std::vector<Link> links;
  for (int i = 1; i < n; ++i)
    links.push_back(
        {i, static_cast<int>(random() % static_cast<unsigned>(i)), 1.0 + static_cast<double>(random() % 100)});
  for (int k = static_cast<int>(random() % static_cast<unsigned>(2 * n)); k > 0; --k)
    links.push_back({static_cast<int>(random() % static_cast<unsigned>(n)),
                     static_cast<int>(random() % static_cast<unsigned>(n)), 1.0 + static_cast<double>(random() % 100)});
  return CommunicationGraph(n, links);
}

// A random relabelling: name[rank] is its new rank.
inline std::vector<std::int32_t> random_names(std::int32_t n, std::mt19937_64& random) {
  std::vector<std::int32_t> name(static_cast<std::size_t>(n));
  std::iota(name.begin(), name.end(), 0);
  std::shuffle(name.begin(), name.end(), random);
  return name;
}

inline CommunicationGraph renamed(int n, std::vector<Link> links, const std::vector<std::int32_t>& name,
                                  std::mt19937_64& random) {
  for (Link& l : links) {
    l = {name[l.a], name[l.b], l.weight};
    if (random() % 2) std::swap(l.a, l.b);
  }
  std::shuffle(links.begin(), links.end(), random);
  return CommunicationGraph(n, links);
}

// What the relabelled ranks' regions are in the old numbers.
inline std::vector<std::int32_t> named_back(const std::vector<std::int32_t>& region,
                                            const std::vector<std::int32_t>& name) {
  std::vector<std::int32_t> back(region.size());
  for (std::size_t i = 0; i < back.size(); ++i) back[i] = region[static_cast<std::size_t>(name[i])];
  return back;
}

}  // namespace pclscope::test
