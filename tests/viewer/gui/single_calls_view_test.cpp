// Single calls on the call view, without a window: a click selects the nearest, a rectangle lists the worst first, and
// where there are none it is said.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "analysis/density/packing.hpp"
#include "analysis/density/pyramid.hpp"
#include "interpose/record/functions.hpp"
#include "tests/patience.hpp"
#include "tests/seed.hpp"
#include "tests/thinned.hpp"
#include "tests/viewer/gui/null_frame.hpp"
#include "tests/viewer/memory_session.hpp"
#include "viewer/gui/calls/call_search.hpp"

using namespace pclscope;

namespace {

constexpr std::int32_t ranks = 12;
constexpr std::int64_t ms = 1'000'000;
constexpr auto recv = static_cast<std::uint16_t>(record::Function::Recv),
               send = static_cast<std::uint16_t>(record::Function::Send);

// Sends and receives of some 0.1 ms for a second; rank 7 once waits 80 ms.
struct Job {
  std::vector<MpiCall> calls;
  Snapshot snapshot;
  MpiCall outlier;
  explicit Job(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    density::Pyramid pyramid;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      std::int64_t at = 0;
      while (at < 1000 * ms) {
        MpiCall call;
        call.rank = rank;
        call.function = random() % 2 == 0 ? send : recv;
        call.site = 1;
        call.begin = at + 2 * ms + static_cast<std::int64_t>(random() % ms);
        call.end = call.begin + 40'000 + static_cast<std::int64_t>(random() % 160'000);
        if (rank == 7 && outlier.end == 0 && at > 400 * ms) {
          call.function = recv;
          call.end = call.begin + 80 * ms;
          outlier = call;
        }
        at = call.end;
        pyramid.call_inside(pyramid.place(call.function), rank, call.begin, call.end);
        calls.push_back(call);
      }
    }
    snapshot.application.ranks = ranks;
    snapshot.duration_s = 1.1;
    snapshot.call_density = density::pack(pyramid.value());
    snapshot.functions = {{recv, calls.size(), 0, 0, {}}};
    snapshot.sites = {
        {.id = 1, .module = "/bin/app", .function = "exchange", .file = "/src/halo.c", .line = 42, .build_id = {}}};
    snapshot.regions.resize(1);
    snapshot.regions[0].id = 4;
    snapshot.regions[0].ranks = {6, 7, 8};
  }
};

struct CallWindow {
  explicit CallWindow(const Job& job, std::optional<session::CallCount> count = {})
      : scene(test::scene_of(job.snapshot)), source(run_of(job, count)) {
    scene.calls = &source;
    scene.connection.phase = session::Phase::stored;
    settle();
  }
  static std::shared_ptr<const session::TimelineRun> run_of(const Job& job, std::optional<session::CallCount> count) {
    if (!count) return session::timeline_of(ranks, job.calls, {}, {}, false);
    auto run = std::make_shared<session::TimelineRun>(*session::timeline_of(ranks, {}, {}, {}, false));
    run->count = *count;
    return run;
  }
  void draw() { frame.draw(*view, scene, selection, 900, 700); }
  void settle() {
    test::draw_until_settled(*view, [&] { draw(); });
  }
  // Pixels of a moment and a duration: from where the axes say they are.
  layout::Point pixel(double second, double ns) const {
    const layout::Point left = test::mark(*view, "calls left"), right = test::mark(*view, "calls right");
    const layout::Point low = test::mark(*view, "duration 100 us"), high = test::mark(*view, "duration 10 ms");
    return {left.x - 1 + static_cast<float>(second / 1.1) * (right.x - left.x + 2),
            low.y + static_cast<float>((std::log10(ns) - 5) / 2) * (high.y - low.y)};
  }
  layout::Point pixel(const MpiCall& call) const {
    return pixel(static_cast<double>(call.begin) * 1e-9, static_cast<double>(call.end - call.begin));
  }
  void click_only(layout::Point at) { frame.click(*view, scene, selection, at, 900, 700); }
  void click(layout::Point at) {
    frame.click(*view, scene, selection, at, 900, 700);
    settle();
    for (int i = 0; i < 40; ++i) draw();  // the next one is no double click
  }
  void drag_with_shift(layout::Point from, layout::Point to) {
    test::NullFrame::mouse(from);
    ImGui::GetIO().KeyShift = true;
    draw();
    for (const float way : {0.f, 0.5f, 1.f}) {
      test::NullFrame::mouse(from + (to - from) * way, true);
      draw();
    }
    test::NullFrame::mouse(to);
    draw();
    ImGui::GetIO().KeyShift = false;
    settle();
  }
  // "listed 3 of 12"
  std::string listed() const {
    for (const gui::Mark& mark : view->marks())
      if (mark.name.starts_with("listed ")) return mark.name;
    return {};
  }
  test::NullFrame frame;
  gui::Scene scene;
  gui::TimelineSource source;
  gui::Selection selection;
  std::unique_ptr<gui::View> view = gui::make_calls_view();
};

}  // namespace

