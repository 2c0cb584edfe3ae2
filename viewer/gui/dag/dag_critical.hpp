// The critical path of a stored run, where it passes through the graph that is shown. It is read once, in the thread
// that reads the run.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "viewer/gui/base/view.hpp"
#include "viewer/layout/dag_path.hpp"

namespace pclscope::gui {

class DagCritical {
 public:
  // Once per frame, of the graph that is shown.
  void follow(const Scene& scene, const std::shared_ptr<const Dag>& dag);
  // In nodes of that graph; empty: not known (yet), a running job's, or it passes elsewhere.
  const std::vector<layout::DagPathPiece>& pieces() const { return pieces_; }
  bool unsettled() const;

 private:
  struct Run {
    std::mutex mutex;
    std::vector<PathStep> steps;  // of it, in the order of time; never changed once `over`
    bool over = false;
    bool stop = false;
    bool known() {
      const std::lock_guard lock(mutex);
      return over;
    }
  };
  struct Owner {  // nobody reads on when the view goes
    std::shared_ptr<Run> run;
    ~Owner();
  };
  Owner owner_;                     // null: not asked for
  std::shared_ptr<const Dag> dag_;  // of pieces_
  std::vector<layout::DagPathPiece> pieces_;
};

}  // namespace pclscope::gui
