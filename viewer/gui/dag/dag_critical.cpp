#include "viewer/gui/dag/dag_critical.hpp"

#include <algorithm>

#include "viewer/session/run_path.hpp"

namespace pclscope::gui {
namespace {

// The part of the path in the graph's time.
std::span<const PathStep> steps_in(const Dag& dag, std::span<const PathStep> steps) {
  const auto first =
      std::partition_point(steps.begin(), steps.end(), [&](const PathStep& s) { return s.end_s <= dag.from_s; });
  const auto last = std::partition_point(first, steps.end(), [&](const PathStep& s) { return s.begin_s < dag.to_s; });
  return steps.subspan(static_cast<std::size_t>(first - steps.begin()), static_cast<std::size_t>(last - first));
}

}  // namespace

DagCritical::Owner::~Owner() {
  if (!run) return;
  const std::lock_guard lock(run->mutex);
  run->stop = true;
}

void DagCritical::follow(const Scene& scene, const std::shared_ptr<const Dag>& dag) {
  if (!dag || !scene.snapshot || scene.connection.phase != session::Phase::stored) return pieces_.clear();
  if (!owner_.run && scene.ask) {
    owner_.run = std::make_shared<Run>();
    scene.ask([run = owner_.run, ranks = scene.snapshot->application.ranks, wake = scene.wake](
                  session::Session* session, const std::function<bool()>& stopping) {
      const auto stop = [&] {
        const std::lock_guard lock(run->mutex);
        return run->stop || stopping();
      };
      auto steps = session ? session::read_run_path(*session, ranks, stop) : std::vector<PathStep>();
      {
        const std::lock_guard lock(run->mutex);
        run->steps = std::move(steps);
        run->over = true;
      }
      if (wake) wake();
    });
  }
  if (!owner_.run || !owner_.run->known() || dag == dag_) return;
  dag_ = dag;
  pieces_ = layout::path_in_dag(*dag, steps_in(*dag, owner_.run->steps));
}

bool DagCritical::unsettled() const { return owner_.run && !owner_.run->known(); }

}  // namespace pclscope::gui
