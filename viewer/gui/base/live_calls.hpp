// The density of calls of a running job in full resolution, for views that show calls: the job is asked for what is
// new while one of them is drawn. Snapshots have a coarse form only. UI thread, but for what asks.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/live_density.hpp"

namespace pclscope::gui {

struct Scene;

class LiveCalls {
 public:
  LiveCalls() = default;
  ~LiveCalls();
  LiveCalls(const LiveCalls&) = delete;

  // The newest there is; null: take the snapshot's (a file, a job that has ended or does not know the question, or the
  // first answer is not there).
  std::shared_ptr<const CallDensity> density(const Scene& scene);

 private:
  struct Shared {
    std::mutex mutex;
    std::shared_ptr<const CallDensity> density;
    bool waits = false;    // an answer is on its way
    bool refused = false;  // the job does not tell
    bool stop = false;
    session::LiveDensity live;  // of the thread that asks
  };
  void ask(const Scene& scene);

  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::int64_t origin_ns_ = 0;                 // of the job that `shared_` is about
  std::shared_ptr<const Snapshot> asked_for_;  // when it came, the job was asked
  std::chrono::steady_clock::time_point asked_at_{};
};

}  // namespace pclscope::gui
