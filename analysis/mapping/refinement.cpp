#include "analysis/mapping/refinement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "analysis/mapping/grouping.hpp"
#include "analysis/mapping/scotch.hpp"
#include "analysis/mapping/search.hpp"

namespace pclscope::mapping {
namespace {

// Work at effort 1, for some seconds: found by trials on the published patterns (docs/mapping.md).
constexpr double moves_per_rank = 20000, least_moves = 4e6, most_moves = 14e6, most_looks = 2e9;
constexpr double most_starts = 24, looks_for_starts = 0.5e6,
                 per_distance = 1 / 256.0;  // Scotch gets a table of the sites' distances
constexpr double looks_to_descend = 1e8,
                 least_to_descend =
                     2e7;  // each time: where ranks have hundreds of partners, annealing gets further with them
constexpr int maps_per_start = 4;
constexpr double most_boxes = 20000, looks_for_boxes = 5e8;
constexpr double straightened = 6, warmed = 3, heated = 2, most_wider = 6,
                 looks_for_width = 3e4;                    // candidates kept; more of small problems
constexpr double grouping_share = 0.1, group_share = 0.2;  // of the effort
constexpr double coldest = 0.02;                           // below it hardly anything moves
constexpr double ladder[] = {0.22, 0.20, 0.17, 0.14};      // about where an order that suits the network melts

struct Candidate {
  Placement placement;
  double cost = 0;
};

class Refinement {
 public:
  Refinement(const Instance& instance, const Topology& topology, double effort)
      : instance_(instance), topology_(topology), effort_(effort), random_(1) {
    const double edges = static_cast<double>(instance.partner.size()) + 1, partners = edges / instance.ranks;
    const double wanted = std::clamp(moves_per_rank * instance.ranks, least_moves, most_moves);
    moves_ = effort * std::min(wanted, most_looks / (2 * partners + 10));
    boxes_ = effort * std::min(most_boxes, looks_for_boxes / edges);
    wider_ = std::clamp(effort * looks_for_width / (edges + 10.0 * instance.ranks), 1.0, most_wider);
    const double per_start = edges + per_distance * instance.sites * instance.sites;
    starts_ = static_cast<int>(std::ceil(effort * std::min(looks_for_starts / per_start, most_starts * wider_)));
    descent_ = std::max(effort * looks_to_descend, least_to_descend);
  }

  Placement run(const Placement& current) {
    std::vector<Candidate> pool;
    add(pool, current);
    add(pool, in_order());
    if (groups_help(instance_) && !instance_.is_ended()) add(pool, in_groups(current));
    for (int k = 0; k < starts_ && !instance_.is_ended(); ++k)
      for (const auto& sites :
           scotch_starts(instance_, topology_, static_cast<std::uint64_t>(k), effort_ < 1 ? 1 : maps_per_start))
        add(pool, place(instance_, sites));
    keep_best(pool, straightened);
    for (Candidate& candidate : pool) polish(candidate, 0, 0);
    keep_best(pool, warmed);
    for (Candidate& candidate : pool) polish(candidate, 0.1, 0.02);
    keep_best(pool, heated);
    for (Candidate& candidate : pool) polish(candidate, 0.16, 0.1);
    keep_best(pool, 1);
    for (const double heat : ladder) polish(pool[0], heat, 0.2);
    return pool[0].placement;
  }

 private:
  Placement in_order() const {
    std::vector<std::int32_t> sites(instance_.site_of_slot.begin(), instance_.site_of_slot.begin() + instance_.ranks);
    return place(instance_, sites);
  }

  // Its parts are smaller problems, solved with less work.
  Placement in_groups(const Placement& current) const {
    const Instance uniform = make_uniform(instance_);
    const Placement grouping = refine(uniform, topology_, current, grouping_share * effort_);
    const Instance groups = make_group_instance(instance_, grouping);
    std::vector<std::int32_t> sites(static_cast<std::size_t>(groups.ranks));
    std::iota(sites.begin(), sites.end(), 0);
    const Placement placed = refine(groups, topology_, place(groups, sites), group_share * effort_);
    for (std::size_t rank = 0; rank < sites.size(); ++rank) sites[rank] = placed.site[rank];
    std::vector<std::int32_t> wanted;
    for (const std::int32_t group : grouping.site) wanted.push_back(sites[group]);
    return place(instance_, wanted);
  }

  void add(std::vector<Candidate>& pool, Placement placement) const {
    const double cost = cost_of(instance_, placement);
    // Equal costs are nearly always the same placement, seen in a mirror.
    const auto equal = [&](const Candidate& other) { return std::abs(other.cost - cost) <= 1e-12 * cost; };
    if (std::none_of(pool.begin(), pool.end(), equal)) pool.push_back({std::move(placement), cost});
  }

  void keep_best(std::vector<Candidate>& pool, double wanted) const {
    const auto count = static_cast<std::size_t>(wanted > 1 ? wanted * wider_ : 1);
    std::stable_sort(pool.begin(), pool.end(), [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
    if (pool.size() > count) pool.resize(count);
  }

  // Heated up to `heat` with a share of all moves; kept if that made it better.
  void polish(Candidate& candidate, double heat, double share) {
    if (instance_.is_ended()) return;
    Placement placement = candidate.placement;
    const auto tries = static_cast<std::uint64_t>(0.1 * boxes_);
    if (heat > 0) anneal(instance_, placement, {heat, coldest, static_cast<std::uint64_t>(share * moves_)}, random_);
    if (!instance_.uniform) move_boxes(instance_, placement, tries, random_);
    descend(instance_, placement, descent_);
    const double cost = cost_of(instance_, placement);
    if (cost < candidate.cost) candidate = {std::move(placement), cost};
  }

  const Instance& instance_;
  const Topology& topology_;
  double effort_;
  double moves_ = 0, boxes_ = 0, wider_ = 1, descent_ = 0;
  int starts_ = 1;
  Random random_;
};

}  // namespace

Placement refine(const Instance& instance, const Topology& topology, const Placement& current, double effort) {
  return Refinement(instance, topology, std::clamp(effort, 1e-3, 1e3)).run(current);
}

}  // namespace pclscope::mapping
