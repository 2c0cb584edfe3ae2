#include "viewer/gui/placement/run_calls.hpp"

namespace pclscope::gui {

RunCalls::~RunCalls() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
}

void RunCalls::read(const Scene& scene) {
  const session::NetworkCasePtr network = scene.network->unchanged();
  if (asked_ || !network) return;
  std::string why_not;
  if (!network->of_run) why_not = "it is no run";
  else if (scene.connection.phase != session::Phase::stored || !scene.ask || !scene.snapshot)
    why_not = "cannot be told of a job that is watched: its calls are in its dump";
  else if (!network->as_run)
    why_not = "cannot be told: ranks are where --ranks-per-node places them, not where the run had them";
  asked_ = why_not.empty();
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->reading = asked_;
    shared_->why_not = std::move(why_not);
  }
  if (!asked_) return;
  scene.ask([shared = shared_, run = scene.snapshot, placed = network->node_of_rank, wake = scene.wake](
                session::Session* session, const auto& stopping) {
    const auto ends = [&] {
      const std::lock_guard lock(shared->mutex);
      return shared->stop || stopping();
    };
    Result<session::RecordedCalls> made = Error{ErrorCode::unreachable, "the dump cannot be read any more"};
    if (session != nullptr) made = session::RecordedCalls::read(*session, *run, ends);
    if (made) made->number_nodes(placed);
    {
      const std::lock_guard lock(shared->mutex);
      shared->reading = false;
      if (made) shared->calls = std::make_shared<const session::RecordedCalls>(std::move(*made));
      else shared->why_not = made.error().message;
      if (shared->stop) return;
    }
    if (wake) wake();
  });
}

bool RunCalls::reading() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->reading;
}

std::shared_ptr<const session::RecordedCalls> RunCalls::calls() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->calls;
}

std::string RunCalls::why_not() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->why_not;
}

}  // namespace pclscope::gui
