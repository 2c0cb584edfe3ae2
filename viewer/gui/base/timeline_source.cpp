#include "viewer/gui/base/timeline_source.hpp"

#include "viewer/gui/base/view.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {

TimelineSource::TimelineSource(std::shared_ptr<const session::TimelineRun> run) : asked_(true) {
  shared_->run = std::move(run);
  shared_->over = true;
}

TimelineSource::~TimelineSource() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
}

std::shared_ptr<const session::TimelineRun> TimelineSource::run(const Scene& scene) {
  if (!asked_ && scene.connection.phase != session::Phase::stored) return live_.run(scene);
  if (!asked_ && scene.ask && scene.snapshot && scene.connection.phase == session::Phase::stored) {
    asked_ = true;
    scene.ask([shared = shared_, snapshot = scene.snapshot, wake = scene.wake](session::Session* session,
                                                                               const auto& stopping) {
      const auto progress = [&](double share) {
        {
          const std::lock_guard lock(shared->mutex);
          if (shared->stop) return false;
          shared->progress = share;
        }
        if (wake) wake();
        return !stopping();
      };
      auto read = session == nullptr ? Result<std::shared_ptr<const session::TimelineRun>>(
                                           Error{ErrorCode::unreachable, "the run cannot be read any more"})
                                     : session::read_timeline(*session, *snapshot, progress);
      {
        const std::lock_guard lock(shared->mutex);
        if (read) shared->run = *read;
        else shared->problem = read.error().message;
        shared->over = true;
      }
      if (wake) wake();
    });
  }
  const std::lock_guard lock(shared_->mutex);
  return shared_->run;
}

bool TimelineSource::reading() const {
  if (!asked_) return live_.listening();
  const std::lock_guard lock(shared_->mutex);
  return !shared_->over;
}

std::string TimelineSource::words(const Scene& scene) const {
  if (!asked_) return live_.words(scene);
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->problem.empty()) return shared_->problem;
  if (!shared_->over) return "reading calls: " + text::format_share(shared_->progress) + " so far";
  const session::TimelineRun& run = *shared_->run;
  if (run.count.stored == 0) {  // but what had not returned may be there
    if (!run.count.told) return "this dump is of an earlier version and has no single calls: record the run again";
    return "no calls are stored: record with --dump FILE --keep all";
  }
  if (!run.lacks.empty()) return run.lacks;
  if (run.count.not_stored > 0)
    return text::format_count(run.count.not_stored) +
           " calls were made but not stored (--keep, --budget): where they " + "would be there is no colour";
  return {};
}

}  // namespace pclscope::gui
