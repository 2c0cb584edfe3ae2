#include "viewer/screen/full_screen.hpp"

#include <time.h>

#include <algorithm>

#include "analysis/values/signals_blocked.hpp"
#include "viewer/screen/compose.hpp"
#include "viewer/screen/phase_source.hpp"
#include "viewer/session/summary_json.hpp"

namespace pclscope::screen {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using session::FeedState;
using session::Phase;

constexpr milliseconds look{50};                 // for keys, at most: then for news
constexpr milliseconds longest_picture{500};     // ages are counted on
constexpr std::size_t history_bytes = 64 << 10;  // the snapshots bring all the history that is shown
constexpr int most_keys_at_once = 64;

std::unique_ptr<session::Feed> start_feed(session::Feed::Open open) {
  const AllSignalsBlocked blocked;  // ncurses handles the terminal's signals in the thread that paints
  session::FeedOptions options;
  options.history_bytes = history_bytes;
  return std::make_unique<session::Feed>(std::move(open), options);
}

std::int64_t now_realtime_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Connection connection_of(const FeedState& state) { return {state.phase, state.problem, state.reconnects}; }

bool over(const FeedState& state) {
  return state.phase == Phase::finished || state.phase == Phase::lost || state.phase == Phase::stored;
}

bool failed_at_once(const FeedState& state) { return state.phase == Phase::failed && state.snapshots == 0; }

class FullScreen {
 public:
  FullScreen(Terminal& terminal, const FullScreenOptions& options)
      : terminal_(terminal), options_(options), model_(options.name, options.ascii, terminal.can_unicode()) {
    model_.open(options.page);
  }

  void take(session::Feed& feed, const FeedState& state);
  void paint_if_due();
  void read_keys();
  bool ends(const FeedState& state) const {
    return model_.quit() || terminal_.gone() || *options_.stop != 0 || failed_at_once(state) ||
           (terminal_.input_ended() && over(state));
  }

 private:
  Terminal& terminal_;
  const FullScreenOptions& options_;
  ScreenModel model_;
  PhaseSource phases_;
  Reach reach_;
  std::uint64_t taken_ = 0;  // the number of the newest snapshot that the model has
  Phase phase_ = Phase::opening;
  bool changed_ = true;
  Clock::time_point next_data_ = Clock::now(), next_picture_ = Clock::now();
};

// New data is shown at the user's pace; ends are shown at once.
void FullScreen::take(session::Feed& feed, const FeedState& state) {
  const bool turned = state.phase != phase_;
  phase_ = state.phase;
  model_.set_connection(connection_of(state));
  if (state.snapshot && state.snapshots > taken_ &&
      (turned || model_.paused() || state.snapshot->finished || Clock::now() >= next_data_)) {
    model_.offer(state.snapshot, state.snapshots);
    taken_ = state.snapshots;
    next_data_ = std::max(next_data_ + options_.interval, Clock::now());
    changed_ = true;
  }
  const bool phases = phases_.follow(feed, state, model_);
  changed_ = changed_ || turned || phases;
  if (const Snapshot* shown = model_.snapshot()) {
    const double silent_s = state.phase == Phase::stored ? 0 : state.silent_s;
    model_.set_freshness({session::age_s(*shown, now_realtime_ns()), silent_s, shown->live.window_s});
  }
}

void FullScreen::paint_if_due() {
  if (!changed_ && Clock::now() < next_picture_) return;
  const Picture picture = compose(model_, terminal_.width(), terminal_.height());
  reach_ = picture.reach;
  terminal_.paint(picture.lines);
  changed_ = false;
  next_picture_ = Clock::now() + longest_picture;
}

void FullScreen::read_keys() {
  Key key = terminal_.key(look);
  for (int keys = 0; keys < most_keys_at_once && key != Key::none; ++keys) {
    model_.press(key, reach_);
    changed_ = true;
    key = terminal_.key(milliseconds(0));
  }
}

}  // namespace

FeedState watch_full_screen(Terminal& terminal, session::Feed::Open open, const FullScreenOptions& options) {
  const auto feed = start_feed(std::move(open));
  FullScreen full_screen(terminal, options);
  FeedState state = feed->state();
  while (!full_screen.ends(state)) {
    full_screen.take(*feed, state);
    full_screen.paint_if_due();
    full_screen.read_keys();
    state = feed->state();
  }
  return state;
}

}  // namespace pclscope::screen
