#include "viewer/gui/base/live_singles.hpp"

#include "viewer/gui/base/view.hpp"

namespace pclscope::gui {
namespace {

constexpr std::chrono::milliseconds between_asking{950}, between_first{200};
constexpr std::int64_t little_ns = 2'000'000'000;
constexpr std::chrono::seconds most_patience{6};  // with a job that tells little

}  // namespace

LiveSingles::~LiveSingles() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
}

std::shared_ptr<const session::TimelineRun> LiveSingles::run(const Scene& scene) {
  listening_ = false;
  if (!scene.snapshot || !scene.ask) return nullptr;
  if (scene.snapshot->time_origin_realtime_ns != origin_ns_) {  // another job of this name
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->stop = true;
    }
    shared_ = std::make_shared<Shared>();
    origin_ns_ = scene.snapshot->time_origin_realtime_ns;
    asked_at_ = {};
    began_ = std::chrono::steady_clock::now();
  }
  const bool asks = scene.connection.phase == session::Phase::running && !scene.paused && !scene.snapshot->ended;
  if (asks) {
    const std::lock_guard lock(shared_->mutex);
    const auto& run = shared_->run;
    listening_ = !shared_->refused && (!run || run->end_ns - run->begin_ns < little_ns) &&
                 std::chrono::steady_clock::now() - began_ < most_patience;
  }
  if (asks) ask(scene);
  const std::lock_guard lock(shared_->mutex);
  return shared_->run;
}

void LiveSingles::ask(const Scene& scene) {
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_at_ < (listening_ ? between_first : between_asking)) return;
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->waits || shared_->refused) return;
    shared_->waits = true;
  }
  asked_at_ = now;
  scene.ask([shared = shared_, ranks = scene.snapshot->application.ranks, wake = scene.wake](session::Session* session,
                                                                                             const auto&) {
    const auto question = [&](const CallsQuestion& asked) { return session->newest_calls(asked); };
    const Status got =
        session == nullptr ? Status(Error{ErrorCode::unreachable, "the job is gone"}) : shared->live.refresh(question);
    auto made = got && !shared->live.empty() ? shared->live.run(ranks) : nullptr;
    const std::lock_guard lock(shared->mutex);
    shared->waits = false;
    if (got) {
      if (made) shared->run = std::move(made);
      shared->words = shared->live.words();
    } else if (got.error().code != ErrorCode::unreachable) {
      shared->refused = true;
      shared->problem = got.error().code == ErrorCode::wrong_version
                            ? "this job runs with an earlier version of pclscope: single calls are shown from its dump"
                            : got.error().message;
    }
    if (wake && !shared->stop) wake();
  });
}

std::string LiveSingles::words(const Scene& scene) const {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->problem.empty()) return shared_->problem;
  if (!shared_->run) {
    return scene.connection.phase == session::Phase::running
               ? "asking the job for its newest calls"
               : "single calls are shown from a dump: open that of this run";
  }
  return shared_->words;
}

}  // namespace pclscope::gui
