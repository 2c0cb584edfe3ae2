#include "viewer/gui/ranking/ranking_rows.hpp"

namespace pclscope::gui {

RankingRows RankingMaker::make(const RankingQuestion& question) {
  using session::NetworkMetric;
  RankingRows made;
  made.network = question.shown->network;
  made.shown = question.shown;
  if (network_ != made.network) ranking_ = by_load_ = nullptr;
  network_ = made.network;
  const auto rank = [&](NetworkMetric metric) {
    return std::make_shared<const session::NetworkRanking>(session::rank_network(*network_, metric));
  };
  if (!ranking_ || ranking_->metric != question.metric) ranking_ = rank(question.metric);
  made.ranking = ranking_;
  const bool of_routes = session::thing_of(question.metric) == session::NetworkThing::route;
  if (!of_routes && !by_load_) by_load_ = rank(NetworkMetric::route_load);
  std::vector<bool> is_shown(network_->routes.routes.size(), false);
  for (const std::uint32_t route : question.shown->routes) is_shown[route] = true;
  for (const std::uint32_t route : (of_routes ? ranking_ : by_load_)->order)
    if (is_shown[route]) made.routes.push_back(route);
  return made;
}

}  // namespace pclscope::gui
