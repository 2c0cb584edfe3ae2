#include <catch2/catch.hpp>
#include <chrono>
#include <limits>
#include <random>
#include <thread>

#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"
#include "viewer/gui/frame/status_bar.hpp"
#include "viewer/gui/frame/status_words.hpp"

using namespace pclscope;
using gui::Urgency;
using session::Phase;

namespace {

gui::Scene running() { return test::scene_of(test::fake_snapshot()); }

// The moment `s` seconds after the end of the newest window.
std::int64_t later(const gui::Scene& scene, double s) {
  return scene.snapshot->live.window_end_realtime_ns + static_cast<std::int64_t>(s * 1e9);
}

class BarView final : public gui::View {
 public:
  const char* title() const override { return "bar"; }
  void draw(const gui::Scene& scene, gui::Selection& selection) override { bar.draw(scene, selection); }
  std::vector<gui::Mark> marks() const override { return bar.marks(); }
  gui::StatusBar bar;
};

void settle(test::NullFrame& frame, gui::View& view, const gui::Scene& scene, gui::Selection& selection) {
  test::draw_until_settled(view, [&] { frame.draw(view, scene, selection); });
}

Deadlock deadlock_of(std::int32_t a, std::int32_t b) {
  Deadlock d;
  d.since_s = 12;
  d.members = {{a, 12, 1, 1, 9, {b}, false, 11}, {b, 12, 1, 1, 9, {a}, false, 12}};
  return d;
}

}  // namespace

TEST_CASE("every state of the connection has a word and an urgency") {
  gui::Scene scene = running();
  const auto said = [&](Phase state) {
    scene.connection.phase = state;
    return gui::connection_item(scene);
  };
  CHECK(said(Phase::running).text == "running");
  CHECK(said(Phase::running).urgency == Urgency::good);
  CHECK(said(Phase::finished).text == "finished");
  CHECK(said(Phase::stored).text == "stored, incomplete");  // a run that was cut off must not look whole
  CHECK(said(Phase::stored).urgency == Urgency::warning);
  Snapshot over = *scene.snapshot;
  over.finished = true;
  scene.snapshot = std::make_shared<const Snapshot>(over);
  CHECK(said(Phase::stored).text == "stored");
  CHECK(said(Phase::opening).text == "opening");
  scene.connection.progress = 0.34;
  CHECK(said(Phase::opening).text == "opening 34%");
  scene.connection.reconnects = 2;
  CHECK(said(Phase::running).text == "running (connected again 2 times)");
  scene.connection.problem = "the aggregator\x1b died";
  CHECK(said(Phase::lost).text == "LOST: the aggregator? died");
  CHECK(said(Phase::lost).urgency == Urgency::bad);
  CHECK(said(Phase::failed).text == "FAILED: the aggregator? died");
  CHECK(said(Phase::failed).urgency == Urgency::bad);
}

TEST_CASE("the age of the newest window: calm, amber beyond 3 windows, red beyond 10") {
  gui::Scene scene = running();  // windows of 0.1 s
  const auto said = [&](double age_s, double silent_s) {
    scene.connection.silent_s = silent_s;
    return gui::age_item(scene, later(scene, age_s));
  };
  CHECK(said(0.2, 0.1).text == "data 200 ms old");
  CHECK(said(0.2, 0.1).urgency == Urgency::calm);
  CHECK(said(0.5, 0.1).text == "data 500 ms old");
  CHECK(said(0.5, 0.1).urgency == Urgency::warning);
  CHECK(said(0.6, 0.5).text == "no news for 500 ms");
  CHECK(said(0.6, 0.5).urgency == Urgency::warning);
  CHECK(said(4.3, 4.2).text == "no news for 4.20 s");
  CHECK(said(4.3, 4.2).urgency == Urgency::bad);
  CHECK(said(-5, 0).text == "data 0 s old");  // clocks of two machines
  Snapshot slow = *scene.snapshot;
  slow.live.window_s = 2;
  scene.snapshot = std::make_shared<const Snapshot>(slow);
  CHECK(said(5, 1).urgency == Urgency::calm);
  CHECK(said(7, 1).urgency == Urgency::warning);
  CHECK(said(21, 1).urgency == Urgency::bad);
}

TEST_CASE("paused, the picture's age says nothing; lost, silence is always bad; a stored run has no age") {
  gui::Scene scene = running();
  scene.paused = true;
  scene.connection.silent_s = 0.1;
  CHECK(gui::age_item(scene, later(scene, 100)).text == "news goes on");
  CHECK(gui::age_item(scene, later(scene, 100)).urgency == Urgency::calm);
  scene.paused = false;
  scene.connection.phase = Phase::lost;
  CHECK(gui::age_item(scene, later(scene, 0.1)).urgency == Urgency::bad);
  scene.connection.phase = Phase::stored;
  CHECK(gui::age_item(scene, later(scene, 100)).text.empty());
  scene.connection.phase = Phase::running;
  scene.snapshot = nullptr;
  CHECK(gui::age_item(scene, 0).text == "no news yet");
}