TEST_CASE("call view: a click on an outlier selects its rank, region, period and call, and the axis stays") {
  const Job job(1);
  CallWindow w(job);
  const layout::Point at = w.pixel(job.outlier);
  w.click(at);
  CHECK(w.selection.rank == 7);
  CHECK(w.selection.ranks == std::vector<std::int32_t>{7});
  CHECK(w.selection.region == 4);
  const gui::SelectedCall* call = gui::selected_call(w.selection);
  REQUIRE(call != nullptr);
  CHECK(*call == gui::SelectedCall{7, 0, recv, 1, job.outlier.begin, job.outlier.end});
  REQUIRE(w.selection.period);
  CHECK(w.selection.period->begin_s == static_cast<double>(job.outlier.begin) * 1e-9);
  CHECK(w.selection.period->end_s == static_cast<double>(job.outlier.end) * 1e-9);
  const layout::Point again = w.pixel(job.outlier);
  CHECK(again.x == Approx(at.x).margin(0.5));
  CHECK(again.y == Approx(at.y).margin(0.5));
  // A double click lets the period go, and with it the call.
  for (int i = 0; i < 2; ++i) w.frame.click(*w.view, w.scene, w.selection, at, 900, 700);
  w.settle();
  CHECK_FALSE(w.selection.period);
  CHECK(gui::selected_call(w.selection) == nullptr);
}

TEST_CASE("call view: of all calls the nearest to a click is selected, and of a function alone only those") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  const Job job(seed);
  CallWindow w(job);
  std::mt19937_64 random(seed);
  int selected = 0;
  const int clicks = test::thinned(60, 24);
  for (int i = 0; i < clicks; ++i) {
    if (i == clicks * 2 / 3) w.selection.function = send, w.settle();
    const MpiCall& aim = job.calls[random() % job.calls.size()];
    const auto off = [&] { return static_cast<float>(static_cast<int>(random() % 7) - 3); };
    const layout::Point by = w.pixel(aim) + layout::Point{off(), off()};
    REQUIRE(w.view->axes().size() == 1);
    const auto area = w.view->axes()[0].area;  // beside it nothing is selected
    const layout::Point at{std::floor(std::clamp(by.x, area.low.x + 1, area.high.x - 1)),
                           std::floor(std::clamp(by.y, area.low.y + 1, area.high.y - 1))};  // whole pixels, as a mouse
    w.click(at);
    double nearest = 1e9, chosen = 1e9;
    const gui::SelectedCall* call = gui::selected_call(w.selection);
    for (const MpiCall& c : job.calls) {
      if (w.selection.function && c.function != *w.selection.function) continue;
      const layout::Point p = w.pixel(c);
      const double distance = std::hypot(static_cast<double>(p.x - at.x), static_cast<double>(p.y - at.y));
      nearest = std::min(nearest, distance);
      if (call != nullptr && c.rank == call->rank && c.begin == call->begin_ns) chosen = distance;
    }
    if (nearest > 4) continue;
    ++selected;
    REQUIRE(chosen <= nearest + 0.3);  // pixels
    if (w.selection.function) REQUIRE(call->function == send);
  }
  CHECK(selected > clicks / 2);
}

