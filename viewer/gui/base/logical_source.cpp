#include "viewer/gui/base/logical_source.hpp"

#include "viewer/gui/base/view.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

constexpr auto live_every = std::chrono::milliseconds(1500);

}  // namespace

LogicalSource::LogicalSource(std::shared_ptr<const session::LogicalRun> run) : asked_(true) {
  shared_->run = std::move(run);
  shared_->over = true;
}

LogicalSource::~LogicalSource() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
}

std::shared_ptr<const session::LogicalRun> LogicalSource::run(const Scene& scene) {
  if (scene.ask && scene.snapshot && scene.connection.phase == session::Phase::stored && (!asked_ || looks_elsewhere()))
    read_dump(scene);
  if (scene.ask && scene.snapshot && scene.connection.phase == session::Phase::running && !scene.paused)
    follow_job(scene);
  const std::lock_guard lock(shared_->mutex);
  return shared_->run;
}

// At what is not in the part that was read.
bool LogicalSource::looks_elsewhere() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->over && shared_->run && looked_at_.elsewhere(shared_->run->part);
}

void LogicalSource::read_dump(const Scene& scene) {
  asked_ = true;
  auto newer = std::make_shared<Shared>();
  newer->run = shared_->run;  // until there is another
  shared_ = newer;
  scene.ask([wanted = looked_at_.ask(), shared = shared_, snapshot = scene.snapshot, wake = scene.wake](
                session::Session* session, const auto& stopping) {
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
      const Status read = session::read_logical(*session, *snapshot, publish, {.wanted = wanted});
      problem = read ? "" : read.error().message;
    }
    const std::lock_guard lock(shared->mutex);
    shared->problem = problem;
    shared->over = true;
  });
}

// A question at a time, not more often than people can follow; of a period with about as many messages as a graph.
void LogicalSource::follow_job(const Scene& scene) {
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_at_ < live_every) return;
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->waits) return;
    shared_->waits = true;
  }
  asked_at_ = now;
  asked_ = true;
  const double length_s = session::live_period_s(rate_.look(*scene.snapshot), scene.snapshot->live.window_s);
  scene.ask([shared = shared_, snapshot = scene.snapshot, now_s = scene.now_s, length_s, wake = scene.wake](
                session::Session* session, const auto&) {
    auto made = session == nullptr ? Result<session::LogicalRun>(Error{ErrorCode::unreachable, "the job is gone"})
                                   : session::newest_logical(*session, *snapshot, now_s, length_s);
    const std::lock_guard lock(shared->mutex);
    shared->waits = false;
    shared->over = true;
    // The last picture stays when there is nothing newer.
    if (made && made->events > 0) {
      shared->run = std::make_shared<const session::LogicalRun>(std::move(*made));
      shared->length_s = length_s;
      shared->problem.clear();
    } else if (!shared->run) {
      shared->problem = made ? "no messages in the newest " + text::format_seconds(length_s) : made.error().message;
    }
    if (wake && !shared->stop) wake();
  });
}

bool LogicalSource::reading() const {
  const std::lock_guard lock(shared_->mutex);
  return asked_ && !shared_->over;  // a running job's next answer is no reason to wait
}

std::string LogicalSource::words(const Scene& scene) const {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->problem.empty()) return shared_->problem;
  const bool stored = scene.connection.phase == session::Phase::stored;
  if (!stored && shared_->run && shared_->length_s > 0) {
    const std::string newest = "the newest " + text::format_seconds(shared_->length_s) +
                               " of the job's messages, without collectives; its dump has all";
    return scene.connection.phase == session::Phase::running ? newest : "the job is over: " + newest;
  }
  if (!asked_) return "logical time is made from messages: open the dump of this run";
  if (!stored && !shared_->over) return "asking the job for its newest messages";
  if (!shared_->over)
    return "reading messages: " +
           text::format_share(shared_->run && !shared_->run->whole ? shared_->run->progress : 0) + " so far";
  if (!shared_->run || shared_->run->events == 0)
    return "no messages or collectives are stored: record with --dump FILE --keep all";
  return shared_->run->lacks;
}

const char* name_of(logical::Metric metric) {
  switch (metric) {
    case logical::Metric::entry_lateness: return "came late";
    case logical::Metric::duration: return "duration";
    case logical::Metric::wait: return "wait";
    case logical::Metric::bytes: return "bytes";
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
    case logical::Metric::wait:
      return "How much of the call passed before whoever it waited for came: the sender of a message, the receiver of "
             "one that a blocking send waits for, the last member of a collective.";
    case logical::Metric::bytes: return "What the call sent or received; of a collective, this rank's part.";
    case logical::Metric::lateness: break;
  }
  return "How much later a call returned than the first of its step and phase. It spreads along messages, and ends "
         "where all have waited.";
}

std::string value_words(logical::Metric metric, double value) {
  return metric == logical::Metric::bytes ? text::format_bytes(value) : text::format_seconds(value);
}

}  // namespace pclscope::gui
