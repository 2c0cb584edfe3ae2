// Who is late in the newest phases, for the page that shows it: asked in the thread that reads the run, and only while
// the page is shown. The painting thread owns it.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "viewer/screen/model.hpp"
#include "viewer/session/feed.hpp"
#include "viewer/session/live_logical.hpp"

namespace pclscope::screen {

class PhaseSource {
 public:
  PhaseSource() = default;
  ~PhaseSource();
  PhaseSource(const PhaseSource&) = delete;
  PhaseSource& operator=(const PhaseSource&) = delete;

  // A dump is read once; a running job is asked again, at most once a second, unless the picture stands still. Tells
  // the model what there is. True: something new.
  bool follow(session::Feed& feed, const session::FeedState& state, ScreenModel& model);

 private:
  struct Shared {
    std::mutex mutex;
    PhaseNews news;
    bool fresh = false;
    bool waits = false;  // for an answer
    bool stop = false;
  };
  void read_dump(session::Feed& feed, std::shared_ptr<const Snapshot> snapshot);
  void ask_job(session::Feed& feed, const session::FeedState& state);

  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  bool read_ = false;
  std::chrono::steady_clock::time_point next_{};
  session::MessageRate rate_;
};

}  // namespace pclscope::screen