TEST_CASE("counts are amber when something is missing, and only then") {
  Snapshot s = test::fake_snapshot();
  const auto amber = [&](Phase state) {
    gui::Scene scene = test::scene_of(s);
    scene.connection.phase = state;
    std::vector<std::string> words;
    for (const gui::StatusItem& item : gui::count_items(scene))
      if (item.urgency != Urgency::calm) words.push_back(item.text);
    return words;
  };
  CHECK(amber(Phase::running).empty());
  s.messages.unmatched_sends = 4;
  CHECK(amber(Phase::running).empty());  // on their way
  CHECK(amber(Phase::finished) == std::vector<std::string>{"unmatched 4+0"});
  s.messages.dropped_events = 1234;
  s.messages.ambiguous = 1;
  CHECK(amber(Phase::running) == std::vector<std::string>{"ambiguous 1", "dropped 1234"});
  s.network.dead_nodes = {1};
  CHECK(amber(Phase::running).back() == "1 node is not recorded any more");
}

TEST_CASE("clocks: the worst bound counts; amber when it hides latencies") {
  Snapshot s = test::fake_snapshot({16, 4, 2});
  REQUIRE(s.application.nodes.size() == 2);
  CHECK(gui::clock_item(s).text == "clocks not compared yet");
  s.network.clocks = {{1, 0, 0, 0, 12e-6}, {2, 0, 0, 0, 40e-6}};
  CHECK(gui::clock_item(s).text == "clocks within 40.0 us");
  CHECK(gui::clock_item(s).urgency == Urgency::calm);
  s.latency.median_s = 20e-6;
  CHECK(gui::clock_item(s).urgency == Urgency::warning);
  s.network.clocks[0].error_s = std::numeric_limits<double>::quiet_NaN();
  CHECK(gui::clock_item(s).text == "clock error not known");
  s.application.nodes.resize(1);
  CHECK(gui::clock_item(s).text.empty());
}

TEST_CASE("what ranks are in: counts by function, outside MPI last; who is blocked longest") {
  Snapshot s = test::fake_snapshot();  // the four ranks of region 2 are inside function 12
  s.ranks[10].call_for_s = 3.2;
  s.ranks[0].finished = true;
  s.ranks[1].node = -1;  // has not called MPI_Init
  const gui::StatusFacts facts = gui::status_facts(s);
  CHECK(facts.ranks == 14);
  CHECK(facts.finished == 1);
  REQUIRE(facts.inside.size() == 2);
  CHECK(facts.inside[0].function == 12);
  CHECK(facts.inside[0].ranks == 4);
  CHECK(facts.inside[1].function == 0);
  CHECK(facts.inside[1].ranks == 10);
  REQUIRE(gui::longest_blocked(s) != nullptr);
  CHECK(gui::longest_blocked(s)->rank == 10);
  CHECK(gui::blocked_text(*gui::longest_blocked(s)).find("rank 10 in MPI_") == 0);
  s.finished = true;
  CHECK(gui::longest_blocked(s) == nullptr);
}

TEST_CASE("the strip: a click on who is blocked longest, or on the deadlock, selects the ranks") {
  Snapshot s = test::fake_snapshot();
  s.ranks[10].call_for_s = 3.2;
  s.deadlocks = {deadlock_of(4, 3)};
  gui::Scene scene = test::scene_of(s);
  gui::Selection selection;
  test::NullFrame frame;
  BarView view;
  frame.draw(view, scene, selection);
  frame.click(view, scene, selection, test::mark(view, "blocked"));
  CHECK(selection.rank == 10);
  frame.click(view, scene, selection, test::mark(view, "deadlock"));
  CHECK(selection.ranks == std::vector<std::int32_t>{3, 4});
  CHECK(selection.rank == 4);
}

TEST_CASE("the panel: rows of blocked ranks and deadlocks can be clicked") {
  Snapshot s = test::fake_snapshot();
  s.deadlocks = {deadlock_of(0, 1)};
  gui::Scene scene = test::scene_of(s);
  gui::Selection selection;
  test::NullFrame frame;
  gui::StatusPanel panel;
  settle(frame, panel, scene, selection);
  REQUIRE(test::mark(panel, "blocked 0").x > 0);
  frame.click(panel, scene, selection, test::mark(panel, "blocked 0"));
  CHECK(selection.ranks == s.regions[2].ranks);
  frame.click(panel, scene, selection, test::mark(panel, "deadlock 0"));
  CHECK(selection.ranks == std::vector<std::int32_t>{0, 1});
}

