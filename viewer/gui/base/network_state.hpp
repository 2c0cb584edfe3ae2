// The network that the network views of a window show: read in the background, changed by what the user applies, seen
// through a filter. UI thread only, but for what reads and filters.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "viewer/gui/base/selection.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/session/network_filter.hpp"
#include "viewer/session/network_source.hpp"
#include "viewer/session/route_proposal.hpp"

namespace pclscope::gui {

struct Scene;

// What is picked in a network view. Its ranks are selected with it; when others are, it is no more.
struct NetworkPick {
  enum class Kind : std::uint8_t { vertex, link, route, routes };
  Kind kind = Kind::vertex;
  std::int32_t from = 0;                   // vertex, of a link its first one
  std::int32_t to = 0;                     // of a link
  std::uint32_t route = 0;                 // number in the case's routes
  std::vector<std::uint32_t> routes = {};  // of Kind::routes, ascending: those of several vertices or links
  bool operator==(const NetworkPick&) const = default;
};

class NetworkState {
 public:
  NetworkState() = default;
  // `facts`: of a traffic or route file; null: the run's, by these words.
  NetworkState(session::NetworkWords words, std::shared_ptr<const session::NetworkFacts> facts)
      : words_(std::move(words)), facts_(std::move(facts)) {}
  // What is there already, for tests and benchmarks.
  explicit NetworkState(session::NetworkCasePtr network);
  ~NetworkState();
  NetworkState(const NetworkState&) = delete;

  // What all network views show; null: not there yet. Begins to read when first called.
  session::NetworkCasePtr current(const Scene& scene);
  // What stands where the picture will be; empty: current() is there.
  std::string words(const Scene& scene) const;
  bool reading() const;
  // Of a running job, which is asked again and again while somebody looks: all its traffic so far, or what came between
  // the two newest answers. What is applied stops the asking until it is taken back.
  enum class TrafficOf : std::uint8_t { all, newest };
  TrafficOf traffic_of() const { return traffic_of_; }
  void set_traffic_of(TrafficOf wanted) { traffic_of_ = wanted; }
  bool follows(const Scene& scene) const;
  // Between two answers; as it is: 1.5 s, or three windows. For tests.
  void ask_every(std::chrono::milliseconds period) { period_ = period; }
  // There is no run, only traffic or routes.
  bool only_traffic() const { return facts_ != nullptr; }

  // Other routes, another placement: a case made of current() (network_case.hpp), in the background, by whoever has it.
  // What was undone is forgotten. Of a running job traffic stands still until all is undone.
  void apply(session::NetworkCasePtr changed);
  bool can_undo() const { return at_ > 0; }
  bool can_redo() const { return at_ + 1 < applied_.size(); }
  void undo();
  void redo();
  // Other ways that are looked at, not applied; null: none of the current case.
  void set_proposal(std::shared_ptr<const session::RouteProposal> proposal) { proposal_ = std::move(proposal); }
  std::shared_ptr<const session::RouteProposal> proposal() const {
    return proposal_ && proposal_->of == now() ? proposal_ : nullptr;
  }
  // As it is without what was applied; null: not there yet.
  session::NetworkCasePtr unchanged() const { return applied_.empty() ? nullptr : applied_.front(); }

  // Which routes are shown. A brush's places are those of the case that is current.
  const session::NetworkFilter& filter() const { return filter_; }
  void set_brush(std::optional<session::NetworkBrush> brush) { filter_.brush = brush; }
  void set_lasso(std::optional<session::NetworkLasso> lasso) { filter_.lasso = std::move(lasso); }
  // Of the current case with the present filter, computed in the background: until it is there the last one (look at
  // its network), null before the first.
  std::shared_ptr<const session::ShownRoutes> shown(const Scene& scene);
  bool filtering() const { return filters_ && filters_->busy(); }

  // These select the ranks, too.
  void pick_vertex(std::int32_t vertex, Selection& selection);
  void pick_link(std::int32_t from, std::int32_t to, Selection& selection);
  void pick_route(std::uint32_t route, Selection& selection);
  // `ranks`: to select with them; empty: all that these routes begin or end at.
  void pick_routes(std::vector<std::uint32_t> routes, std::vector<std::int32_t> ranks, Selection& selection);
  // Routes from node to node, of each pair (from, to) of a run's nodes; as soon as the network is there.
  void pick_node_pairs(std::vector<std::int32_t> pairs) { pairs_to_pick_ = std::move(pairs); }
  void take_pairs(Selection& selection);
  // Null: nothing, or other ranks were selected since.
  const NetworkPick* picked(const Selection& selection) const;
  // Routes of what is picked, else of the selected ranks; ascending; empty: nothing is selected. The same pointer while
  // nothing changes.
  std::shared_ptr<const std::vector<std::uint32_t>> lit(const Selection& selection);

 private:
  struct Shared {
    std::mutex mutex;
    session::NetworkCasePtr network;  // newest
    std::string problem, what;
    double progress = 0;
    bool waits = false;  // an answer is on its way
    bool stop = false;
    // Of the thread that asks a running job.
    mapping::Traffic last;  // all until the answer before
    std::chrono::steady_clock::time_point last_at{};
    session::NetworkCasePtr all;  // the newest of TrafficOf::all, from which others are made
  };
  void read(const Scene& scene);
  void follow(const Scene& scene);
  void pick(const NetworkPick& picked, const std::vector<std::uint32_t>& routes, Selection& selection);
  session::NetworkCasePtr now() const { return applied_.empty() ? nullptr : applied_[at_]; }

  session::NetworkWords words_;
  std::shared_ptr<const session::NetworkFacts> facts_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  bool asked_ = false;
  std::int64_t origin_ns_ = 0;  // of the run that was read
  TrafficOf traffic_of_ = TrafficOf::all, followed_ = TrafficOf::all;
  std::optional<std::chrono::milliseconds> period_;
  std::chrono::steady_clock::time_point asked_at_{};
  std::vector<std::int32_t> placed_then_;  // node of each rank, when the network was read
  std::vector<std::int32_t> pairs_to_pick_;
  std::vector<session::NetworkCasePtr> applied_;  // the first as it is
  std::size_t at_ = 0;
  std::shared_ptr<const session::RouteProposal> proposal_;
  session::NetworkFilter filter_;
  struct FilterRequest {
    session::NetworkCasePtr network;
    session::NetworkFilter filter;
  };
  FilterRequest filtered_;                                                        // asked for last
  std::unique_ptr<layout::Latest<FilterRequest, session::ShownRoutes>> filters_;  // made when first asked
  std::optional<NetworkPick> pick_;
  std::uint64_t picked_in_ = 0;             // generation of the case
  std::vector<std::int32_t> picked_ranks_;  // that were selected with it
  std::shared_ptr<const std::vector<std::uint32_t>> lit_ = std::make_shared<const std::vector<std::uint32_t>>();
  std::uint64_t lit_in_ = 0;
  std::optional<NetworkPick> lit_pick_;
  std::vector<std::int32_t> lit_ranks_;
};

}  // namespace pclscope::gui
