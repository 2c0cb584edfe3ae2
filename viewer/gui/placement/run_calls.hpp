// The calls of the run that is looked at, read once, when somebody asks what another placement would bring.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "viewer/gui/base/view.hpp"
#include "viewer/session/placement_gain.hpp"

namespace pclscope::gui {

// UI thread only, but for what reads.
class RunCalls {
 public:
  RunCalls() = default;
  ~RunCalls();
  RunCalls(const RunCalls&) = delete;

  // Begins to read, once.
  void read(const Scene& scene);
  bool reading() const;
  // Null: not read, or why_not() is the reason.
  std::shared_ptr<const session::RecordedCalls> calls() const;
  std::string why_not() const;  // one line; empty: calls() is there, or nobody has asked

 private:
  struct Shared {
    std::mutex mutex;
    bool reading = false, stop = false;
    std::shared_ptr<const session::RecordedCalls> calls;
    std::string why_not;
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  bool asked_ = false;
};

}  // namespace pclscope::gui
