#include "analysis/logical/clusters.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "analysis/values/splitmix.hpp"

namespace pclscope::logical {
namespace {

constexpr std::uint32_t most_clusters = 64;

// Medoids of few things, whose distances are all known: PAM, its two stages BUILD and SWAP.
class Medoids {
 public:
  // `distance(a, b)` of things 0..count-1.
  template <class Distance>
  Medoids(std::size_t count, std::size_t most, Distance distance) : count_(count), distances_(count * count) {
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = 0; b < a; ++b) distances_[a * count + b] = distances_[b * count + a] = distance(a, b);
    nearest_.assign(count, std::numeric_limits<double>::infinity());
    while (chosen_.size() < std::min(most, count) && add_best()) {}
    while (swap_best()) {}
  }
  const std::vector<std::size_t>& chosen() const { return chosen_; }

 private:
  double at(std::size_t a, std::size_t b) const { return distances_[a * count_ + b]; }
  double cost() const { return std::accumulate(nearest_.begin(), nearest_.end(), 0.0); }

  // The one that brings all others nearest to a medoid; false when none does.
  bool add_best() {
    double best_sum = cost();
    std::size_t best = count_;
    for (std::size_t c = 0; c < count_; ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < count_; ++i) sum += std::min(nearest_[i], at(i, c));
      if (sum < best_sum) best_sum = sum, best = c;
    }
    if (best == count_) return false;
    chosen_.push_back(best);
    for (std::size_t i = 0; i < count_; ++i) nearest_[i] = std::min(nearest_[i], at(i, best));
    return true;
  }

  // Another one in place of a medoid, where that is better by more than rounding.
  bool swap_best() {
    constexpr double worth = 1 - 1e-9;
    double best_sum = worth * cost();
    std::size_t place = 0, best = count_;
    std::vector<double> others(count_);
    for (std::size_t m = 0; m < chosen_.size(); ++m) {
      for (std::size_t i = 0; i < count_; ++i) {
        others[i] = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < chosen_.size(); ++k)
          if (k != m) others[i] = std::min(others[i], at(i, chosen_[k]));
      }
      for (std::size_t c = 0; c < count_; ++c) {
        double sum = 0;
        for (std::size_t i = 0; i < count_; ++i) sum += std::min(others[i], at(i, c));
        if (sum < best_sum) best_sum = sum, place = m, best = c;
      }
    }
    if (best == count_) return false;
    chosen_[place] = best;
    for (std::size_t i = 0; i < count_; ++i) {
      nearest_[i] = std::numeric_limits<double>::infinity();
      for (const std::size_t c : chosen_) nearest_[i] = std::min(nearest_[i], at(i, c));
    }
    return true;
  }

  std::size_t count_;
  std::vector<double> distances_;
  std::vector<double> nearest_;  // distance of each to its medoid
  std::vector<std::size_t> chosen_;
};

struct Assigned {
  std::vector<std::uint32_t> medoid_of;  // of each series
  double sum = 0;
};

Assigned assign(const std::vector<Series>& series, const std::vector<std::size_t>& medoids) {
  Assigned to;
  for (const Series& s : series) {
    double least = std::numeric_limits<double>::infinity();
    std::uint32_t nearest = 0;
    for (std::uint32_t m = 0; m < medoids.size(); ++m)
      if (const double d = distance(s, series[medoids[m]]); d < least) least = d, nearest = m;
    to.medoid_of.push_back(nearest);
    to.sum += least;
  }
  return to;
}

// A sample has the medoids found so far, and others at random.
std::vector<std::size_t> draw(std::size_t count, std::size_t size, const std::vector<std::size_t>& medoids,
                              std::uint64_t seed) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::size_t> known = medoids;
  std::sort(known.begin(), known.end());
  std::size_t drawn = 0;
  for (; drawn < known.size(); ++drawn)
    std::swap(all[drawn], all[known[drawn]]);  // which is still there: those before are less
  for (; drawn < size; ++drawn)
    std::swap(all[drawn],
              all[drawn + static_cast<std::size_t>(splitmix(seed + drawn * splitmix_step) % (count - drawn))]);
  all.resize(size);
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::size_t> clara(const std::vector<Series>& series, const ClusterOptions& options, Assigned& best) {
  const std::size_t most =
      std::min({std::size_t{most_clusters}, std::size_t{std::max(options.clusters, 1u)}, series.size()});
  const std::size_t size = std::min(series.size(), 40 + 2 * most);
  std::vector<std::size_t> medoids;
  const std::uint32_t samples = size == series.size() ? 1 : std::max(options.samples, 1u);
  for (std::uint32_t s = 0; s < samples; ++s) {
    const std::vector<std::size_t> sample =
        draw(series.size(), size, medoids, splitmix((options.seed + s + 1) * splitmix_step));
    const Medoids found(size, most,
                        [&](std::size_t a, std::size_t b) { return distance(series[sample[a]], series[sample[b]]); });
    std::vector<std::size_t> chosen;
    for (const std::size_t i : found.chosen()) chosen.push_back(sample[i]);
    Assigned assigned = assign(series, chosen);
    if (!medoids.empty() && assigned.sum >= best.sum) continue;
    best = std::move(assigned);
    medoids = std::move(chosen);
  }
  return medoids;
}

