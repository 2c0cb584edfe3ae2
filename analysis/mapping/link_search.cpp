#include "analysis/mapping/link_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "analysis/mapping/search.hpp"
#include "analysis/mapping/site_routes.hpp"

namespace pclscope::mapping {
namespace {

constexpr double most_tries_of_all = 2e7;  // links looked at
constexpr double looks_at_links = 1.5e8, most_moves_of_links = 4e6;
constexpr double hot = 3e-2, cold = 3e-5;      // temperatures, of the sum of powers
constexpr std::uint64_t most_failures = 3000;  // exchanges tried in vain, for one heaviest link

double power_of(double load) {
  const double square = load * load, fourth = square * square;
  return fourth * fourth;
}

class AllOfLinks {
 public:
  AllOfLinks(const Instance& instance, const MappingProblem& problem, const LinkGraph& graph,
             const Placement& placement, double least)
      : instance_(instance),
        flows_(problem.traffic),
        routes_(instance, problem.topology, graph),
        best_(placement.site),
        least_(least),
        site_(placement.site.size(), -1),
        used_(instance.sites, 0),
        order_(placement.site.size()),
        loads_(static_cast<std::size_t>(graph.links())) {
    std::vector<double> weight(order_.size(), 0);
    for (std::size_t rank = 0; rank < order_.size(); ++rank)
      for (const RankFlows::Flow& f : flows_.of(static_cast<std::int32_t>(rank))) weight[rank] += f.bytes;
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::int32_t a, std::int32_t b) { return weight[a] > weight[b]; });
  }
  bool run() {
    place_from(0, 0);
    return looks_ < most_tries_of_all;
  }
  const std::vector<std::int32_t>& best() const { return best_; }

 private:
  // Adds `sign` times what the rank exchanges with those that have a site; the heaviest of the links that it uses.
  double load(std::int32_t rank, double sign) {
    double most = 0;
    for (const RankFlows::Flow& f : flows_.of(rank)) {
      const std::int32_t here = site_[rank], there = site_[f.other];
      if (there < 0 || here == there) continue;
      for (const std::int32_t link : f.out ? routes_.between(here, there) : routes_.between(there, here)) {
        loads_[link] += sign * f.bytes;
        most = std::max(most, loads_[link]);
        ++looks_;
      }
    }
    return most;
  }

  void place_from(std::size_t depth, double most) {
    if (++steps_ % 1024 == 0 && instance_.is_ended()) looks_ = most_tries_of_all;
    if (looks_ >= most_tries_of_all || most >= least_ * (1 - 1e-12)) return;
    if (depth == order_.size()) {
      least_ = most;
      best_ = site_;
      return;
    }
    const std::int32_t rank = order_[depth];
    for (std::int32_t site = 0; site < instance_.sites; ++site) {
      ++looks_;
      if (used_[site] >= instance_.capacity(site)) continue;
      site_[rank] = site;
      ++used_[site];
      const double heaviest = load(rank, 1);
      place_from(depth + 1, std::max(most, heaviest));
      load(rank, -1);
      --used_[site];
      site_[rank] = -1;
    }
  }

  const Instance& instance_;
  const RankFlows flows_;
  SiteRoutes routes_;
  std::vector<std::int32_t> best_;
  double least_, looks_ = 0;
  std::uint64_t steps_ = 0;
  std::vector<std::int32_t> site_, used_, order_;
  std::vector<double> loads_;
};

class LinkSearch {
 public:
  LinkSearch(const Instance& instance, const MappingProblem& problem, const LinkGraph& graph, Placement& placement,
             double effort)
      : instance_(instance),
        flows_(problem.traffic),
        routes_(instance, problem.topology, graph),
        placement_(placement),
        loads_(static_cast<std::size_t>(graph.links())),
        change_(loads_.size()),
        noted_(loads_.size()),
        random_(7),
        looks_left_(effort * looks_at_links),
        moves_(static_cast<std::uint64_t>(effort * most_moves_of_links)) {
    for (std::int32_t rank = 0; rank < instance.ranks; ++rank)
      for (const RankFlows::Flow& f : flows_.of(rank))
        if (f.out) along(placement.site[rank], placement.site[f.other], f.bytes);
    settle();
    unit_ = heaviest();
    if (flows_.flows.empty() || !(unit_ > 0)) moves_ = 0;
  }

