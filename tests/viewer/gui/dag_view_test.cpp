#include <catch2/catch.hpp>
#include <chrono>
#include <set>
#include <thread>

#include "analysis/order/dag_builder.hpp"
#include "tests/analysis/delay/programs.hpp"
#include "tests/thinned.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"
#include "tests/viewer/layout/dag_random.hpp"
#include "tests/viewer/memory_session.hpp"
#include "viewer/gui/dag/dag_details.hpp"
#include "viewer/gui/dag/dag_glyphs.hpp"
#include "viewer/gui/dag/dag_worst.hpp"

using namespace pclscope;

namespace {

// Rank 0 sends to 1 and 2; 1 sends to 3, late; 3 to 2.
Dag small_dag() {
  Dag dag;
  dag.region = 0;
  for (std::int32_t r = 0; r < 4; ++r) dag.ranks.push_back({r, 0, 2, 0.5, 1.2});
  for (std::int32_t r : {0, 1, 2, 3, 2}) dag.nodes.push_back({r, 0, 0, 0.1, {}, {}});
  const auto send = [&](std::int32_t from, std::int32_t to, double ratio, double time_s) {
    DagNode &a = dag.nodes[static_cast<std::size_t>(from)], &b = dag.nodes[static_cast<std::size_t>(to)];
    a.sent.push_back({to, b.rank, 5, 4096, 0.01 * from, time_s, ratio});
    b.received.push_back({from, a.rank, 5, 4096, 0.01 * from, time_s, ratio});
    ++dag.messages;
  };
  send(0, 1, 1, 1e-4);
  send(0, 2, 1, 1e-4);
  send(1, 3, 6, 6e-4);
  send(3, 4, 1, 1e-4);
  return fold(dag, {}).dag;
}

struct Stage {
  test::NullFrame frame;
  gui::Scene scene = test::scene_of(test::fake_snapshot({4, 1, 0}));
  gui::Selection selection;
  std::unique_ptr<gui::View> view = gui::make_dag_view();
  float width = 800, height = 500;
  int vertices = 0;

  explicit Stage(Dag dag) { show(std::move(dag)); }
  void show(Dag dag) {
    scene.dag.dag = std::make_shared<const Dag>(std::move(dag));
    settle();
  }
  int draw() { return vertices = frame.draw(*view, scene, selection, width, height); }
  void settle() {
    test::draw_until_settled(*view, [&] { draw(); });
    REQUIRE_FALSE(view->unsettled());
    draw();
  }
  layout::Point mark(const std::string& name) const { return test::mark(*view, name); }
  bool has(const std::string& name) const { return mark(name).x >= 0; }
  int nodes() const {
    int count = 0;
    for (const gui::Mark& m : view->marks()) count += m.name.rfind("node ", 0) == 0;
    return count;
  }
  void click(layout::Point at) {
    frame.click(*view, scene, selection, at, width, height);
    settle();
  }
  void wait() {  // longer than between two clicks of a double click
    for (int i = 0; i < 30; ++i) draw();
  }
  void double_click(layout::Point at) {
    wait();
    for (int i = 0; i < 2; ++i) frame.click(*view, scene, selection, at, width, height);
    settle();
  }
  void wheel(layout::Point at, float notches) {
    frame.mouse(at);
    draw();
    ImGui::GetIO().MouseWheel = notches;
    settle();
  }
  // Vertices of this colour in what was drawn last.
  int painted(layout::Rgba colour) const {
    const ImU32 wanted = IM_COL32(colour.red, colour.green, colour.blue, colour.alpha);
    int count = 0;
    for (int l = 0; l < ImGui::GetDrawData()->CmdListsCount; ++l)
      for (const ImDrawVert& v : ImGui::GetDrawData()->CmdLists[l]->VtxBuffer) count += v.col == wanted;
    return count;
  }
};

}  // namespace

TEST_CASE("glyphs stand from left to right, and a click picks a rank") {
  Stage stage(small_dag());
  REQUIRE(stage.nodes() == 5);
  CHECK(stage.mark("node 0").x < stage.mark("node 1").x);
  CHECK(stage.mark("node 1").x < stage.mark("node 3").x);
  CHECK(stage.mark("node 3").x < stage.mark("node 4").x);
  CHECK(stage.has("rank 3"));
  stage.click(stage.mark("node 3"));
  CHECK(stage.selection.rank == 3);
  CHECK_FALSE(stage.selection.message);
  stage.click({790, stage.mark("node 0").y});  // beside all glyphs
  CHECK_FALSE(stage.selection.rank);
}

