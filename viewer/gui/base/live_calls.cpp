#include "viewer/gui/base/live_calls.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/gui/base/view.hpp"
#include "viewer/session/summary_json.hpp"

namespace pclscope::gui {
namespace {

constexpr auto between_questions = std::chrono::milliseconds(200);

}  // namespace

LiveCalls::~LiveCalls() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
}

std::shared_ptr<const CallDensity> LiveCalls::density(const Scene& scene) {
  if (!scene.snapshot || !scene.ask || scene.snapshot->ended) return nullptr;
  const session::Phase phase = scene.connection.phase;
  if (phase != session::Phase::running && phase != session::Phase::lost) return nullptr;
  if (scene.snapshot->time_origin_realtime_ns != origin_ns_) {  // another job of this name
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->stop = true;
    }
    shared_ = std::make_shared<Shared>();
    origin_ns_ = scene.snapshot->time_origin_realtime_ns;
    asked_for_ = nullptr;
  }
  if (phase == session::Phase::running && !scene.paused && scene.snapshot != asked_for_) ask(scene);
  const std::lock_guard lock(shared_->mutex);
  return shared_->density;
}

// Where a snapshot is there is something new to be asked for.
void LiveCalls::ask(const Scene& scene) {
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_at_ < between_questions) return;
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->waits || shared_->refused) return;
    shared_->waits = true;
  }
  asked_for_ = scene.snapshot;
  asked_at_ = now;
  const double newest_s = std::clamp(session::elapsed_s(*scene.snapshot), 0.0, 4e9);
  const auto newest_ns = static_cast<std::int64_t>(std::isfinite(newest_s) ? newest_s * 1e9 : 0);
  scene.ask([shared = shared_, newest_ns, wake = scene.wake](session::Session* session, const auto& stopping) {
    const auto question = [&](const DensityQuestion& asked) { return session->density(asked); };
    Status got = session == nullptr ? Status(Error{ErrorCode::unreachable, "the job is gone"})
                                    : shared->live.refresh(question, newest_ns, stopping);
    auto made = got ? std::make_shared<const CallDensity>(shared->live.density()) : nullptr;
    const std::lock_guard lock(shared->mutex);
    shared->waits = false;
    if (made && !made->empty()) shared->density = std::move(made);
    // A job of an earlier version, or another one that does not tell: its snapshots have to do.
    if (!got && got.error().code != ErrorCode::unreachable) shared->refused = true, shared->density = nullptr;
    if (wake && !shared->stop) wake();
  });
}

}  // namespace pclscope::gui