TEST_CASE(
    "call view: an arch is selected at its top and at its legs, a line anywhere on it, and what is hollow is not") {
  const Job job(4);
  CallWindow w(job);
  const double begin = static_cast<double>(job.outlier.begin), length = static_cast<double>(80 * ms);
  const auto on_arch = [&](double u) {  // the lowest duration is 2^15 ns, at the foot
    const layout::Point foot = w.pixel((begin + length * (1 + u) / 2) * 1e-9, std::exp2(15)),
                        top = w.pixel(begin * 1e-9, length);
    return layout::Point{foot.x, foot.y - (foot.y - top.y) * static_cast<float>(session::arch_height(u))};
  };
  const auto picked = [&](layout::Point at) {
    w.selection = {};
    w.settle();
    w.click({std::floor(at.x), std::floor(at.y)});
    const gui::SelectedCall* call = gui::selected_call(w.selection);
    return call != nullptr && call->begin_ns == job.outlier.begin && call->rank == 7;
  };
  w.click(test::mark(*w.view, "arches"));
  for (const double u : {-0.8, -0.3, 0.0, 0.6, 0.9}) CHECK(picked(on_arch(u)));
  CHECK_FALSE(picked(on_arch(0) + layout::Point{0, 60}));
  CHECK_FALSE(picked(w.pixel(begin * 1e-9, length) - layout::Point{30, 0}));
  w.click(test::mark(*w.view, "lines"));
  for (const double part : {0.02, 0.5, 0.97}) CHECK(picked(w.pixel((begin + part * length) * 1e-9, length)));
  CHECK_FALSE(picked(w.pixel((begin - 0.5 * length) * 1e-9, length)));
  w.click(test::mark(*w.view, "starts"));
  CHECK_FALSE(picked(w.pixel((begin + 0.5 * length) * 1e-9, length)));
  w.click(test::mark(*w.view, "starts"));  // by their number again: lines
  CHECK(picked(w.pixel((begin + 0.5 * length) * 1e-9, length)));
}

TEST_CASE("call view: a rectangle lists its calls worst first, with how many there are; a click on one selects it") {
  const Job job(2);
  CallWindow w(job);
  CHECK(w.listed().empty());
  w.drag_with_shift(w.pixel(0.2, 130e6), w.pixel(0.8, 5e6));
  CHECK_FALSE(w.selection.period);
  CHECK(w.listed() == "listed 1 of 1");  // the outlier alone takes so long
  w.click(test::mark(*w.view, "call 1"));
  REQUIRE(gui::selected_call(w.selection) != nullptr);
  CHECK(w.selection.call->begin_ns == job.outlier.begin);
  w.click(test::mark(*w.view, "close list"));
  CHECK(w.listed().empty());
  w.drag_with_shift(w.pixel(0.002, 130e6), w.pixel(1.098, 3.4e4));
  const std::string all = std::to_string(job.calls.size());
  CHECK(w.listed() == "listed " + all + " of " + all);
  w.click(test::mark(*w.view, "call 2"));
  std::int64_t second = 0;
  for (const MpiCall& c : job.calls)
    if (c.begin != job.outlier.begin || c.rank != 7) second = std::max(second, c.end - c.begin);
  REQUIRE(gui::selected_call(w.selection) != nullptr);
  CHECK(w.selection.call->end_ns - w.selection.call->begin_ns == second);
  w.click(test::mark(*w.view, "ends"));
  CHECK(w.listed() == "listed " + all + " of " + all);
}

TEST_CASE("call view: where calls were not kept, the counts stay and a sentence says so; a click selects nothing") {
  const Job job(3);
  for (const session::CallCount count : {session::CallCount{}, session::CallCount{true, 0, 500, 0}}) {
    CallWindow w(job, count);
    w.click(w.pixel(job.outlier));
    CHECK(w.selection == gui::Selection());
    w.drag_with_shift(w.pixel(0.002, 130e6), w.pixel(1.098, 3.4e4));
    CHECK(w.listed() == "listed 0 of " + std::to_string(job.calls.size()));
  }
  gui::Scene scene = test::scene_of(job.snapshot);
  gui::TimelineSource live;
  scene.calls = &live;
  gui::CallsOfPart part;
  part.counted = 340;
  CHECK(gui::stored_words(scene, part).find("asking the job") != std::string::npos);
  auto run = std::make_shared<session::TimelineRun>(*session::timeline_of(ranks, job.calls, {}, {}, false));
  part.of.run = run;
  CHECK(gui::stored_words(scene, part) ==
        "the single calls of this part were not kept (--keep, --budget): 340 were counted");
  part.found.stored = 12;
  CHECK(gui::stored_words(scene, part) == "12 of 340 calls stored");
  part.counted = part.found.stored = 1;
  CHECK(gui::stored_words(scene, part) == "1 of 1 call stored");
  part.problem = "the disk is gone";
  CHECK(gui::stored_words(scene, part) == "the disk is gone");
}

