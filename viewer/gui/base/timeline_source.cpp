#include "viewer/gui/base/timeline_source.hpp"

#include "viewer/gui/base/view.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

constexpr std::uint64_t first_piece = 400'000;  // calls

}  // namespace

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
  if (scene.ask && scene.snapshot && scene.connection.phase == session::Phase::stored && (!asked_ || looks_elsewhere()))
    read_dump(scene);
  const std::lock_guard lock(shared_->mutex);
  return shared_->run;
}

// At what is not in the part that was read.
bool TimelineSource::looks_elsewhere() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->over && shared_->run && looked_at_.elsewhere(shared_->run->part);
}

// A first piece soon, where there is much.
void TimelineSource::read_dump(const Scene& scene) {
  asked_ = true;
  auto newer = std::make_shared<Shared>();
  newer->run = shared_->run;  // until there is another
  shared_ = newer;
  scene.ask([wanted = looked_at_.ask(), shared = shared_, snapshot = scene.snapshot, wake = scene.wake](
                session::Session* session, const auto& stopping) {
    const auto progress = [&](double share) {
      {
        const std::lock_guard lock(shared->mutex);
        if (shared->stop) return false;
        shared->progress = share;
      }
      if (wake) wake();
      return !stopping();
    };
    const auto publish = [&](const session::TimelineReading& reading, bool last) {
      auto read = session == nullptr ? Result<std::shared_ptr<session::TimelineRun>>(
                                           Error{ErrorCode::unreachable, "the run cannot be read any more"})
                                     : session::read_timeline(*session, *snapshot, progress, reading);
      {
        const std::lock_guard lock(shared->mutex);
        if (read) (*read)->more_to_come = !last;
        if (read) shared->run = std::move(*read);
        else shared->problem = read.error().message;
        shared->over = last || !read;
      }
      if (wake) wake();
      return static_cast<bool>(read);
    };
    session::TimelineReading all;
    all.wanted = wanted;
    if (session != nullptr && session->mpi_call_count().stored > 4 * first_piece &&
        !publish({first_piece, wanted}, false))
      return;
    publish(all, true);
  });
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
