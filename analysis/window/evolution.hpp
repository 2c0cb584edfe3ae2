// Evolution of one region: the series of its windows' typical L is cut into periods, online (PCLVis 5.1).
//
// y_t = ln(typical ratio of window t), i.e. the mean of ln L: a mean of L is what its few largest make of it
// (evolution_measure_test). Ave_region = mean of the windows' typical ratios since the job began, up to window t, each
// weighing as many as it has messages.
// The deviation of y when nothing happens is estimated robustly (noise_scale.hpp); a window of n messages weighs
// 2 n / (n + median n). The series is cut into straight pieces (piece_fit.hpp); their levels, not single windows,
// decide:
//
//  growth   from the last window before the level rises to the first at its full height. The level rises by at
//           least 20 % and 3 deviations, by 0.28 % per window or more (slower is drift), with no plateau of 8 windows
//           and no fall in between, ends 5 % above Ave_region or more, and then stays in the upper half of the rise
//           for 4 windows. (While it is the newest and still rising, 2 windows and 5 % suffice if that is 5
//           deviations: it shows early, and is taken back if it comes to nothing.) A sudden rise is a growth of two
//           windows. The ends are then found exactly by least squares (ramp_ends.hpp).
//  steady   8 windows or more outside growths whose level is 15 % and 2 deviations above Ave_region (5 % and half a
//           deviation once it is steady), varies by at most 20 % (or 1 deviation), with single windows around it by a
//           deviation of 25 % at most.
//  other    all else; neighbouring others are one.
//
// Windows without a message have no value: the windows around them are neighbours. After 10 windows of silence
// everything before is decided, and growth and steady end there.
// A window is decided once 64 more windows with messages, or a long silence, have followed; then it never changes.
// Until then its period is `open` and may be revised: so of a result the last few periods can be open. A window's
// kind depends on the windows fed, not on when anybody asked: live and from file are the same.
//
// Garbage: ratios that are not finite or not positive count as missing values (their messages are counted), times
// that do not advance are taken as following on.
// Memory: about 30 KB per region and 150 bytes per period kept. Cost: a few microseconds per window. Threads: none.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "analysis/window/noise_scale.hpp"
#include "analysis/window/period_list.hpp"
#include "analysis/window/piece_fit.hpp"

namespace pclscope {

struct EvolutionRules {
  static constexpr double deviations = 3;
  static double least_growth();  // ln 1.2
  static double live_growth();   // ln 1.05
  static constexpr double live_deviations = 5;
  static constexpr double least_slope = 0.0028;  // per window
  static constexpr std::size_t plateau_windows = 8;
  static constexpr std::size_t sustained_windows = 4;
  static constexpr std::size_t live_windows = 2;
  static constexpr std::size_t steady_windows = 8;
  static double rise_above();  // ln 1.15
  static constexpr double steady_deviations = 2;
  static double stay_above();  // ln 1.05
  static double level_room();  // ln 1.2
  static constexpr double steady_deviation = 0.25;
  static constexpr std::size_t decided_after = 64;     // windows
  static constexpr std::size_t promised_windows = 32;  // of a growth or steady period, when its first is decided
  static constexpr double silence = 10;                // window lengths
};

class Evolution {
 public:
  static constexpr std::size_t default_periods = 4096;

  struct Verdict {
    std::uint64_t window = 0;  // as given to add()
    PeriodKind kind = PeriodKind::other;
    bool first = false;  // of its period
  };

  // At most `periods` are kept; beyond, the oldest are merged into one `other`.
  explicit Evolution(std::size_t periods = default_periods);

  // The next window with messages of the region. `window`: the caller's number for it, ascending, for verdicts.
  void add(const RegionWindow& window, double begin_s, double length_s, std::uint64_t number = 0);
  // The region has been silent until `now_s` (end of a window). May be left out: it only hastens decisions.
  void silent(double now_s, double length_s);
  // No more windows: everything is decided, nothing is open.
  void finish();

  // Oldest first; the last ones may be `open`.
  std::vector<Period> periods() const { return newest(SIZE_MAX); }
  std::vector<Period> newest(std::size_t count) const;
  double average() const { return average_messages_ > 0 ? average_sum_ / average_messages_ : 0; }

  // Decisions of the last call of add, silent or finish, in the order of windows.
  std::span<const Verdict> verdicts() const { return verdicts_; }
  // What an undecided window looks like now (`other` for a number that is not waiting).
  PeriodKind provisional(std::uint64_t window) const;

 private:
  struct Pending {
    PeriodList::Entry entry;
    std::uint64_t number;
    bool first_after_silence;
  };
  double typical_messages(std::uint64_t messages);
  void push_value(double ratio, std::uint64_t messages);
  void break_off();  // decides everything: after a silence, or at the end
  void decide(std::size_t count, const std::vector<PeriodKind>& kinds);
  std::vector<PeriodKind> label(std::size_t focus_begin, std::size_t focus_end, bool live) const;

  NoiseScale noise_;
  PieceFit fit_;
  PeriodList list_;
  // Parallel to the values in fit_, oldest first: the decided ones (context) and then the pending ones.
  std::deque<double> values_, weights_, averages_;
  std::deque<PeriodKind> decided_;
  std::deque<Pending> pending_;
  std::vector<Verdict> verdicts_;
  std::deque<std::uint32_t> counts_;  // messages of the newest windows
  double typical_ = 0;
  std::uint64_t seen_ = 0;
  double average_sum_ = 0, average_messages_ = 0;
  double last_end_s_ = 0;
  // The kind of the newest decided window holds for this many more: growth and steady are decided as a whole.
  std::size_t promised_ = 0;
  bool any_ = false, after_silence_ = true;
};

}  // namespace pclscope
