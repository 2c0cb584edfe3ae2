#include "viewer/gui/base/logical_source.hpp"

#include "viewer/gui/base/view.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {

LogicalSource::LogicalSource(std::shared_ptr<const session::LogicalRun> run) : asked_(true) {
  shared_->run = std::move(run);
  shared_->over = true;
}

LogicalSource::~LogicalSource() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
}

std::shared_ptr<const session::LogicalRun> LogicalSource::run(const Scene& scene) {
  if (!asked_ && scene.ask && scene.snapshot && scene.connection.phase == session::Phase::stored) {
    asked_ = true;
    scene.ask([shared = shared_, snapshot = scene.snapshot, wake = scene.wake](session::Session* session,
                                                                               const auto& stopping) {
      const auto publish = [&](std::shared_ptr<const session::LogicalRun> run) {
        {
          const std::lock_guard lock(shared->mutex);
          if (shared->stop) return false;
          shared->run = std::move(run);
        }
        if (stopping()) return false;
        if (wake) wake();
        return true;
      };
      std::string problem = "the run cannot be read any more";
      if (session != nullptr) {
        const Status read = session::read_logical(*session, *snapshot, publish);
        problem = read ? "" : read.error().message;
      }
      const std::lock_guard lock(shared->mutex);
      shared->problem = problem;
      shared->over = true;
    });
  }
  const std::lock_guard lock(shared_->mutex);
  return shared_->run;
}

bool LogicalSource::reading() const {
  const std::lock_guard lock(shared_->mutex);
  return asked_ && !shared_->over;
}

std::string LogicalSource::words(const Scene& scene) const {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->problem.empty()) return shared_->problem;
  if (!asked_) {
    return scene.connection.phase == session::Phase::running
               ? "logical time is made from stored messages: open the dump when the job has ended"
               : "logical time is made from stored messages: open the dump of this run";
  }
  if (!shared_->over)
    return "reading messages: " + text::format_share(shared_->run ? shared_->run->progress : 0) + " so far";
  if (!shared_->run || shared_->run->events == 0)
    return "no messages or collectives are stored: record with --dump FILE --keep all";
  return {};
}

const char* name_of(logical::Metric metric) {
  switch (metric) {
    case logical::Metric::entry_lateness: return "came late";
    case logical::Metric::duration: return "duration";
    case logical::Metric::lateness: break;
  }
  return "lateness";
}

const char* meaning_of(logical::Metric metric) {
  switch (metric) {
    case logical::Metric::entry_lateness:
      return "How much later a call began than the first of its step and phase: who came late to a barrier that all "
             "leave at once.";
    case logical::Metric::duration: return "How long the call took.";
    case logical::Metric::lateness: break;
  }
  return "How much later a call returned than the first of its step and phase. It spreads along messages, and ends "
         "where all have waited.";
}

}  // namespace pclscope::gui