  void run() {
    const double bound = no_lighter() * (1 + 1e-12);
    if (moves_ == 0 || unit_ <= bound) return;
    Placement best = placement_;
    double least = unit_;
    const auto keep = [&] {
      if (const double most = heaviest(); most < least * (1 - 1e-12)) least = most, best = placement_;
    };
    // The work of a move is known after some of them: half of it for the annealing.
    const double until = looks_left_ / 2, begin = looks_left_;
    for (std::uint64_t move = 0; looks_left_ > until && move < moves_ && least > bound; ++move) {
      if (instance_.is_ended()) break;
      const double gone =
          std::max((begin - looks_left_) / (begin - until), static_cast<double>(move) / static_cast<double>(moves_));
      const double temperature = hot * std::pow(cold / hot, gone) * sum_;
      if (try_one(some_rank(), temperature) && move % 16 == 0) keep();
    }
    keep();
    placement_ = best;
    if (instance_.is_ended()) return;
    anew();
    while (looks_left_ > 0 && least > bound && !instance_.is_ended() && lighten(heaviest_link())) keep();
    placement_ = best;
  }

 private:
  // Where nodes take one rank each, the largest flow is on some link.
  double no_lighter() const {
    if (instance_.slots > instance_.sites) return 0;
    double most = 0;
    for (const RankFlows::Flow& f : flows_.flows) most = std::max(most, f.bytes);
    return most;
  }

  void anew() {
    std::fill(loads_.begin(), loads_.end(), 0);
    for (std::int32_t rank = 0; rank < instance_.ranks; ++rank)
      for (const RankFlows::Flow& f : flows_.of(rank))
        if (f.out) along(placement_.site[rank], placement_.site[f.other], f.bytes);
    settle();
  }

  double heaviest() const { return loads_.empty() ? 0 : *std::max_element(loads_.begin(), loads_.end()); }
  std::int32_t heaviest_link() const {
    return static_cast<std::int32_t>(std::max_element(loads_.begin(), loads_.end()) - loads_.begin());
  }
  double relative(double load) const { return unit_ > 0 ? power_of(load / unit_) : 0; }

  void along(std::int32_t from, std::int32_t to, double bytes) {
    if (from == to) return;
    for (const std::int32_t link : routes_.between(from, to)) {
      if (!noted_[link]) noted_[link] = true, touched_.push_back(link);
      change_[link] += bytes;
      looks_left_ -= 1;
    }
  }

  // Makes the noted changes of loads, or forgets them.
  void settle() {
    for (const std::int32_t link : touched_) {
      sum_ += relative(loads_[link] + change_[link]) - relative(loads_[link]);
      loads_[link] += change_[link];
      change_[link] = 0;
      noted_[link] = false;
    }
    touched_.clear();
    if (sum_ <= 0 || ++settled_ % 4096 == 0) {  // rounding
      sum_ = 0;
      for (const double load : loads_) sum_ += relative(load);
    }
  }
  void forget() {
    for (const std::int32_t link : touched_) change_[link] = 0, noted_[link] = false;
    touched_.clear();
  }