TEST_CASE(
    "call view: of a dump with more calls than fit into memory they are read for each question, the newest counts") {
  const Job job(5);
  CallWindow w(job);
  auto run = std::make_shared<session::TimelineRun>(*session::timeline_of(ranks, {}, {}, {}, false));
  run->count = {true, job.calls.size(), 0, 0};
  run->lacks = "the first 0 of many stored calls";
  gui::TimelineSource source(run);
  w.scene.calls = &source;
  std::vector<session::Feed::Work> asked;
  w.scene.ask = [&](session::Feed::Work work) { asked.push_back(std::move(work)); };
  class Dump final : public test::MemorySession {
   public:
    explicit Dump(const std::vector<MpiCall>& calls) : MemorySession({}), calls_(calls) {}
    Status mpi_calls(const session::TimeSpan&, const std::function<bool(std::span<const MpiCall>)>& visit) override {
      ++reads;
      visit(calls_);
      return {};
    }
    int reads = 0;

   private:
    const std::vector<MpiCall>& calls_;
  } dump(job.calls);
  // Two clicks before anybody reads: the second counts, the first is not read any more.
  const layout::Point at = w.pixel(job.outlier);
  for (const layout::Point where : {w.pixel(0.9, 1e5), at}) {
    w.frame.click(*w.view, w.scene, w.selection, where, 900, 700);
    for (int i = 0; i < 40; ++i) w.draw();
  }
  test::NullFrame::mouse({-1, -1});
  w.draw();
  CHECK(w.view->unsettled());
  CHECK_FALSE(w.selection.call);
  for (const auto& work : asked) work(&dump, [] { return false; });
  CHECK(dump.reads < static_cast<int>(asked.size()));
  w.draw();
  REQUIRE(gui::selected_call(w.selection) != nullptr);
  CHECK(w.selection.call->begin_ns == job.outlier.begin);
  // The thread that reads may have nothing to read any more: nothing is selected, and nothing is waited for.
  w.selection = {};
  asked.clear();
  w.click_only(w.pixel(0.7, 1e5));
  for (const auto& work : asked) work(nullptr, [] { return false; });
  test::NullFrame::mouse({-1, -1});
  w.settle();
  CHECK_FALSE(w.view->unsettled());
  CHECK_FALSE(w.selection.call);
}

TEST_CASE("call view: any size, any selection, any mouse, while calls light up: no crash") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  const Job job(seed);
  CallWindow w(job);
  std::mt19937_64 random(seed);
  const double odd[] = {-1, 0, 1e-12, 0.5, 1, 1e300, NAN, INFINITY};
  for (int i = 0; i < 300; ++i) {
    w.selection.ranks.clear();
    for (std::int32_t rank = -2; rank < 20; ++rank)
      if (random() % 3 == 0) w.selection.ranks.push_back(rank);
    w.selection.rank = static_cast<std::int32_t>(random() % 20) - 4;
    if (random() % 4 == 0) w.selection.period = gui::SelectedPeriod{odd[random() % 8], odd[random() % 8]};
    if (random() % 4 == 0) w.selection.function = static_cast<std::uint16_t>(random() % 2000);
    if (i % 60 == 20)
      for (const char* word : {"arches", "lines", "ends"})
        if (random() % 2 == 0)
          for (const gui::Mark& mark : w.view->marks())
            if (mark.name == word) w.frame.click(*w.view, w.scene, w.selection, mark.at, 900, 700);
    test::NullFrame::mouse({static_cast<float>(random() % 900), static_cast<float>(random() % 600)}, random() % 2 == 0,
                           random() % 7 == 0);
    ImGui::GetIO().KeyShift = random() % 2 == 0;
    ImGui::GetIO().MouseWheel = static_cast<float>(static_cast<int>(random() % 3) - 1);
    w.frame.draw(*w.view, w.scene, w.selection, static_cast<float>(1 + random() % 900),
                 static_cast<float>(1 + random() % 600));
  }
  ImGui::GetIO().KeyShift = false;
  test::NullFrame::mouse({-1, -1});
  w.settle();
  CHECK_FALSE(w.view->unsettled());
}
