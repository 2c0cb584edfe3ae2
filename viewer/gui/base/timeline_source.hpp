// The single calls of the run for all views that show them. Of a dump: read once, when the first of them asks, in the
// thread that reads the run. Of a running job: the newest. UI thread only, but for what reads.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "viewer/gui/base/live_singles.hpp"
#include "viewer/gui/base/looked_at.hpp"
#include "viewer/session/timeline_run.hpp"

namespace pclscope::gui {

struct Scene;

class TimelineSource {
 public:
  TimelineSource() = default;
  // What is there already, for tests and benchmarks.
  explicit TimelineSource(std::shared_ptr<const session::TimelineRun> run);
  ~TimelineSource();
  TimelineSource(const TimelineSource&) = delete;

  // Which period is looked at: of a dump with more calls than fit into memory the part around it is read.
  void look_at(const session::TimeSpan& wanted) { looked_at_.look_at(wanted); }
  // Null until a first piece is read, or the job has answered. Begins to read when first called for a dump.
  std::shared_ptr<const session::TimelineRun> run(const Scene& scene);
  // What stands where the picture will be, or above it; empty: nothing to say.
  std::string words(const Scene& scene) const;
  bool reading() const;

 private:
  bool looks_elsewhere() const;
  void read_dump(const Scene& scene);
  struct Shared {
    std::mutex mutex;
    std::shared_ptr<const session::TimelineRun> run;
    std::string problem;
    double progress = 0;
    bool over = false;
    bool stop = false;
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  bool asked_ = false;
  LookedAt looked_at_;
  LiveSingles live_;
};

}  // namespace pclscope::gui