TEST_CASE("the panel's facts have the efficiencies of the job and of its regions") {
  Snapshot s = test::fake_snapshot();
  CHECK_FALSE(gui::status_facts(s).efficiency.known());
  for (RankSummary& r : s.ranks) {
    r.begin_s = 1;
    r.end_s = 11;
    r.mpi_s = r.rank == s.regions[1].ranks.front() ? 2 : 5;
    r.threads = 1;
    r.finished = true;
  }
  const gui::StatusFacts facts = gui::status_facts(s);
  REQUIRE(facts.of_region.size() == s.regions.size());
  CHECK(facts.efficiency.communication() == Approx(0.8));
  CHECK(facts.of_region[1].second.communication() == Approx(0.8));
  CHECK(facts.of_region[0].second.communication() == Approx(0.5));
  gui::Scene scene = test::scene_of(s);
  gui::Selection selection;
  selection.region = s.regions[1].id;
  test::NullFrame frame;
  gui::StatusPanel panel;
  settle(frame, panel, scene, selection);
  const int with_region = frame.draw(panel, scene, selection);
  selection.region.reset();
  CHECK(frame.draw(panel, scene, selection) < with_region);
}

TEST_CASE("status of garbage, at any size") {
  const unsigned seed = 4;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const double odd[] = {
      std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1, 1e300, 0, 5};
  test::NullFrame frame;
  for (int round = 0; round < 60; ++round) {
    Snapshot s = test::fake_snapshot({static_cast<std::int32_t>(random() % 30), 3, 1, 10});
    s.job = "\x1b]0;x\a";
    s.application.command = std::string(3000, 'c');
    s.application.ranks = static_cast<std::int32_t>(random() >> 1) - (1 << 30);
    s.duration_s = odd[random() % 6];
    s.live.window_s = odd[random() % 6];
    s.live.window_end_realtime_ns = random() % 2 == 0 ? INT64_MAX : INT64_MIN;
    s.latency.median_s = odd[random() % 6];
    for (RankSummary& r : s.ranks) {
      r.call_function = static_cast<std::uint16_t>(random());
      r.call_for_s = odd[random() % 6];
      r.begin_s = odd[random() % 6];
      r.end_s = odd[random() % 6];
      r.mpi_s = odd[random() % 6];
      r.ideal_saved_s = odd[random() % 6];
      r.off_core_computing_s = odd[random() % 6];
      r.waits_for = {-1, static_cast<std::int32_t>(random())};
      r.rank = static_cast<std::int32_t>(random() >> 1) - (1 << 30);
    }
    for (std::uint64_t MessageTotals::*const field : MessageTotals::fields)
      s.messages.*field = random() % 2 == 0 ? UINT64_MAX : 0;
    s.retention.memory_bytes = s.retention.budget_bytes = UINT64_MAX;
    s.retention.bites_since_s = odd[random() % 6];
    s.retention.messages_shed = random() % 2 * random();
    s.retention.shed_from_s = odd[random() % 6];
    s.retention.shed_to_s = odd[random() % 6];
    s.network.clocks = {{-7, odd[random() % 6], odd[random() % 6], odd[random() % 6], odd[random() % 6]}};
    s.network.dead_nodes = {99, -1};
    s.deadlocks = {deadlock_of(-1, 1 << 30), {}};
    gui::Scene scene = test::scene_of(s);
    scene.connection.phase = static_cast<Phase>(random() % 6);
    scene.connection.silent_s = odd[random() % 6];
    scene.connection.progress = odd[random() % 6];
    scene.paused = random() % 2 == 0;
    if (random() % 5 == 0) scene.snapshot = nullptr;
    const float widths[] = {1, 30, 400, 1600};
    const float width = widths[random() % 4], height = widths[random() % 4];
    gui::Selection selection;
    BarView bar;
    gui::StatusPanel panel;
    CHECK(frame.draw(bar, scene, selection, width, height) >= 0);
    CHECK(frame.draw(panel, scene, selection, width, height) >= 0);
    settle(frame, panel, scene, selection);
    for (const char* name : {"blocked", "deadlock"})
      if (test::mark(bar, name).x > 0) frame.click(bar, scene, selection, test::mark(bar, name), width, height);
    for (const std::int32_t rank : selection.ranks) CHECK((rank >= 0 && rank < s.application.ranks));
  }
}

TEST_CASE("clocks stand under a heading, without a label of their own") {
  Snapshot s = test::fake_snapshot({24, 3, 1});
  s.network.clocks = {{1, 0, 1e-3, 1e-6, 12e-6}, {2, 0, 1e-3, 1e-6, 40e-6}};
  s.network.dead_nodes = {2};
  const gui::StatusFacts facts = gui::status_facts(s);
  REQUIRE(facts.network.size() == 3);
  CHECK(facts.network[0].find("n1: offset") == 0);
  CHECK(facts.network[1].find("n2: offset") == 0);
  CHECK(facts.network[2].find("dead       the aggregator of n2 died") == 0);
}