TEST_CASE("a click on a bar picks its message") {
  Stage stage(small_dag());
  const layout::Point node = stage.mark("node 1"), next = stage.mark("node 3");
  bool picked = false;  // somewhere just outside of the ring, on the right
  for (float away = 10; away < (next.x - node.x) / 2 && !picked; away += 2) {
    stage.wait();
    stage.click({node.x + away, node.y});
    picked = stage.selection.message.has_value();
  }
  REQUIRE(picked);
  CHECK(stage.selection.message == gui::SelectedMessage{1, 3, 0.01});
  CHECK(stage.selection.rank == 1);
}

TEST_CASE("links from former nodes are red while the mouse is over a node, those to latter ones blue") {
  Stage stage(small_dag());
  const layout::Rgba red = stage.scene.palette->predecessor, blue = stage.scene.palette->successor;
  CHECK(stage.painted(red) + stage.painted(blue) == 0);
  const auto over = [&](const char* node) {
    test::NullFrame::mouse(stage.mark(node));
    stage.draw();
    stage.draw();
  };
  over("node 0");
  CHECK(stage.painted(red) == 0);
  CHECK(stage.painted(blue) > 0);
  CHECK(stage.painted(blue.with_alpha(0.35f)) > 0);  // to node 3, farther on
  over("node 4");
  CHECK(stage.painted(red) > 0);
  CHECK(stage.painted(blue) == 0);
  CHECK(stage.painted(red.with_alpha(0.35f)) > 0);
  over("node 1");
  CHECK(stage.painted(red) > 0);
  CHECK(stage.painted(blue) > 0);
}

TEST_CASE("double click folds what hangs right of a node, which stays where it is; again unfolds it") {
  Stage stage(small_dag());
  const layout::Point before = stage.mark("node 1");
  stage.double_click(before);
  CHECK(stage.nodes() == 3);  // 3 and 4 are gone
  CHECK(stage.has("node 2"));
  CHECK_FALSE(stage.has("node 3"));
  stage.double_click(stage.mark("node 1"));
  CHECK(stage.nodes() == 5);
  stage.wheel(before, 1);  // moved by hand: the sheet does not fit itself any more
  const layout::Point held = stage.mark("node 1");
  stage.double_click(held);
  CHECK(layout::distance(stage.mark("node 1"), held) < 1);
  CHECK(stage.nodes() == 3);
}

TEST_CASE(
    "a large graph is folded at first; double click on a fold shows more, a button all, and again the beginning") {
  Stage stage(test::ring_dag(4, 400));
  const int at_first = stage.nodes();
  REQUIRE(at_first >= 4 * 4);
  REQUIRE(at_first < 100);
  std::string fold;  // what stands right of all is one
  float right = 0;
  for (const gui::Mark& m : stage.view->marks())
    if (m.name.rfind("node ", 0) == 0 && m.at.x > right) fold = m.name, right = m.at.x;
  stage.double_click(stage.mark(fold));
  CHECK(stage.nodes() > at_first);
  stage.click(stage.mark("unfold all"));
  REQUIRE(stage.has("fold"));
  stage.click(stage.mark("fold"));
  CHECK(stage.nodes() == at_first);
}

TEST_CASE("search brings a rank to the middle and marks it; what is not there is said, not found") {
  std::mt19937_64 random(6);
  Stage stage(test::random_dag(random, 60, 90, 12));
  const auto search = [&](const char* rank) {
    stage.click(stage.mark("search"));
    ImGuiIO& io = ImGui::GetIO();
    io.KeysDown[ImGuiKey_Backspace] = false;
    io.KeyCtrl = true;
    io.KeysDown[ImGuiKey_A] = true;
    stage.draw();
    io.KeyCtrl = io.KeysDown[ImGuiKey_A] = false;
    io.AddInputCharactersUTF8(rank);
    stage.draw();
    io.KeysDown[ImGuiKey_Enter] = true;
    stage.draw();
    io.KeysDown[ImGuiKey_Enter] = false;
    stage.settle();
  };
  const std::int32_t rank = stage.scene.dag.dag->nodes.back().rank;
  search(std::to_string(rank).c_str());
  CHECK(stage.selection.rank == rank);
  const layout::Point at = stage.mark(std::string("rank ").append(std::to_string(rank)));
  float nearest = 1e9f;
  for (const gui::Mark& m : stage.view->marks())
    if (m.name.rfind("node ", 0) == 0) nearest = std::min(nearest, layout::distance(m.at, {400, 260}));
  CHECK(nearest < 60);
  CHECK(at.x >= 0);
  search("4711");
  CHECK(stage.selection.rank == rank);
}

