#include <algorithm>
#include <deque>

#include "analysis/mapping/search.hpp"

namespace pclscope::mapping {
namespace {

constexpr std::int64_t all_places = 1 << 16;  // ranks x sites up to which every site is looked at
constexpr std::size_t most_partners = 5;
constexpr std::size_t most_tried = 4;

class Descent {
 public:
  Descent(const Instance& instance, Placement& placement, double looks)
      : instance_(instance),
        placement_(placement),
        looks_left_(looks),
        waits_(instance.ranks, true),
        seen_(instance.sites, -1) {}

  void run() {
    for (std::int32_t rank = 0; rank < instance_.ranks; ++rank) queue_.push_back(rank);
    // Every step gains; the bound is against rounding that goes in circles.
    for (std::int64_t steps = std::int64_t{200} * instance_.ranks + 1000;
         steps > 0 && looks_left_ > 0 && !queue_.empty() && !instance_.is_ended(); --steps) {
      const std::int32_t rank = queue_.front();
      queue_.pop_front();
      waits_[rank] = false;
      if (improve(rank)) await(rank);
    }
  }

 private:
  void await(std::int32_t rank) {
    if (waits_[rank]) return;
    waits_[rank] = true;
    queue_.push_back(rank);
  }

  // What an exchange costs to look at.
  double partners(std::int32_t rank) const { return rank < 0 ? 1 : instance_.first[rank + 1] - instance_.first[rank]; }

  void add(std::int32_t site) {
    if (seen_[site] == turn_) return;
    seen_[site] = turn_;
    candidates_.push_back(site);
  }

  void find_candidates(std::int32_t rank) {
    candidates_.clear();
    ++turn_;
    if (static_cast<std::int64_t>(instance_.ranks) * instance_.sites <= all_places) {
      for (std::int32_t site = 0; site < instance_.sites; ++site) add(site);
      return;
    }
    const auto around = [&](std::int32_t site) {
      add(site);
      const auto near = instance_.near_of(site);
      for (std::size_t k = 0; k < std::min(most_tried, near.size()); ++k) add(near[k]);
    };
    around(placement_.site[rank]);
    const std::uint32_t begin = instance_.first[rank], count = instance_.first[rank + 1] - begin;
    const std::uint32_t step = std::max<std::uint32_t>(1, count / most_partners);
    for (std::uint32_t k = 0; k < count; k += step) around(placement_.site[instance_.partner[begin + k]]);
  }

  bool improve(std::int32_t rank) {
    find_candidates(rank);
    double best = -least_gain * instance_.mean_weight;
    std::int32_t best_slot = -1;
    for (const std::int32_t site : candidates_) {
      if (site == placement_.site[rank]) continue;
      for (std::int32_t slot = instance_.first_slot[site]; slot < instance_.first_slot[site + 1]; ++slot) {
        const double change = change_of(instance_, placement_, rank, slot);
        looks_left_ -= partners(rank) + partners(placement_.rank_at[slot]);
        if (change < best) best = change, best_slot = slot;
        if (placement_.rank_at[slot] < 0) break;  // one free slot of a site is as good as the next
      }
    }
    if (best_slot < 0) return false;
    const std::int32_t other = placement_.rank_at[best_slot];
    exchange(instance_, placement_, rank, best_slot);
    for (const std::int32_t moved : {rank, other}) {
      if (moved < 0) continue;
      await(moved);
      for (std::uint32_t k = instance_.first[moved]; k < instance_.first[moved + 1]; ++k) await(instance_.partner[k]);
    }
    return true;
  }

  const Instance& instance_;
  Placement& placement_;
  double looks_left_;
  std::vector<bool> waits_;
  std::vector<std::int32_t> seen_, candidates_;
  std::int32_t turn_ = 0;
  std::deque<std::int32_t> queue_;
};

}  // namespace

void descend(const Instance& instance, Placement& placement, double looks) {
  if (instance.sites > 1) Descent(instance, placement, looks).run();
}

}  // namespace pclscope::mapping
