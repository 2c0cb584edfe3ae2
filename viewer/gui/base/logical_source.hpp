// Logical time of the run for all views that show it. A dump is read once, when the first of them asks; a running job
// is asked for its newest messages again and again, while somebody looks. UI thread only, but for what reads.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "viewer/gui/base/looked_at.hpp"
#include "viewer/session/feed.hpp"
#include "viewer/session/live_logical.hpp"
#include "viewer/session/logical_run.hpp"

namespace pclscope::gui {

struct Scene;

class LogicalSource {
 public:
  LogicalSource() = default;
  // What is there already, for tests and benchmarks.
  explicit LogicalSource(std::shared_ptr<const session::LogicalRun> run);
  ~LogicalSource();
  LogicalSource(const LogicalSource&) = delete;

  // Which period is looked at: of a dump with more messages than fit into memory the part around it is read.
  void look_at(const session::TimeSpan& wanted) { looked_at_.look_at(wanted); }
  // What has been read so far, or the newest there is of a running job: null before the first piece.
  std::shared_ptr<const session::LogicalRun> run(const Scene& scene);
  // What stands where the picture will be, or above it while it grows; empty: it is whole.
  std::string words(const Scene& scene) const;
  bool reading() const;

  logical::Metric metric = logical::Metric::lateness;  // which all views show

 private:
  struct Shared {
    std::mutex mutex;
    std::shared_ptr<const session::LogicalRun> run;
    std::string problem;
    bool over = false;
    bool stop = false;
    bool waits = false;   // live: an answer is on its way
    double length_s = 0;  // live: of the period that `run` is about
  };
  bool looks_elsewhere() const;
  void read_dump(const Scene& scene);
  void follow_job(const Scene& scene);

  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  bool asked_ = false;
  LookedAt looked_at_;
  std::chrono::steady_clock::time_point asked_at_{};  // live
  session::MessageRate rate_;
};

// "lateness", "came late", "duration", "wait", "bytes", and what it means.
const char* name_of(logical::Metric metric);
const char* meaning_of(logical::Metric metric);
// In seconds, or bytes.
std::string value_words(logical::Metric metric, double value);

}  // namespace pclscope::gui