TEST_CASE("a graph that does not fit starts at the largest delay, or at that of the selected rank or message") {
  Dag dag = test::ring_dag(6, 300);
  const std::size_t late = 1400, other = 605;  // ranks 2 and 5
  dag.nodes[late].received[0].ratio = 500;
  dag.nodes[other].sent[0].ratio = 3;
  dag.nodes[900].received[0].ratio = 2;  // of rank 0
  const auto name = [](std::size_t node) { return std::string("node ").append(std::to_string(node)); };
  const auto in_the_middle = [&](const Stage& stage, std::size_t node) {
    const layout::Point at = stage.mark(name(node));
    return at.x > 300 && at.x < 500 && at.y > 0 && at.y < 500;
  };
  Stage stage(dag);
  CHECK(in_the_middle(stage, late));
  CHECK_FALSE(stage.has(name(0)));
  stage.selection.rank = 5;
  stage.show(dag);  // another one, of the same region
  CHECK(in_the_middle(stage, other));
  CHECK_FALSE(stage.has(name(late)));
  stage.selection.rank = 3;  // never late
  stage.show(dag);
  CHECK(in_the_middle(stage, late));
  const DagMessage& message = dag.nodes[900].received[0];
  stage.selection.message = gui::SelectedMessage{message.peer, 0, message.begin_s};
  stage.show(dag);
  CHECK(in_the_middle(stage, 900));
  // All of it, and back.
  stage.click(stage.mark("fit"));
  CHECK(stage.has(name(0)));
  stage.click(stage.mark("unfold all"));
  stage.click(stage.mark("fold"));
  CHECK(in_the_middle(stage, 900));
  // Where the first layers have it, nothing is left out before it.
  stage.selection = {};
  dag.nodes[late].received[0].ratio = 1;
  dag.nodes[13].received[0].ratio = 100;
  stage.show(dag);
  CHECK(stage.has(name(0)));
  CHECK(stage.has(name(13)));
}

TEST_CASE("a start is readable: its layers fill the view, and few enough that glyphs have their bars") {
  for (const std::int32_t ranks : {2, 8, 40}) {
    INFO(ranks);
    Dag dag = test::ring_dag(ranks, 200);
    const auto late = static_cast<std::size_t>(100 * ranks);
    dag.nodes[late].received[0].ratio = 50;
    const Stage stage(std::move(dag));
    CHECK(stage.nodes() >= std::min(ranks, 40));
    CHECK(stage.nodes() <= 120 + 2 * ranks);  // with those at both borders
    float left = 1e9f, right = 0;
    for (const gui::Mark& m : stage.view->marks())
      if (m.name.rfind("node ", 0) == 0) left = std::min(left, m.at.x), right = std::max(right, m.at.x);
    if (ranks <= 8) CHECK(right - left > 600);
  }
}

TEST_CASE("beyond a thousand nodes the logical timeline is offered, and opened with the graph's period") {
  Stage stage(test::ring_dag(4, 400));
  CHECK_FALSE(stage.has("logical"));  // nobody can open it
  std::string opened;
  stage.scene.open_view = [&](std::string name) { opened = std::move(name); };
  Dag small = test::ring_dag(4, 200);
  stage.show(small);
  CHECK_FALSE(stage.has("logical"));
  Dag large = test::ring_dag(4, 400);
  large.from_s = 1, large.to_s = 2;
  stage.show(large);
  stage.click(stage.mark("logical"));
  CHECK(opened == "logical");
  CHECK(stage.selection.period == gui::SelectedPeriod{1, 2});
}

TEST_CASE("of a dump the critical path is a bold line from node to node; of a running job there is none") {
  // 0 sends to 1, computes, and sends again; 1 sends on to 2.
  test::Program p(3);
  p.call(0, test::K::send, 5, 1, 7);
  p.compute(0, 1'000'000);
  p.call(0, test::K::send, 1, 1);
  p.call(1, test::K::recv, 6, 0, 7);
  p.call(1, test::K::recv, 2, 0);
  p.compute(1, 1000);
  p.call(1, test::K::send, 3, 2);
  p.call(2, test::K::recv, 4, 1);
  const test::Outcome outcome = test::simulate(p);
  test::MemorySession run(outcome.messages);
  DagQuestion question;
  const std::vector<std::int32_t> one_node(3);
  DagSource source;
  source.messages = outcome.messages;
  source.node_of_rank = one_node;
  const Dag dag = build_dag(question, source);
  REQUIRE(dag.nodes.size() == 3);
  Stage stage(dag);
  stage.scene.ask = [&](const session::Feed::Work& work) { work(&run, [] { return false; }); };
  stage.settle();
  CHECK_FALSE(stage.has("path 2"));
  const int before = stage.vertices;
  stage.scene.connection.phase = session::Phase::stored;
  stage.settle();
  CHECK(stage.has("path 2"));
  CHECK(stage.vertices > before);
}

