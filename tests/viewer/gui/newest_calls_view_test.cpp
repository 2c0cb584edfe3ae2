// The rank timeline and the call view of a running job: its newest calls, while they are drawn.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"
#include "tests/viewer/memory_session.hpp"
#include "viewer/gui/base/selected_call.hpp"
#include "viewer/gui/base/timeline_source.hpp"

using namespace pclscope;

namespace {

constexpr std::int32_t ranks = 8;
constexpr std::int64_t ms = 1'000'000;

// Each rank is in MPI_Recv for 60 of 100 ms; rank 3 has been in one since 1 s.
class HangingJob final : public test::MemorySession {
 public:
  HangingJob() : MemorySession({}) {}
  Result<CallsPart> newest_calls(const CallsQuestion& question) override {
    ++questions;
    if (refuses) return Error{ErrorCode::wrong_version, "the job does not know this question"};
    CallsPart part;
    part.until_ns = part.now_ns = now_ns;
    part.from_ns = std::min(std::max<std::int64_t>(question.from_ns, 1000 * ms), now_ns);
    for (std::int32_t rank = 0; rank < ranks; ++rank)
      for (std::int64_t at = 0; at + 60 * ms < now_ns; at += 100 * ms) {
        MpiCall call;
        call.rank = rank;
        call.function = 300;
        call.begin = at;
        call.end = at + 60 * ms;
        call.outside = at == 0 ? -1 : 40 * ms;
        if (call.end >= part.from_ns && (rank != 3 || at < 1000 * ms)) part.calls.push_back(call);
      }
    MpiCall& hangs = part.running.emplace_back();
    hangs.rank = 3;
    hangs.function = 300;
    hangs.begin = 1000 * ms;
    hangs.end = now_ns;
    return part;
  }
  std::int64_t now_ns = 4000 * ms;
  int questions = 0;
  bool refuses = false;
};

struct Watched {
  Watched() {
    scene.connection.phase = session::Phase::running;
    scene.ask = [this](session::Feed::Work work) { works.push_back(std::move(work)); };
    scene.calls = &source;
  }
  void answer() {
    for (const auto& work : works) work(&job, [] { return false; });
    works.clear();
  }
  // Until a question is there, as if a second had passed; then its answer.
  void next_answer() {
    test::draw_until([&] { return !works.empty(); }, [&] { (void)source.run(scene); });
    REQUIRE(works.size() == 1);
    answer();
  }
  void settle(gui::View& view) {
    test::draw_until_settled(view, [&] { frame.draw(view, scene, selection); });
  }
  HangingJob job;
  test::NullFrame frame;
  gui::Selection selection;
  gui::Scene scene = test::scene_of(test::fake_snapshot({.ranks = ranks, .regions = 2, .slow = 1, .windows = 20}));
  gui::TimelineSource source;
  std::vector<session::Feed::Work> works;
};

}  // namespace

TEST_CASE("newest calls: one question at a time, about one a second, none while paused or when the job has ended") {
  Watched w;
  const auto began = std::chrono::steady_clock::now();  // before it asks
  for (int i = 0; i < 3; ++i) CHECK(w.source.run(w.scene) == nullptr);
  REQUIRE(w.works.size() == 1);
  CHECK(w.source.words(w.scene).find("asking") != std::string::npos);
  w.answer();
  const auto first = w.source.run(w.scene);
  REQUIRE(first);
  CHECK(first->live);
  CHECK(first->end_ns == 4000 * ms);
  CHECK(w.source.words(w.scene) == "calls of the newest 3.00 s");
  if (std::chrono::steady_clock::now() - began > std::chrono::milliseconds(900)) {
    WARN("not judged: this process was without a core for a second");
    return;
  }
  CHECK(w.works.empty());  // not at once
  w.scene.paused = true;
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  CHECK(w.source.run(w.scene) == first);
  CHECK(w.works.empty());
  w.scene.paused = false;
  w.job.now_ns += 1000 * ms;
  CHECK(w.source.run(w.scene) == first);
  REQUIRE(w.works.size() == 1);
  w.answer();
  CHECK(w.source.run(w.scene)->end_ns == 5000 * ms);
  w.scene.connection.phase = session::Phase::finished;
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  CHECK(w.source.run(w.scene)->end_ns == 5000 * ms);  // stays
  CHECK(w.works.empty());
}

TEST_CASE("newest calls: a job of an earlier version is asked once, and the view says why there are none") {
  Watched w;
  w.job.refuses = true;
  w.next_answer();
  CHECK(w.source.words(w.scene).find("earlier version") != std::string::npos);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  CHECK(w.source.run(w.scene) == nullptr);
  CHECK(w.works.empty());
  CHECK(w.job.questions == 1);
}

TEST_CASE("newest calls: the timeline follows the newest moment until it is zoomed, and goes on at Home") {
  Watched w;
  const auto view = gui::make_timeline_view();
  w.next_answer();
  w.settle(*view);
  const auto end_of_axis = [&] {
    const auto axes = view->axes();
    REQUIRE(axes.size() == 1);
    return axes[0].moment(axes[0].area.high.x);
  };
  CHECK(end_of_axis() == Approx(4.0).epsilon(0.001));
  w.job.now_ns += 1000 * ms;
  w.next_answer();
  w.settle(*view);
  CHECK(end_of_axis() == Approx(5.0).epsilon(0.001));
  // Rank 3 is in its call at the right edge: a click selects it.
  const layout::Point row = test::mark(*view, "timeline rank 3");
  REQUIRE(row.x > 0);
  const layout::Point right{view->axes()[0].area.high.x - 3, row.y};
  w.frame.click(*view, w.scene, w.selection, right);
  REQUIRE(gui::selected_call(w.selection) != nullptr);
  CHECK(w.selection.call->rank == 3);
  CHECK(w.selection.call->begin_ns == 1000 * ms);
  CHECK(w.selection.call->end_ns == 5000 * ms);
  w.selection = {};
  test::NullFrame::mouse({300, row.y});
  ImGui::GetIO().MouseWheel = 10;
  w.settle(*view);
  const double zoomed = end_of_axis();
  CHECK(zoomed < 5.0);
  w.job.now_ns += 4000 * ms;
  w.next_answer();
  w.settle(*view);
  CHECK(end_of_axis() == zoomed);
  ImGui::GetIO().KeysDown[ImGuiKey_Home] = true;
  w.frame.draw(*view, w.scene, w.selection);
  ImGui::GetIO().KeysDown[ImGuiKey_Home] = false;
  w.settle(*view);
  CHECK(end_of_axis() == Approx(9.0).epsilon(0.001));
}
