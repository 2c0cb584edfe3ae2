// Other ways for messages that share a heavy link (Fujiwara et al. 5.1; reference §8). Of a route with length l and
// heaviest link L, an alternative with l' and L' must have l' <= l + delta and L' <= L, and be the best by one of
//   Criterion::length   the smallest l', of these the smallest L'
//   Criterion::load     the smallest L', of these the smallest l'
// where loads are those of all other routes, plus this one's bytes on its new links. One route: exact. Several: one by
// one, the longest or the most loaded first, the loads brought up to date in between: a heuristic, as the paper's. The
// most loaded link of all never gets more. A second pass finds ways that the first has made free. Then, if wanted, two
// or three routes at a time: one leaves the most loaded link for a way on which others make room, who then may have
// heavier links than before, but none as heavy as that was.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/mapping/link_load.hpp"
#include "analysis/mapping/route_set.hpp"

namespace pclscope::mapping {

enum class Criterion : std::uint8_t { length, load };

struct RerouteRule {
  Criterion criterion = Criterion::load;
  std::int32_t delta = 0;   // links more than at first; not below 0
  std::int32_t passes = 1;  // of several routes; ends when one changes nothing. 1: as in the paper
  bool together = false;    // of several routes: the most loaded link by several at a time as well
};

struct Reroute {
  std::vector<std::int32_t> path;  // the present one where none is better
  double load_before = 0;          // heaviest link on the present path, with all routes as they are
  double load_after = 0;           // and on `path`, if this route alone moves
  bool changed = false;
};

// Keeps the loads and its working memory. One thread at a time.
class Rerouter {
 public:
  // `graph` must outlive this. `loads` contain the bytes of every route that will be asked about.
  Rerouter(const LinkGraph& graph, LinkLoads loads);
  // All links of the route must be the graph's.
  Reroute suggest(const Route& route, const RerouteRule& rule);
  void apply(Route& route, const Reroute& reroute);  // the route takes the new path, the loads follow
  // The way whose heaviest link is the lightest, of those of at most `limit` links, not over `avoided`, all of at most
  // `most` with the route's bytes; empty: there is none.
  std::vector<std::int32_t> lightest_way(const Route& route, std::int32_t limit, double most, std::int32_t avoided);
  const LinkLoads& loads() const { return loads_; }

 private:
  struct Step {                     // a link that may be in an answer
    std::int32_t from = 0, to = 0;  // indices into places_
    double load = 0;                // with the route's bytes on it
  };
  struct Place {
    std::int32_t vertex = 0;
    std::int32_t hops = -1;  // from the source over permitted links, in the newest search
    std::int32_t via = -1;   // the step that led here
    double sum = 0;          // of the loads on the way
  };
  double load_with(std::int32_t link, double bytes) const;
  std::int32_t reach_forwards(const Route& route, double most, std::int32_t limit);
  void collect_steps(const Route& route, double most, std::int32_t limit);
  void sort_steps();
  double lightest(const Route& route, double most, std::int32_t limit);
  void forget();
  std::int32_t place_of(std::int32_t vertex);
  bool search(double most, std::int32_t limit);
  double smallest_threshold(std::int32_t limit);
  std::vector<std::int32_t> read_path() const;

  const LinkGraph& graph_;
  LinkLoads loads_;
  std::vector<std::int32_t> from_source_, to_goal_, place_at_;  // of each vertex; -1 outside of a search
  std::vector<std::int32_t> reached_, back_;                    // vertices, in the order of the searches
  std::vector<bool> own_;                                       // of each link: on the present path
  std::vector<Place> places_;
  std::vector<Step> steps_, found_;      // by `from`; as they were found
  std::vector<std::size_t> first_step_;  // of each place, and the end
  std::vector<std::int32_t> queue_;
  std::vector<double> values_;
};

struct RerouteSummary {
  std::vector<Reroute> reroutes;  // the newest answer for each, in the order of `chosen`
  std::size_t changed = 0;        // routes that have another path than at first
  std::size_t together = 0;       // times that several moved at once to make a most loaded link lighter
  std::int32_t passes = 0;        // that changed something
  LoadSummary before, after;
};
// Called after each route with how many of how many are done in this pass.
using RerouteProgress = std::function<void(std::int32_t pass, std::size_t done, std::size_t all)>;
// Changes the paths of the chosen routes of `routes` (indices).
RerouteSummary reroute(const LinkGraph& graph, std::vector<Route>& routes, const std::vector<std::size_t>& chosen,
                       const RerouteRule& rule, const RerouteProgress& progress = {});

// Makes the most loaded link lighter as long as that goes. Chosen route k may have `limit[k]` links. Returns how often.
std::size_t lighten_together(const LinkGraph& graph, Rerouter& rerouter, std::vector<Route>& routes,
                             const std::vector<std::size_t>& chosen, const std::vector<std::int32_t>& limit);

}  // namespace pclscope::mapping