TEST_CASE("the worst message is brought to the middle, unfolded") {
  Dag dag = test::ring_dag(6, 300);
  const std::size_t late = 1400;
  dag.nodes[late].received[0].ratio = 500;
  dag.nodes[605].sent[0].ratio = 3;
  const std::int32_t rank = dag.nodes[late].rank;
  Stage stage(small_dag());
  stage.selection.rank = 5;  // it starts at 605
  stage.show(std::move(dag));
  const std::string name = std::string("node ").append(std::to_string(late));
  CHECK_FALSE(stage.has(name));
  stage.click(stage.mark("worst"));
  CHECK(stage.selection.rank == rank);
  CHECK(layout::distance(stage.mark(name), {400, 260}) < 60);
}

TEST_CASE("of the worst message it is said who sent it to whom, how late it was, and from which lines") {
  const Dag dag = small_dag();
  gui::Scene scene = test::scene_of(test::fake_snapshot({}));
  CallSite from, to;
  from.id = 1, from.file = "/src/halo.c", from.line = 42;
  to.id = 2, to.file = "/src/halo.c", to.line = 50;
  Snapshot snapshot;
  snapshot.sites = {from, to};
  scene.snapshot = std::make_shared<const Snapshot>(snapshot);
  scene.connection.phase = session::Phase::stored;
  Message m;
  m.source = 1, m.destination = 3, m.tag = 5;
  m.send_begin = 10'000'000;  // node 1 of the graph: 0.01 s
  m.send_site = 1, m.recv_site = 2;
  test::MemorySession run({m});
  scene.ask = [&](const session::Feed::Work& work) { work(&run, [] { return false; }); };
  gui::WorstMessage worst;
  const auto node = gui::worst_node(dag);
  REQUIRE(node);
  worst.tell(scene, dag, *node);
  CHECK(worst.words(scene) ==
        "rank 1 to rank 3: 6.0x as long as usual (600 us, 4.0 KiB), sent at 10.0 ms, from halo.c:42 to halo.c:50");
  REQUIRE(worst.message());
  CHECK(*worst.message() == gui::SelectedMessage{1, 3, 0.01});
  scene.ask = {};
  worst.tell(scene, dag, *node);
  CHECK(worst.words(scene).find("halo.c") == std::string::npos);  // who cannot be asked does not say
  worst.clear();
  CHECK(worst.words(scene).empty());
}

TEST_CASE("nodes glide out of a fold, and stay where they were without watchers") {
  for (const bool glides : {false, true}) {
    Stage stage(small_dag());
    stage.scene.glides = glides;
    stage.double_click(stage.mark("node 1"));
    REQUIRE_FALSE(stage.has("node 3"));
    stage.wait();
    const layout::Point fold = stage.mark("node 1");
    for (int i = 0; i < 2; ++i)
      stage.frame.click(*stage.view, stage.scene, stage.selection, fold, stage.width, stage.height);
    test::draw_until([&] { return stage.has("node 3"); }, [&] { stage.draw(); });
    const layout::Point first = stage.mark("node 3");
    stage.settle();
    const layout::Point last = stage.mark("node 3");
    REQUIRE(layout::distance(last, fold) > 20);
    CHECK((layout::distance(first, last) > 10) == glides);
  }
}

TEST_CASE("a graph that lacks messages says what can be done here about it") {
  gui::Scene scene = test::scene_of(test::fake_snapshot({}));
  Dag dag = small_dag();
  dag.partial = true;
  dag.messages_missing = 70;
  dag.why_partial = "there are 70 more messages than the 4 asked for: raise --limit";
  scene.dag.dag = std::make_shared<const Dag>(dag);
  scene.dag.question.most_messages = 4;
  scene.connection.phase = session::Phase::stored;
  CHECK(gui::partial_words(scene) == "partial: the earliest 4 of 74 messages; choose a shorter period to see it whole");
  scene.connection.phase = session::Phase::running;
  dag.why_partial = "messages no longer kept: 70";
  scene.dag.dag = std::make_shared<const Dag>(dag);
  CHECK(gui::partial_words(scene) == "partial: messages no longer kept: 70");
}

