// The density of calls that a running job is asked for while views of calls are drawn.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "analysis/density/coarser.hpp"
#include "analysis/density/packing.hpp"
#include "analysis/density/pyramid.hpp"
#include "tests/analysis/density/random_calls.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"
#include "tests/viewer/memory_session.hpp"
#include "viewer/layout/call_painter.hpp"

using namespace pclscope;

namespace {

constexpr std::int64_t job_ns = 20'000'000'000;

// A job with calls, whose snapshots have them in a coarse form.
class CallingJob final : public test::MemorySession {
 public:
  CallingJob() : MemorySession({}) {
    for (const auto& c : density::test::random_calls(4, 3000, job_ns)) density::test::put(pyramid, c);
  }
  Result<DensityPart> density(const DensityQuestion& question) override {
    ++questions;
    if (refuses) return Error{ErrorCode::wrong_version, "the job does not know this question"};
    return pyramid.part(question, {}, 100'000);
  }
  std::shared_ptr<Snapshot> snapshot() const {
    auto made = std::make_shared<Snapshot>();
    made->application.ranks = 8;
    made->duration_s = static_cast<double>(job_ns) * 1e-9;
    made->time_origin_realtime_ns = origin_ns;
    CallDensity coarse = pyramid.value();
    density::fit_inside(coarse, 64);
    density::fit(coarse, 4096);
    made->call_density = density::pack(coarse);
    return made;
  }
  density::Pyramid pyramid;
  std::int64_t origin_ns = 77;
  bool refuses = false;
  int questions = 0;
};

struct Watched {
  Watched() {
    scene = test::scene_of(*job.snapshot());
    scene.connection.phase = session::Phase::running;
    scene.ask = [this](session::Feed::Work work) { works.push_back(std::move(work)); };
    scene.live_calls = &calls;
  }
  void answer() {
    for (const auto& work : works) work(&job, [] { return false; });
    works.clear();
  }
  void news() {
    scene.snapshot = job.snapshot();
    std::this_thread::sleep_for(std::chrono::milliseconds(250));  // it does not ask more often
  }
  CallingJob job;
  gui::LiveCalls calls;
  gui::Scene scene;
  std::vector<session::Feed::Work> works;
};

}  // namespace

TEST_CASE("live calls: one question at a time, when a snapshot came; the answer is the whole density") {
  Watched w;
  for (int i = 0; i < 3; ++i) CHECK(w.calls.density(w.scene) == nullptr);
  REQUIRE(w.works.size() == 1);
  w.answer();
  const auto first = w.calls.density(w.scene);
  REQUIRE(first);
  CHECK(*first == w.job.pyramid.value());
  CHECK(w.works.empty());
  w.job.pyramid.call_inside(w.job.pyramid.place(5), 2, job_ns - 1000, job_ns);
  w.news();
  w.scene.paused = true;
  CHECK(w.calls.density(w.scene) == first);
  CHECK(w.works.empty());
  w.scene.paused = false;
  CHECK(w.calls.density(w.scene) == first);  // until there is a newer one
  w.answer();
  CHECK(*w.calls.density(w.scene) == w.job.pyramid.value());
}

TEST_CASE(
    "live calls: not of a file, nor of a job that has ended; another job begins anew; who refuses is left alone") {
  Watched w;
  w.scene.connection.phase = session::Phase::stored;
  CHECK(w.calls.density(w.scene) == nullptr);
  CHECK(w.works.empty());
  w.scene.connection.phase = session::Phase::running;
  CHECK(w.calls.density(w.scene) == nullptr);
  w.answer();
  REQUIRE(w.calls.density(w.scene));
  w.scene.connection.phase = session::Phase::lost;  // what was there stays
  CHECK(w.calls.density(w.scene));
  w.scene.connection.phase = session::Phase::running;
  w.job.origin_ns = 78;
  w.job.refuses = true;
  w.news();
  CHECK(w.calls.density(w.scene) == nullptr);
  w.answer();
  w.news();
  const int asked = w.job.questions;
  CHECK(w.calls.density(w.scene) == nullptr);
  w.answer();
  CHECK(w.job.questions == asked);
  auto last = w.job.snapshot();
  last->ended = true;
  w.scene.snapshot = last;
  CHECK(w.calls.density(w.scene) == nullptr);
}

TEST_CASE("live calls: a view draws the finer slices") {
  Watched w;
  layout::CallPainter painter;
  layout::CallRequest request;
  request.snapshot = w.scene.snapshot;
  request.range = {0, w.scene.snapshot->duration_s};
  request.width = 300, request.height = 100;
  const double coarse_s = painter(request).slice_s;
  CHECK(w.calls.density(w.scene) == nullptr);
  w.answer();
  request.density = w.calls.density(w.scene);
  for (const bool stack : {true, false}) {
    request.stack = stack;
    const layout::CallPicture fine = painter(request);
    CHECK(fine.slice_s == std::ldexp(1e-9, static_cast<int>(w.job.pyramid.inside_shift())));
    CHECK(fine.slice_s < coarse_s);
  }
  request.density = nullptr;  // and back
  request.stack = true;
  CHECK(painter(request).slice_s == coarse_s);
  // Through the view, as the window does it.
  test::NullFrame frame;
  gui::Selection selection;
  const auto view = gui::make_calls_view();
  test::draw_until_settled(*view, [&] {
    frame.draw(*view, w.scene, selection, 600, 300);
    w.answer();
  });
  CHECK_FALSE(view->unsettled());
}
