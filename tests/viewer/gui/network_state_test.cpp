// What the network views of a window share: followed live, undone, picked.
#include "viewer/gui/base/network_state.hpp"

#include <catch2/catch.hpp>
#include <numeric>

#include "tests/viewer/gui/null_frame.hpp"
#include "tests/viewer/memory_session.hpp"
#include "viewer/gui/base/view.hpp"

using namespace pclscope;

namespace {

// Answers each question with more traffic: of pair k the square of the number of the answer, times k.
struct GrowingRun final : test::MemorySession {
  GrowingRun() : MemorySession({}) {}
  bool live() const override { return true; }
  Result<std::vector<PairTraffic>> traffic() override {
    ++answers;
    const auto n = static_cast<std::uint64_t>(answers) * static_cast<std::uint64_t>(answers);
    std::vector<PairTraffic> pairs = {{0, 1, n, n * 10}, {0, 3, n, n * 20}, {2, 1, n, n * 30}, {3, 3, n, n}};
    if (answers > 2) pairs.push_back({3, 2, 1, 7});
    return pairs;
  }
  int answers = 0;
};

struct LiveScene {
  GrowingRun run;
  gui::NetworkState state{session::NetworkWords{"torus:2x2", "", {}}, nullptr};
  gui::Scene scene = test::scene_of(snapshot());
  static Snapshot snapshot() {
    Snapshot s;
    s.time_origin_realtime_ns = 1;
    s.application.ranks = 4;
    s.application.nodes = {"a", "b", "c", "d"};
    s.application.node_of_rank = {0, 1, 2, 3};
    return s;
  }
  LiveScene() {
    state.ask_every(std::chrono::milliseconds(0));
    scene.ask = [this](session::Feed::Work work) { work(&run, [] { return false; }); };
    scene.network = &state;
  }
  double sent() { return bytes_of(*state.current(scene)); }
  static double bytes_of(const session::NetworkCase& n) {
    double sum = 0;
    for (const auto& flow : n.traffic.flows) sum += flow.bytes;
    return sum;
  }
};

}  // namespace

TEST_CASE("network state: a running job's traffic is followed, all of it or what is new") {
  LiveScene live;
  CHECK(live.sent() == 60);  // the first answer
  CHECK(live.sent() == 4 * 60);
  CHECK(live.sent() == 9 * 60 + 7);
  CHECK(live.state.current(live.scene)->traffic_from == "all so far");  // the fourth
  live.state.set_traffic_of(gui::NetworkState::TrafficOf::newest);
  CHECK(live.sent() == (25 - 16) * 60);
  const auto newest = live.state.current(live.scene);
  CHECK(newest->traffic_from.find("the newest ") == 0);
  CHECK(LiveScene::bytes_of(*newest) == (36 - 25) * 60);
  CHECK(newest->traffic.flows.size() == 3);  // a pair that has sent nothing new is not there
  const double loads = std::accumulate(newest->loads.begin(), newest->loads.end(), 0.0);
  CHECK(loads == mapping::sum_hop_bytes(newest->routes.routes));
  live.state.set_traffic_of(gui::NetworkState::TrafficOf::all);
  CHECK(live.sent() == 49 * 60 + 7);
}

TEST_CASE("network state: paused, ended, or with something applied nobody is asked") {
  LiveScene live;
  live.sent();
  live.sent();
  const int answers = live.run.answers;
  live.scene.paused = true;
  live.sent();
  live.scene.paused = false;
  live.scene.connection.phase = session::Phase::finished;
  live.sent();
  live.scene.connection.phase = session::Phase::running;
  CHECK(live.run.answers == answers);
  live.state.apply(*session::with_placement(*live.state.current(live.scene), {3, 2, 1, 0}, "turned"));
  const int before = live.run.answers;
  CHECK(live.state.current(live.scene)->change == "turned");
  CHECK(live.run.answers == before);
  live.state.undo();
  CHECK(live.state.current(live.scene)->change.empty());
}

TEST_CASE("network state: another job of the name is read anew, and where ranks are when that is known") {
  LiveScene live;
  live.sent();
  const auto first = live.state.current(live.scene);
  Snapshot other = *live.scene.snapshot;
  other.time_origin_realtime_ns = 2;
  other.application.node_of_rank = {3, 2, 1, 0};
  live.scene.snapshot = std::make_shared<const Snapshot>(other);
  const auto second = live.state.current(live.scene);
  CHECK(second->node_of_rank == std::vector<std::int32_t>{3, 2, 1, 0});
  CHECK(second->generation > first->generation);
}

TEST_CASE("network state: what cannot be read is said") {
  LiveScene live;
  gui::NetworkState state{session::NetworkWords{"torus:2x1", "", {}}, nullptr};
  CHECK(state.current(live.scene) == nullptr);
  CHECK(state.words(live.scene).find("the run had 4 nodes") != std::string::npos);
  gui::Scene gone = live.scene;
  gone.ask = [](session::Feed::Work work) { work(nullptr, [] { return false; }); };
  gui::NetworkState lost{session::NetworkWords{}, nullptr};
  CHECK(lost.current(gone) == nullptr);
  CHECK(lost.words(gone).find("cannot be read") != std::string::npos);
}

TEST_CASE("network state: routes between a finding's nodes are picked once the network is there") {
  LiveScene live;
  gui::Selection selection;
  live.state.pick_node_pairs({0, 1, 2, 1});
  live.state.take_pairs(selection);
  CHECK(selection.ranks.empty());
  live.sent();
  live.state.take_pairs(selection);
  CHECK(selection.ranks == std::vector<std::int32_t>{0, 1, 2});
  CHECK(live.state.lit(selection)->size() == 2);
  const auto* picked = live.state.picked(selection);
  REQUIRE(picked != nullptr);
  CHECK(picked->kind == gui::NetworkPick::Kind::routes);
  selection.ranks = {0};
  CHECK(live.state.picked(selection) == nullptr);
}

TEST_CASE("network state: a case that was undone is forgotten when another is applied") {
  LiveScene live;
  const auto base = live.state.current(live.scene);
  const auto change = [&](const char* name) { return *session::with_placement(*base, {1, 0, 3, 2}, name); };
  live.scene.connection.phase = session::Phase::stored;
  live.state.apply(change("one"));
  live.state.apply(change("two"));
  live.state.undo();
  CHECK(live.state.current(live.scene)->change == "one");
  live.state.apply(change("three"));
  CHECK_FALSE(live.state.can_redo());
  live.state.undo();
  live.state.undo();
  live.state.undo();
  CHECK(live.state.current(live.scene) == base);
  live.state.redo();
  live.state.redo();
  CHECK(live.state.current(live.scene)->change == "three");
}