// The nearest two sets again and again. `left`: distances of k medoids.
std::vector<Clusters::Merge> single_linkage(std::vector<double> left, std::uint32_t k) {
  std::vector<Clusters::Merge> merges;
  std::vector<std::uint32_t> name(k);
  std::iota(name.begin(), name.end(), 0);
  std::vector<char> gone(k);
  for (std::uint32_t step = 0; step + 1 < k; ++step) {
    std::uint32_t a = 0, b = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t i = 0; i < k; ++i)
      for (std::uint32_t j = i + 1; j < k; ++j)
        if (!gone[i] && !gone[j] && (a == b || left[i * k + j] < least)) least = left[i * k + j], a = i, b = j;
    merges.push_back({name[a], name[b], least});
    name[a] = k + step;
    gone[b] = true;
    for (std::uint32_t i = 0; i < k; ++i)
      left[a * k + i] = left[i * k + a] = std::min(left[a * k + i], left[b * k + i]);
  }
  return merges;
}

// Numbers in the order in which they first appear.
std::vector<std::uint32_t> renumbered(std::vector<std::uint32_t>& numbers, std::size_t most) {
  std::vector<std::uint32_t> of(most, none), order;
  for (std::uint32_t& n : numbers) {
    if (of[n] == none) {
      of[n] = static_cast<std::uint32_t>(order.size());
      order.push_back(n);
    }
    n = of[n];
  }
  return order;
}

}  // namespace

double value_of(const LogicalTime& time, const Phase& phase, const Event& e, Metric metric) {
  switch (metric) {
    case Metric::lateness: return static_cast<double>(time.lateness(phase, e)) * 1e-9;
    case Metric::entry_lateness: return static_cast<double>(time.entry_lateness(phase, e)) * 1e-9;
    case Metric::duration: return static_cast<double>(e.end - e.begin) * 1e-9;
    case Metric::wait: return static_cast<double>(e.wait_ns) * 1e-9;
    case Metric::bytes: break;
  }
  return e.bytes;
}

Series series_of(const LogicalTime& time, const Phase& phase, const Part& part, Metric metric) {
  Series series;
  for (std::uint32_t i = part.first; i < part.end; ++i) {
    const Event& e = time.events[i];
    series.steps.push_back(e.step);
    series.values.push_back(value_of(time, phase, e, metric));
  }
  return series;
}

double distance(const Series& a, const Series& b) {
  double sum = 0;
  std::size_t i = 0, j = 0, counted = 0;
  while (i < a.steps.size() || j < b.steps.size()) {
    const std::uint32_t step = std::min(i < a.steps.size() ? a.steps[i] : none, j < b.steps.size() ? b.steps[j] : none);
    i += i < a.steps.size() && a.steps[i] == step;
    j += j < b.steps.size() && b.steps[j] == step;
    if (i == 0 || j == 0) continue;
    const double difference = a.values[i - 1] - b.values[j - 1];
    sum += difference * difference;
    ++counted;
  }
  return counted > 0 ? sum / static_cast<double>(counted) : 0;
}

Clusters clusters_of(const LogicalTime& time, const Phase& phase, const ClusterOptions& options) {
  Clusters c;
  std::vector<Series> series;
  for (const Part& part : time.parts_of(phase)) {
    c.ranks.push_back(part.rank);
    series.push_back(series_of(time, phase, part, options.metric));
  }
  if (series.empty()) return c;
  Assigned assigned;
  const std::vector<std::size_t> medoids = clara(series, options, assigned);
  c.mean_distance = assigned.sum / static_cast<double>(series.size());
  c.cluster_of = std::move(assigned.medoid_of);
  // A medoid as good as another one may have nobody.
  const std::vector<std::uint32_t> order = renumbered(c.cluster_of, medoids.size());
  const auto k = static_cast<std::uint32_t>(order.size());
  for (const std::uint32_t m : order) c.medoids.push_back(c.ranks[medoids[m]]);
  std::vector<double> between(std::size_t{k} * k);
  for (std::uint32_t a = 0; a < k; ++a)
    for (std::uint32_t b = 0; b < k; ++b)
      between[a * k + b] = distance(series[medoids[order[a]]], series[medoids[order[b]]]);
  c.merges = single_linkage(std::move(between), k);
  c.mean_s.assign(k, 0);
  std::vector<std::size_t> events(k);
  for (std::size_t r = 0; r < series.size(); ++r) {
    c.mean_s[c.cluster_of[r]] += std::accumulate(series[r].values.begin(), series[r].values.end(), 0.0);
    events[c.cluster_of[r]] += series[r].values.size();
  }
  for (std::uint32_t a = 0; a < k; ++a) c.mean_s[a] /= static_cast<double>(std::max<std::size_t>(events[a], 1));
  return c;
}

std::vector<std::uint32_t> cut(const Clusters& clusters, std::uint32_t most) {
  const auto k = static_cast<std::uint32_t>(clusters.medoids.size());
  std::vector<std::uint32_t> into(2 * std::size_t{k});  // of clusters and merges: the set that they are in
  std::iota(into.begin(), into.end(), 0);
  for (std::uint32_t i = 0; i < clusters.merges.size() && k - i > std::max(most, 1u); ++i)
    into[clusters.merges[i].a] = into[clusters.merges[i].b] = k + i;
  std::vector<std::uint32_t> cluster_of = clusters.cluster_of;
  for (std::uint32_t& c : cluster_of)
    while (into[c] != c) c = into[c];
  renumbered(cluster_of, 2 * std::size_t{k});
  return cluster_of;
}

}  // namespace pclscope::logical
