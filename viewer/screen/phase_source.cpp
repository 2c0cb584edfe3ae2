#include "viewer/screen/phase_source.hpp"

#include <algorithm>

namespace pclscope::screen {
namespace {

constexpr auto between_questions = std::chrono::milliseconds(1000);

void tell(PhaseNews& news, Result<session::LatePhases> made) {
  if (!made) {
    news.problem = made.error().message;
    return;
  }
  news.problem.clear();
  if (made->all > 0 || !news.phases)  // the last list stays when there is nothing newer
    news.phases = std::make_shared<const session::LatePhases>(std::move(*made));
}

}  // namespace

PhaseSource::~PhaseSource() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
}

bool PhaseSource::follow(session::Feed& feed, const session::FeedState& state, ScreenModel& model) {
  if (model.page() != Page::phases) return false;
  if (state.snapshot && state.phase == session::Phase::stored && !read_) read_dump(feed, state.snapshot);
  if (state.snapshot && state.phase == session::Phase::running && !model.paused()) ask_job(feed, state);
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->fresh || model.paused()) return false;
  shared_->fresh = false;
  model.set_phases(shared_->news);
  return true;
}

void PhaseSource::read_dump(session::Feed& feed, std::shared_ptr<const Snapshot> snapshot) {
  read_ = true;
  feed.ask([shared = shared_, snapshot = std::move(snapshot)](session::Session* session, const auto& stopping) {
    if (session == nullptr) return;
    const auto progress = [&](double share) {
      const std::lock_guard lock(shared->mutex);
      shared->news.progress = share;
      shared->fresh = true;
      return !shared->stop;
    };
    auto made =
        session::stored_late_phases(*session, *snapshot, [&](double share) { return progress(share) && !stopping(); });
    const std::lock_guard lock(shared->mutex);
    tell(shared->news, std::move(made));
    shared->fresh = true;
  });
}

void PhaseSource::ask_job(session::Feed& feed, const session::FeedState& state) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->waits) return;
    shared_->waits = true;
  }
  next_ = now + between_questions;
  const double length_s = session::live_period_s(rate_.look(*state.snapshot), state.snapshot->live.window_s);
  feed.ask([shared = shared_, snapshot = state.snapshot, length_s](session::Session* session, const auto&) {
    auto made = session == nullptr ? Result<session::LatePhases>(Error{ErrorCode::unreachable, "the job is gone"})
                                   : session::newest_late_phases(*session, *snapshot, snapshot->duration_s, length_s);
    const std::lock_guard lock(shared->mutex);
    shared->waits = false;
    shared->fresh = true;
    tell(shared->news, std::move(made));
  });
}

}  // namespace pclscope::screen
