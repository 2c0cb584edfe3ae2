// What the ranking view shows, made off the thread that draws: the order by a metric, and the shown routes in it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "viewer/session/network_filter.hpp"

namespace pclscope::gui {

struct RankingQuestion {
  std::shared_ptr<const session::ShownRoutes> shown;
  session::NetworkMetric metric = session::NetworkMetric::route_load;
};

struct RankingRows {
  session::NetworkCasePtr network;
  std::shared_ptr<const session::ShownRoutes> shown;
  std::shared_ptr<const session::NetworkRanking> ranking;
  std::vector<std::uint32_t> routes;  // the shown ones, in the ranking's order; if that is of links or vertices, by the
                                      // load of the heaviest link
};

// Remembers the ranking that it made last. One thread at a time.
class RankingMaker {
 public:
  RankingRows make(const RankingQuestion& question);

 private:
  session::NetworkCasePtr network_;
  std::shared_ptr<const session::NetworkRanking> ranking_;
  std::shared_ptr<const session::NetworkRanking> by_load_;
};

}  // namespace pclscope::gui
