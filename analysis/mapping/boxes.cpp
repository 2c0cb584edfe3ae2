// Where several ranks of a site sit: slot k of a site goes to slot k of the other, so capacities hold.
#include <algorithm>

#include "analysis/mapping/search.hpp"

namespace pclscope::mapping {
namespace {

class Boxes {
 public:
  Boxes(const Instance& instance, Placement& placement, Random& random)
      : instance_(instance), placement_(placement), random_(random), goes_to_(instance.sites, -1) {}

  void run(std::uint64_t tries) {
    for (std::uint64_t k = 0; k < tries && !instance_.is_ended(); ++k) {
      pick();
      if (!moved_.empty() && change() < -least_gain * instance_.mean_weight) apply();
      for (const std::int32_t site : moved_) goes_to_[site] = -1;
    }
  }

 private:
  std::int32_t below(std::int32_t n) { return static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(n))); }

  void go(std::int32_t from, std::int32_t to) {
    if (from == to) return;
    goes_to_[from] = to;
    moved_.push_back(from);
  }

  void pick() {
    moved_.clear();
    const Grid& grid = instance_.grid;
    if (grid.extents.empty()) {
      const std::int32_t a = below(instance_.sites), b = below(instance_.sites);
      if (instance_.capacity(a) == instance_.capacity(b)) go(a, b), go(b, a);
      return;
    }
    const std::size_t dimensions = grid.extents.size();
    origin_.assign(dimensions, 0);
    length_ = grid.extents;
    for (std::size_t d = 0; d < dimensions; ++d) {
      if (below(5) < 2) continue;  // all along it
      length_[d] = 1 + below(grid.extents[d]);
      origin_[d] = grid.wraps[d] ? below(grid.extents[d]) : below(grid.extents[d] - length_[d] + 1);
    }
    const std::size_t axis = random_.below(static_cast<std::uint32_t>(dimensions)),
                      second = random_.below(static_cast<std::uint32_t>(dimensions));
    const auto kind = below(4);
    if (kind == 3) return exchange_boxes(axis);
    if (length_[axis] < 2) return;
    const std::int32_t by = 1 + below(length_[axis] - 1);
    if (kind == 2 && (second == axis || length_[second] != length_[axis])) return;
    walk([&](std::vector<std::int32_t>& at) {
      if (kind == 0) at[axis] = length_[axis] - 1 - at[axis];
      if (kind == 1) at[axis] = (at[axis] + by) % length_[axis];
      if (kind == 2) std::swap(at[axis], at[second]);
    });
  }

  // Of places within the box: `change` makes them the ones they go to.
  template <class Change>
  void walk(const Change& change) {
    std::vector<std::int32_t>& at = at_;
    at.assign(length_.size(), 0);
    while (true) {
      to_ = at;
      change(to_);
      go(site_of(at), site_of(to_));
      std::size_t d = length_.size();
      while (d-- > 0 && ++at[d] == length_[d]) at[d] = 0;
      if (d == static_cast<std::size_t>(-1)) return;
    }
  }

  std::int32_t site_of(const std::vector<std::int32_t>& at) const {
    std::int32_t site = 0;
    for (std::size_t d = 0; d < at.size(); ++d)
      site += (origin_[d] + at[d]) % instance_.grid.extents[d] * instance_.grid.strides[d];
    return site;
  }

  void exchange_boxes(std::size_t axis) {
    const std::int32_t extent = instance_.grid.extents[axis];
    if (extent < 2) return;
    length_[axis] = 1 + below(extent / 2);
    origin_[axis] = 0;
    const std::int32_t room = extent - 2 * length_[axis];
    const std::int32_t gap = length_[axis] + below(room + 1);
    origin_[axis] = below(extent - gap - length_[axis] + 1);
    const bool mirrored = below(2) == 0;
    const std::int32_t length = length_[axis];
    walk([&](std::vector<std::int32_t>& at) { at[axis] = (mirrored ? length - 1 - at[axis] : at[axis]) + gap; });
    for (std::size_t k = 0, count = moved_.size(); k < count; ++k) go(goes_to_[moved_[k]], moved_[k]);
  }

  double change() const {
    double sum = 0;
    for (const std::int32_t from : moved_) {
      const std::uint16_t* here = instance_.row(from);
      const std::uint16_t* there = instance_.row(goes_to_[from]);
      for (std::int32_t slot = instance_.first_slot[from]; slot < instance_.first_slot[from + 1]; ++slot) {
        const std::int32_t rank = placement_.rank_at[slot];
        if (rank < 0) continue;
        for (std::uint32_t k = instance_.first[rank]; k < instance_.first[rank + 1]; ++k) {
          const std::int32_t at = placement_.site[instance_.partner[k]], then = goes_to_[at];
          if (then < 0) sum += instance_.change(k, here[at], there[at]);
          else sum += 0.5 * instance_.change(k, here[at], there[then]);  // seen from both ends
        }
      }
    }
    return sum;
  }

  void apply() {
    carried_.clear();
    for (const std::int32_t from : moved_)
      for (std::int32_t k = 0; k < instance_.capacity(from); ++k)
        carried_.push_back(
            {placement_.rank_at[instance_.first_slot[from] + k], instance_.first_slot[goes_to_[from]] + k});
    for (const auto& [rank, slot] : carried_) {
      placement_.rank_at[slot] = rank;
      if (rank < 0) continue;
      placement_.slot[rank] = slot;
      placement_.site[rank] = instance_.site_of_slot[slot];
    }
  }

  struct Carried {
    std::int32_t rank, slot;
  };
  const Instance& instance_;
  Placement& placement_;
  Random& random_;
  std::vector<std::int32_t> goes_to_;  // of sites in moved_; else -1
  std::vector<std::int32_t> moved_, origin_, length_, at_, to_;
  std::vector<Carried> carried_;
};

}  // namespace

void move_boxes(const Instance& instance, Placement& placement, std::uint64_t tries, Random& random) {
  if (instance.sites > 1) Boxes(instance, placement, random).run(tries);
}

}  // namespace pclscope::mapping
