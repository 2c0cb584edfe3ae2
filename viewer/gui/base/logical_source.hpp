// Logical time of the run for all views that show it: read once, when the first of them asks. UI thread only, but for
// what reads.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "viewer/session/feed.hpp"
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

  // What has been read so far: null before the first piece. Begins to read when first called for a dump.
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
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  bool asked_ = false;
};

// "lateness", "came late", "duration", and what it means.
const char* name_of(logical::Metric metric);
const char* meaning_of(logical::Metric metric);

}  // namespace pclscope::gui