TEST_CASE("a running job's next graph takes the place of the last one when its links are drawn, not before") {
  Stage stage(test::fake_dag(4, 4, 1));
  const auto links = [&] {
    for (const gui::Mark& m : stage.view->marks())
      if (m.name.starts_with("links ")) return m.name;
    return std::string();
  };
  REQUIRE(links() == "links " + std::to_string(3 * 4));
  for (const int second : {1, 2, 3}) {
    stage.scene.dag.dag =
        std::make_shared<const Dag>(test::fake_dag(4 + second, 4, static_cast<std::uint64_t>(second) + 1));
    test::draw_until_settled(*stage.view, [&] {
      stage.draw();
      REQUIRE(!links().empty());
    });
    CHECK(links() == "links " + std::to_string(3 * (4 + second)));
  }
}

TEST_CASE("after the end a graph says that it is the last one, and of whom") {
  gui::Scene scene = test::scene_of(test::fake_snapshot({}));
  gui::Selection selection;
  selection.region = 0;
  scene.dag.dag = std::make_shared<const Dag>(small_dag());  // of region 0
  CHECK(gui::not_newest_words(scene, selection).empty());
  selection.region = 2;
  CHECK(gui::not_newest_words(scene, selection) == "this is the graph of region 0");
  scene.dag.waiting = true;
  CHECK(gui::not_newest_words(scene, selection) == "a newer graph is on its way ..");
  scene.dag.waiting = false;
  scene.connection.phase = session::Phase::finished;
  CHECK(gui::not_newest_words(scene, selection) ==
        "the job is over: this is its last graph, of region 0; its dump has all others (pclscope view FILE)");
}

TEST_CASE("where there is nothing to see, it says why") {
  gui::Scene scene = test::scene_of(test::fake_snapshot({}));
  gui::Selection selection;
  CHECK(gui::why_empty(scene, selection).find("pick a region") != std::string::npos);
  selection.region = 1;
  scene.dag.waiting = true;
  CHECK(gui::why_empty(scene, selection).find("waiting") != std::string::npos);
  scene.dag.waiting = false;
  scene.dag.problem = "the job \x1b[31mdid not answer";
  CHECK(gui::why_empty(scene, selection) == "the job ?[31mdid not answer");
  scene.dag.problem.clear();
  Dag none;
  none.why_partial = "messages no longer kept: 12";
  scene.dag.dag = std::make_shared<const Dag>(none);
  CHECK(gui::why_empty(scene, selection) ==
        "no messages inside the region kept for this period: messages no longer kept: 12");
  scene.dag.dag = std::make_shared<const Dag>(small_dag());
  CHECK(gui::why_empty(scene, selection).empty());
}

TEST_CASE("glyphs show less the smaller and the more they are") {
  using gui::GlyphDetail;
  CHECK(gui::glyph_detail(30, 10, 1) == GlyphDetail::full);
  CHECK(gui::glyph_detail(30, 10, 4) == GlyphDetail::disc);
  CHECK(gui::glyph_detail(9, 10, 1) == GlyphDetail::ellipse);
  CHECK(gui::glyph_detail(2, 10, 1) == GlyphDetail::disc);
  CHECK(gui::glyph_detail(30, 100'000, 1) == GlyphDetail::disc);
}

TEST_CASE("20,000 messages among 1,152 ranks: few vertices at every zoom, wherever the mouse is") {
  Stage stage(test::fake_dag(1152, 18));
  for (int step = 0; step < test::thinned(6, 2); ++step) {
    stage.wheel({400, 250}, 8);
    CHECK(stage.vertices < 30'000);
    for (const gui::Mark& m : stage.view->marks()) {
      if (m.name.rfind("node ", 0) != 0) continue;
      test::NullFrame::mouse(m.at);
      CHECK(stage.draw() < 40'000);
      break;
    }
    CHECK(stage.view->marks().size() <= 200);
  }
}

TEST_CASE("broken graphs, empty snapshots and tiny windows are drawn") {
  for (std::uint64_t seed = 1; seed <= test::thinned(40u, 10u); ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    Stage stage(test::broken_dag(random));
    for (const gui::Mark& m : stage.view->marks()) {
      REQUIRE((std::isfinite(m.at.x) && std::isfinite(m.at.y)));
      if (random() % 4 == 0) stage.double_click(m.at);
    }
    stage.selection.rank = static_cast<std::int32_t>(random());
    stage.selection.message = gui::SelectedMessage{1, 2, 0};
    stage.selection.ranks = {1, 2, 3};
    for (const auto& [w, h] :
         {std::pair{1.f, 1.f}, {40.f, 400.f}, {700.f, 20.f}, {seed == 7 ? 3000.f : 300.f, 200.f}}) {
      stage.width = w;
      stage.height = h;
      stage.settle();
    }
    stage.scene.dag.waiting = true;
    stage.scene.snapshot = nullptr;
    stage.draw();
  }
}
