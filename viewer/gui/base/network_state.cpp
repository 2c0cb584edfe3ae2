#include "viewer/gui/base/network_state.hpp"

#include <algorithm>

#include "viewer/gui/base/view.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

session::NetworkCasePtr or_null(Result<session::NetworkCasePtr> made) { return made ? *made : nullptr; }

}  // namespace

NetworkState::NetworkState(session::NetworkCasePtr network) : asked_(true) {
  shared_->network = network;
  applied_.push_back(std::move(network));
}

NetworkState::~NetworkState() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
}

void NetworkState::read(const Scene& scene) {
  asked_ = true;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->waits = true;
  }
  scene.ask([shared = shared_, facts = facts_, words = words_, run = scene.snapshot, name = scene.connection.name,
             wake = scene.wake](session::Session* session, const auto&) {
    const auto tell = [&](const char* what, double share) {
      {
        const std::lock_guard lock(shared->mutex);
        if (shared->stop) return;
        shared->what = what;
        shared->progress = share;
      }
      if (wake) wake();
    };
    tell("reading traffic", 0);
    Result<session::NetworkCasePtr> made = Error{ErrorCode::unreachable, "the run cannot be read any more"};
    if (facts) {
      made = session::make_network_case(*facts, tell);
    } else if (session != nullptr) {
      const auto read = session::read_network_of_run(*session, *run, name, words);
      made = read ? session::make_network_case(*read, tell) : Result<session::NetworkCasePtr>(read.error());
    }
    {
      const std::lock_guard lock(shared->mutex);
      shared->waits = false;
      if (made) shared->network = *made;
      else shared->problem = made.error().message;
      if (shared->stop) return;
    }
    if (wake) wake();
  });
}

bool NetworkState::follows(const Scene& scene) const {
  return asked_ && !facts_ && scene.ask && scene.snapshot && scene.connection.phase == session::Phase::running &&
         !scene.paused && applied_.size() == 1;
}

// Answers grow: what is new between two of them is what a window of that length carried.
void NetworkState::follow(const Scene& scene) {
  const auto now = std::chrono::steady_clock::now();
  const double window_s = std::clamp(scene.snapshot->live.window_s, 0.0, 60.0);
  const auto period = period_.value_or(
      std::max(std::chrono::milliseconds(1500), std::chrono::milliseconds(static_cast<int>(3000 * window_s))));
  if (now - asked_at_ < period && followed_ == traffic_of_) return;
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->waits || !shared_->network) return;
    shared_->waits = true;
    if (!shared_->all) shared_->all = shared_->network;
  }
  asked_at_ = now;
  followed_ = traffic_of_;
  scene.ask([shared = shared_, of = traffic_of_, ranks = scene.snapshot->application.ranks, period, wake = scene.wake](
                session::Session* session, const auto&) {
    const auto pairs = session == nullptr ? Result<std::vector<PairTraffic>>(Error{ErrorCode::unreachable, "gone"})
                                          : session->traffic();
    session::NetworkCasePtr all, made;
    if (pairs) {
      const mapping::Traffic traffic = session::traffic_of(ranks, *pairs);
      const auto at = std::chrono::steady_clock::now();
      all = or_null(session::with_traffic(*shared->all, traffic, "all so far"));
      made = all;
      const double took = std::chrono::duration<double>(at - shared->last_at).count();
      const bool before = shared->last_at.time_since_epoch().count() != 0;
      // Asked for again at once, because something else is wanted: the interval before is still the newest.
      if (of == TrafficOf::newest && before)
        made = or_null(session::with_traffic(*shared->all, session::more_than(traffic, shared->last),
                                             "the newest " + text::format_seconds(took)));
      if (!before || at - shared->last_at >= period) {
        shared->last = traffic;
        shared->last_at = at;
      }
    }
    {
      const std::lock_guard lock(shared->mutex);
      shared->waits = false;
      if (all) shared->all = all;
      if (made) shared->network = made;
      if (shared->stop) return;
    }
    if (wake) wake();
  });
}

session::NetworkCasePtr NetworkState::current(const Scene& scene) {
  // Another job in the place of a lost one, or ranks that were not there when the network was read.
  const bool other = asked_ && !facts_ && scene.snapshot && scene.ask &&
                     scene.connection.phase == session::Phase::running && applied_.size() <= 1 && !reading() &&
                     (scene.snapshot->time_origin_realtime_ns != origin_ns_ ||
                      scene.snapshot->application.node_of_rank != placed_then_);
  if (other && origin_ns_ != 0) {
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->stop = true;
    }
    shared_ = std::make_shared<Shared>();
    asked_ = false;
  }
  if (!asked_ && scene.ask && scene.snapshot) {
    origin_ns_ = scene.snapshot->time_origin_realtime_ns;
    placed_then_ = scene.snapshot->application.node_of_rank;
    read(scene);
  } else if (follows(scene)) {
    follow(scene);
  }
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->network && applied_.size() <= 1) applied_ = {shared_->network};
  }
  return now();
}

bool NetworkState::reading() const {
  if (!asked_) return false;
  const std::lock_guard lock(shared_->mutex);
  return shared_->waits;
}

std::string NetworkState::words(const Scene& scene) const {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->network) return {};
  if (!shared_->problem.empty()) return shared_->problem;
  if (!scene.ask) return "nothing is known of the network";
  if (shared_->what.empty()) return "asking for the traffic";
  return shared_->what + ": " + text::format_share(shared_->progress) + " so far";
}