  // Notes the loads if `rank` went to the slot, and who is there to its.
  void note(std::int32_t rank, std::int32_t slot) {
    const std::int32_t other = placement_.rank_at[slot], here = placement_.site[rank],
                       there = instance_.site_of_slot[slot];
    const auto then = [&](std::int32_t r) { return r == rank ? there : r == other ? here : placement_.site[r]; };
    for (const std::int32_t mover : {rank, other}) {
      if (mover < 0) continue;
      for (const RankFlows::Flow& f : flows_.of(mover)) {
        if (mover == other && f.other == rank) continue;  // seen from the first
        const std::int32_t a = placement_.site[mover], b = placement_.site[f.other];
        const std::int32_t c = then(mover), d = then(f.other);
        if (f.out) along(a, b, -f.bytes), along(c, d, f.bytes);
        else along(b, a, -f.bytes), along(d, c, f.bytes);
      }
    }
  }
  double noted() const {
    double change = 0;
    for (const std::int32_t link : touched_) change += relative(loads_[link] + change_[link]) - relative(loads_[link]);
    return change;
  }

  std::int32_t some_rank() {
    return static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(instance_.ranks)));
  }
  std::int32_t some_slot(std::int32_t rank) {
    std::int32_t around = placement_.site[rank];
    const auto flows = flows_.of(rank);
    if (!flows.empty() && (random_.next() & 1) != 0)
      around = placement_.site[flows[random_.below(static_cast<std::uint32_t>(flows.size()))].other];
    const auto near = instance_.near_of(around);
    std::int32_t site = around;
    if (instance_.uniform || near.empty() || random_.below(8) == 0)
      site = static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(instance_.sites)));
    else if (around == placement_.site[rank] || random_.below(4) != 0)
      site = near[random_.below(static_cast<std::uint32_t>(near.size()))];
    return instance_.first_slot[site] +
           static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(instance_.capacity(site))));
  }

  bool try_one(std::int32_t rank, double temperature) {
    const std::int32_t slot = some_slot(rank);
    looks_left_ -= 1;
    if (instance_.site_of_slot[slot] == placement_.site[rank]) return false;
    note(rank, slot);
    const double change = noted();
    const double u = (static_cast<double>(random_.next() >> 11) + 0.5) * 0x1p-53;
    const bool taken = temperature > 0 ? change <= 0 || change < -temperature * std::log(u) : change < -1e-12 * sum_;
    if (!taken) {
      forget();
      return false;
    }
    settle();
    exchange(instance_, placement_, rank, slot);
    return true;
  }

  // Exchanges ranks that use it until the sum is smaller; false: none was found.
  bool lighten(std::int32_t link) {
    std::vector<std::int32_t> users;
    for (std::int32_t rank = 0; rank < instance_.ranks; ++rank)
      for (const RankFlows::Flow& f : flows_.of(rank)) {
        const std::int32_t here = placement_.site[rank], there = placement_.site[f.other];
        if (here == there) continue;
        const auto route = f.out ? routes_.between(here, there) : routes_.between(there, here);
        looks_left_ -= static_cast<double>(route.size());
        if (std::find(route.begin(), route.end(), link) == route.end()) continue;
        users.push_back(rank);
        break;
      }
    if (users.empty()) return false;
    for (std::uint64_t k = 0; k < most_failures && looks_left_ > 0 && !instance_.is_ended(); ++k)
      if (try_one(users[random_.below(static_cast<std::uint32_t>(users.size()))], 0)) return true;
    return false;
  }

  const Instance& instance_;
  const RankFlows flows_;
  SiteRoutes routes_;
  Placement& placement_;
  std::vector<double> loads_, change_;
  std::vector<char> noted_;
  std::vector<std::int32_t> touched_;
  Random random_;
  double looks_left_ = 0, unit_ = 0, sum_ = 0;
  std::uint64_t moves_ = 0, settled_ = 0;
};

}  // namespace

bool find_lightest_of_all(const Instance& instance, const MappingProblem& problem, const LinkGraph& graph,
                          Placement& placement) {
  AllOfLinks search(instance, problem, graph, placement, INFINITY);
  const bool complete = search.run();
  placement = place(instance, search.best());
  return complete;
}

void lighten_links(const Instance& instance, const MappingProblem& problem, const LinkGraph& graph,
                   Placement& placement, double effort) {
  if (instance.sites > 1) LinkSearch(instance, problem, graph, placement, effort).run();
}

}  // namespace pclscope::mapping
