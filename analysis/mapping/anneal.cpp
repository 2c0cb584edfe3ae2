#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "analysis/mapping/search.hpp"

namespace pclscope::mapping {
namespace {

constexpr std::size_t draws = 4096;
constexpr std::uint64_t moves_per_step = 256;

// -log u of evenly spread u: what a step uphill may cost, in temperatures.
const std::array<float, draws>& patience() {
  static const std::array<float, draws> table = [] {
    std::array<float, draws> made{};
    for (std::size_t k = 0; k < draws; ++k)
      made[k] = static_cast<float>(-std::log((static_cast<double>(k) + 0.5) / draws));
    return made;
  }();
  return table;
}

// What the inner loop looks at, close together: for thousands of ranks the memory is what takes the time.
template <class Distance, bool far_counts>
class Changes {
 public:
  explicit Changes(const Instance& instance)
      : first_(instance.first),
        distances_(instance.distances.begin(), instance.distances.end()),
        sites_(instance.sites) {
    for (std::size_t k = 0; k < instance.partner.size(); ++k)
      if constexpr (far_counts) links_.push_back({{instance.partner[k], instance.light[k]}, instance.light_far[k]});
      else links_.push_back({instance.partner[k], instance.light[k]});
  }

  // Of `rank` going to the site `to`, and `other` (-1: nobody) to rank's.
  float operator()(const std::int32_t* site, std::int32_t rank, std::int32_t to, std::int32_t other) const {
    const Distance* here = row(site[rank]);
    const Distance* there = row(to);
    float change = 0;
    for (const Link *link = begin(rank), *end = begin(rank + 1); link < end; ++link) {
      const std::int32_t at = site[link->partner];
      change += link->weight * static_cast<float>(there[at] - here[at]);
      if constexpr (far_counts) change += link->far * static_cast<float>((there[at] > 0) - (here[at] > 0));
    }
    if (other < 0) return change;
    for (const Link *link = begin(other), *end = begin(other + 1); link < end; ++link) {
      const std::int32_t at = site[link->partner];
      change += link->weight * static_cast<float>(here[at] - there[at]);
      if constexpr (far_counts) change += link->far * static_cast<float>((here[at] > 0) - (there[at] > 0));
      // Their distance stays: both sums counted it as shrinking to nothing.
      if (link->partner == rank) {
        change += 2 * link->weight * static_cast<float>(here[to]);
        if constexpr (far_counts) change += 2 * link->far;
      }
    }
    return change;
  }

 private:
  struct Near {
    std::int32_t partner;
    float weight;
  };
  struct Far : Near {
    float far;
  };
  using Link = std::conditional_t<far_counts, Far, Near>;
  const Link* begin(std::int32_t rank) const { return links_.data() + first_[rank]; }
  const Distance* row(std::int32_t site) const { return distances_.data() + static_cast<std::size_t>(site) * sites_; }
  const std::vector<std::uint32_t>& first_;
  std::vector<Link> links_;
  std::vector<Distance> distances_;
  std::int32_t sites_;
};

// A site near the rank's own, or near a partner's.
std::int32_t propose(const Instance& instance, const Placement& placement, std::int32_t rank, Random& random) {
  std::int32_t around = placement.site[rank];
  const std::uint32_t partners = instance.first[rank + 1] - instance.first[rank];
  const std::uint64_t dice = random.next();
  if ((dice & 1) != 0) {
    around = placement.site[instance.partner[instance.first[rank] + random.below(partners)]];
    if (instance.uniform || (instance.slots > instance.sites && (dice & 6) == 0)) return around;
  } else if (instance.uniform) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(instance.sites)));
  }
  const auto near = instance.near_of(around);
  return near[random.below(static_cast<std::uint32_t>(near.size()))];
}

template <class Distance, bool far_counts>
void cool_down(const Instance& instance, Placement& placement, const Cooling& cooling, Random& random) {
  const Changes<Distance, far_counts> change_of(instance);
  double temperature = cooling.from;
  const double factor =
      std::pow(cooling.to / cooling.from, static_cast<double>(moves_per_step) / static_cast<double>(cooling.moves));
  const auto& table = patience();
  for (std::uint64_t move = 0; move < cooling.moves; ++move) {
    if (move % moves_per_step == 0) {
      temperature *= factor;
      if (instance.is_ended()) return;
    }
    const auto rank = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(instance.ranks)));
    if (instance.first[rank] == instance.first[rank + 1]) continue;
    const std::int32_t to = propose(instance, placement, rank, random);
    if (to == placement.site[rank]) continue;
    const std::int32_t slot =
        instance.first_slot[to] +
        static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(instance.capacity(to))));
    const float change = change_of(placement.site.data(), rank, to, placement.rank_at[slot]);
    if (change > 0 && change > static_cast<float>(temperature) * table[random.next() % draws]) continue;
    exchange(instance, placement, rank, slot);
  }
}

}  // namespace

void anneal(const Instance& instance, Placement& placement, const Cooling& cooling, Random& random) {
  if (instance.sites < 2 || instance.ranks < 1 || cooling.moves == 0) return;
  const std::uint16_t most = *std::max_element(instance.distances.begin(), instance.distances.end());
  if (!instance.far.empty()) cool_down<std::uint16_t, true>(instance, placement, cooling, random);
  else if (most <= UINT8_MAX) cool_down<std::uint8_t, false>(instance, placement, cooling, random);
  else cool_down<std::uint16_t, false>(instance, placement, cooling, random);
}

}  // namespace pclscope::mapping