void NetworkState::apply(session::NetworkCasePtr changed) {
  if (applied_.empty()) return;
  applied_.resize(at_ + 1);
  applied_.push_back(std::move(changed));
  at_ = applied_.size() - 1;
}

void NetworkState::undo() {
  if (can_undo()) --at_;
}

void NetworkState::take_pairs(Selection& selection) {
  if (pairs_to_pick_.empty() || !now()) return;
  pick_routes(session::routes_between(*now(), pairs_to_pick_), {}, selection);
  pairs_to_pick_.clear();
}

void NetworkState::redo() {
  if (can_redo()) ++at_;
}

std::shared_ptr<const session::ShownRoutes> NetworkState::shown(const Scene& scene) {
  const session::NetworkCasePtr network = current(scene);
  if (!network) return nullptr;
  if (!filters_)
    filters_ = std::make_unique<layout::Latest<FilterRequest, session::ShownRoutes>>(
        [](const FilterRequest& request, const auto&) {
          return session::filter_routes(request.network, request.filter);
        },
        scene.wake);
  if (filtered_.network != network || filtered_.filter != filter_) {
    filtered_ = {network, filter_};
    filters_->ask(filtered_);
  }
  return filters_->answer();
}

void NetworkState::pick(const NetworkPick& picked, const std::vector<std::uint32_t>& routes, Selection& selection) {
  const session::NetworkCasePtr network = now();
  pick_ = picked;
  picked_in_ = network->generation;
  picked_ranks_ = session::ranks_of(*network, routes);
  selection.ranks = picked_ranks_;
  selection.rank.reset();
}

void NetworkState::pick_vertex(std::int32_t vertex, Selection& selection) {
  if (!now() || vertex < 0 || vertex >= now()->vertices()) return;
  // A node is its ranks; a router, or a node without, those whose messages go through it.
  const auto& here = now()->ranks_at[static_cast<std::size_t>(vertex)];
  pick({NetworkPick::Kind::vertex, vertex, 0, 0, {}}, session::routes_through(*now(), vertex), selection);
  if (!here.empty()) selection.ranks = picked_ranks_ = here;
}

void NetworkState::pick_link(std::int32_t from, std::int32_t to, Selection& selection) {
  if (now()) pick({NetworkPick::Kind::link, from, to, 0, {}}, session::routes_over(*now(), from, to), selection);
}

void NetworkState::pick_route(std::uint32_t route, Selection& selection) {
  if (now() && route < now()->routes.routes.size())
    pick({NetworkPick::Kind::route, 0, 0, route, {}}, {route}, selection);
}

void NetworkState::pick_routes(std::vector<std::uint32_t> routes, std::vector<std::int32_t> ranks,
                               Selection& selection) {
  if (!now()) return;
  std::erase_if(routes, [&](std::uint32_t route) { return route >= now()->routes.routes.size(); });
  const std::vector<std::uint32_t> all = routes;
  pick({NetworkPick::Kind::routes, 0, 0, 0, std::move(routes)}, all, selection);
  if (!ranks.empty()) selection.ranks = picked_ranks_ = std::move(ranks);
}

const NetworkPick* NetworkState::picked(const Selection& selection) const {
  const session::NetworkCasePtr network = now();
  if (!pick_ || !network || selection.rank || selection.ranks != picked_ranks_) return nullptr;
  // Links and vertices stay where they are when routes change; which routes cross them is another question then.
  const std::size_t count = network->routes.routes.size();
  if (pick_->kind == NetworkPick::Kind::route) return pick_->route < count ? &*pick_ : nullptr;
  if (pick_->kind == NetworkPick::Kind::routes)
    return pick_->routes.empty() || pick_->routes.back() < count ? &*pick_ : nullptr;
  return pick_->from < network->vertices() && pick_->to < network->vertices() ? &*pick_ : nullptr;
}

std::shared_ptr<const std::vector<std::uint32_t>> NetworkState::lit(const Selection& selection) {
  const session::NetworkCasePtr network = now();
  const NetworkPick* chosen = picked(selection);
  std::vector<std::int32_t> ranks = selection.ranks;
  if (selection.rank) ranks = {*selection.rank};
  const std::optional<NetworkPick> pick = chosen ? std::optional(*chosen) : std::nullopt;
  const std::uint64_t generation = network ? network->generation : 0;
  if (generation == lit_in_ && pick == lit_pick_ && ranks == lit_ranks_) return lit_;
  lit_in_ = generation;
  lit_pick_ = pick;
  lit_ranks_ = ranks;
  std::vector<std::uint32_t> routes;
  if (network && pick) {
    switch (pick->kind) {
      case NetworkPick::Kind::vertex: routes = session::routes_through(*network, pick->from); break;
      case NetworkPick::Kind::link: routes = session::routes_over(*network, pick->from, pick->to); break;
      case NetworkPick::Kind::route: routes = {pick->route}; break;
      case NetworkPick::Kind::routes: routes = pick->routes; break;
    }
  } else if (network && !ranks.empty()) {
    routes = session::routes_of_ranks(*network, ranks);
  }
  lit_ = std::make_shared<const std::vector<std::uint32_t>>(std::move(routes));
  return lit_;
}

}  // namespace pclscope::gui
