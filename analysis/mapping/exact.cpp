#include "analysis/mapping/exact.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace pclscope::mapping {
namespace {

constexpr std::int64_t most_steps = 3'000'000;

class Search {
 public:
  Search(const Instance& instance, Placement& placement)
      : instance_(instance),
        best_(placement.site),
        least_(cost_of(instance, placement)),
        site_(placement.site.size(), -1),
        used_(instance.sites, 0),
        order_(placement.site.size()) {
    alike_ = instance.uniform;
    for (std::int32_t site = 0; site < instance.sites; ++site)
      alike_ = alike_ && instance.capacity(site) == instance.capacity(0);
    // Who weighs most comes first: costs rise early.
    std::vector<double> weight(order_.size(), 0);
    for (std::int32_t rank = 0; rank < instance.ranks; ++rank)
      for (std::uint32_t k = instance.first[rank]; k < instance.first[rank + 1]; ++k)
        weight[rank] += std::abs(instance.weight[k]), least_ += instance.partner[k] > rank ? base(k) : 0;
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::int32_t a, std::int32_t b) { return weight[a] > weight[b]; });
  }

  bool run() {
    place_from(0, 0);
    return steps_ < most_steps;
  }
  const std::vector<std::int32_t>& best() const { return best_; }

 private:
  // Makes what a partner costs at any distance not negative, so that costs never fall on the way.
  double base(std::uint32_t k) const { return std::max(0.0, -instance_.cost(k, 1)); }

  void place_from(std::size_t depth, double cost) {
    if (++steps_ % 4096 == 0 && instance_.is_ended()) steps_ = most_steps;
    if (steps_ >= most_steps || cost >= least_) return;
    if (depth == order_.size()) {
      least_ = cost;
      best_ = site_;
      return;
    }
    const std::int32_t rank = order_[depth];
    bool empty_tried = false;
    for (std::int32_t site = 0; site < instance_.sites; ++site) {
      if (used_[site] >= instance_.capacity(site)) continue;
      // Where all are equally far, empty sites of equal capacity are the same.
      if (alike_ && used_[site] == 0 && std::exchange(empty_tried, true)) continue;
      double more = 0;
      const std::uint16_t* row = instance_.row(site);
      for (std::uint32_t k = instance_.first[rank]; k < instance_.first[rank + 1]; ++k)
        if (const std::int32_t at = site_[instance_.partner[k]]; at >= 0) more += instance_.cost(k, row[at]) + base(k);
      site_[rank] = site;
      ++used_[site];
      place_from(depth + 1, cost + more);
      --used_[site];
      site_[rank] = -1;
    }
  }

  const Instance& instance_;
  std::vector<std::int32_t> best_;
  double least_;
  std::vector<std::int32_t> site_, used_, order_;
  bool alike_ = false;
  std::int64_t steps_ = 0;
};

}  // namespace

bool find_best_of_all(const Instance& instance, Placement& placement) {
  Search search(instance, placement);
  const bool complete = search.run();
  placement = place(instance, search.best());
  return complete;
}

}  // namespace pclscope::mapping
