// The newest single calls of a running job, for all views that show them: it is asked about once a second while one of
// them is drawn. UI thread, but for what asks.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "viewer/session/live_timeline.hpp"

namespace pclscope::gui {

struct Scene;

class LiveSingles {
 public:
  LiveSingles() = default;
  ~LiveSingles();
  LiveSingles(const LiveSingles&) = delete;

  // What came last; null: nothing yet. A job that is paused, has ended or is lost is not asked.
  std::shared_ptr<const session::TimelineRun> run(const Scene& scene);
  // There is little yet, and more will come soon: a picture of the run waits for it.
  bool listening() const { return listening_; }
  // What is shown, or why nothing is.
  std::string words(const Scene& scene) const;

 private:
  struct Shared {
    std::mutex mutex;
    std::shared_ptr<const session::TimelineRun> run;
    std::string words, problem;
    bool waits = false;    // an answer is on its way
    bool refused = false;  // the job does not tell
    bool stop = false;
    session::LiveTimeline live;  // of the thread that asks
  };
  void ask(const Scene& scene);

  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::int64_t origin_ns_ = 0;  // of the job that `shared_` is about
  std::chrono::steady_clock::time_point asked_at_{}, began_{};
  bool listening_ = false;
};

}  // namespace pclscope::gui
