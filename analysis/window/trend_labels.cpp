#include "analysis/window/trend_labels.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/window/evolution.hpp"
#include "analysis/window/ramp_ends.hpp"

namespace pclscope {

namespace {

using Rules = EvolutionRules;

struct Rise {
  std::size_t begin = 0, end = 0;  // windows at its foot and at its top
};

class Labels {
 public:
  Labels(const TrendInput& in, std::vector<PeriodKind>& kinds) : in_(in), kinds_(kinds), n_(in.level.size()) {}

  void growths() {
    for (std::size_t i = 0; i + 1 < n_;) {
      if (in_.level[i + 1] - in_.level[i] <= Rules::least_slope) {
        ++i;
        continue;
      }
      Rise rise = climb(i);
      const std::size_t next = std::max(rise.end, i + 1);
      if (next + 1 >= in_.decided && is_growth(rise)) mark(rise);
      i = next;
    }
  }

  void steadies() {
    for (std::size_t i = in_.decided; i < n_;) {
      const std::size_t end = level_part(i);
      if (end > i && is_steady(i, end)) std::fill(kinds_.begin() + at(i), kinds_.begin() + at(end), PeriodKind::steady);
      i = std::max(end, i + 1);
    }
  }

 private:
  static std::ptrdiff_t at(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }

  // From window i, where the level starts to rise, to the top: the last rise before it falls, or stays for long.
  Rise climb(std::size_t i) const {
    const double slack = std::max(0.05, in_.deviation);
    double top = in_.level[i + 1];
    std::size_t last = i + 1;
    for (std::size_t j = i + 2; j < n_; ++j) {
      if (in_.level[j] > top + Rules::least_slope) {
        top = in_.level[j];
        last = j;
      } else if (in_.level[j] < top - slack || j - last >= Rules::plateau_windows) {
        break;
      }
    }
    return {i, last};
  }

  bool is_growth(const Rise& rise) const {
    const double from = in_.level[rise.begin], to = in_.level[rise.end];
    if (to < in_.average[rise.end] + Rules::stay_above()) return false;  // back from a dip
    const bool rising = in_.live && rise.end + 1 == n_;
    const bool enough = to - from >= std::max(Rules::least_growth(), Rules::deviations * in_.deviation);
    if (!enough && !(rising && to - from >= std::max(Rules::live_growth(), Rules::live_deviations * in_.deviation)))
      return false;
    std::size_t j = rise.begin;
    while (in_.level[j] < (from + to) / 2) ++j;
    std::size_t high = 0;
    for (; j < n_ && in_.level[j] >= (from + to) / 2; ++j) ++high;
    const std::size_t needed = j == n_ && in_.live ? Rules::live_windows : Rules::sustained_windows;
    return high >= needed;
  }

  void mark(Rise rise) {
    if (rise.end + 9 >= in_.focus_begin && rise.begin <= in_.focus_end + 9) {
      const RampEnds exact =
          ramp_ends({in_.value, in_.weight, in_.level, in_.begins, in_.deviation}, rise.begin, rise.end);
      rise = {exact.foot, exact.top};
    }
    // Still at the top, for less than a plateau: it may go on.
    if (in_.live && rise.end + Rules::plateau_windows >= n_ &&
        in_.level[n_ - 1] > in_.level[rise.end] - std::max(0.05, in_.deviation))
      rise.end = n_ - 1;
    // A growth that was closed does not open again.
    std::size_t begin = std::max(rise.begin, in_.decided);
    if (rise.begin < in_.decided && kinds_[in_.decided - 1] != PeriodKind::growth && has_growth(rise.begin)) return;
    // Its ends moved by a window since the last look, past it: it must not slip through.
    if (rise.end < in_.decided && rise.end + 2 >= in_.decided && !has_growth(rise.begin > 2 ? rise.begin - 2 : 0))
      rise.end = in_.decided;
    for (; begin <= rise.end && begin < n_; ++begin) kinds_[begin] = PeriodKind::growth;
  }

  // Among the decided windows from `begin` on?
  bool has_growth(std::size_t begin) const {
    const auto end = kinds_.begin() + at(in_.decided);
    return begin < in_.decided && std::find(kinds_.begin() + at(begin), end, PeriodKind::growth) != end;
  }

  bool continues(std::size_t i) const { return i == in_.decided && i > 0 && kinds_[i - 1] == PeriodKind::steady; }

  // [i, end): no growth, above the average, and nearly level.
  std::size_t level_part(std::size_t i) const {
    const double stay = std::max(Rules::stay_above(), in_.deviation / 2);
    const double above = continues(i) ? stay : std::max(Rules::rise_above(), Rules::steady_deviations * in_.deviation);
    // The average when it could first be called steady: those of a job's first windows mean little.
    const std::size_t judged = continues(i) ? i : std::min(i + Rules::steady_windows, n_) - 1;
    if (kinds_[i] == PeriodKind::growth || in_.level[i] < in_.average[judged] + above) return i;
    const double room = std::max(Rules::level_room(), in_.deviation);
    double low = in_.level[i], high = low;
    std::size_t j = i + 1;
    for (; j < n_ && kinds_[j] != PeriodKind::growth; ++j) {
      low = std::min(low, in_.level[j]);
      high = std::max(high, in_.level[j]);
      if (high - low > room || in_.level[j] < in_.average[j] + stay) break;
    }
    return j;
  }

  bool is_steady(std::size_t begin, std::size_t end) const {
    if (end - begin < Rules::steady_windows && !continues(begin)) return false;
    std::vector<double> off;
    for (std::size_t i = begin; i < end; ++i) off.push_back(std::fabs(in_.value[i] - in_.level[i]));
    std::nth_element(off.begin(), off.begin() + at(off.size() / 2), off.end());
    return 1.48 * off[off.size() / 2] <= Rules::steady_deviation * (continues(begin) ? 2 : 1);
  }

  const TrendInput& in_;
  std::vector<PeriodKind>& kinds_;
  std::size_t n_;
};

}  // namespace

void label_trends(const TrendInput& in, std::vector<PeriodKind>& kinds) {
  kinds.assign(in.kinds.begin(), in.kinds.begin() + static_cast<std::ptrdiff_t>(in.decided));
  kinds.resize(in.level.size(), PeriodKind::other);
  Labels labels(in, kinds);
  labels.growths();
  labels.steadies();
}

}  // namespace pclscope
